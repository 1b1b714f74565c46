import EventLoop
import GatewayCore
import Linux
import TLS
import Vocabulary
import Wire

/// Who comes in, up to the handshake: what `LinkDoor` orders.
extension LinkServer {
    func accept() {
        var started = 0
        // So many in a turn, so that those who are there are not kept waiting; who is turned away
        // costs little.
        for round in 0..<256 where started < 32 {
            guard door.mayAccept(isFirst: round == 0, at: Self.second()) else { break }
            do throws(LinuxError) {
                guard let socket = try listener?.accept() else { break }
                if take(socket) { started += 1 }
            } catch {
                guard error.isLackOfDescriptors else {
                    door.failedToAccept()
                    continue
                }
                door.cannotAccept(at: Self.second())
                break
            }
        }
        perform()
    }

    /// False: it is closed at once.
    private func take(_ socket: consuming FileDescriptor) -> Bool {
        guard let peer = InternetSocket.peer(of: socket) else { return false }
        let isProxied = policy.isProxy(peer)
        lastLink += 1
        let link = LinkID(lastLink)
        let group = isProxied ? nil : policy.group(of: peer)
        guard door.arrived(link, from: group, at: Self.second()) else { return false }
        do {
            let connection = try DeviceConnection(link, socket, context)
            if isProxied { connection.header = ProxyHeader() }
            connections[link] = connection
            mustProve(connection)
        } catch {
            door.left(link, .failed, at: Self.second())
            return false
        }
        perform()
        return true
    }

    /// One order may lead to others, which are performed behind it.
    func perform() {
        guard !isPerforming else { return }
        isPerforming = true
        defer { isPerforming = false }
        while let order = door.next() { perform(order) }
    }

    private func perform(_ order: LinkOrder) {
        switch order {
        case .begin(let link):
            if let connection = connections[link] { begin(connection) }
        case .hold(let link): connections[link]?.source = nil
        case .close(let link):
            if let connection = connections[link] { close(connection) }
        case .accept(let isOn): try? listening?.setEnabled(isOn)
        case .look(let second): alarms?.list(0, at: second)
        }
    }

    private func begin(_ connection: DeviceConnection) {
        do {
            connection.source = try DescriptorSource(
                loop,
                connection.descriptor.number,
                .readable
            ) { [unowned self, unowned connection] events in ready(connection, events) }
        } catch {
            return close(connection, .failed)
        }
        mustProve(connection)
    }

    private func mustProve(_ connection: DeviceConnection) {
        connection.times.mustProve(door.limits, at: Self.second())
        list(connection)
    }

    /// What the load balancer says comes first. True: it is read.
    func readHeader(_ connection: DeviceConnection) -> Bool {
        do {
            switch try policy.read(&connection.header, from: connection.descriptor) {
            case .incomplete: return false
            case .done: return true
            case .client(let group):
                defer { perform() }
                return door.named(connection.id, as: group, at: Self.second())
            }
        } catch {
            close(connection, .badHeader)
            return false
        }
    }

    /// Why a device that is not known may not be made known; nil: it may.
    func refusal(
        of hello: DeviceFrame.Hello,
        over connection: DeviceConnection
    ) -> LinkEnding? {
        let secret = door.limits.enrolment.map { Array($0.utf8) }
        return door.refusal(
            ofNew: connection.id,
            knowsSecret: secret.map { Cryptography.areEqual(hello.enrolment, $0) } ?? true,
            at: Clocks.boot()
        )
    }
}
