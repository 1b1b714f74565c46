package import EventLoop
package import GatewayCore
package import Linux
package import TLS
package import Vocabulary
internal import Wire

/// The device side of the gateway: accepts connections, proves who is there, and carries frames
/// between devices and the core. It decides nothing about pushes.
///
/// What is sent waits until `flush`, which the owner of the loop calls once at the end of a turn.
/// One thread; SIGPIPE must be ignored.
package final class LinkServer {
    /// Who may come in.
    package internal(set) var door: LinkDoor
    package var policy = AddressPolicy()
    let loop: EventLoop
    private(set) var listener: InternetListener?
    private(set) var listening: DescriptorSource?
    private(set) var context: TLSContext
    unowned let owner: any LinkOwner

    var connections: [LinkID: DeviceConnection] = [:]
    var lastLink: UInt64 = 0
    var isPerforming = false
    private(set) var alarms: LinkAlarms?
    private var dirty: [DeviceConnection] = []
    /// Had their time in this turn, and have more to be read.
    private var unread: [DeviceConnection] = []
    private var again: DeferredSource?
    /// Memory of what was sent, for what is sent next.
    private var spare: [[UInt8]] = []
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    private let reference = Reference()

    /// To the server as long as it is there: a weak one would slow down each use of it.
    private final class Reference {
        unowned var server: LinkServer?
    }

    /// Devices see the certificate of `context`, which must offer `LinkFormat.protocolName`.
    package init(
        _ loop: EventLoop,
        _ listener: consuming InternetListener,
        _ context: TLSContext,
        _ limits: LinkLimits = LinkLimits(),
        owner: any LinkOwner
    ) throws(LinuxError) {
        (self.loop, self.context, self.owner) = (loop, context, owner)
        door = LinkDoor(limits)
        let number = listener.descriptor.number
        self.listener = consume listener
        listening = try DescriptorSource(loop, number, .readable) { [unowned self] _ in accept() }
        alarms = try LinkAlarms(loop) { [unowned self] in look(at: $0, $1) }
        reference.server = self
    }

    deinit { reference.server = nil }

    package func use(_ limits: LinkLimits) { door.limits = limits }

    /// The port that devices connect to; nil while draining.
    package var port: UInt16? { listener?.port }

    /// New connections are served with another certificate.
    package func use(_ context: TLSContext) { self.context = context }

    static func second() -> Int64 { LinkAlarms.second() }

    // MARK: What a connection is ready for

    func ready(_ connection: DeviceConnection, _ events: DescriptorSource.Events) {
        do {
            guard readHeader(connection) else { return }
            if connection.phase == .shakingHands {
                guard try shakeHands(connection) else { return }
            }
            if events.contains(.writable), connection.waiting > 0 { write(connection) }
            if !events.subtracting(.writable).isEmpty { try read(connection) }
        } catch let error as LinkError {
            end(connection, GatewayFrame.Ending(error.reason), .brokeRule)
        } catch {
            close(connection)
        }
    }

    /// True when TLS stands.
    private func shakeHands(_ connection: DeviceConnection) throws(TLSError) -> Bool {
        switch try connection.session.handshake() {
        case .wantsRead:
            _ = try connection.watch(forWriting: false)
            return false
        case .wantsWrite:
            _ = try connection.watch(forWriting: true)
            return false
        case .done: break
        }
        guard connection.session.chosenProtocol == LinkFormat.protocolName else {
            close(connection)
            return false
        }
        if let ending = door.setUp(connection.id, at: Self.second()) {
            end(connection, .init(ending), .sentAway)
            return false
        }
        let nonce = try Cryptography.randomBytes(LinkFormat.challengeBytes)
        connection.phase = .challenged
        connection.order = LinkGuard(nonce: nonce)
        connection.append(.challenge(.init(nonce: nonce)))
        write(connection)
        return true
    }

    private func read(_ connection: DeviceConnection) throws {
        // Enough for one; others wait as well.
        for _ in 0..<4 where !connection.isEnding {
            switch try connection.session.read(into: &buffer) {
            case .bytes(let count):
                connection.times.heard(at: Self.second())
                try connection.reader.read(buffer[..<count]) { (frame) throws(LinkError) in
                    guard !connection.isEnding else { return }
                    try take(frame, from: connection)
                }
            case .wantsRead: return
            case .wantsWrite, .closed: return close(connection)
            }
            guard connection.session.hasPending else { return }
        }
        if !connection.isEnding { unread.append(connection) }
    }

    /// No event of their descriptors tells of what was read there already.
    private func listUnread() {
        guard !unread.isEmpty, again == nil else { return }
        again = try? DeferredSource(loop) { [unowned self] in
            again = nil
            let waiting = unread
            unread = []
            for connection in waiting where !connection.isEnding { ready(connection, .readable) }
        }
    }

    private func take(
        _ frame: DeviceFrame,
        from connection: DeviceConnection
    ) throws(LinkError) {
        guard let action = try connection.order?.received(frame) else { return }
        switch action {
        case .verify(let hello, let challenge):
            try welcome(connection, hello, challenge: challenge)
        case .take(let frame): report(frame, of: connection)
        }
    }

    private func welcome(
        _ connection: DeviceConnection,
        _ hello: DeviceFrame.Hello,
        challenge: [UInt8]
    ) throws(LinkError) {
        let isGenuine: Bool
        do {
            let binding = try connection.session.exportedKey(
                LinkFormat.exporterLabel,
                count: LinkFormat.bindingBytes
            )
            isGenuine = try Ed25519PublicKey(hello.key).verifies(
                hello.signature,
                of: LinkFormat.proof(challenge: challenge, binding: binding)
            )
        } catch {
            isGenuine = false
        }
        guard isGenuine else { throw .badSignature }
        // A device that is known is told at once, a new one once it is kept.
        let (link, server) = (connection.id, reference)
        func mayEnrol() -> Bool {
            guard let server = server.server, let connection = server.connections[link] else {
                return false
            }
            guard let refusal = server.refusal(of: hello, over: connection) else { return true }
            server.end(connection, .init(refusal))
            return false
        }
        owner.identify(hello.key, mayEnrol: mayEnrol) { device in
            guard let server = server.server, let connection = server.connections[link] else {
                return
            }
            server.admit(connection, device, hello)
        }
    }

    private func admit(
        _ connection: DeviceConnection,
        _ identified: IdentifiedDevice?,
        _ hello: DeviceFrame.Hello
    ) {
        guard let identified, (try? connection.order?.proved(true)) != nil else {
            return end(connection, .init(.unavailable), .sentAway)
        }
        connection.phase = .open
        door.welcomed(connection.id, isNew: identified.isNew, at: Self.second())
        heard(from: connection, next: hello.next)
        connection.append(
            .welcome(
                .init(
                    device: identified.device.number,
                    isNew: identified.mustRegister,
                    longest: UInt64(door.limits.longestKeepAlive.wholeSeconds)
                )
            )
        )
        mark(connection)
        perform()
        let condition = DeviceCondition(hello.condition)
        owner.connected(identified.device, connection.id, condition)
    }

    // MARK: Sending

    package func send(_ sending: Sending, over link: LinkID) {
        send(.push(GatewayFrame.Push(sending)), over: link)
    }

    /// Ends a link that is not the owner's any more, which is not told of its end.
    package func end(_ link: LinkID, _ why: LinkEnd) {
        guard let connection = connections[link] else { return }
        let departure: LinkDeparture = why == .unavailable ? .sentAway : .closed
        end(connection, .init(LinkEnding(why)), departure, isTold: false)
    }

    func send(_ frame: GatewayFrame, over link: LinkID) {
        guard let connection = connections[link], connection.phase == .open else { return }
        if connection.waiting == 0, let memory = spare.popLast() { connection.lend(memory) }
        connection.append(frame)
        mark(connection)
    }

    func mark(_ connection: DeviceConnection) {
        guard !connection.isDirty else { return }
        connection.isDirty = true
        dirty.append(connection)
    }

    /// Sends what the turn brought, each connection's in one piece.
    package func flush() {
        // What is written may tell the owner of congestion, and that may bring more.
        while !dirty.isEmpty {
            var connections: [DeviceConnection] = []
            swap(&connections, &dirty)
            for connection in connections {
                connection.isDirty = false
                guard !connection.isEnding else { continue }
                if connection.owesKeepAlive {
                    connection.owesKeepAlive = false
                    connection.append(.keptAlive)
                }
                write(connection)
            }
            if dirty.isEmpty {
                connections.removeAll(keepingCapacity: true)
                swap(&connections, &dirty)
            }
        }
        listUnread()
    }

    private func write(_ connection: DeviceConnection) {
        do {
            guard try connection.write(at: Self.second()) else { return close(connection) }
        } catch {
            return close(connection)
        }
        if let memory = connection.returnMemory(), spare.count < 256 { spare.append(memory) }
        let queue = door.limits.queue(
            of: connection.waiting,
            wasCongested: connection.isCongested
        )
        guard queue != .isTooLong else { return close(connection, .tooSlow) }
        list(connection)
        guard connection.phase == .open else { return }
        let isCongested = queue == .isCongested
        guard isCongested != connection.isCongested else { return }
        connection.isCongested = isCongested
        owner.congested(connection.id, isCongested)
    }

    // MARK: Going

    /// Tells the device why, if the connection takes it now, and closes.
    func end(
        _ connection: DeviceConnection,
        _ ending: GatewayFrame.Ending,
        _ why: LinkDeparture = .closed,
        isTold: Bool = true
    ) {
        guard !connection.isEnding else { return }
        connection.append(.end(ending))
        _ = try? connection.write(at: Self.second())
        close(connection, why, isTold: isTold)
    }

    func close(
        _ connection: DeviceConnection,
        _ why: LinkDeparture = .closed,
        isTold: Bool = true
    ) {
        guard !connection.isEnding else { return }
        connection.isEnding = true
        connection.session.close()
        connection.source = nil
        connections[connection.id] = nil
        door.left(connection.id, why, at: Self.second())
        if connection.phase == .open, isTold { owner.disconnected(connection.id) }
        perform()
    }

    /// Accepts nobody any more, and sends all devices away, to come back in `after` and then over
    /// as many seconds as their handshakes will take.
    package func drain(after: Interval = .seconds(1)) {
        listening = nil
        listener = nil
        let ending = GatewayFrame.Ending(door.drain(after: after))
        for connection in connections.values.sorted(by: { $0.id < $1.id }) {
            end(connection, ending)
        }
    }
}

// MARK: Time

extension LinkServer {
    func heard(from connection: DeviceConnection, next: UInt64) {
        connection.times.announced(next: next, door.limits, at: Self.second())
        list(connection)
    }

    /// To be looked at by its end, unless that is to happen earlier already.
    func list(_ connection: DeviceConnection) {
        let end = connection.times.end(door.limits)
        guard connection.listedAt == 0 || end < connection.listedAt else { return }
        connection.listedAt = end
        alarms?.list(connection.id.number, at: end)
    }

    /// Their time has come, if it is still that.
    private func look(at listings: [LinkAlarms.Listing], _ now: Int64) {
        for listing in listings {
            guard listing.link != 0 else {
                door.passed(at: now)
                perform()
                continue
            }
            guard let connection = connections[LinkID(listing.link)],
                connection.listedAt == listing.second
            else { continue }
            connection.listedAt = 0
            if let ending = connection.times.ending(door.limits, at: now) {
                end(connection, .init(ending), .tooSlow)
            } else {
                list(connection)
            }
        }
    }
}
