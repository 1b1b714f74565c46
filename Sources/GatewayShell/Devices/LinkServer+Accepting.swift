import EventLoop
import GatewayCore
import Linux
import TLS
import Vocabulary
import Wire

/// Who comes in, up to the handshake.
///
/// Strangers that find no place stand in a line, so that those from good addresses pass them.
extension LinkServer {
    func accept() {
        var started = 0
        // So many in a turn, so that those who are there are not kept waiting; who is turned away
        // costs little.
        for round in 0..<256 where started < 32 {
            if unproved.count >= limits.handshakes {
                // It is only known of the first that somebody waits.
                guard round == 0 else { return }
                guard makeRoom(among: { _ in true }) else { return pauseAccepting() }
            }
            do {
                guard let socket = try listener?.accept() else { return }
                if try take(socket) { started += 1 }
            } catch let error as LinuxError
                where error.errno == .tooManyFiles || error.errno == .tooManyFilesInSystem
            {
                counters.unaccepted += 1
                return pauseAccepting()
            } catch {
                counters.failed += 1
            }
        }
    }

    /// False: it is closed at once.
    private func take(_ socket: consuming FileDescriptor) throws -> Bool {
        guard let peer = InternetSocket.peer(of: socket) else { return false }
        let isProxied = policy.isProxy(peer)
        let group = isProxied ? nil : policy.group(of: peer)
        guard admits(group) else { return false }
        lastLink += 1
        let connection: DeviceConnection
        do {
            connection = try DeviceConnection(LinkID(lastLink), socket, context)
        } catch {
            gate.ended(group, isSetUp: false)
            throw error
        }
        connection.group = group
        if isProxied { connection.header = ProxyHeader() }
        connections[lastLink] = connection
        counters.accepted += 1
        if unproved.count < gate.room(for: group, of: limits.handshakes) {
            try start(connection)
        } else {
            line.append(lastLink)
            expect(connection)
            serveLine()
        }
        return true
    }

    private func admits(_ group: AddressGroup?) -> Bool {
        let limits = AddressGate.Limits(
            connections: limits.perAddress,
            handshakes: limits.handshakesPerAddress
        )
        guard gate.admit(group, limits) else {
            counters.overAddress += 1
            return false
        }
        return true
    }

    /// It has a place, and begins.
    private func start(_ connection: DeviceConnection) throws {
        do {
            connection.source = try DescriptorSource(
                loop,
                connection.descriptor.number,
                .readable
            ) { [unowned self, unowned connection] events in ready(connection, events) }
        } catch {
            close(connection)
            throw error
        }
        unproved.append(connection.id.number)
        expect(connection)
    }

    /// From now on it has so long.
    private func expect(_ connection: DeviceConnection) {
        connection.deadline = Self.second() + limits.handshakeTime.wholeSeconds
        list(connection)
    }

    // MARK: The line

    /// Whoever is first in the line and finds a place begins. A stranger that has been trying for a
    /// while makes room, and so does the first of a line that is too long.
    func serveLine() {
        // Who is closed here brings us here again.
        guard !isServingLine else { return }
        isServingLine = true
        defer { isServingLine = false }
        while let first = line.first() {
            guard let connection = connections[first] else {
                line.remove(first)
                continue
            }
            let room = gate.room(for: connection.group, of: limits.handshakes)
            if unproved.count < room {
                line.remove(first)
                do {
                    try start(connection)
                } catch {
                    counters.failed += 1
                }
            } else if unproved.count <= room, makeRoom(among: isStranger) {
                continue
            } else if line.count > limits.handshakes {
                counters.displaced += 1
                close(connection)
            } else {
                break
            }
        }
        if line.count > 0 { lookSoon() }
    }

    private func isStranger(_ connection: DeviceConnection) -> Bool {
        !gate.isGood(connection.group)
    }

    /// What the load balancer says comes first. True: it is read.
    func readHeader(_ connection: DeviceConnection) -> Bool {
        do {
            switch try policy.read(&connection.header, from: connection.descriptor) {
            case .incomplete: return false
            case .done: return true
            case .client(let group) where admits(group):
                connection.group = group
                return keepsPlace(connection)
            case .client: break
            }
        } catch {
            counters.badHeaders += 1
        }
        close(connection)
        return false
    }

    /// Now that its address is known. False: it goes into the line.
    private func keepsPlace(_ connection: DeviceConnection) -> Bool {
        let room = gate.room(for: connection.group, of: limits.handshakes)
        guard unproved.count > room else { return true }
        unproved.remove(connection.id.number)
        connection.source = nil
        line.append(connection.id.number)
        resumeAccepting()
        return false
    }

    /// The one that has been trying longest goes if it had a while for it: most are done in a
    /// moment.
    private func makeRoom(among isWanted: (DeviceConnection) -> Bool) -> Bool {
        let time = limits.handshakeTime.wholeSeconds
        let oldest = unproved.first { connections[$0].map(isWanted) ?? false }
        guard let connection = oldest.flatMap({ connections[$0] }),
            connection.deadline - time + time / 10 <= Self.second()
        else { return false }
        counters.displaced += 1
        close(connection)
        return true
    }

    /// Who waits stays in the system's queue; looked at again when one is done, or in a moment.
    private func pauseAccepting() {
        isAccepting = false
        try? listening?.setEnabled(false)
        lookSoon()
    }

    private func lookSoon() {
        guard !looksSoon else { return }
        looksSoon = true
        alarms?.list(0, at: Self.second() + 1)
    }

    /// The moment for which `lookSoon` asked.
    func lookAgain() {
        looksSoon = false
        acceptAgain()
        serveLine()
    }

    /// A place is free.
    func resumeAccepting() {
        serveLine()
        guard !isAccepting, unproved.count < limits.handshakes else { return }
        acceptAgain()
    }

    private func acceptAgain() {
        isAccepting = true
        try? listening?.setEnabled(true)
    }
}

/// Who may be here for the first time.
extension LinkServer {
    /// Why a device that is not known may not be made known; nil: it may.
    func refusal(
        of hello: DeviceFrame.Hello,
        over connection: DeviceConnection
    ) -> GatewayFrame.Ending? {
        // A wrong secret counts as well: who guesses has to wait.
        let isInTime = enrolments.admit(
            connection.group,
            atOnce: limits.newDevices,
            refill: limits.newDeviceRefill,
            at: Clocks.boot()
        )
        // The last eighth of all places is for those that are known.
        guard isInTime, connections.count <= limits.connections - limits.connections / 8 else {
            return .init(.busy, after: .minutes(1), spread: .minutes(5))
        }
        guard let secret = limits.enrolment.map({ Array($0.utf8) }),
            !Cryptography.areEqual(hello.enrolment, secret)
        else { return nil }
        return .init(.notEnrolled, after: .minutes(10), spread: .minutes(10))
    }
}
