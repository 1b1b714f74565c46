public import Foundation
internal import Vocabulary

/// A property of a cookie, with Apple's name.
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
    /// Apple's.
    public let rawValue: String

    /// A key.
    ///
    /// - Parameter rawValue: Apple's.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A string.
    public static let name = HTTPCookiePropertyKey(rawValue: "Name")
    /// A string.
    public static let value = HTTPCookiePropertyKey(rawValue: "Value")
    /// A string; with a dot in front: of the hosts below too.
    public static let domain = HTTPCookiePropertyKey(rawValue: "Domain")
    /// A string that begins with `/`.
    public static let path = HTTPCookiePropertyKey(rawValue: "Path")
    /// A URL, or a string: in the place of a domain its host.
    public static let originURL = HTTPCookiePropertyKey(rawValue: "OriginURL")
    /// `TRUE` or true: over https only.
    public static let secure = HTTPCookiePropertyKey(rawValue: "Secure")
    /// A date. Without one, and without `maximumAge`, it is of the session.
    public static let expires = HTTPCookiePropertyKey(rawValue: "Expires")
    /// Seconds, as a string.
    public static let maximumAge = HTTPCookiePropertyKey(rawValue: "Max-Age")
    /// `TRUE`: it is of the session.
    public static let discard = HTTPCookiePropertyKey(rawValue: "Discard")
    /// Has no effect.
    public static let version = HTTPCookiePropertyKey(rawValue: "Version")
}

/// One cookie: what a server wants to be told again.
///
/// A type of its own, with the names of Foundation's, as ``URLRequest`` is.
public class HTTPCookie: NSObject, @unchecked Sendable {  // Never changes.
    /// Which cookies of servers are kept.
    public enum AcceptPolicy: UInt, Sendable {
        case always = 0
        case never = 1
        /// Those of the host that the app has asked, or of one below or above it.
        case onlyFromMainDocumentDomain = 2
    }

    let cookie: Cookie
    /// Scripts do not see it, which makes no difference here.
    public let isHTTPOnly: Bool

    /// Its name.
    public var name: String { cookie.name }
    /// What is sent.
    public var value: String { cookie.value }
    /// In small letters; with a dot in front: of the hosts below too.
    public var domain: String { (cookie.coversNamesBelow ? "." : "") + cookie.domain }
    /// Of the URLs that it is sent to, and those below.
    public var path: String { cookie.path }
    /// Over https only.
    public var isSecure: Bool { cookie.isSecure }
    /// Nil: it is of the session.
    public var expiresDate: Date? {
        cookie.expires.map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }
    /// It is gone with the process.
    public var isSessionOnly: Bool { cookie.expires == nil }

    init(_ cookie: Cookie, isHTTPOnly: Bool) {
        (self.cookie, self.isHTTPOnly) = (cookie, isHTTPOnly)
        super.init()
    }

    /// A cookie of the app's own; nil: a property is missing, or cannot be sent.
    ///
    /// - Parameter properties: `name`, `value`, `path`, and `domain` or `originURL` must be there.
    public convenience init?(properties: [HTTPCookiePropertyKey: Any]) {
        func text(_ key: HTTPCookiePropertyKey) -> String? { properties[key].map { "\($0)" } }
        func isSet(_ key: HTTPCookiePropertyKey) -> Bool {
            ["true", "yes", "1"].contains(text(key)?.lowercased() ?? "")
        }
        guard let name = text(.name), let value = text(.value), let path = text(.path),
            path.hasPrefix("/")
        else { return nil }
        let domain = text(.domain) ?? text(.originURL).flatMap { Origin($0)?.host } ?? ""
        let host = String(domain.drop { $0 == "." }).lowercased()
        guard !host.isEmpty else { return nil }
        var cookie = Cookie(domain: host, path: path, name: name, value: value)
        cookie.coversNamesBelow = domain.hasPrefix(".")
        cookie.isSecure = isSet(.secure)
        if !isSet(.discard) {
            let date = properties[.expires] as? Date
            let age = text(.maximumAge).flatMap { Double($0) }
            let end = age.map { Date(timeIntervalSinceNow: $0) } ?? date
            cookie.expires = end.flatMap { HTTPCookie.seconds($0.timeIntervalSince1970) }
        }
        guard cookie.canBeSent else { return nil }
        self.init(cookie, isHTTPOnly: false)
    }

