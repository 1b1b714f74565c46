internal import Vocabulary

/// The way to the network, as the daemon knows it. Without one it is taken to be there.
public struct NWPath: Hashable, Sendable, CustomDebugStringConvertible {
    /// Whether there is a network.
    public enum Status: Sendable {
        /// There is one.
        case satisfied
        /// There is none.
        case unsatisfied
        /// There is one, and a sign-in page is in the way.
        case requiresConnection
    }

    /// Why there is no network.
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
    /// The interfaces that lead there, the preferred first. The kernel says which.
    public let availableInterfaces: [NWInterface]
    /// The network is metered.
    public let isExpensive: Bool
    /// Always false: there is no Low Data Mode.
    public var isConstrained: Bool { false }

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
        let expensive = isExpensive ? ", expensive" : ""
        let names = availableInterfaces.map(\.name).joined(separator: ", ")
        return "\(status)\(names.isEmpty ? "" : " (\(names))")\(expensive)"
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
        let isUsable = !isLimited || !usable.isEmpty
        switch conditions.network?.known {
        case .on where isUsable, nil where isUsable: status = .satisfied
        case .portal where isUsable: status = .requiresConnection
        case .on, .off, .portal, nil: status = .unsatisfied
        }
        availableInterfaces = status == .unsatisfied ? [] : usable
        isExpensive = status != .unsatisfied && conditions.metered ?? false
    }
}
