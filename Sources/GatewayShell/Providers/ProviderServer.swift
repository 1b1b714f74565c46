import EventLoop
package import GatewayCore
import HTTP2
package import Linux
package import TLS
import Vocabulary

/// The side of the gateway that application servers speak to.
package final class ProviderServer {
    package let node: GatewayNode
    package let authority: Authority
    let vapid = VapidTokens()
    package let environment: PushEnvironment
    /// Who may be here.
    package internal(set) var door: SenderDoor
    let memory: HTTP2Memory
    /// Since when those waited that are told so in this turn.
    private var accepted: [BootTime] = []
    /// For new connections.
    package var context: TLSContext
    /// Those that providers reach, in the order of the settings.
    package let ports: [UInt16]

    let loop: EventLoop
    package let guests: GuestQueue
    var httpLimits: HTTP2Limits
    /// Read into by one connection at a time.
    private var buffer: [UInt8] = []
    /// The same for guests.
    private var guestBuffer: [UInt8] = []
    /// The fields of the last answer to a push that was taken.
    private var acceptedFields = ProviderServer.acceptedFields
    var connections: [UInt64: ProviderConnection] = [:]
    package var policy = AddressPolicy()
    /// Numbers up to `ports.count` stand for listeners.
    var lastConnection: UInt64
    /// False: none was left for one more connection.
    var hasDescriptors = true
    private var touched: [ProviderConnection] = []
    private var unread: [ProviderConnection] = []
    private var listeners: [ProviderListener]
    private var timer: TimerSource?
    private var again: DeferredSource?
    private var lastCall: UInt64 = 0
    var random: SeededRandom
    private var calls: [CallID: Call] = [:]
    private(set) var isDraining = false

    /// Who waits for an answer.
    struct Call {
        var connection: UInt64
        var stream: Int32
        var kind: Kind
        /// When its request had come.
        var since: BootTime

        enum Kind {
            /// Its id, and `apns-id` as the provider wrote it, if it did.
            case push(PushUUID, written: [UInt8]?)
            /// `apns-request-id`, the same for a broadcast.
            case broadcast(echo: [UInt8])
            /// A question what became of a push; its id, since it has none of its own.
            case log(PushUUID)
            /// For how many seconds it was taken.
            case webPush(ttl: Int64)

            var isPush: Bool {
                switch self {
                case .push, .webPush: true
                case .broadcast, .log: false
                }
            }

            var echo: (name: String, value: [UInt8]) {
                switch self {
                case .push(let id, let written): ("apns-id", written ?? id.utf8)
                case .broadcast(let echo): ("apns-request-id", echo)
                case .log(let id): ("apns-id", id.utf8)
                case .webPush: ("apns-id", [])
                }
            }

        }
    }

    package init(
        _ node: GatewayNode,
        _ authority: Authority,
        _ listeners: [ProviderListener],
        _ context: TLSContext,
        _ environment: PushEnvironment = .production,
        _ limits: SenderLimits = SenderLimits()
    ) throws(LinuxError) {
        (self.node, self.authority) = (node, authority)
        (self.context, self.environment) = (context, environment)
        door = SenderDoor(limits)
        loop = node.loop
        guests = GuestQueue(loop)
        var seed = SystemRandomNumberGenerator()
        random = SeededRandom(seed: seed.next())
        httpLimits = HTTP2Limits()
        httpLimits.body = SenderLimits.body
        httpLimits.floods = HTTP2Limits.Floods(
            resetBurst: FloodLimits.resetBurst,
            resetRate: FloodLimits.resetRate,
            continuations: FloodLimits.continuations,
            acknowledgements: FloodLimits.acknowledgements
        )
        memory = HTTP2Memory(limit: limits.requestMemory)
        self.listeners = listeners
        ports = listeners.map(\.port)
        lastConnection = UInt64(listeners.count)
        for (index, listener) in listeners.enumerated() {
            let socket = listener.socket.descriptor.number
            listener.source = try DescriptorSource(loop, socket, .readable) {
                [unowned self] _ in queueListener(index)
            }
        }
        timer = try TimerSource(loop) { [unowned self] in check() }
        try timer?.arm(at: now.boot + .seconds(1))
        node.senders = self
        guests.server = self
        use(limits)
    }

    /// Those that may be changed while it runs.
    package func use(_ limits: SenderLimits) {
        door.limits = limits
        memory.limit = limits.requestMemory
        httpLimits.streams = UInt32(clamping: limits.streams)
        httpLimits.unfinished = limits.memoryOfOne
    }

    var limits: SenderLimits { door.limits }

    var now: Moment { node.now }

    func takeBuffer(isTrusted: Bool) -> [UInt8] {
        var taken: [UInt8] = []
        if isTrusted { swap(&taken, &buffer) } else { swap(&taken, &guestBuffer) }
        // Small requests are many even in little.
        let size = isTrusted ? 4096 : GuestQueue.piece
        return taken.isEmpty ? [UInt8](repeating: 0, count: size) : taken
    }

    func giveBuffer(_ used: inout [UInt8]) {
        if used.count == GuestQueue.piece {
            swap(&used, &guestBuffer)
        } else {
            swap(&used, &buffer)
        }
    }

    /// The port of the first, which addresses for Web Push name.
    package var port: UInt16 { ports.first ?? 0 }

    /// Nil for the number of a connection, and when no more are accepted.
    func listener(_ number: UInt64) -> ProviderListener? {
        number > 0 && number <= UInt64(listeners.count) ? listeners[Int(number) - 1] : nil
    }

    /// A connection waits to be accepted there: that is done in its turn among the guests.
    private func queueListener(_ index: Int) {
        let listener = listeners[index]
        try? listener.source?.setEnabled(false)
        guard !listener.isQueued else { return }
        listener.isQueued = true
        guests.addListener(UInt64(index) + 1)
    }

    /// Applies revocations to open connections too.
    func applyRevocations() {
        let revoked = authority.keys.revoked
        guard !revoked.isEmpty else { return }
        for connection in connections.values where connection.sender.revoke(revoked) {
            door.makesRoom(connection.number)
        }
    }

    package var waitingCount: Int { calls.count }

    func closed(_ connection: ProviderConnection, _ why: SenderDeparture) {
        connections[connection.number] = nil
        door.left(connection.number, why)
        hasDescriptors = true
    }

    /// Something is to be sent over it at the end of the turn.
    func touch(_ connection: ProviderConnection) {
        guard !connection.isTouched else { return }
        connection.isTouched = true
        touched.append(connection)
    }

    /// More was read than it was given time for.
    func readAgain(_ connection: ProviderConnection) {
        guard !connection.isUnread else { return }
        connection.isUnread = true
        unread.append(connection)
    }

    /// In the next turn: others have theirs first.
    private func listUnread() {
        guard !unread.isEmpty, again == nil else { return }
        again = try? DeferredSource(loop) { [unowned self] in
            again = nil
            let waiting = unread
            unread = []
            for connection in waiting {
                connection.isUnread = false
                connection.readMore()
            }
        }
    }

    /// To be called after each turn of the loop, behind the node's `endTurn`.
    package func endTurn() {
        let connections = touched
        touched.removeAll(keepingCapacity: true)
        for connection in connections {
            connection.isTouched = false
            connection.flush()
        }
        recordAcceptances()
        listUnread()
        guests.endTurn()
        for listener in listeners {
            try? listener.source?.setEnabled(hasDescriptors && !listener.isQueued)
        }
    }

    /// What was accepted in this turn has been sent, as far as it is taken.
    private func recordAcceptances() {
        guard !accepted.isEmpty else { return }
        let now = Clocks.boot()
        for since in accepted { node.use { $0.accepted(after: now - since) } }
        accepted.removeAll(keepingCapacity: true)
    }

    private func check() {
        for number in connections.keys.sorted() { connections[number]?.check(now) }
        // Descriptors may have become free elsewhere.
        hasDescriptors = true
        try? timer?.arm(at: now.boot + .seconds(1))
    }

    // MARK: Calls

    func begin(
        _ stream: Int32,
        _ connection: ProviderConnection,
        _ kind: Call.Kind
    ) -> CallID {
        lastCall += 1
        let call = CallID(lastCall)
        calls[call] = Call(
            connection: connection.number,
            stream: stream,
            kind: kind,
            since: connection.lastRead
        )
        return call
    }

    /// Who is answered now.
    func take(_ call: CallID) -> Call? { calls.removeValue(forKey: call) }

    // MARK: The end

    /// No new connections; those that are there are told to go.
    package func drain() {
        isDraining = true
        // Nobody looks at a descriptor that is closed.
        for listener in listeners { listener.source = nil }
        listeners = []
        for number in connections.keys.sorted() { connections[number]?.drain(.shutdown) }
    }

    /// The last step of a shutdown, for connections that are still open.
    package func endNow() {
        for number in connections.keys.sorted() { connections[number]?.endNow() }
    }

    /// Whether no connection is left after `drain`.
    package var isDrained: Bool { connections.isEmpty }
}

