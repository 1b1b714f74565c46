import Linux

extension FaultServer {
    /// Wants to know who asks, before it does anything else.
    package struct Guard: Sendable {
        package enum Scheme: Sendable {
            /// The secret is what stands in the header field.
            case basic
            /// With MD5, and a nonce that is good for so many requests.
            case digest(requests: Int)
            /// In the header field `Token`.
            case token
        }

        package var scheme: Scheme
        package var user = "me"
        /// Or the token.
        package var secret: String
        /// Requests that it has let in, by nonce.
        fileprivate var nonces: [String: Int] = [:]
        fileprivate var lastNonce = 0

        package init(_ scheme: Scheme, _ secret: String) {
            (self.scheme, self.secret) = (scheme, secret)
        }
    }
}

extension FaultServer.Guard {
    /// The header fields of the refusal; nil: the request may pass.
    mutating func refusal(of request: FaultServer.Request) -> String? {
        let said = request.fields["authorization"] ?? ""
        switch scheme {
        case .token:
            return request.fields["token"] == secret ? nil : ""
        case .basic:
            return said == "Basic \(secret)" ? nil : "WWW-Authenticate: Basic realm=\"files\"\r\n"
        case .digest(let requests):
            let parts = Self.parts(of: said)
            let isRight = isRight(parts, request.method)
            if isRight, let nonce = parts["nonce"], let passed = nonces[nonce], passed < requests {
                nonces[nonce] = passed + 1
                return nil
            }
            lastNonce += 1
            nonces["n\(lastNonce)"] = 0
            let stale = isRight ? ", stale=true" : ""
            return "WWW-Authenticate: Digest realm=\"files\", qop=\"auth\", "
                + "nonce=\"n\(lastNonce)\", opaque=\"o\"\(stale)\r\n"
        }
    }

    /// By another implementation than the one that is tested.
    private func isRight(_ parts: [String: String], _ method: String) -> Bool {
        guard let nonce = parts["nonce"], let target = parts["uri"], let number = parts["nc"],
            let own = parts["cnonce"], let response = parts["response"],
            parts["username"] == user, parts["realm"] == "files", parts["opaque"] == "o",
            let first = Self.md5("\(user):files:\(secret)"),
            let second = Self.md5("\(method):\(target)")
        else { return false }
        return response == Self.md5("\(first):\(nonce):\(number):\(own):auth:\(second)")
    }

    private static func md5(_ text: String) -> String? {
        let folder = ScratchDirectory()
        guard let path = try? folder.write("text", text),
            let said = try? Command("md5sum", path).run(), said.succeeded
        else { return nil }
        return String(said.output.prefix(32))
    }

    private static func parts(of field: String) -> [String: String] {
        guard field.hasPrefix("Digest ") else { return [:] }
        var parts: [String: String] = [:]
        for part in field.dropFirst("Digest ".count).split(separator: ", ") {
            guard let sign = part.firstIndex(of: "=") else { continue }
            let value = part[part.index(after: sign)...].filter { $0 != "\"" }
            parts[String(part[..<sign])] = value
        }
        return parts
    }
}
