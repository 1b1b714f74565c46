/// One exchange that sends a file to a server.
package struct UploadOrder: Hashable, Sendable, Codable {
    /// http or https.
    package var url: String
    package var method: UploadMethod
    /// The caller's own; none that the exchange itself says. Not sent to another origin.
    package var headers: [HTTPField]
    /// The file must still be this one when its last byte is sent.
    package var source: FileIdentity
    /// What the server has made for an upload that was interrupted; nil: from the start.
    package var resource: UploadResource?
    /// What of the file was sent by then. The server gets the rest only if that is still the same.
    /// Nil: it is not known.
    package var sent: SentPart?
    /// Which version of the protocol is offered to a server that has made nothing yet.
    package var interop: UploadInterop
    /// The whole file may be sent again though the server may have it already.
    package var mayRepeat: Bool
    package var errors: ExchangeOrder.ErrorAnswers
    /// Without a byte for so long the exchange is interrupted.
    package var timeout: Interval
    /// Bytes a second; nil: no limit.
    package var rateLimit: Int64?
    /// A URL; nil: what the environment says; empty: none.
    package var proxy: String?
    /// Nil: none.
    package var credentials: Credentials?
    /// As that of `ExchangeOrder`.
    @OmittedIfDefault package var reportsChallenges = false
    /// As that of `ExchangeOrder`.
    package var connectionsPerHost: Int64?

    package init(
        url: String,
        method: UploadMethod = .put,
        headers: [HTTPField] = [],
        source: FileIdentity,
        resource: UploadResource? = nil,
        interop: UploadInterop = .eight,
        mayRepeat: Bool = true,
        errors: ExchangeOrder.ErrorAnswers = .fail,
        timeout: Interval = .seconds(60),
        rateLimit: Int64? = nil,
        proxy: String? = nil,
        credentials: Credentials? = nil
    ) {
        (self.url, self.method, self.headers) = (url, method, headers)
        (self.source, self.resource, self.interop) = (source, resource, interop)
        (self.mayRepeat, self.errors, self.timeout) = (mayRepeat, errors, timeout)
        (self.rateLimit, self.proxy, self.credentials) = (rateLimit, proxy, credentials)
    }
}

package enum UploadMethod: String, Hashable, Sendable, Codable, CaseIterable {
    case put = "PUT"
    case post = "POST"
    case patch = "PATCH"

    /// A second copy takes the place of the first.
    package var isIdempotent: Bool {
        switch self {
        case .put: true
        case .post, .patch: false
        }
    }

    /// `PUT, POST or PATCH`.
    package static var choice: String {
        let names = allCases.map(\.rawValue)
        return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    }
}

/// The interop version of draft-ietf-httpbis-resumable-upload: the version of the draft whose form
/// of the protocol is spoken.
package enum UploadInterop: Int, Hashable, Sendable, Codable, CaseIterable {
    case six = 6
    case eight = 8

    /// What a server may speak that did not answer to this one.
    package var other: UploadInterop {
        switch self {
        case .six: .eight
        case .eight: .six
        }
    }
}

/// What a server has made for one upload, so that it can go on after an interruption.
package struct UploadResource: Hashable, Sendable, Codable {
    /// Whoever knows it can add to the upload.
    package var url: String
    package var interop: UploadInterop
    /// So many bytes the server has confirmed; it may have more.
    package var offset: Int64

    package init(url: String, interop: UploadInterop, offset: Int64 = 0) {
        (self.url, self.interop, self.offset) = (url, interop, offset)
    }
}

/// What an upload has sent of its file, from the start. Bytes that are put in their place later
/// leave no other trace if the file gets its old time of change back.
package struct SentPart: Hashable, Sendable, Codable {
    /// Bytes.
    package var count: Int64
    /// Of these.
    package var sha256: Bytes

    package static let digestBytes = 32

    package init(count: Int64, sha256: Bytes) { (self.count, self.sha256) = (count, sha256) }

    /// Of a file of this size.
    package func isValid(upTo size: Int64) -> Bool {
        count >= 0 && count <= size && sha256.array.count == Self.digestBytes
    }
}

/// What a server has made for an upload that nobody wants any more, and is asked to remove. Nobody
/// is told what comes of it: a server forgets by itself what is never completed.
package struct UploadRemoval: Hashable, Sendable, Codable {
    package var resource: UploadResource
    /// Where the upload was to go. Its header fields go to no other origin.
    package var url: String
    package var headers: [HTTPField]
    /// A URL; nil: what the environment says; empty: none.
    package var proxy: String?

    package init(
        resource: UploadResource,
        url: String,
        headers: [HTTPField] = [],
        proxy: String? = nil
    ) {
        (self.resource, self.url, self.headers) = (resource, url, headers)
        self.proxy = proxy
    }
}

/// What tells whether a file is still the one that it was.
package struct FileIdentity: Hashable, Sendable, Codable {
    package var size: Int64
    /// Nanoseconds since 1970.
    package var modified: Int64
    package var inode: UInt64

    package init(size: Int64, modified: Int64, inode: UInt64) {
        (self.size, self.modified, self.inode) = (size, modified, inode)
    }
}
