public import Foundation
internal import Linux
internal import Synchronization
internal import Vocabulary

/// Cookies of servers, and the app's own.
///
/// A type of its own, with the names of Foundation's, as ``URLRequest`` is: what Foundation's
/// sessions keep is not here. At most 50 cookies of a domain are kept, and 3,000 in all; the oldest
/// go first.
public class HTTPCookieStorage: NSObject, @unchecked Sendable {  // Locked: `state`.
    private let state: Mutex<State>
    private let file: String?

    private struct State: Sendable {
        /// In the order in which they were set.
        var kept: [Kept] = []
        var policy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    }

    fileprivate struct Kept: Sendable {
        let cookie: HTTPCookie
        let since: Date
    }

    private static let mostOfDomain = 50
    private static let most = 3_000
    /// Of a header field; servers take no longer ones.
    private static let longestField = 8_000
    /// Bytes. As many cookies as are kept, each as long as one may be, are fewer.
    private static let longestFile = 16 << 20

    /// Of the app. Cookies with an expiry date outlive the process, in the file
    /// `~/.local/share/PROGRAM/cookies`. Only its user can read it. Two processes of one name
    /// write the same file. A line of it that is no cookie is skipped. A file that is there and
    /// cannot be read is left as it is: then cookies are gone with the process.
    public class var shared: HTTPCookieStorage { common }

    private static let common: HTTPCookieStorage = {
        let folders = FileManager.default.urls(
            for: .applicationSupportDirectory,
            in: .userDomainMask
        )
        let name = ProcessInfo.processInfo.processName
        let folder = folders.first?.appendingPathComponent(name)
        return HTTPCookieStorage(file: folder?.appendingPathComponent("cookies").path)
    }()

    /// An empty one, which is gone with its last reference. Not Apple's: a test or a session that
    /// shares its cookies with no other wants it.
    public override convenience init() { self.init(file: nil) }

    /// `file`: where those with a date are kept; nil: nowhere.
    init(file: String?) {
        let cookies = file.flatMap { HTTPCookieStorage.read($0) }
        // What could not be read is not replaced.
        self.file = cookies == nil ? nil : file
        let now = Date()
        let kept = (cookies ?? []).map {
            Kept(cookie: HTTPCookie($0, isHTTPOnly: false), since: now)
        }
        state = Mutex(State(kept: kept))
        super.init()
    }

    /// Nil: there is a file, and it cannot be read.
    private static func read(_ file: String) -> [Cookie]? {
        do throws(LinuxError) {
            let lines = try Files.text(file, limit: longestFile).utf8.split(separator: 0x0a)
            return lines.flatMap { (try? Cookie.parse(String(Substring($0)))) ?? [] }
        } catch {
            if error.errno == .noEntry { return [] }
            LibraryLog.write("cookies cannot be read, and none will be kept: \(error)")
            return nil
        }
    }

