import Vocabulary

extension Credentials {
    /// Header fields of a request to this URL. `own`: those that the caller has given, which take
    /// precedence. `isForeign`: a redirect has led to another origin, by somebody else's choice.
    func fields(for url: String, own: [HTTPField], isForeign: Bool) -> [HTTPField] {
        guard let origin = Origin(url) else { return [] }
        var fields: [HTTPField] = []
        if own.value(of: "Cookie") == nil, let value = cookieValue(url, origin) {
            fields.append(HTTPField("Cookie", value))
        }
        if own.value(of: "Authorization") == nil, !Self.namesUser(url),
            let login = login(for: origin.host, isForeign: isForeign)
        {
            let text = base64(Array("\(login.user):\(login.password)".utf8))
            fields.append(HTTPField("Authorization", "Basic \(text)"))
        }
        return fields
    }

    /// Nil: none goes there. Those with longer paths go first.
    private func cookieValue(_ url: String, _ origin: Origin) -> String? {
        let path = Self.path(of: url)
        var sent = cookies.filter {
            $0.covers(host: origin.host, path: path, isSecure: origin.isSecure)
        }
        if sent.isEmpty { return nil }
        sent.sort { $0.path.utf8.count > $1.path.utf8.count }
        return sent.map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
            .joined(separator: "; ")
    }

    private func login(for host: String, isForeign: Bool) -> Login? {
        logins.first { $0.host == host } ?? (isForeign ? nil : logins.first { $0.host == nil })
    }

    private static func path(of url: String) -> String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let path = rest.drop { $0 != "/" && $0 != "?" && $0 != "#" }
            .prefix { $0 != "?" && $0 != "#" }
        return path.isEmpty ? "/" : String(path)
    }

    /// `https://user:password@host/`: libcurl says it.
    private static func namesUser(_ url: String) -> Bool {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }.contains("@")
    }
}
