public import Foundation
internal import Vocabulary

/// The server wants a name and a password, which it gets nearly in clear.
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// The server wants proof of a name and a password.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// Never asked in a background session: the system's authorities decide which server is trusted.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
/// Never asked in a background session.
public let NSURLAuthenticationMethodClientCertificate =
    "NSURLAuthenticationMethodClientCertificate"

/// The part of a server that a credential is for.
public class URLProtectionSpace: NSObject, @unchecked Sendable {  // Never changes.
    /// The server, without a port.
    public let host: String
    /// Its port.
    public let port: Int
    /// `http` or `https`.
    public let `protocol`: String?
    /// As the server calls it.
    public let realm: String?
    /// ``NSURLAuthenticationMethodHTTPBasic`` or ``NSURLAuthenticationMethodHTTPDigest``.
    public let authenticationMethod: String

    init(_ origin: Origin, _ challenge: HTTPChallenge) {
        (host, port) = (origin.host, Int(origin.port) ?? 0)
        self.protocol = origin.isSecure ? "https" : "http"
        realm = challenge.realm
        authenticationMethod =
            challenge.knownScheme == .digest
            ? NSURLAuthenticationMethodHTTPDigest : NSURLAuthenticationMethodHTTPBasic
        super.init()
    }
}

/// A server wants to know who asks.
public class URLAuthenticationChallenge: NSObject, @unchecked Sendable {  // Never changes.
    /// Where the credential would go.
    public let protectionSpace: URLProtectionSpace
    /// Always nil: the daemon shows by itself what the app has said for its session.
    public let proposedCredential: URLCredential?
    /// How many answers in a row the server has refused before.
    public let previousFailureCount: Int
    /// The answer with status 401.
    public let failureResponse: URLResponse?
    /// Always nil.
    public let error: (any Error)?

    init(_ space: URLProtectionSpace, failures: Int, _ response: URLResponse?) {
        (protectionSpace, previousFailureCount, failureResponse) = (space, failures, response)
        (proposedCredential, error) = (nil, nil)
        super.init()
    }
}

extension URLSession {
    /// What becomes of a task whose server wants to know who asks.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// It is asked again, with the credential.
        case useCredential = 0
        /// The answer with status 401 is what was asked for.
        case performDefaultHandling = 1
        /// The task ends with `URLError.cancelled`.
        case cancelAuthenticationChallenge = 2
        /// The next challenge of the same answer; if there is none, as
        /// ``performDefaultHandling``.
        case rejectProtectionSpace = 3
    }

    /// What becomes of a task whose date has come.
    public enum DelayedRequestDisposition: Int, Sendable {
        /// It begins as it is.
        case continueLoading = 0
        /// It begins with another request.
        case useNewRequest = 1
        /// The task ends with `URLError.cancelled`.
        case cancel = 2
    }
}