    /// Of ``setCookies(_:for:mainDocumentURL:)``. A session has its own:
    /// ``URLSessionConfiguration/httpCookieAcceptPolicy``.
    public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { state.withLock { $0.policy } }
        set { state.withLock { $0.policy = newValue } }
    }

    /// All that have not ended.
    public var cookies: [HTTPCookie]? { living }

    /// Those that go to a URL.
    ///
    /// - Parameter URL: http or https.
    /// - Returns: Those with longer paths first.
    public func cookies(for URL: URL) -> [HTTPCookie]? {
        guard let place = CookiePlace(URL) else { return [] }
        let found = living.filter {
            $0.cookie.covers(host: place.host, path: place.path, isSecure: place.isSecure)
        }
        return found.sorted { $0.path.utf8.count > $1.path.utf8.count }
    }

    /// Keeps a cookie, in the place of one with its name, domain and path.
    ///
    /// - Parameter cookie: One that has ended removes the other.
    public func setCookie(_ cookie: HTTPCookie) { set([cookie]) }

    /// Removes a cookie.
    ///
    /// - Parameter cookie: By its name, domain and path.
    public func deleteCookie(_ cookie: HTTPCookie) {
        change { kept in kept.removeAll { $0.cookie.replaces(cookie) } }
    }

    /// Removes what was set after a date.
    ///
    /// - Parameter date: Of cookies of an earlier launch the time counts when they were read.
    public func removeCookies(since date: Date) {
        change { kept in kept.removeAll { $0.since > date } }
    }

    /// Keeps cookies of an answer, if ``cookieAcceptPolicy`` lets it. One that came over http does
    /// not replace or remove a secure one.
    ///
    /// - Parameters:
    ///   - cookies: Of one answer.
    ///   - URL: Where it came from; nil: not known.
    ///   - mainDocumentURL: What was asked for; nil: the same.
    public func setCookies(_ cookies: [HTTPCookie], for URL: URL?, mainDocumentURL: URL?) {
        guard cookieAcceptPolicy.accepts(from: URL, askedAs: mainDocumentURL) else { return }
        set(cookies, from: URL)
    }

    // MARK: For sessions

    /// Nil: none goes there. What does not fit is left out.
    func field(for url: URL) -> String? {
        var field = ""
        for cookie in self.cookies(for: url) ?? [] {
            let longer = field.isEmpty ? cookie.pair : "\(field); \(cookie.pair)"
            if longer.utf8.count <= Self.longestField { field = longer }
        }
        return field.isEmpty ? nil : field
    }

    /// Header fields of one answer.
    func keep(_ fields: [String], from url: URL) {
        let now = Self.now
        set(fields.compactMap { HTTPCookie(field: $0, from: url, now: now) }, from: url)
    }

    private var living: [HTTPCookie] {
        let (now, kept) = (Self.now, state.withLock { $0.kept })
        return kept.map(\.cookie).filter { $0.isAlive(at: now) }
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// `url`: where they came from; nil: from the app.
    private func set(_ cookies: [HTTPCookie], from url: URL? = nil) {
        let (now, date) = (Self.now, Date())
        let isOpen = url.flatMap { CookiePlace($0) }.map { !$0.isSecure } ?? false
        change { kept in
            for cookie in cookies {
                // Who is on the way could have written it (RFC 6265bis).
                if isOpen,
                    kept.contains(where: { $0.cookie.replaces(cookie) && $0.isSecure(at: now) })
                {
                    continue
                }
                kept.removeAll { $0.cookie.replaces(cookie) }
                guard cookie.isAlive(at: now) else { continue }
                let domain = cookie.cookie.domain
                if kept.count(where: { $0.cookie.cookie.domain == domain }) >= Self.mostOfDomain,
                    let oldest = kept.firstIndex(where: { $0.cookie.cookie.domain == domain })
                {
                    kept.remove(at: oldest)
                }
                kept.append(Kept(cookie: cookie, since: date))
            }
            kept.removeAll { !$0.cookie.isAlive(at: now) }
            if kept.count > Self.most { kept.removeFirst(kept.count - Self.most) }
        }
    }

    /// Written under the lock, so that the newest is written last.
    private func change(_ body: (inout [Kept]) -> Void) {
        state.withLock { state in
            let before = state.kept.compactMap(\.line)
            body(&state.kept)
            let lines = state.kept.compactMap(\.line)
            if let file, lines != before { Self.write(lines, to: file) }
        }
    }

    private static func write(_ lines: [String], to file: String) {
        do {
            try Files.makeDirectory(Files.directory(of: file), parents: true)
            let text = "# Netscape HTTP Cookie File\n" + lines.joined()
            try Files.replace(file, with: text, permissions: 0o600, synchronized: false)
        } catch {
            LibraryLog.write("cookies could not be kept: \(error)")
        }
    }
}

extension HTTPCookieStorage.Kept {
    fileprivate func isSecure(at now: Int64) -> Bool { cookie.isSecure && cookie.isAlive(at: now) }

    /// In Netscape's format; nil: it is of the session.
    fileprivate var line: String? {
        let stored = cookie.cookie
        guard let expires = stored.expires else { return nil }
        let fields = [
            cookie.domain, stored.coversNamesBelow ? "TRUE" : "FALSE", stored.path,
            stored.isSecure ? "TRUE" : "FALSE", "\(expires)", stored.name, stored.value,
        ]
        return fields.joined(separator: "\t") + "\n"
    }
}

extension HTTPCookie {
    /// They cannot both be kept.
    fileprivate func replaces(_ other: HTTPCookie) -> Bool {
        name == other.name && cookie.domain == other.cookie.domain && path == other.path
    }
}

extension HTTPCookie.AcceptPolicy {
    /// Whether an answer from a URL may set cookies. `asked`: what the app has asked for.
    func accepts(from url: URL?, askedAs asked: URL?) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .onlyFromMainDocumentDomain:
            guard let from = url.flatMap({ CookiePlace($0)?.host }),
                let to = asked.flatMap({ CookiePlace($0)?.host }), from != to
            else { return true }
            guard !from.isAddress, !to.isAddress else { return false }
            return from.hasSuffix("." + to) || to.hasSuffix("." + from)
        }
    }
}
