/// One challenge of a server that wants to know who asks (RFC 9110 section 11.6.1).
package struct HTTPChallenge: Hashable, Sendable, Codable {
    /// In small letters.
    package var scheme: String
    /// Their names in small letters.
    package var parameters: [HTTPField] = []

    package init(scheme: String, parameters: [HTTPField] = []) {
        (self.scheme, self.parameters) = (scheme, parameters)
    }

    /// Those of an answer with status 401, in the server's order.
    package static func all(of fields: [HTTPField]) -> [HTTPChallenge] {
        var found: [HTTPChallenge] = []
        for text in fields.values(of: "WWW-Authenticate") {
            var reader = ChallengeReader(text)
            found += reader.challenges()
        }
        return Array(found.prefix(most))
    }

    private static let most = 16

    /// Those that a name and a password may answer.
    package enum Scheme: String, Sendable {
        case basic, digest
    }

    /// Nil: it is another.
    package var knownScheme: Scheme? { Scheme(rawValue: scheme) }

    package var realm: String? { parameters.value(of: "realm") }

    /// A name and a password answer it.
    package var takesLogin: Bool {
        let bytes = parameters.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard bytes <= Credentials.challengeBytes, parameters.allSatisfy(\.isLegal) else {
            return false
        }
        return switch knownScheme {
        case .basic: true
        case .digest: digest != nil
        case nil: false
        }
    }
}

/// What a Digest challenge demands (RFC 7616), as far as it can be answered.
package struct DigestChallenge: Hashable, Sendable {
    package enum Hash: String, Sendable {
        case md5 = "MD5"
        case sha256 = "SHA-256"
    }

    package var realm: String
    package var nonce: String
    package var opaque: String?
    package var hash: Hash
    /// As the server has written it; nil: it has not, and means MD5.
    package var algorithm: String?
    /// The hash of the password is renewed with the nonce.
    package var isOfSession: Bool
    /// Nil: a server of before 1999 has said nothing of it.
    package var quality: String?
    /// The nonce was too old, and the password may be right.
    package var isStale: Bool
}

extension HTTPChallenge {
    /// Nil: it is another challenge, or one for which there is no answer.
    package var digest: DigestChallenge? {
        guard knownScheme == .digest, let realm, let nonce = parameters.value(of: "nonce") else {
            return nil
        }
        let algorithm = parameters.value(of: "algorithm")
        var name = (algorithm ?? "MD5").uppercased()
        let isOfSession = name.hasSuffix("-SESS")
        if isOfSession { name.removeLast("-SESS".count) }
        guard let hash = DigestChallenge.Hash(rawValue: name) else { return nil }
        let qualities = parameters.value(of: "qop")?.split(separator: ",").map {
            $0.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        guard qualities?.contains("auth") ?? !isOfSession else { return nil }
        return DigestChallenge(
            realm: realm,
            nonce: nonce,
            opaque: parameters.value(of: "opaque"),
            hash: hash,
            algorithm: algorithm,
            isOfSession: isOfSession,
            quality: qualities == nil ? nil : "auth",
            isStale: parameters.value(of: "stale")?.lowercased() == "true"
        )
    }
}

/// Reads a list of challenges. What follows a mistake is left out.
private struct ChallengeReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func challenges() -> [HTTPChallenge] {
        var found: [HTTPChallenge] = []
        while true {
            skip { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: ",") }
            let word = take(while: Self.isToken)
            if word.isEmpty { return found }
            skipSpaces()
            if next == UInt8(ascii: "=") {
                guard !found.isEmpty, let value = value() else { return found }
                let parameter = HTTPField(word.lowercased(), value)
                found[found.count - 1].parameters.append(parameter)
            } else {
                found.append(HTTPChallenge(scheme: word.lowercased()))
                skipToken68()
            }
        }
    }

    /// Behind a name: the sign, and a token or a quoted text.
    private mutating func value() -> String? {
        place += 1
        skipSpaces()
        guard next == UInt8(ascii: "\"") else {
            let token = take(while: Self.isToken)
            return token.isEmpty ? nil : token
        }
        place += 1
        var text: [UInt8] = []
        while let byte = next {
            place += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\"), let escaped = next else {
                text.append(byte)
                continue
            }
            text.append(escaped)
            place += 1
        }
        return nil
    }

    /// What a scheme may have in place of parameters.
    private mutating func skipToken68() {
        let start = place
        skip {
            Self.isToken($0) && $0 != UInt8(ascii: "=") || $0 == UInt8(ascii: "/")
                || $0 == UInt8(ascii: "+")
        }
        skip { $0 == UInt8(ascii: "=") }
        skipSpaces()
        if let next, next != UInt8(ascii: ",") { place = start }
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipSpaces() { skip { $0 == 0x20 || $0 == 0x09 } }

    private mutating func skip(while holds: (UInt8) -> Bool) {
        while let next, holds(next) { place += 1 }
    }

    private mutating func take(while holds: (UInt8) -> Bool) -> String {
        let start = place
        skip(while: holds)
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        case _: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
