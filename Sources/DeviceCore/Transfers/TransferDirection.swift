package import Vocabulary

/// Which way the bytes of a transfer go.
package enum TransferDirection: Hashable, Sendable, Codable, Defaulted {
    case download
    indirect case upload(UploadRequest)

    package static var defaultValue: Self { .download }

    var isValid: Bool {
        switch self {
        case .download: true
        case .upload(let request): request.isValid
        }
    }

    /// For programs.
    var way: TransferWay { isUpload ? .upload : .download }

    package var isUpload: Bool {
        switch self {
        case .download: false
        case .upload: true
        }
    }
}

/// What is asked for of an upload.
package struct UploadRequest: Hashable, Sendable, Codable {
    package var method: UploadMethod
    /// Of the file, when it was asked for. No other is sent in its place.
    package var source: FileIdentity
    /// A second copy does no harm: the file may be sent again though the server may have it.
    package var mayRepeat: Bool

    package init(method: UploadMethod, source: FileIdentity, mayRepeat: Bool) {
        (self.method, self.source, self.mayRepeat) = (method, source, mayRepeat)
    }

    var isValid: Bool { (0...1 << 60).contains(source.size) }
}

/// What of an upload outlives its attempts.
package struct UploadProgress: Hashable, Sendable, Codable {
    /// What the server has made for it.
    package internal(set) var resource: UploadResource?
    /// What was sent to it. Nil: a version that did not sum it up has begun it.
    package internal(set) var sent: SentPart?
    /// That the next attempt offers.
    var interop = UploadInterop.eight
    /// An attempt has begun of which nobody knows yet what it has sent.
    var mayHaveArrived = false

    var isValid: Bool {
        (0...1 << 60).contains(resource?.offset ?? 0) && sent?.isValid(upTo: 1 << 60) ?? true
    }
}

/// Where an upload comes from.
package struct UploadFile: Hashable, Sendable, Codable {
    /// An absolute path without links.
    package var directory: String
    package var name: String
    /// What an exchange for it needs beside it.
    package var credentials: CredentialFiles?
    /// The same, of what an app has said.
    package var logins: [TransferLogin] = []

    package init(directory: String, name: String, credentials: CredentialFiles? = nil) {
        (self.directory, self.name, self.credentials) = (directory, name, credentials)
    }
}
