/// A 64-bit digest that is the same in every process and on every machine (FNV-1a), unlike what
/// `Hasher` gives. Finds changes and repeats; no protection against someone who wants a collision.
package struct Fingerprint: Hashable, Sendable {
    package private(set) var bits: UInt64 = 0xCBF2_9CE4_8422_2325

    private static let prime: UInt64 = 0x100_0000_01B3

    /// Of nothing yet.
    package init() {}

    package init(of bytes: some Sequence<UInt8>) { combine(bytes) }

    package init(of text: String) { combine(text.utf8) }

    /// Of the canonical bytes of `value`.
    package init(of value: Value) { combine(ValueBytes.encode(value)) }

    /// The same for an array, of which no other module makes a copy of its own.
    package mutating func combine(_ bytes: [UInt8]) {
        var bits = bits
        for byte in bytes { bits = (bits ^ UInt64(byte)) &* Self.prime }
        self.bits = bits
    }

    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { bits = (bits ^ UInt64(byte)) &* Self.prime }
    }
}

extension Fingerprint: CustomStringConvertible {
    /// 16 hexadecimal digits.
    package var description: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Fingerprint: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        bits = UInt64(text, radix: 16) ?? 0
        guard description == text else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not 16 hexadecimal digits")
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
