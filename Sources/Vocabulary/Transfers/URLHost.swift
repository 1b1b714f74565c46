extension String {
    /// Of a URL: what stands between the scheme and the path, without a port, in small letters.
    package var urlHost: Substring {
        let host = urlHostAsWritten
        let isSmall = host.utf8.allSatisfy { !(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0) }
        return isSmall ? host : host.lowercased()[...]
    }

    /// The same URL with its scheme in small letters.
    package var withSmallScheme: String {
        let scheme = prefix { $0 != ":" }
        let small = scheme.lowercased()
        return small == scheme ? self : small + dropFirst(scheme.count)
    }

    private var urlHostAsWritten: Substring {
        let rest = firstRange(of: "://").map { self[$0.upperBound...] } ?? self[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.split(separator: "@").last ?? authority
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return host[...end] }
        return host.prefix { $0 != ":" }
    }
}
