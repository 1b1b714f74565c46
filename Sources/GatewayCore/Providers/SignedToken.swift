import Vocabulary

/// A token (JWT, ES256) as text taken apart; its signature is somebody else's to check.
struct SignedToken {
    var head: Value
    var claims: Value
    /// What the signature is of.
    var signed: [UInt8]
    /// The two numbers of an ES256 signature, 32 bytes each.
    var signature: [UInt8]

    /// No real one is longer.
    static let limit = 2048

    /// Nil for what is no token of this kind.
    init?(_ text: ArraySlice<UInt8>) {
        guard text.count <= Self.limit else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.object(parts[0]),
            let claims = Self.object(parts[1]),
            let signature = Base64.decode(parts[2]), signature.count == 64,
            head["alg"]?.stringValue == "ES256"
        else { return nil }
        (self.head, self.claims, self.signature) = (head, claims, signature)
        signed = Array(text[parts[0].startIndex..<parts[1].endIndex])
    }

    private static func object(_ text: ArraySlice<UInt8>) -> Value? {
        guard let bytes = Base64.decode(text), let value = try? ValueJSON.parse(bytes),
            case .map = value
        else { return nil }
        return value
    }

    /// An instant among the claims, in seconds; a numeric string as well: some clients send it.
    func seconds(_ claim: String) -> Int64? {
        let value = claims[claim]
        if let number = value?.integerValue { return number }
        if let text = value?.stringValue { return Int64(text) }
        if let number = value?.doubleValue { return Int64(exactly: number.rounded(.down)) }
        return nil
    }
}
