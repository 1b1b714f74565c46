public import Foundation

/// How the tasks of a background session are fetched. Copied when the session is made: what is
/// changed later has no effect.
public class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {  // Copied.
    /// The configuration of a background session, whose tasks go on while the app is suspended or
    /// not running.
    ///
    /// - Parameter identifier: The name of the session: the same at each launch, and no other
    ///   session of the app has it. It has 1 to 255 bytes.
    /// - Returns: The usual configuration.
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        URLSessionConfiguration(identifier)
    }

    /// See ``background(withIdentifier:)``.
    public let identifier: String?
    /// True: tasks wait for a good moment: an unmetered network, low-data mode off, a battery that
    /// is not low, and for up to 12 hours until the device is idle on external power. What is
    /// resumed while the app is in the background waits so until its user opens it.
    public var isDiscretionary = false
    /// False: the app is not launched for the events of this session; it gets them when it runs.
    public var sessionSendsLaunchEvents = true
    /// True: the app is launched to be asked whether a task begins at its date
    /// (`urlSession(_:task:willBeginDelayedRequest:completionHandler:)`). Else it is asked only if
    /// it runs then. Not Apple's: there the system sees whether the delegate has that method.
    public var launchesForDelayedRequests = false
    /// Seconds without a byte, after which a task is tried again. Those that a request has set go
    /// before them.
    public var timeoutIntervalForRequest: TimeInterval = 60
    /// Seconds from `resume()` after which a task fails, whatever it waits for.
    public var timeoutIntervalForResource: TimeInterval = 604_800
    /// False: only while the network is not metered and low-data mode is off. This device cannot
    /// tell a cellular network from another one that costs by the byte.
    public var allowsCellularAccess = true
    /// False: only while the network is not metered and low-data mode is off.
    public var allowsExpensiveNetworkAccess = true
    /// False: only while the network is not metered and low-data mode is off.
    public var allowsConstrainedNetworkAccess = true
    /// How caches are used; what a request says goes before it. There is no cache, so every task
    /// fetches anew, and one that is to take only what is cached fails.
    public var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// Header fields of every task; those of its request go before them.
    public var httpAdditionalHeaders: [AnyHashable: Any]?
    /// Has no effect: the device has a limit for each host (`transfers-per-host`).
    public var httpMaximumConnectionsPerHost = 6
    /// Has no effect: a background session always waits for a network.
    public var waitsForConnectivity = false
    /// Has no effect: sessions of extensions are not supported.
    public var sharedContainerIdentifier: String?
    /// Has no effect: every background session gives way to what the user does.
    public var networkServiceType = URLRequest.NetworkServiceType.default
    /// Where cookies are taken from, and where those of answers are kept; nil: no cookies.
    public var httpCookieStorage: HTTPCookieStorage? = HTTPCookieStorage.shared
    /// True: a task sends the cookies of ``httpCookieStorage`` that match its URL when it is first
    /// resumed. A header field `Cookie` of the session or the request takes precedence. Cookies are
    /// not sent to another origin that a redirect leads to.
    public var httpShouldSetCookies = true
    /// Which cookies of the last answer to a task are kept, when its end is told. Those of the
    /// answers before it, such as redirects, are not seen.
    public var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    /// Has no effect: a server that speaks HTTP/2 is asked for several at once.
    public var httpShouldUsePipelining = false
    /// Has no effect: the app does not keep a connection of its own.
    public var shouldUseExtendedBackgroundIdleMode = false

    private init(_ identifier: String?) { self.identifier = identifier }

    /// A configuration of its own with the same values.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = URLSessionConfiguration(identifier)
        copy.isDiscretionary = isDiscretionary
        copy.sessionSendsLaunchEvents = sessionSendsLaunchEvents
        copy.launchesForDelayedRequests = launchesForDelayedRequests
        copy.timeoutIntervalForRequest = timeoutIntervalForRequest
        copy.timeoutIntervalForResource = timeoutIntervalForResource
        copy.allowsCellularAccess = allowsCellularAccess
        copy.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
        copy.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
        copy.requestCachePolicy = requestCachePolicy
        copy.httpAdditionalHeaders = httpAdditionalHeaders
        copy.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
        copy.waitsForConnectivity = waitsForConnectivity
        copy.sharedContainerIdentifier = sharedContainerIdentifier
        copy.networkServiceType = networkServiceType
        copy.httpCookieStorage = httpCookieStorage
        copy.httpShouldSetCookies = httpShouldSetCookies
        copy.httpCookieAcceptPolicy = httpCookieAcceptPolicy
        copy.httpShouldUsePipelining = httpShouldUsePipelining
        copy.shouldUseExtendedBackgroundIdleMode = shouldUseExtendedBackgroundIdleMode
        return copy
    }
}
