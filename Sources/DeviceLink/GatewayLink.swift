package import EventLoop
package import Linux
package import TLS
internal import Vocabulary
package import Wire

/// A device's link to its gateway over an event loop: does what `LinkClient` says.
///
/// One thread; SIGPIPE must be ignored. What apps get goes to `handler`, in the order in which it
/// came; the handler may call back.
package final class GatewayLink {
    /// What the link has to tell.
    package enum Event: Equatable, Sendable {
        case online(isNew: Bool)
        case offline(EndReason?)
        /// To be acknowledged once it will not be lost.
        case push(LinkClient.ReceivedPush)
        /// The token that the app gives its provider, 32 bytes.
        case registered(topic: String, app: UInt64, token: [UInt8])
        case unregistered(topic: String)
        case refused(topic: String, RegistrationProblem)
        /// The address that the app gives to a sender of Web Push.
        case subscribed(LinkClient.Subscription, app: UInt64, endpoint: String)
        /// Messages of a broadcast channel come from now on; or not, and why.
        case following(LinkClient.Follow, FollowRefusal?)
        case broadcast(GatewayFrame.Broadcast, topic: String)
        /// A connection that could not be had, or broke: in words, for a log.
        case problem(String)
        /// The same, because the gateway's certificate is not taken.
        case untrusted(CertificateProblem)
        /// The same, because what is there does not speak with devices.
        case otherProtocol(String)
    }

    private let loop: EventLoop
    private let address: InternetAddress
    /// That the gateway's certificate must be for.
    private let name: String
    private let context: TLSContext
    private let key: Ed25519PrivateKey
    private let publicKey: [UInt8]
    private let enrolment: [UInt8]
    private let handler: (GatewayLink, Event) -> Void
    private var client: LinkClient
    private var connection: Connection?
    private var timer: TimerSource?
    private var attempts = 0
    /// What came is being taken: what is to be said about it goes out afterwards, in one piece.
    private var isTaking = false
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    private final class Connection {
        let descriptor: FileDescriptor
        var session: TLSSession
        var source: DescriptorSource?
        var reader = FrameReader<GatewayFrame>()
        var output = LinkOutput()
        var isSecure = false
        var isWriting = true

        init(
            _ descriptor: consuming FileDescriptor,
            _ context: TLSContext,
            _ host: String
        ) throws(TLSError) {
            let number = descriptor.number
            self.descriptor = descriptor
            session = try TLSSession(context, connecting: number, to: host)
        }
    }

    /// `name`: that of the certificate, if it is not the address's host. `context` must offer
    /// `LinkFormat.protocolName`. `key` is who the device is at this gateway; `enrolment`: what the
    /// gateway wants to hear from new devices, at most `LinkFormat.longestEnrolment` bytes.
    package init(
        _ loop: EventLoop,
        to address: InternetAddress,
        name: String? = nil,
        _ context: TLSContext,
        key: Ed25519PrivateKey,
        enrolment: String = "",
        _ client: LinkClient,
        handler: @escaping (GatewayLink, Event) -> Void
    ) throws {
        (self.loop, self.address, self.context, self.key) = (loop, address, context, key)
        (self.client, self.handler) = (client, handler)
        self.enrolment = Array(enrolment.utf8)
        self.name = name ?? address.host
        publicKey = try key.publicKey().bytes
        timer = try TimerSource(loop) { [unowned self] in
            perform(self.client.woke(at: Clocks.boot()))
        }
    }

    package var isOnline: Bool { client.isOnline }

    package func start() { perform(client.started(at: Clocks.boot())) }
    package func stop() { perform(client.stopped()) }

    package func register(_ topic: String, renewing: Bool = false) {
        perform(client.register(topic, renewing: renewing))
    }
    package func unregister(_ topic: String) { perform(client.unregister(topic)) }
    package func subscribe(_ subscription: LinkClient.Subscription) {
        perform(client.subscribe(subscription))
    }
    package func follow(_ follow: LinkClient.Follow) { perform(client.follow(follow)) }
    package func unfollow(_ channel: [UInt8]) { perform(client.unfollow(channel)) }
    package func acknowledge(_ received: LinkClient.ReceivedPush) {
        perform(client.acknowledge(received))
    }
    package func decline(_ received: LinkClient.ReceivedPush) { perform(client.decline(received)) }
    package func opened(_ app: UInt64) { perform(client.opened(app)) }

    package func changed(_ condition: LinkCondition) {
        perform(client.changed(condition, at: Clocks.boot()))
    }
    package func counted(_ budget: DeviceFrame.Budget) { client.counted(budget) }

    /// The device woke from sleep, or its route changed.
    package func networkChanged(to network: String) {
        perform(client.networkChanged(to: network, at: Clocks.boot()))
    }

    // MARK: Actions

    private func perform(_ actions: [LinkClient.Action]) {
        for action in actions {
            switch action {
            case .connect: connect()
            case .close: close()
            case .prove(let challenge, let next, let condition):
                prove(challenge, next, condition)
            case .send(let frame): send(frame)
            case .push(let received): handler(self, .push(received))
            case .registered(let topic, let app, let token):
                handler(self, .registered(topic: topic, app: app, token: token))
            case .unregistered(let topic): handler(self, .unregistered(topic: topic))
            case .refused(let topic, let problem):
                handler(self, .refused(topic: topic, problem))
            case .subscribed(let subscription, let app, let endpoint):
                handler(self, .subscribed(subscription, app: app, endpoint: endpoint))
            case .following(let follow, let why): handler(self, .following(follow, why))
            case .broadcast(let broadcast, let topic):
                handler(self, .broadcast(broadcast, topic: topic))
            case .online(let isNew): handler(self, .online(isNew: isNew))
            case .offline(let reason): handler(self, .offline(reason))
            }
        }
        if !isTaking { settle() }
    }

    private func settle() {
        write()
        try? timer?.arm(at: client.alarm)
    }

    private func connect() {
        close()
        do {
            let socket = try InternetSocket.start(connectingTo: address, attempt: attempts)
            let number = socket.number
            let connection = try Connection(socket, context, name)
            // Writable: the connection stands, or cannot be had.
            connection.source = try DescriptorSource(loop, number, [.readable, .writable]) {
                [unowned self, unowned connection] _ in ready(connection)
            }
            self.connection = connection
        } catch {
            // The next address of the host, if there are several.
            attempts += 1
            fail("\(error)")
        }
    }

    private func fail(_ problem: String) {
        handler(self, .problem(problem))
        perform(client.lost(at: Clocks.boot()))
    }

    private func close() {
        guard let connection else { return }
        _ = try? flush(connection)
        connection.session.close()
        connection.source = nil
        self.connection = nil
    }

    private func prove(_ challenge: [UInt8], _ next: UInt64, _ condition: LinkCondition) {
        guard let connection else { return }
        do {
            let binding = try connection.session.exportedKey(
                LinkFormat.exporterLabel,
                count: LinkFormat.bindingBytes
            )
            let proof = LinkFormat.proof(challenge: challenge, binding: binding)
            send(
                .hello(
                    .init(
                        key: publicKey,
                        signature: try key.sign(proof),
                        next: next,
                        condition: condition,
                        enrolment: enrolment
                    )
                )
            )
        } catch {
            fail("\(error)")
        }
    }

    private func send(_ frame: DeviceFrame) {
        guard let connection, connection.isSecure else { return }
        connection.output.append(frame)
    }

    // MARK: The connection

    private func ready(_ connection: Connection) {
        do {
            if !connection.isSecure {
                guard try shakeHands(connection) else { return }
            }
            try read(connection)
        } catch {
            guard self.connection === connection else { return }
            if !connection.isSecure { attempts += 1 }
            if let problem = (error as? TLSError)?.certificate {
                handler(self, .untrusted(problem))
                return perform(client.lost(at: Clocks.boot()))
            }
            if (error as? TLSError)?.isOtherProtocol == true {
                handler(self, .otherProtocol("\(error)"))
                return perform(client.lost(at: Clocks.boot()))
            }
            fail("\(error)")
        }
    }

    private func shakeHands(_ connection: Connection) throws -> Bool {
        switch try connection.session.handshake() {
        case .wantsRead:
            try watch(connection, forWriting: false)
            return false
        case .wantsWrite:
            try watch(connection, forWriting: true)
            return false
        case .done: break
        }
        try watch(connection, forWriting: false)
        connection.isSecure = true
        perform(client.connected(at: Clocks.boot()))
        return self.connection === connection
    }

    private func read(_ connection: Connection) throws {
        isTaking = true
        var wantsWriting = false
        defer {
            isTaking = false
            settle()
            if wantsWriting { try? watch(connection, forWriting: true) }
        }
        repeat {
            switch try connection.session.read(into: &buffer) {
            case .bytes(let count):
                var frames: [GatewayFrame] = []
                try connection.reader.read(buffer[..<count]) { frames.append($0) }
                for frame in frames where self.connection === connection {
                    perform(try client.received(frame, at: Clocks.boot()))
                }
            case .wantsRead: return
            case .wantsWrite:
                wantsWriting = true
                return
            case .closed: return fail("the gateway closed the connection")
            }
        } while self.connection === connection && connection.session.hasPending
    }

    private func write() {
        guard let connection, connection.isSecure else { return }
        do {
            guard try flush(connection) else { return fail("the gateway is gone") }
        } catch {
            fail("\(error)")
        }
    }

    /// False when the gateway is gone.
    private func flush(_ connection: Connection) throws -> Bool {
        while true {
            let bytes = connection.output.waiting()
            guard !bytes.isEmpty else { break }
            switch try connection.session.write(bytes.span) {
            case .bytes(let count): connection.output.sent(count)
            case .wantsWrite:
                try watch(connection, forWriting: true)
                return true
            case .wantsRead, .closed: return false
            }
        }
        try watch(connection, forWriting: false)
        return true
    }

    private func watch(_ connection: Connection, forWriting: Bool) throws {
        guard connection.isWriting != forWriting else { return }
        connection.isWriting = forWriting
        try connection.source?.setEvents(forWriting ? [.readable, .writable] : .readable)
    }
}