extension ProviderServer: PushSenders {
    package func answer(_ call: CallID, _ answer: Answer) {
        guard let waiting = take(call) else { return }
        guard let connection = connections[waiting.connection] else { return }
        if case .accepted = answer, waiting.kind.isPush { accepted.append(waiting.since) }
        switch waiting.kind {
        case .push, .broadcast, .log: respond(connection, waiting.stream, waiting.kind, answer)
        case .webPush(let ttl): self.answer(connection, waiting.stream, answer, ttl: ttl)
        }
    }

    /// Answers a push: 200 without a body, or the reason in one frame.
    func respond(
        _ connection: ProviderConnection,
        _ stream: Int32,
        _ kind: Call.Kind,
        _ answer: Answer
    ) {
        if case .push(let id, let written) = kind, case .accepted(let number) = answer {
            accept(connection, stream, id, written, number)
        } else {
            respondAtLength(connection, stream, kind, answer)
        }
    }

    /// The answer to nearly all pushes: only the ids in it change.
    private func accept(
        _ connection: ProviderConnection,
        _ stream: Int32,
        _ id: PushUUID,
        _ written: [UInt8]?,
        _ number: PushNumber
    ) {
        // Taken out meanwhile, and so changed in place.
        var headers = HeaderBlock()
        swap(&headers, &acceptedFields)
        defer { swap(&headers, &acceptedFields) }
        headers.change(at: 1) { bytes, range in
            if let written, written.count == range.count {
                bytes.replaceSubrange(range, with: written)
            } else {
                id.write(over: &bytes, at: range.lowerBound)
            }
        }
        headers.change(at: 2) { bytes, range in
            let unique = PushUUID(number: number, gateway: node.identity)
            unique.write(over: &bytes, at: range.lowerBound)
        }
        submit(headers, [], to: stream, of: connection)
    }

