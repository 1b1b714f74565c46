import EventLoop
import GatewayCore
import Linux
import Vocabulary

/// Who comes in, up to the handshake, and who was good.
extension ProviderServer {
    func accept() {
        // Others want their turn as well; who is turned away costs little.
        var started = 0
        for _ in 0..<256 where started < 64 {
            var socket: FileDescriptor?
            do throws(LinuxError) {
                socket = try acceptOne()
            } catch {
                counters.refusedConnections += 1
                if makeRoom() { continue }
                // Too many descriptors: those who wait are served when others have gone.
                try? source?.setEnabled(false)
                return
            }
            guard let socket = socket.take() else { return }
            do {
                if try start(socket) { started += 1 }
            } catch {
                counters.refusedConnections += 1
            }
        }
    }

    private func acceptOne() throws(LinuxError) -> FileDescriptor? {
        switch listener {
        case .some(let listener): try listener.accept()
        case .none: nil
        }
    }

    /// False: it is closed at once.
    private func start(_ socket: consuming FileDescriptor) throws -> Bool {
        guard !isDraining, let peer = InternetSocket.peer(of: socket) else { return false }
        let isProxied = policy.isProxy(peer)
        let group = isProxied ? nil : policy.group(of: peer)
        guard admits(group, beside: connections.count) else { return false }
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
        untrusted.insert(lastConnection)
        return true
    }

    /// `taken`: places of other connections.
    private func admits(_ group: AddressGroup?, beside taken: Int) -> Bool {
        let limits = AddressGate.Limits(
            connections: settings.perAddress,
            handshakes: settings.handshakesPerAddress,
            places: settings.connections
        )
        var answer = gate.admit(group, taken: taken, limits)
        if answer == .full, makeRoom() { answer = gate.admit(group, taken: taken - 1, limits) }
        switch answer {
        case .welcome: return true
        case .tooMany: counters.turnedAwayAddresses += 1
        case .full: counters.refusedConnections += 1
        }
        return false
    }

    /// What the load balancer says comes first. True: it is read.
    func readHeader(_ connection: ProviderConnection) throws -> Bool {
        guard var header = connection.header else { return true }
        connection.header = nil
        guard let source = try header.read(from: connection.descriptor) else {
            connection.header = header
            return false
        }
        guard case .client(let address) = source else { return true }
        // It has a place already.
        let group = policy.group(of: address)
        guard admits(group, beside: connections.count - 1) else {
            connection.close()
            return false
        }
        connection.group = group
        return true
    }

    /// The oldest of those that have shown nothing, and had a while for it, goes.
    private func makeRoom() -> Bool {
        guard let connection = untrusted.min().flatMap({ connections[$0] }),
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
