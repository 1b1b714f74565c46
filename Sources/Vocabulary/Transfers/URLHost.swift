extension String {
    /// Of a URL: what stands between the scheme and the path, without a port.
    package var urlHost: Substring {
        let rest = firstRange(of: "://").map { self[$0.upperBound...] } ?? self[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.split(separator: "@").last ?? authority
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return host[...end] }
        return host.prefix { $0 != ":" }
    }
}
