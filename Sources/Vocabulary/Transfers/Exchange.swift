/// One exchange with a server: a request, what it is redirected to, and the answer.
package struct ExchangeOrder: Hashable, Sendable, Codable {
    /// http or https.
    package var url: String
    /// The caller's own; not `Range`, `If-Range`, `Accept-Encoding`, `Host`, `Content-Length` or
    /// such of a connection. Those are not sent to another origin.
    package var headers: [HTTPField]
    /// Nil: from the start.
    package var resume: ResumePoint?
    package var errors: ErrorAnswers
    /// Without a byte for so long the exchange is interrupted.
    package var timeout: Interval
    /// More bytes than this fail the exchange; nil: no limit.
    package var sizeLimit: Int64?
    /// Of the whole file, as 32 bytes; another sum fails the exchange. Nil: not checked.
    package var sha256: [UInt8]?
    /// Bytes a second; nil: no limit.
    package var rateLimit: Int64?
    /// A URL; nil: what the environment says; empty: none.
    package var proxy: String?
    /// Nil: none.
    package var credentials: Credentials?
    /// With status 401 it ends as `challenged`, whatever `errors` says.
    @OmittedIfDefault package var reportsChallenges = false
    /// Connections beside the first, if the server lets ranges be fetched side by side safely.
    @OmittedIfDefault package var moreConnections: Int64 = 0
    /// It waits, in the order of arrival, while its host has so many connections; nil: it does not.
    package var connectionsPerHost: Int64?

    /// For one file.
    package static let mostConnections = 16
    package static let longestTimeout = Interval.days(1)
    /// In bytes.
    package static let longestURL = 8192

    /// What becomes of an answer with a status of 400 or more.
    package enum ErrorAnswers: String, Hashable, Sendable, Codable, CaseIterable {
        /// Its body is what was asked for.
        case deliver
        /// The exchange fails, or is interrupted if another try may help. Nothing is written.
        case fail
    }

    package init(
        url: String,
        headers: [HTTPField] = [],
        resume: ResumePoint? = nil,
        errors: ErrorAnswers = .deliver,
        timeout: Interval = .seconds(60),
        sizeLimit: Int64? = nil,
        sha256: [UInt8]? = nil,
        rateLimit: Int64? = nil,
        proxy: String? = nil,
        credentials: Credentials? = nil
    ) {
        (self.url, self.headers, self.resume, self.errors) = (url, headers, resume, errors)
        (self.timeout, self.sizeLimit, self.sha256) = (timeout, sizeLimit, sha256)
        (self.rateLimit, self.proxy, self.credentials) = (rateLimit, proxy, credentials)
    }
}

/// The head of an answer, as far as anybody needs it.
package struct ExchangeAnswer: Hashable, Sendable, Codable {
    package var status: Int
    /// At most 64 KiB of names and values.
    package var headers: [HTTPField]
    /// After all redirects.
    package var url: String
    /// The length of the whole object, if it is known.
    package var total: Int64?
    /// Nil: the server says nothing that a later exchange could rely on.
    package var validator: Validator?
    /// Where the bytes of this answer go: the offset of the resume point, or 0.
    package var offset: Int64
    /// Bytes that the daemon may know of are to be overwritten. Nothing is written before it says
    /// that it has forgotten them.
    @OmittedIfDefault package var startsAnew: Bool
    /// So many connections beside the first are used for the rest of the object, at the most.
    @OmittedIfDefault package var moreConnections: Int64 = 0
    /// All its bytes are in the file already.
    @OmittedIfDefault package var isWhole = false
    /// Of an upload whose answer somebody wants: what the server said, up to `longestBody`.
    package var body: Bytes?

    /// More of the body of an answer to an upload is not kept.
    package static let longestBody = 32_768

    package init(
        status: Int,
        headers: [HTTPField] = [],
        url: String,
        total: Int64? = nil,
        validator: Validator? = nil,
        offset: Int64 = 0,
        startsAnew: Bool = false
    ) {
        (self.status, self.headers, self.url) = (status, headers, url)
        self.startsAnew = startsAnew
        (self.total, self.validator, self.offset) = (total, validator, offset)
    }
}

/// How an exchange ended.
package enum ExchangeEnd: Hashable, Sendable, Codable {
    /// The whole object is in the file, and durable; of an upload: the server has taken all of it.
    case complete(size: Int64)
    /// It may work later.
    case interrupted(Interruption)
    /// It will not work that way.
    case failed(ExchangeFailure)
    /// The server wants to know who asks (status 401). Nothing was written; an upload was refused.
    case challenged(ExchangeAnswer)

    package struct Interruption: Hashable, Sendable, Codable {
        package var cause: Cause
        /// For a person; empty if the cause says it all.
        package var reason: String
        /// What the server asked for (`Retry-After`), between 30 s and 24 h.
        package var retryAfter: Interval?

        package enum Cause: String, Hashable, Sendable, Codable, CaseIterable {
            /// The daemon wanted it.
            case stopped
            /// No name, no route, no connection, or it broke.
            case connection
            /// No byte for too long.
            case timedOut
            /// A status that says "later".
            case busy
            /// The disk of the file is full.
            case diskFull
            /// This process lacks memory, descriptors or the like; the exchange is not to blame.
            case shortage
        }

        package init(_ cause: Cause, reason: String = "", retryAfter: Interval? = nil) {
            (self.cause, self.reason, self.retryAfter) = (cause, reason, retryAfter)
        }
    }
}

/// Why an exchange cannot succeed.
package struct ExchangeFailure: Error, Hashable, Sendable, Codable {
    package var code: Code
    /// For a person.
    package var reason: String

    package enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        /// A status of 400 or more that another try does not change.
        case status
        case tooManyRedirects
        /// To another scheme, or from https to http.
        case badRedirect
        /// No certificate that the system trusts for this name.
        case untrusted
        /// Not HTTP, or wrong HTTP: no length, endless headers, a length that does not match.
        case badAnswer
        /// More bytes than the limit.
        case tooLarge
        /// The file is whole, and its checksum is another.
        case checksum
        /// The file cannot be written, for another reason than a full disk.
        case file
        case badURL
        /// The file to be sent is missing, or is no longer what it was.
        case source
        /// A file with cookies, passwords or certificates is missing, or is none.
        case credentials
        /// Nobody knows whether the server has the file, and a second one might be one too many.
        case uncertain
    }

    package init(_ code: Code, reason: String) { (self.code, self.reason) = (code, reason) }
}
