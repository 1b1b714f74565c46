internal import GatewayCore
package import Vocabulary

/// Which addresses are counted, and which of them speak for others.
package struct AddressPolicy: Equatable, Sendable {
    /// Have no limits of their own: this machine, and what the operator adds.
    package var exempt: [IPNetwork] = AddressPolicy.loopback
    /// Load balancers, which say first for whom a connection is.
    package var proxies: [IPNetwork] = []

    package static let loopback = [
        IPNetwork(IPAddress(high: 0, low: 0xFFFF_7F00_0000), prefix: 104),
        IPNetwork(IPAddress(high: 0, low: 1), prefix: 128),
    ]

    package init() {}

    /// Nil: exempt.
    func group(of address: IPAddress) -> AddressGroup? {
        exempt.contains { $0.contains(address) } ? nil : AddressGroup(address)
    }

    func isProxy(_ address: IPAddress) -> Bool { proxies.contains { $0.contains(address) } }
}
