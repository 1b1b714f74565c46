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

/// How many connections transfers that run have, and wait for. Counted as they begin and end: it is
/// asked for whenever one may begin.
struct ConnectionCounts: Hashable, Sendable {
    /// A few, by name: who is counted first makes no difference.
    private(set) var hosts: [Host] = []
    private(set) var apps: [Int: Int64] = [:]

    struct Host: Hashable, Sendable {
        let name: String
        var count: Int64
    }

    init() {}

    init(_ running: [RunningTransfer]) { for transfer in running { add(transfer) } }

    mutating func add(_ transfer: RunningTransfer) { change(transfer, by: transfer.connections) }

    mutating func remove(_ transfer: RunningTransfer) {
        change(transfer, by: -transfer.connections)
    }

    private mutating func change(_ transfer: RunningTransfer, by number: Int64) {
        let count = apps[transfer.app, default: 0] + number
        apps[transfer.app] = count == 0 ? nil : count
        let index = hosts.firstIndex { $0.name >= transfer.host } ?? hosts.endIndex
        if index == hosts.endIndex || hosts[index].name != transfer.host {
            return hosts.insert(Host(name: transfer.host, count: number), at: index)
        }
        hosts[index].count += number
        if hosts[index].count == 0 { hosts.remove(at: index) }
    }
}

/// The connections of transfers that run, held against the limits. What was begun ahead of a free
/// connection has none: it waits in the network process, and takes no other host's.
struct UsedConnections {
    let all: Int64
    private let counts: ConnectionCounts
    private let perHost: Int64
    private let slots: Int64

    init(_ counts: ConnectionCounts, _ settings: Shared<Settings>) {
        let most = settings.transfersPerHost
        (perHost, slots, self.counts) = (most, settings.transferSlots, counts)
        all = counts.hosts.reduce(0) { $0 + min($1.count, most) }
    }

    /// Of an app, with those that it waits for.
    func count(ofApp app: Int) -> Int64 { counts.apps[app, default: 0] }

    /// To a host, with those that are waited for.
    private func count(to host: String) -> Int64 {
        counts.hosts.first { $0.name == host }?.count ?? 0
    }

    /// To a host.
    subscript(host: String) -> Int64 { min(count(to: host), perHost) }

    /// How many more a host may have now.
    func room(for host: String) -> Int64 {
        min(perHost - self[host], slots - all)
    }

    /// Whether one may begin. `ahead`: of those that wait for a connection of this host.
    func isRoom(for host: String, ahead: Int) -> Bool {
        let known = count(to: host)
        guard known >= perHost else { return all < slots }
        return known < perHost + Int64(ahead)
    }
}
