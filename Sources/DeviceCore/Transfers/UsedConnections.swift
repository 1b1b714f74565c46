import Vocabulary

/// What counts against the limits of connections.
struct RunningTransfer: Hashable, Sendable, Codable {
    let id: TransferID
    let app: Int
    let host: String
    /// Beside the first.
    @OmittedIfDefault var moreConnections: Int64 = 0

    var connections: Int64 { 1 + moreConnections }

    init(id: TransferID, app: Int, host: String) {
        (self.id, self.app, self.host) = (id, app, host)
    }
}

/// The connections of transfers that run, held against the limits. What was begun ahead of a free
/// connection has none: it waits in the network process, and takes no other host's.
struct UsedConnections {
    private(set) var all: Int64 = 0
    /// Of each app, with those that it waits for.
    private(set) var apps: [Int: Int64] = [:]
    /// By host, with those that are waited for.
    private var hosts: [String: Int64] = [:]
    private let perHost: Int64
    private let slots: Int64

    init(_ running: [RunningTransfer], _ settings: Shared<Settings>) {
        (perHost, slots) = (settings.transfersPerHost, settings.transferSlots)
        for transfer in running {
            let before = self[transfer.host]
            hosts[transfer.host, default: 0] += transfer.connections
            all += self[transfer.host] - before
            apps[transfer.app, default: 0] += transfer.connections
        }
    }

    /// To a host.
    subscript(host: String) -> Int64 {
        min(hosts[host, default: 0], perHost)
    }

    /// How many more a host may have now.
    func room(for host: String) -> Int64 {
        min(perHost - self[host], slots - all)
    }

    /// Whether one may begin. `ahead`: of those that wait for a connection of this host.
    func isRoom(for host: String, ahead: Int) -> Bool {
        let known = hosts[host, default: 0]
        guard known >= perHost else { return all < slots }
        return known < perHost + Int64(ahead)
    }
}
