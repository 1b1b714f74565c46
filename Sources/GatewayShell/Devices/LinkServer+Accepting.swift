import EventLoop
import GatewayCore
import Linux
import TLS
import Vocabulary
import Wire

/// Who comes in, up to the handshake.
extension LinkServer {
    func accept() {
        var started = 0
        // So many in a turn, so that those who are there are not kept waiting; who is turned away
        // costs little.
        for round in 0..<256 where started < 32 {
            if unproved.count >= limits.handshakes {
                // It is only known of the first that somebody waits.
                guard round == 0 else { return }
                guard makeRoom() else { return pauseAccepting() }
            }
            do {
                guard let socket = try listener?.accept() else { return }
                if try start(socket) { started += 1 }
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
    private func start(_ socket: consuming FileDescriptor) throws -> Bool {
        guard let peer = InternetSocket.peer(of: socket) else { return false }
        let isProxied = policy.isProxy(peer)
        let group = isProxied ? nil : policy.group(of: peer)
        guard admits(group) else { return false }
        lastLink += 1
        let number = socket.number
        let connection: DeviceConnection
        do {
            connection = try DeviceConnection(LinkID(lastLink), socket, context)
            connection.source = try DescriptorSource(loop, number, .readable) {
                [unowned self, unowned connection] events in ready(connection, events)
            }
        } catch {
            gate.ended(group, isSetUp: false)
            throw error
        }
        connection.group = group
        if isProxied { connection.header = ProxyHeader() }
        connections[lastLink] = connection
        unproved.insert(lastLink)
        counters.accepted += 1
        connection.deadline = Self.second() + limits.handshakeTime.wholeSeconds
        list(connection)
        return true
    }

    private func admits(_ group: AddressGroup?) -> Bool {
        let limits = AddressGate.Limits(
            connections: limits.perAddress,
            handshakes: limits.handshakesPerAddress,
            places: limits.handshakes
        )
        var answer = gate.admit(group, taken: unproved.count, limits)
        if answer == .full, makeRoom() {
            answer = gate.admit(group, taken: unproved.count, limits)
        }
        if answer != .welcome { counters.turnedAway += 1 }
        return answer == .welcome
    }

    /// What the load balancer says comes first. True: it is read.
    func readHeader(_ connection: DeviceConnection) throws -> Bool {
        guard var header = connection.header else { return true }
        connection.header = nil
        guard let source = try header.read(from: connection.descriptor) else {
            connection.header = header
            return false
        }
        guard case .client(let address) = source else { return true }
        // It has a place already.
        unproved.remove(connection.id.number)
        let group = policy.group(of: address)
        let isWelcome = admits(group)
        unproved.insert(connection.id.number)
        guard isWelcome else {
            close(connection)
            return false
        }
        connection.group = group
        return true
    }

    /// The one that has been trying longest goes if it had a while for it: most are done in a
    /// moment.
    private func makeRoom() -> Bool {
        let time = limits.handshakeTime.wholeSeconds
        guard let oldest = unproved.min().flatMap({ connections[$0] }),
            oldest.deadline - time + time / 10 <= Self.second()
        else { return false }
        counters.displaced += 1
        close(oldest)
        return true
    }

    /// Who waits stays in the system's queue; looked at again when one is done, or in a moment.
    private func pauseAccepting() {
        isAccepting = false
        try? listening?.setEnabled(false)
        alarms?.list(0, at: Self.second() + 1)
    }

    func resumeAccepting() {
        guard !isAccepting, unproved.count < limits.handshakes else { return }
        acceptAgain()
    }

    func acceptAgain() {
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
        if let secret = limits.enrolment,
            !Cryptography.areEqual(hello.enrolment, Array(secret.utf8))
        {
            return .init(.notEnrolled, after: .minutes(10), spread: .minutes(10))
        }
        // The last eighth of all places is for those that are known.
        guard connections.count <= limits.connections - limits.connections / 8,
            enrolments.admit(
                connection.group,
                atOnce: limits.newDevices,
                refill: limits.newDeviceRefill,
                at: Clocks.boot()
            )
        else { return .init(.busy, after: .minutes(1), spread: .minutes(5)) }
        return nil
    }
}
