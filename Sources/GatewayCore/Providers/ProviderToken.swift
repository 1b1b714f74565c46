import Vocabulary

/// A provider's token (JWT, ES256) as text taken apart; its signature is somebody else's to check.
package struct ProviderToken: Equatable, Sendable {
    package var keyID: String
    package var teamID: String
    /// Seconds since 1970.
    package var issuedAt: Int64
    /// What the signature is of.
    package var signed: [UInt8]
    /// The two numbers of an ES256 signature, 32 bytes each.
    package var signature: [UInt8]

    /// Nil for what is no token of this kind.
    package init?(_ text: ArraySlice<UInt8>) {
        guard let token = SignedToken(text), let key = token.head["kid"]?.stringValue,
            let team = token.claims["iss"]?.stringValue, let issued = token.seconds("iat"),
            !key.isEmpty, !team.isEmpty
        else { return nil }
        (keyID, teamID, issuedAt) = (key, team, issued)
        (signed, signature) = (token.signed, token.signature)
    }

    /// The token in an `authorization` field: after `bearer`, in any case.
    package static func bearer(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let word = "bearer ".utf8
        guard field.count > word.count,
            zip(field, word).allSatisfy({ $0 | 0x20 == $1 })
        else { return nil }
        return field.dropFirst(word.count).drop { $0 == 0x20 }
    }
}

/// Base64 of either alphabet, with or without padding.
package enum Base64 {
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        var padding = 0
        for character in text {
            if character == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let digit = digit(character) else { return nil }
            bits = bits << 6 | UInt32(digit)
            count += 1
            if count & 3 == 0 {
                bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
                bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
                bytes.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        switch (count & 3, padding) {
        case (0, 0): break
        case (2, 0), (2, 2): bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
        case (3, 0), (3, 1):
            bytes.append(UInt8(truncatingIfNeeded: bits >> 10))
            bytes.append(UInt8(truncatingIfNeeded: bits >> 2))
        default: return nil
        }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// With the alphabet of URLs and without padding, as tokens have it.
    package static func urlText(_ bytes: [UInt8]) -> String { encode(bytes, "-_") }

    /// With the older alphabet and padding.
    package static func text(_ bytes: [UInt8]) -> String {
        let text = encode(bytes, "+/")
        return text + String(repeating: "=", count: -text.utf8.count & 3)
    }

    /// `last`: the two characters in which the alphabets differ.
    private static func encode(_ bytes: [UInt8], _ last: String) -> String {
        let alphabet = Array(
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8
        )
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - group.count))
            for index in 0...group.count {
                text.append(alphabet[Int(bits >> UInt32(18 - 6 * index)) & 0x3F])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
