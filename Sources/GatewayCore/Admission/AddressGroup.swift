package import Vocabulary

/// Whoever is counted together: one IPv4 address, or the /64 of an IPv6 address, which one host may
/// use as it likes.
package struct AddressGroup: Hashable, Sendable {
    private let number: UInt64

    package init(_ address: IPAddress) {
        // No IPv6 address of a host begins with so many ones.
        number = address.isIPv4 ? 0xFFFF_FFFF << 32 | address.low & 0xFFFF_FFFF : address.high
    }
}
