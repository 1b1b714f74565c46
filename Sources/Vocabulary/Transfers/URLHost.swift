extension String {
    /// Of a URL: what stands between the scheme and the path, without a port, in small letters.
    package var urlHost: Substring {
        let host = urlHostAsWritten
        let isSmall = host.utf8.allSatisfy { !(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0) }
        return isSmall ? host : host.lowercased()[...]
    }

    /// The same URL with its scheme in small letters.
    package var withSmallScheme: String {
        let scheme = self[..<(utf8.firstIndex(of: UInt8(ascii: ":")) ?? endIndex)]
        let small = scheme.lowercased()
        return small == scheme ? self : small + self[scheme.endIndex...]
    }

    /// What is between the host and the path: a port behind a colon, or nothing.
    package var urlPort: Substring { Substring(urlAddress[urlHostAsWritten.endIndex...]) }

    /// The host and its port.
    private var urlAddress: Substring.UTF8View {
        let authority = urlAuthority
        return authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() }
            ?? authority
    }

    /// The same, and who asks.
    private var urlAuthority: Substring.UTF8View {
        urlWithoutScheme.prefix { byte in
            byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
        }
    }

    private var urlHostAsWritten: Substring {
        let host = urlAddress
        if host.first == UInt8(ascii: "["), let end = host.firstIndex(of: UInt8(ascii: "]")) {
            return Substring(host[...end])
        }
        return Substring(host.prefix { $0 != UInt8(ascii: ":") })
    }

    /// The same URL for people and reports: a password before its host is hidden.
    package var withoutPassword: String {
        guard let at = urlAuthority.lastIndex(of: UInt8(ascii: "@")),
            let colon = urlAuthority[..<at].firstIndex(of: UInt8(ascii: ":"))
        else { return self }
        return "\(self[...colon])***\(self[at...])"
    }

    /// What is behind its `://`, or all of it.
    package var urlWithoutScheme: Substring.UTF8View {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")) else { return self[...].utf8 }
        let rest = utf8[colon...]
        return rest.starts(with: "://".utf8) ? rest.dropFirst(3) : self[...].utf8
    }
}
