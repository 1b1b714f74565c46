/// One cookie of a file, as browsers and curl(1) write them.
package struct Cookie: Hashable, Sendable, Codable {
    /// In small letters, without a dot in front.
    package var domain: String
    /// It goes to names below the domain as well.
    package var coversNamesBelow: Bool
    package var path: String
    /// Over https only.
    package var isSecure: Bool
    /// Seconds since 1970; nil: it is of a session, which nobody ends here.
    package var expires: Int64?
    package var name: String
    package var value: String

    package init(domain: String, path: String = "/", name: String, value: String) {
        (self.domain, self.path, self.name, self.value) = (domain, path, name, value)
        (coversNamesBelow, isSecure) = (false, false)
    }

    /// Whether it goes with a request (RFC 6265 section 5.4). `path`: of the URL, without a query.
    package func covers(host: String, path: String, isSecure: Bool) -> Bool {
        guard isSecure || !self.isSecure else { return false }
        let isBelow = coversNamesBelow && !host.isAddress && host.hasSuffix("." + domain)
        guard host == domain || isBelow else { return false }
        guard path.hasPrefix(self.path) else { return false }
        return path.utf8.count == self.path.utf8.count || self.path.hasSuffix("/")
            || path.dropFirst(self.path.count).hasPrefix("/")
    }

    /// All cookies of a file in Netscape's format: seven fields on each line, with tabs in between.
    /// Those that no server would take are left out.
    package static func parse(_ text: String) throws(CredentialError) -> [Cookie] {
        var cookies: [Cookie] = []
        var number = 0
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            number += 1
            let hidden = "#HttpOnly_"
            let line = line.hasPrefix(hidden) ? line.dropFirst(hidden.count) : line
            if line.hasPrefix("#") || line.allSatisfy(\.isWhitespace) { continue }
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 7 || fields.count == 6, let cookie = Cookie(fields) else {
                throw CredentialError("line \(number) is no cookie in Netscape's format")
            }
            if cookie.isPlain { cookies.append(cookie) }
        }
        return cookies
    }

    private init?(_ fields: [Substring]) {
        let domain = fields[0].drop { $0 == "." }
        guard !domain.isEmpty, fields[2].hasPrefix("/"), let expires = Int64(fields[4]) else {
            return nil
        }
        guard let below = Self.flag(fields[1]), let secure = Self.flag(fields[3]) else {
            return nil
        }
        self.init(
            domain: domain.lowercased(),
            path: String(fields[2]),
            name: String(fields[5]),
            value: fields.count > 6 ? String(fields[6]) : ""
        )
        (coversNamesBelow, isSecure) = (below, secure)
        self.expires = expires > 0 ? expires : nil
    }

    private static func flag(_ text: Substring) -> Bool? {
        switch text.uppercased() {
        case "TRUE": true
        case "FALSE": false
        case _: nil
        }
    }

    /// It fits into a header field, and is one cookie there.
    package var isPlain: Bool {
        !name.contains("=")
            && (name + value).utf8.allSatisfy {
                $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: ";")
            }
    }
}
