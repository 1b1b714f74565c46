internal import Vocabulary

/// The way to the network, as the daemon knows it, or knew it when it was there last. Where nobody
/// has said, an interface with a default route is taken to lead there.
public struct NWPath: Hashable, Sendable, CustomDebugStringConvertible {
    /// Whether there is a network.
    public enum Status: Sendable {
        /// There is one.
        case satisfied
        /// There is none.
        case unsatisfied
        /// There is one, and a sign-in page is in the way.
        // Elsewhere it means that a try may bring up the way, as with a tunnel. It is the nearest:
        // an app that waits for `satisfied` waits, and one that tries may see its user sign in.
        case requiresConnection
    }

    /// Why there is no network. Code that tells all reasons apart compiles; only the first occurs.
    public enum UnsatisfiedReason: Sendable {
        /// There is one, or nobody says why not.
        case notAvailable
        /// The user does not allow it over the modem.
        case cellularDenied
        /// The user does not allow it over Wi-Fi.
        case wifiDenied
        /// The user does not allow it in the local network.
        case localNetworkDenied
        /// The tunnel that it needs is not there.
        case vpnInactive
    }

    /// Whether there is a network.
    public let status: Status
    /// Always ``UnsatisfiedReason/notAvailable``: nothing on the device keeps a reason.
    public var unsatisfiedReason: UnsatisfiedReason { .notAvailable }
    /// The interfaces that lead there, the preferred first. The kernel says which when the path is
    /// made; that they have changed is no news by itself.
    public let availableInterfaces: [NWInterface]
    /// The network is metered.
    public let isExpensive: Bool
    /// The user has turned on low-data mode (`offstage set low-data on`).
    public let isConstrained: Bool

    /// Whether one of ``availableInterfaces`` is of a type.
    ///
    /// - Parameter type: The type.
    /// - Returns: False also where the type of the interface is not known: then it is
    ///   ``NWInterface/InterfaceType/other``.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        availableInterfaces.contains { $0.type == type }
    }

    /// In words, for logs.
    public var debugDescription: String {
        let cost = (isExpensive ? ", expensive" : "") + (isConstrained ? ", constrained" : "")
        let names = availableInterfaces.map(\.name).joined(separator: ", ")
        return "\(status)\(names.isEmpty ? "" : " (\(names))")\(cost)"
    }

    /// `required`: only such interfaces count; nil: all. `prohibited`: these do not.
    init(
        _ conditions: DeviceConditions,
        interfaces: [NWInterface],
        required: NWInterface.InterfaceType? = nil,
        prohibited: [NWInterface.InterfaceType] = []
    ) {
        let usable = interfaces.filter { interface in
            (required ?? interface.type) == interface.type && !prohibited.contains(interface.type)
        }
        let isLimited = required != nil || !prohibited.isEmpty
        let hasRoute = !usable.isEmpty
        // Of all interfaces the daemon knows more than the routes say: there are tunnels without.
        let isUsable = !isLimited || hasRoute
        switch conditions.network?.known {
        case .on where isUsable, nil where hasRoute: status = .satisfied
        case .portal where isUsable: status = .requiresConnection
        case .on, .off, .portal, nil: status = .unsatisfied
        }
        availableInterfaces = status == .unsatisfied ? [] : usable
        isExpensive = status != .unsatisfied && conditions.metered ?? false
        isConstrained = status != .unsatisfied && conditions.lowData ?? false
    }
}