    /// As ``init(properties:)`` takes them.
    public var properties: [HTTPCookiePropertyKey: Any]? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: domain, .path: path,
        ]
        if isSecure { properties[.secure] = "TRUE" }
        if let expiresDate { properties[.expires] = expiresDate }
        if isSessionOnly { properties[.discard] = "TRUE" }
        return properties
    }

    /// The header fields of a request that is to carry cookies.
    ///
    /// - Parameter cookies: All are taken.
    /// - Returns: One field, `Cookie`; none for no cookies.
    public class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        cookies.isEmpty ? [:] : ["Cookie": cookies.map(\.pair).joined(separator: "; ")]
    }

    /// The cookies of an answer.
    ///
    /// - Parameters:
    ///   - headerFields: Several fields `Set-Cookie` may be joined with commas.
    ///   - URL: Where the answer came from.
    /// - Returns: Those that the server may set; without those that have ended.
    public class func cookies(
        withResponseHeaderFields headerFields: [String: String],
        for URL: URL
    ) -> [HTTPCookie] {
        let fields = headerFields.filter { $0.key.lowercased() == "set-cookie" }
        let now = Int64(Date().timeIntervalSince1970)
        return fields.flatMap { separated($0.value) }
            .compactMap { HTTPCookie(field: $0, from: URL, now: now) }
            .filter { $0.isAlive(at: now) }
    }

    /// A comma stands also in dates: behind one that ends a cookie come a name and `=`.
    private static func separated(_ joined: String) -> [String] {
        var fields: [String] = []
        for part in joined.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.prefix { $0 != ";" }
            let name = pair.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces)
            let begins = pair.contains("=") && !name.isEmpty && !name.contains(" ")
            if begins || fields.isEmpty {
                fields.append(String(part))
            } else {
                fields[fields.count - 1] += ",\(part)"
            }
        }
        return fields
    }

    /// No clock counts longer than a few thousand years.
    static func seconds(_ time: TimeInterval) -> Int64? {
        time.isNaN ? nil : Int64(min(max(time, 0), 253_402_300_799))
    }

    var pair: String { "\(cookie.name)=\(cookie.value)" }

    func isAlive(at now: Int64) -> Bool { cookie.expires.map { $0 > now } ?? true }
}

extension HTTPCookie {
    /// As a server sets it (RFC 6265 sections 5.2 and 5.3); nil: it may not, or it cannot be sent
    /// back. One that has ended removes the one of its name.
    convenience init?(field: String, from url: URL, now: Int64) {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard let place = CookiePlace(url), let pair = parts.first,
            let equals = pair.firstIndex(of: "=")
        else { return nil }
        var cookie = Cookie(
            domain: place.host,
            path: place.folder,
            name: pair[..<equals].trimmingCharacters(in: .whitespaces),
            value: pair[pair.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        )
        var isHTTPOnly = false
        var (domain, age, date): (String?, Int64?, Int64?) = (nil, nil, nil)
        for part in parts.dropFirst() {
            let words = part.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            let value = words.count > 1 ? words[1] : ""
            switch words.first?.lowercased() {
            case "domain"?: domain = value
            case "path"?: cookie.path = value.hasPrefix("/") ? value : place.folder
            case "secure"?: cookie.isSecure = true
            case "httponly"?: isHTTPOnly = true
            case "max-age"?:
                age = Double(value).flatMap { HTTPCookie.seconds(Double(now) + $0) }
            case "expires"?: date = HTTPCookieDate.seconds(value)
            default: break
            }
        }
        cookie.expires = age ?? date
        guard place.allows(domain, &cookie), cookie.canBeSent else { return nil }
        self.init(cookie, isHTTPOnly: isHTTPOnly)
    }
}

/// Where a request goes, for the cookies that go with it.
struct CookiePlace {
    let host: String
    /// Without a query.
    let path: String
    let isSecure: Bool

    /// Nil: not http or https.
    init?(_ url: URL) {
        guard let origin = Origin(url.absoluteString) else { return nil }
        (host, isSecure) = (origin.host, origin.isSecure)
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let given = components?.percentEncodedPath ?? ""
        path = given.hasPrefix("/") ? given : "/"
    }

    /// The path of a cookie that names none.
    var folder: String {
        let above = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return above.isEmpty ? "/" : String(above)
    }

    /// Whether a cookie may be set from here. `domain`: that it names.
    fileprivate func allows(_ domain: String?, _ cookie: inout Cookie) -> Bool {
        let named = domain.map { String($0.drop { $0 == "." }).lowercased() } ?? ""
        if !named.isEmpty, !host.isAddress || named != host {
            // There is no list of the domains that belong to everybody; those of one name do.
            guard !host.isAddress, named == host || host.hasSuffix("." + named),
                named == host || named.contains(".")
            else { return false }
            (cookie.domain, cookie.coversNamesBelow) = (named, true)
        }
        guard isSecure || !cookie.isSecure else { return false }
        if cookie.name.hasPrefix("__Secure-") { return cookie.isSecure }
        guard cookie.name.hasPrefix("__Host-") else { return true }
        return cookie.isSecure && cookie.path == "/" && !cookie.coversNamesBelow
    }
}

extension Cookie {
    /// Name and value, in bytes.
    private static let longest = 4096
    private static let longestPath = 1024
    private static let longestDomain = 255

    /// It fits into a header field, is one cookie there, and into a line of a file.
    fileprivate var canBeSent: Bool {
        !name.isEmpty && isPlain && name.utf8.count + value.utf8.count <= Self.longest
            && HTTPField(line: "Cookie: \(name)=\(value)") != nil
            && path.utf8.count <= Self.longestPath && domain.utf8.count <= Self.longestDomain
            && (domain + path).utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
            && [name, value, domain, path].allSatisfy(\.unicodeScalars.isOneLine)
    }
}

extension String.UnicodeScalarView {
    /// No control character, and nothing that ends a line, in ASCII or not.
    fileprivate var isOneLine: Bool {
        allSatisfy {
            switch $0.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}
