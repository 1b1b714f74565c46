package import Vocabulary

/// Which exchanges have their connections, and which wait for them: each host has only so many,
/// given in the order of arrival.
package struct HostQueues {
    private var exchanges: [TransferID: Member] = [:]
    private var hosts: [String: Host] = [:]
    /// Those that have no connection yet.
    package private(set) var waiting: [TransferID] = []

    private struct Member {
        let host: String
        /// 0: it waits.
        var connections: Int64 = 0
    }

    private struct Host {
        var connections: Int64 = 0
        var waiting: [Waiting] = []
    }

    private struct Waiting {
        let id: TransferID
        let connections: Int64
        let limit: Int64
    }

    package init() {}

    /// Whether it may begin now; else `remove` returns it once it may. `limit`: it waits while its
    /// host has so many.
    package mutating func add(
        _ id: TransferID,
        to host: String,
        connections: Int64 = 1,
        limit: Int64?
    ) -> Bool {
        exchanges[id] = Member(host: host)
        let waiting = Waiting(id: id, connections: connections, limit: limit ?? .max)
        hosts[host, default: Host()].waiting.append(waiting)
        // If somebody waits before it, it waits too.
        self.waiting.append(id)
        return begin(host).contains(id)
    }

    /// It needs no connection any more, or never came to have one. Returns what may begin now.
    package mutating func remove(_ id: TransferID) -> [TransferID] {
        guard let member = exchanges.removeValue(forKey: id) else { return [] }
        if member.connections == 0 {
            hosts[member.host]?.waiting.removeAll { $0.id == id }
            waiting.removeAll { $0 == id }
        }
        hosts[member.host]?.connections -= member.connections
        let begun = begin(member.host)
        if hosts[member.host]?.connections == 0 { hosts[member.host] = nil }
        return begun
    }

    /// It needs no more than so many. Returns what may begin now.
    package mutating func keep(_ id: TransferID, connections: Int64) -> [TransferID] {
        guard let member = exchanges[id], connections < member.connections else { return [] }
        exchanges[id]?.connections = connections
        hosts[member.host]?.connections -= member.connections - connections
        return begin(member.host)
    }

    private mutating func begin(_ name: String) -> [TransferID] {
        guard var host = hosts.removeValue(forKey: name) else { return [] }
        var begun: [TransferID] = []
        while let first = host.waiting.first, host.connections < first.limit {
            host.waiting.removeFirst()
            host.connections += first.connections
            exchanges[first.id]?.connections = first.connections
            begun.append(first.id)
        }
        hosts[name] = host
        if !begun.isEmpty { waiting.removeAll { begun.contains($0) } }
        return begun
    }
}