    static let acceptedFields: HeaderBlock = {
        let id = [UInt8](repeating: 0, count: PushUUID.length)
        var fields = HeaderBlock()
        fields.append(":status", "200")
        fields.append(unique: "apns-id") { $0 += id }
        fields.append(unique: "apns-unique-id") { $0 += id }
        return fields
    }()

    func submit(
        _ headers: HeaderBlock,
        _ body: [UInt8],
        to stream: Int32,
        of connection: ProviderConnection
    ) {
        do throws(HTTP2Error) {
            try connection.http?.respond(to: stream, headers, body: body)
        } catch {
            return connection.close()
        }
        touch(connection)
    }

    private func respondAtLength(
        _ connection: ProviderConnection,
        _ stream: Int32,
        _ kind: Call.Kind,
        _ answer: Answer
    ) {
        let (name, echo) = kind.echo
        var headers = HeaderBlock()
        var body: [UInt8] = []
        switch answer {
        case .accepted(let number):
            headers.append(":status", "200")
            headers.append(unique: name) { $0 += echo }
            headers.append(unique: "apns-unique-id") {
                $0 += PushUUID(number: number, gateway: node.identity).utf8
            }
        case .refused(let reason, let timestamp):
            headers.append(":status", "\(reason.status)")
            headers.append("content-type", "application/json")
            headers.append(unique: name) { $0 += echo }
            body = RefusalBody.bytes(reason, since: timestamp)
        }
        submit(headers, body, to: stream, of: connection)
    }
}
