/// An address of IPv6, or one of IPv4 as IPv6 writes it (`::ffff:192.0.2.1`).
package struct IPAddress: Hashable, Sendable {
    /// The first and the last 64 bits.
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Of 4 or of 16 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        func number(_ bytes: some Collection<UInt8>) -> UInt64 {
            bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }
        switch bytes.count {
        case 4: self.init(high: 0, low: Self.mapped | number(bytes))
        case 16: self.init(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8)))
        default: return nil
        }
    }

    package var isIPv4: Bool { high == 0 && low & ~0xFFFF_FFFF == Self.mapped }

    private static let mapped: UInt64 = 0xFFFF_0000_0000
}

/// All addresses that begin with the same bits.
package struct IPNetwork: Hashable, Sendable {
    package let address: IPAddress
    /// Bits of an IPv6 address; an IPv4 network has 96 more than is written behind its `/`.
    package let prefix: Int

    /// `prefix`: from 0 to 128.
    package init(_ address: IPAddress, prefix: Int) {
        (self.address, self.prefix) = (address, min(max(0, prefix), 128))
    }

    package func contains(_ other: IPAddress) -> Bool {
        func mask(_ bits: Int) -> UInt64 {
            bits >= 64 ? .max : ~(UInt64.max >> UInt64(max(0, bits)))
        }
        return (address.high ^ other.high) & mask(prefix) == 0
            && (address.low ^ other.low) & mask(prefix - 64) == 0
    }
}
