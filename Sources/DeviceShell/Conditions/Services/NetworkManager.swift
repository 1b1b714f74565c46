internal import DeviceCore
internal import Vocabulary

extension ServiceRow {
    /// The network (https://networkmanager.dev/docs/api/latest/spec.html).
    static let networkManager = ServiceRow(
        source: .networkManager,
        name: "org.freedesktop.NetworkManager",
        conditions: [.network, .metered],
        objects: { _, _ in [NetworkManager.service] },
        read: { NetworkManager.read($0, hasRoute: $1.hasRoute) },
        remark: { NetworkManager.remark($0, $1) }
    )
}

enum NetworkManager {
    static let service = ServiceObject(
        path: "/org/freedesktop/NetworkManager",
        interface: "org.freedesktop.NetworkManager"
    )

    /// NMState and NMConnectivityState, as far as they matter.
    private enum State {
        static let disconnected: Int64 = 20
        static let connectedGlobally: Int64 = 70
    }
    private enum Connectivity: Int64 { case unknown, none, portal, limited, full }
    private enum Metered: Int64 { case unknown, yes, no, guessYes, guessNo }

    /// Where NetworkManager does not ask a server of the Internet if it is reached, "on" means
    /// connected, and no more.
    static func remark(_ objects: ServiceObjects, _ condition: Condition) -> String? {
        let validates = objects.value("ConnectivityCheckEnabled", of: service)?.boolValue
        guard condition == .network, validates == false else { return nil }
        return "not validated: NetworkManager's connectivity check is off"
    }

    static func read(_ objects: ServiceObjects, hasRoute: Bool?) -> [Condition: Reading] {
        guard let state = objects.value("State", of: service)?.integerValue else { return [:] }
        // It may run and have no device to manage, where others bring the network up.
        if state <= State.disconnected, hasRoute == true { return [:] }
        var readings: [Condition: Reading] = [:]
        let known = objects.value("Connectivity", of: service)?.integerValue
        switch known.flatMap(Connectivity.init(rawValue:)) ?? .unknown {
        case .full: readings[.network] = .value(2)
        case .portal: readings[.network] = .value(1)
        case .none, .limited: readings[.network] = .value(0)
        // Not validated counts as on.
        case .unknown: readings[.network] = .value(state >= State.connectedGlobally ? 2 : 0)
        }
        let metered = objects.value("Metered", of: service)?.integerValue
        switch metered.flatMap(Metered.init(rawValue:)) ?? .unknown {
        case .yes, .guessYes: readings[.metered] = .value(1)
        case .no, .guessNo: readings[.metered] = .value(0)
        case .unknown: break
        }
        return readings
    }
}
