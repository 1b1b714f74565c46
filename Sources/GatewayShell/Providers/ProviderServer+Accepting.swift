import EventLoop
import GatewayCore
import Linux
import Vocabulary

/// Who comes in, up to the handshake, and who was good.
extension ProviderServer {
    /// At least one, and more until `end`.
    func accept(at listener: ProviderListener, until end: BootTime) {
        listener.isQueued = false
        repeat {
            var socket: FileDescriptor?
            do throws(LinuxError) {
                socket = try listener.socket.accept()
            } catch {
                // Too many descriptors: those who wait are served when others have gone.
                counters.refusedConnections += 1
                hasDescriptors = false
                _ = makeRoom(among: { _ in true })
                return
            }
            guard let socket = socket.take() else { return }
            do {
                try start(socket)
            } catch {
                counters.refusedConnections += 1
            }
        } while Clocks.boot() < end
    }

    /// One for which there is no room is closed at once.
    private func start(_ socket: consuming FileDescriptor) throws {
        guard !isDraining, let peer = InternetSocket.peer(of: socket) else { return }
        let isProxied = policy.isProxy(peer)
        let group = isProxied ? nil : policy.group(of: peer)
        guard admits(group, beside: connections.count) else { return }
        lastConnection += 1
        counters.connections += 1
        let connection: ProviderConnection
        do {
            connection = try ProviderConnection(lastConnection, self, socket)
            try connection.watch()
        } catch {
            gate.ended(group, isSetUp: false)
            throw error
        }
        connection.group = group
        if isProxied { connection.header = ProxyHeader() }
        connections[lastConnection] = connection
        untrusted.append(lastConnection)
    }

    /// `taken`: places of others than `own`, which makes no room for itself.
    private func admits(
        _ group: AddressGroup?,
        beside taken: Int,
        not own: ProviderConnection? = nil
    ) -> Bool {
        let limits = AddressGate.Limits(
            connections: settings.perAddress,
            handshakes: settings.handshakesPerAddress
        )
        guard gate.admit(group, limits) else {
            counters.overAddress += 1
            return false
        }
        let room = gate.room(for: group, of: settings.connections)
        // Strangers make room for each other only.
        let isGood = gate.isGood(group)
        func mayGo(_ other: ProviderConnection) -> Bool {
            other !== own && (isGood || !gate.isGood(other.group))
        }
        if taken < room || taken == room && makeRoom(among: mayGo) { return true }
        gate.ended(group, isSetUp: false)
        counters.refusedConnections += 1
        return false
    }

    /// What the load balancer says comes first. True: it is read.
    func readHeader(_ connection: ProviderConnection) -> Bool {
        do {
            switch try policy.read(&connection.header, from: connection.descriptor) {
            case .incomplete: return false
            case .done: return true
            // It has a place already.
            case .client(let group)
            where admits(group, beside: connections.count - 1, not: connection):
                connection.group = group
                return true
            case .client: break
            }
        } catch {
            counters.badHeaders += 1
        }
        connection.close()
        return false
    }

    /// The oldest of those that have shown nothing, and had a while for it, goes.
    private func makeRoom(among isWanted: (ProviderConnection) -> Bool) -> Bool {
        let oldest = untrusted.first { connections[$0].map(isWanted) ?? false }
        guard let connection = oldest.flatMap({ connections[$0] }),
            connection.start + settings.proofTime / 10 < now.boot
        else { return false }
        counters.displaced += 1
        connection.close()
        return true
    }

    func trusts(_ connection: ProviderConnection) {
        untrusted.remove(connection.number)
        gate.wasGood(connection.group)
    }
}
