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
        for (place, character) in text.enumerated() {
            if place == 8 || place == 13 || place == 18 || place == 23 {
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

    package var utf8: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 {
                text.append(UInt8(ascii: "-"))
            }
            let half = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (index & 15))) & 15
            text.append(digit < 10 ? digit + UInt8(ascii: "0") : digit + UInt8(ascii: "a") - 10)
        }
        return text
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
