import Vocabulary

extension TransferOrder {
    /// In bytes.
    static let longestURL = ExchangeOrder.longestURL
    static let longestHeaders = 32_768
    static let mostHeaders = 128

    /// Refuses what no server and no file system would take.
    func check() throws(Refusal) {
        try checkURL()
        try checkHeaders()
        guard directory.hasPrefix("/"), !directory.contains("\0") else {
            throw invalid("the directory is not an absolute path", directory, "give its whole path")
        }
        if let name {
            let bytes = name.utf8.count
            guard (1...255).contains(bytes), name != ".", name != "..", !name.contains("/"),
                !name.contains("\0")
            else { throw invalid("no file can have this name", name, "give another with -o") }
        }
        if case .upload(let request) = direction {
            guard name != nil, request.isValid else {
                throw invalid("an upload needs a file", directory, "name one")
            }
        }
        guard sha256?.count ?? 32 == 32 else {
            throw invalid("a SHA-256 has 32 bytes", "", "give 64 hexadecimal digits")
        }
        for path in credentials?.paths ?? [] where !path.hasPrefix("/") || path.contains("\0") {
            throw invalid("the path is not absolute", path, "give its whole path")
        }
        if let proxy, !proxy.isEmpty, !Self.isProxy(proxy) {
            throw invalid("this is no proxy", proxy, "write it as http://HOST:PORT")
        }
        guard (0..<Int64(ExchangeOrder.mostConnections)).contains(moreConnections),
            moreConnections == 0 || !direction.isUpload
        else {
            throw invalid(
                "a file is fetched over 1 to \(ExchangeOrder.mostConnections) connections",
                "\(moreConnections.saturatingAdd(1))",
                "give another number"
            )
        }
        // Whoever owns the file reads and writes it, and nobody executes it.
        guard permissions == 0 || permissions & ~0o066 == 0o600 else {
            throw invalid(
                "a file cannot have these permissions",
                String(permissions, radix: 8),
                "give 600 to 666, in octal digits, without any to execute"
            )
        }
        guard timeout > .zero, resourceTimeout > .zero, rateLimit ?? 1 > 0 else {
            throw invalid("a limit must be above zero", "", "leave it out for none")
        }
    }

    /// A URL that libcurl takes for one.
    static func isProxy(_ text: String) -> Bool {
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        let isPlain = text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        guard isPlain, text.utf8.count <= 2048 else { return false }
        guard let colon = text.firstRange(of: "://") else { return false }
        return schemes.contains(text[..<colon.lowerBound].lowercased())
            && colon.upperBound < text.endIndex
    }

    private func checkURL() throws(Refusal) {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard url.contains("://") else {
            let reason = "the URL does not begin with https:// or http://"
            throw invalid(reason, url, "begin it with one of them")
        }
        guard scheme == "http" || scheme == "https" else {
            throw invalid("only http and https are supported", url, "give another URL")
        }
        guard url.dropFirst(scheme.count).hasPrefix("://"), !host.isEmpty else {
            throw invalid("the URL names no host", url, "write it as https://HOST/PATH")
        }
        let isPlain = url.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        guard isPlain, url.utf8.count <= Self.longestURL else {
            throw invalid(
                "a URL has at most \(Self.longestURL) bytes, and no spaces or letters beyond ASCII",
                String(url.prefix(80)),
                "write those with percent signs (%20)"
            )
        }
        try checkAddress()
    }

    /// What libcurl would take for no host and no port, attempt after attempt.
    private func checkAddress() throws(Refusal) {
        let shown = String(url.prefix(80))
        if host.hasPrefix("[") {
            guard host.hasSuffix("]") else {
                let reason = "the host of the URL has no closing bracket"
                throw invalid(reason, shown, "write an IPv6 address as http://[::1]/PATH")
            }
            let address = host.dropFirst().prefix { $0 != "%" && $0 != "]" }
            let isAddress = address.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            guard isAddress, address.contains(":") else {
                let reason = "the host of the URL is no IPv6 address"
                throw invalid(reason, shown, "write only such an address in brackets")
            }
        } else if host.contains(where: { "[]{}<>\\^`\"".contains($0) }) {
            throw invalid("the URL names no possible host", shown, "write it as https://HOST/PATH")
        }
        let port = url.urlPort.dropFirst()
        let isPort = port.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard url.urlPort.isEmpty || url.urlPort.hasPrefix(":"), isPort,
            port.isEmpty || (1...65_535).contains(Int(port) ?? 0)
        else {
            let reason = "the port of the URL is not a number from 1 to 65535"
            throw invalid(reason, shown, "write it as https://HOST:PORT/PATH")
        }
    }

    private func checkHeaders() throws(Refusal) {
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard headers.count <= Self.mostHeaders, bytes <= Self.longestHeaders else {
            throw invalid("there are too many headers", "\(bytes) bytes", "send fewer")
        }
        for header in headers {
            guard header.isLegal else {
                throw invalid("this is no HTTP header", header.name, "write it as NAME: VALUE")
            }
            let name = header.name.lowercased()
            guard !Self.reserved.contains(name), !name.hasPrefix("upload-") else {
                throw invalid("this header is Offstage's own", header.name, "leave it out")
            }
        }
    }

    /// What the exchange itself decides.
    private static let reserved = [
        "accept-encoding", "connection", "content-length", "expect", "host", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive",
        "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    private func invalid(_ reason: String, _ value: String, _ fix: String) -> Refusal {
        Refusal(.invalid, reason: reason, value: value, fix: fix)
    }
}
