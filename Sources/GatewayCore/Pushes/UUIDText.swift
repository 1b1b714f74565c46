import Vocabulary

/// A UUID in the only form that the interface takes: 8-4-4-4-12 lowercase hexadecimal digits.
package struct PushUUID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Nil for anything but the canonical form. Capitals are taken, since some libraries send them.
    package init?(_ text: some Collection<UInt8>) {
        guard text.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for (index, character) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard character == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Hexadecimal.digit(character) else { return nil }
            if digits < 16 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
            digits += 1
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// Characters of the text.
    package static let length = 36

    package var utf8: [UInt8] {
        var text = [UInt8](repeating: UInt8(ascii: "-"), count: Self.length)
        write(over: &text, at: 0)
        return text
    }

    /// Writes it over the `length` bytes from `offset` on.
    package func write(over text: inout [UInt8], at offset: Int) {
        let (first, second) = (Self.digits(high >> 32), Self.digits(high & 0xFFFF_FFFF))
        let (third, fourth) = (Self.digits(low >> 32), Self.digits(low & 0xFFFF_FFFF))
        var span = text.mutableSpan
        var bytes = unsafe span.mutableBytes
        bytes.storeBytes(of: first.bigEndian, toByteOffset: offset, as: UInt64.self)
        // Four digits and the dash in front of them, four times.
        for index in 0..<4 {
            let half = index < 2 ? second : third
            let digits = UInt32(truncatingIfNeeded: index & 1 == 0 ? half >> 32 : half)
            let start = offset + 8 + 5 * index
            bytes.storeBytes(of: UInt8(ascii: "-"), toByteOffset: start, as: UInt8.self)
            bytes.storeBytes(of: digits.bigEndian, toByteOffset: start + 1, as: UInt32.self)
        }
        bytes.storeBytes(of: fourth.bigEndian, toByteOffset: offset + 28, as: UInt64.self)
    }

    /// The eight digits of 32 bits, the first in the highest byte: all at once, since two of these
    /// are written for each push.
    private static func digits(_ number: UInt64) -> UInt64 {
        var nibbles = number
        nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 in each byte that holds a letter.
        let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return nibbles + 0x3030_3030_3030_3030
            + letters * UInt64(UInt8(ascii: "a") - UInt8(ascii: "9") - 1)
    }
}

extension PushUUID: CustomStringConvertible {
    package var description: String { String(decoding: utf8, as: UTF8.self) }
}

extension PushUUID {
    private static let gatewayMask: UInt64 = (1 << 58) - 1

    /// `apns-unique-id` of a push: its number, and which gateway counted (58 bits of `gateway`).
    package init(number: PushNumber, gateway: UInt64) {
        let count = number.number
        self.init(
            high: (count >> 16) << 16 | 0x8000 | (count >> 4) & 0xFFF,
            low: 1 << 63 | (count & 0xF) << 58 | gateway & Self.gatewayMask
        )
    }

    /// The number in a unique id that `gateway` gave out; nil for any other UUID.
    package func number(gateway: UInt64) -> PushNumber? {
        guard (high >> 12) & 0xF == 8, low >> 62 == 2,
            low & Self.gatewayMask == gateway & Self.gatewayMask
        else { return nil }
        return PushNumber((high >> 16) << 16 | (high & 0xFFF) << 4 | (low >> 58) & 0xF)
    }
}
