/// Scheme, host and port of a URL: what may be told to one may not be told to another.
package struct Origin: Hashable, Sendable {
    package let isSecure: Bool
    /// In small letters.
    package let host: String
    package let port: String

    /// Nil: not http or https, or no host.
    package init?(_ url: String) {
        let scheme = url.prefix { $0 != ":" }
        let lower = scheme.lowercased()
        guard lower == "http" || lower == "https",
            url.dropFirst(scheme.count).hasPrefix("://")
        else { return nil }
        isSecure = lower == "https"
        let rest = url.dropFirst(scheme.count + 3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != "\\" }
        let place =
            authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] }
            ?? authority
        let bracket = place.lastIndex(of: "]") ?? place.startIndex
        let colon = place[bracket...].lastIndex(of: ":")
        host = place[..<(colon ?? place.endIndex)].lowercased()
        let given = colon.map { place[place.index(after: $0)...] } ?? ""
        port = given.isEmpty ? isSecure ? "443" : "80" : String(given)
        guard !host.isEmpty else { return nil }
    }

    /// Of its root.
    package var url: String { "\(isSecure ? "https" : "http")://\(host):\(port)/" }
}
