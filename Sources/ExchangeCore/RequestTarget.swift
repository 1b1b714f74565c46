import Vocabulary

/// Where requests of an exchange go, from one redirect to the next.
struct RequestTarget: Hashable, Sendable {
    private(set) var url: String
    private var redirects = 0
    /// A redirect led to another origin. What was meant for the first one is not told from then on,
    /// also if another redirect leads back: somebody else chose the path.
    private(set) var isForeign = false

    static let mostRedirects = 20
    static let longestURL = ExchangeOrder.longestURL

    init(_ url: String) { self.url = url }

    /// A redirect to this URL, which is absolute.
    mutating func follow(_ target: String) throws(ExchangeFailure) {
        let target = Self.encoded(target)
        guard !target.isEmpty else {
            throw ExchangeFailure(
                .badRedirect,
                reason: "the server redirected, but its Location is empty or no URL"
            )
        }
        guard target.utf8.count <= Self.longestURL else {
            throw ExchangeFailure(
                .badRedirect,
                reason: "redirected to a URL of more than \(Self.longestURL) bytes"
            )
        }
        guard let from = Origin(url), let origin = Origin(target) else {
            throw ExchangeFailure(
                .badRedirect,
                reason: "redirected to a URL that is not http or https: \(target)"
            )
        }
        guard !from.isSecure || origin.isSecure else {
            throw ExchangeFailure(.badRedirect, reason: "redirected from https to http")
        }
        redirects += 1
        guard redirects <= Self.mostRedirects else {
            throw ExchangeFailure(
                .tooManyRedirects,
                reason: "more than \(Self.mostRedirects) redirects"
            )
        }
        if origin != from { isForeign = true }
        url = target
    }

    /// What a `Location` field names; nil: nothing that may be asked from here.
    func resolve(_ reference: String) -> String? {
        guard let text = absolute(Self.encoded(reference)), text.utf8.count <= Self.longestURL,
            let from = Origin(url), let origin = Origin(text),
            !from.isSecure || origin.isSecure
        else { return nil }
        return text
    }

    /// By RFC 3986 section 5.2. Dot segments are left to libcurl, which takes them out.
    private func absolute(_ reference: String) -> String? {
        guard let start = url.firstRange(of: "://")?.upperBound, !reference.isEmpty else {
            return nil
        }
        let reference = reference.prefix { $0 != "#" }
        let scheme = reference.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        if scheme.count < reference.count, reference.dropFirst(scheme.count).first == ":" {
            return String(reference)
        }
        if reference.hasPrefix("//") { return "\(url[..<start].dropLast(2))\(reference)" }
        let path = url[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? url.endIndex
        if reference.hasPrefix("/") { return "\(url[..<path])\(reference)" }
        let whole = url[path...].prefix { $0 != "?" && $0 != "#" }
        if reference.hasPrefix("?") { return "\(url[..<path])\(whole)\(reference)" }
        let directory = whole.lastIndex(of: "/").map { whole[...$0] } ?? "/"
        return "\(url[..<path])\(directory)\(reference)"
    }

    /// With percent signs for what may stand in no URL, but is sent by servers.
    private static func encoded(_ url: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in url.utf8 {
            if (0x21...0x7e).contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ExchangeFailure {
    /// The server's answer is final.
    static func reason(ofStatus status: Int) -> String {
        switch status {
        case 401:
            "the server answered 401: it wants a name and a password (--netrc, or --header "
                + "'Authorization: …')"
        case 407:
            "the proxy answered 407: it wants a name and a password (--proxy "
                + "http://NAME:PASSWORD@HOST:PORT)"
        default: "the server answered \(status)"
        }
    }

    /// Without control characters, and not longer than a person reads.
    var plain: ExchangeFailure {
        let words = reason.unicodeScalars.prefix(300).map { $0.value < 0x20 ? " " : $0 }
        return ExchangeFailure(code, reason: String(String.UnicodeScalarView(words)))
    }
}

/// Statuses after which another try may help.
enum BusyStatus {
    private static let all = [408, 425, 429, 500, 502, 503, 504, 522, 524]
    /// The request was refused before anything was done for it.
    private static let untouched = [408, 425, 429, 503]

    static func contains(_ status: Int) -> Bool { all.contains(status) }
    static func isUntouched(_ status: Int) -> Bool { untouched.contains(status) }

    static func interruption(_ head: Exchange.Head) -> ExchangeEnd.Interruption {
        let wait = head.fields.value(of: "Retry-After").flatMap {
            RetryAfter.wait($0, date: head.fields.value(of: "Date"))
        }
        let isBusy = head.status < 500 || head.status == 503
        let reason = "the server \(isBusy ? "is busy" : "failed") (status \(head.status))"
        return .init(.busy, reason: reason, retryAfter: wait)
    }
}
