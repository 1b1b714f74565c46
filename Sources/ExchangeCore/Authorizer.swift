package import Vocabulary

/// The digest of a text in small hexadecimal digits: who performs an exchange has a library for it.
package typealias DigestFunction = @Sendable (DigestChallenge.Hash, _ text: String) -> String

/// What an exchange shows of its app's answers to challenges: to each origin what was meant for it.
/// For Digest it goes by the last challenge of that origin.
struct Authorizer: Sendable {
    private var known: [Known]
    private let digits: DigestFunction
    /// Requests that were answered, which all later ones count from.
    private var answered = 0

    private struct Known: Hashable, Sendable {
        let origin: Origin
        var answer: Credentials.AnsweredChallenge
        /// This server has named the nonce in this exchange.
        var isFresh = false
    }

    init(_ credentials: Credentials?, _ digits: @escaping DigestFunction) {
        self.digits = digits
        known = (credentials?.answers ?? []).compactMap { answer in
            Origin(answer.url).map { Known(origin: $0, answer: answer) }
        }
    }

    /// Nil: nobody has said who asks there, or the caller has said it.
    func field(method: String, url: String, own: [HTTPField]) -> HTTPField? {
        guard !known.isEmpty, own.value(of: "Authorization") == nil, let origin = Origin(url),
            let answer = known.first(where: { $0.origin == origin })?.answer
        else { return nil }
        guard answer.challenge.knownScheme == .digest else {
            let text = base64(Array("\(answer.user):\(answer.password)".utf8))
            return HTTPField("Authorization", "Basic \(text)")
        }
        guard let digest = answer.challenge.digest else { return nil }
        let target = Self.target(of: url)
        let request = DigestRequest(answer, digest, method: method, target: target, digits)
        let value = request.value(count: answered + 1)
        return HTTPField("Authorization", value)
    }

    /// The server has refused a request with status 401; true: another one may fare better, because
    /// the nonce was not of this server, or is too old.
    mutating func refused(_ fields: [HTTPField], of url: String) -> Bool {
        defer { answered += 1 }
        guard let origin = Origin(url), let index = known.firstIndex(where: { $0.origin == origin })
        else { return false }
        let before = known[index].answer.challenge
        let challenge = HTTPChallenge.all(of: fields).first {
            $0.digest != nil && $0.realm == before.realm
        }
        guard let challenge, let now = challenge.digest, let old = before.digest,
            now.nonce != old.nonce, !known[index].isFresh || now.isStale
        else { return false }
        known[index].answer.challenge = challenge
        known[index].isFresh = true
        return true
    }

    /// An answer that is no refusal: the count of requests must not be used again.
    mutating func wasAnswered() { answered += 1 }

    /// Path and query, as the request names them.
    private static func target(of url: String) -> String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let target = rest.drop { $0 != "/" && $0 != "?" && $0 != "#" }.prefix { $0 != "#" }
        return target.hasPrefix("/") ? String(target) : "/\(target)"
    }
}

/// A request that shows who asks by Digest authentication (RFC 7616 section 3.4).
struct DigestRequest {
    private let answer: Credentials.AnsweredChallenge
    private let challenge: DigestChallenge
    private let method: String
    private let target: String
    private let digits: DigestFunction

    init(
        _ answer: Credentials.AnsweredChallenge,
        _ challenge: DigestChallenge,
        method: String,
        target: String,
        _ digits: @escaping DigestFunction
    ) {
        (self.answer, self.challenge, self.digits) = (answer, challenge, digits)
        (self.method, self.target) = (method, target)
    }

    private func digits(_ text: String) -> String { digits(challenge.hash, text) }

    /// Of the field `Authorization`. `count`: of requests with this nonce.
    func value(count: Int) -> String {
        let text = String(count, radix: 16)
        let number = String(repeating: "0", count: max(0, 8 - text.count)) + text
        // Nobody who does not know the password can foretell it.
        let own = digits("\(answer.password):\(challenge.nonce):\(number):\(target)").prefix(32)
        return value(number: number, own: String(own))
    }

    func value(number: String, own: String) -> String {
        let (realm, nonce) = (challenge.realm, challenge.nonce)
        var secret = digits("\(answer.user):\(realm):\(answer.password)")
        if challenge.isOfSession { secret = digits("\(secret):\(nonce):\(own)") }
        let request = digits("\(method):\(target)")
        var parts = [
            "username=\(Self.quoted(answer.user))", "realm=\(Self.quoted(realm))",
            "nonce=\(Self.quoted(nonce))", "uri=\(Self.quoted(target))",
        ]
        if let algorithm = challenge.algorithm { parts.append("algorithm=\(algorithm)") }
        if let quality = challenge.quality {
            let text = "\(secret):\(nonce):\(number):\(own):\(quality):\(request)"
            parts += [
                "response=\"\(digits(text))\"", "qop=\(quality)", "nc=\(number)",
                "cnonce=\"\(own)\"",
            ]
        } else {
            parts.append("response=\"\(digits("\(secret):\(nonce):\(request)"))\"")
        }
        if let opaque = challenge.opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
        return "\"\(String(escaped))\""
    }
}
