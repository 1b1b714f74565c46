import EventLoop
import GatewayCore
import Linux
import Vocabulary

/// Who comes in, up to the handshake: what `SenderDoor` says.
extension ProviderServer {
    /// At least one, and more until `end`.
    func accept(at listener: ProviderListener, until end: BootTime) {
        listener.isQueued = false
        repeat {
            var socket: FileDescriptor?
            do throws(LinuxError) {
                socket = try listener.socket.accept()
            } catch {
                guard error.isLackOfDescriptors else { return }
                // Those who wait are served when others have gone.
                hasDescriptors = false
                if let other = door.cannotAccept(at: now.boot) { connections[other]?.close() }
                return
            }
            guard let socket = socket.take() else { return }
            start(socket)
        } while Clocks.boot() < end
    }

    /// One for which there is no room is closed at once.
    private func start(_ socket: consuming FileDescriptor) {
        guard !isDraining, let peer = InternetSocket.peer(of: socket) else { return }
        let isProxied = policy.isProxy(peer)
        let number = lastConnection + 1
        let group = isProxied ? nil : policy.group(of: peer)
        guard takes(door.arrived(number, from: group, at: now.boot)) else { return }
        lastConnection = number
        do {
            let connection = try ProviderConnection(number, self, socket)
            try connection.watch()
            if isProxied { connection.header = ProxyHeader() }
            connections[number] = connection
        } catch {
            door.left(number, .failed)
        }
    }

    private func takes(_ arrival: SenderArrival) -> Bool {
        switch arrival {
        case .refused: return false
        case .taken(let other):
            if let other { connections[other]?.close() }
            return true
        }
    }

    /// What the load balancer says comes first. True: it is read.
    func readHeader(_ connection: ProviderConnection) -> Bool {
        do {
            switch try policy.read(&connection.header, from: connection.descriptor) {
            case .incomplete: return false
            case .done: return true
            case .client(let group):
                if takes(door.named(connection.number, as: group, at: now.boot)) { return true }
            }
        } catch {
            connection.close(.badHeader)
            return false
        }
        connection.close()
        return false
    }
}
