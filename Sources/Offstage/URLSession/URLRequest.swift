public import Foundation

/// What is asked of a server: a URL and header fields.
///
/// A type of its own, with the names of Foundation's: a background session needs no more, and
/// FoundationNetworking would make each app 45 MB larger.
public struct URLRequest: Hashable, Sendable {
    /// How caches are used. A background session has none: a task fetches anew, and fails with
    /// `returnCacheDataDontLoad`.
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0
        case reloadIgnoringLocalCacheData = 1
        case returnCacheDataElseLoad = 2
        case returnCacheDataDontLoad = 3
    }

    /// What the traffic is for. A background session makes no difference.
    public enum NetworkServiceType: UInt, Sendable {
        case `default` = 0
        case voip = 1
        case video = 2
        case background = 3
        case voice = 4
        case responsiveData = 6
        case avStreaming = 8
        case responsiveAV = 9
        case callSignaling = 11
    }

    /// Where it goes: http or https.
    public var url: URL?
    /// Nil is GET, which is what a download does.
    public var httpMethod: String?
    /// Of no use in a background session, which uploads files only.
    public var httpBody: Data?
    /// By name; nil when there are none.
    public var allHTTPHeaderFields: [String: String]?
    /// Seconds without a byte, after which a background session tries again. While nobody has set
    /// them, those of the session count (`timeoutIntervalForRequest`).
    public var timeoutInterval: TimeInterval {
        get { ownTimeout ?? Self.usualTimeout }
        set { ownTimeout = newValue }
    }
    /// Nil: nobody has set one.
    private(set) var ownTimeout: TimeInterval?
    private static let usualTimeout: TimeInterval = 60
    /// See ``CachePolicy-swift.enum``.
    public var cachePolicy: CachePolicy
    /// False: only while the network is not metered and low-data mode is off. This device cannot
    /// tell a cellular network from another one that costs by the byte.
    public var allowsCellularAccess = true
    /// False: only while the network is not metered and low-data mode is off.
    public var allowsExpensiveNetworkAccess = true
    /// False: only while the network is not metered and low-data mode is off.
    public var allowsConstrainedNetworkAccess = true
    /// False: no cookies of the session's storage go with it, and those of its answer are not kept.
    /// Kept over relaunches.
    public var httpShouldHandleCookies = true
    /// Has no effect.
    public var networkServiceType = NetworkServiceType.default
    /// Of a request that the daemon has kept for its task.
    var keptCookies: KeptCookies?

    /// A field `Cookie` that may have been made from the session's storage, for this URL.
    struct KeptCookies: Hashable, Sendable {
        let url: URL
        let field: String
    }

    /// A request without header fields.
    ///
    /// - Parameters:
    ///   - url: Where it goes.
    ///   - cachePolicy: See ``CachePolicy-swift.enum``.
    ///   - timeoutInterval: Seconds; the usual 60 leave it to the session.
    public init(
        url: URL,
        cachePolicy: CachePolicy = .useProtocolCachePolicy,
        timeoutInterval: TimeInterval = 60.0
    ) {
        (self.url, self.cachePolicy) = (url, cachePolicy)
        ownTimeout = timeoutInterval == Self.usualTimeout ? nil : timeoutInterval
    }

    /// The value of a header field, however its name is written.
    ///
    /// - Parameter field: The name.
    /// - Returns: Nil when there is none of that name.
    public func value(forHTTPHeaderField field: String) -> String? {
        key(of: field).flatMap { allHTTPHeaderFields?[$0] }
    }

    /// Sets a header field.
    ///
    /// - Parameters:
    ///   - value: Nil removes it.
    ///   - field: The name.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        var fields = allHTTPHeaderFields ?? [:]
        if let key = key(of: field) { fields[key] = nil }
        fields[field] = value
        allHTTPHeaderFields = fields.isEmpty ? nil : fields
    }

    /// Adds to a header field, behind a comma if there is one of that name.
    ///
    /// - Parameters:
    ///   - value: What is added.
    ///   - field: The name.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        let known = self.value(forHTTPHeaderField: field)
        setValue(known.map { "\($0),\(value)" } ?? value, forHTTPHeaderField: field)
    }

    private func key(of field: String) -> String? {
        allHTTPHeaderFields?.keys.first { $0.lowercased() == field.lowercased() }
    }
}
