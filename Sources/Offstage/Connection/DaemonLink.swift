internal import AppProtocol
internal import ClientCore
internal import EventLoop
internal import Linux
internal import SystemBus
internal import Vocabulary

/// Drives a `Client` over a real socket: performs its effects in order, on the library's thread,
/// and feeds it what comes of them. It decides nothing.
final class DaemonLink {
    typealias Answer = (Result<AppReply, CallError>) -> Void

    /// A call of the app's that has no answer yet, or was given up and may have one.
    private struct Caller {
        /// Called once.
        let answer: Answer
        var late: (AppReply) -> Void = { _ in }
    }

    private let connection: DaemonConnection
    private let wakeup: Int32
    private let owner: any DaemonListener
    private let loop: EventLoop
    private var bus: Bus?
    private var object: ExportedObject?
    private var socketWatch: SocketWatch?
    private var termination: Termination?
    private var ticker: TimerSource?

    private var client: Client
    /// What the client has not yet been told: effects may come to something at once.
    private var events: [ClientEvent] = []
    private var isPerforming = false
    private var callers: [CallerToken: Caller] = [:]
    private var lastCaller: UInt64 = 0
    /// The daemon's calls that are not answered yet.
    private var incoming: [IncomingNumber: ObjectCall] = [:]
    private var lastIncoming: UInt64 = 0

    init(
        _ connection: DaemonConnection,
        _ owner: any DaemonListener,
        wakeup: Int32
    ) throws(LinuxError) {
        self.connection = connection
        self.owner = owner
        self.wakeup = wakeup
        client = Client(ticks: connection.settings.ticks)
        loop = try EventLoop()
    }

    /// Returns when the connection was told to stop.
    func run() throws(LinuxError) {
        ticker = try TimerSource(loop) { [unowned self] in feed(.tick) }
        if let socket = connection.settings.socket {
            socketWatch = SocketWatch(loop, socket) { [unowned self] in feed(.look) }
        }
        let source = try DescriptorSource(loop, wakeup, .readable) { [unowned self] _ in
            for request in connection.takeRequests() { perform(request) }
        }
        // Also without a loop nobody may be kept waiting.
        defer { end() }
        while try loop.runTurn() {}
        withExtendedLifetime(source) {}
    }

    private func end() {
        socketWatch = nil
        hangUp()
        feed(.stop)
    }

    private func perform(_ request: DaemonConnection.Request) {
        switch request {
        case .greet(let answer):
            feed(.greet(caller(Caller { answer(App1.Hello.reply(from: $0)) })))
        case .finishedLaunching:
            feed(.finishedLaunching(registered: owner.registeredIdentifiers))
        case .call(let call):
            let caller = caller(Caller(answer: call.answer, late: call.late))
            feed(.call(call.call, call.persistence, caller))
        case .lookAtDevice(let answer):
            let caller = Caller { answer(App1.WatchConditions.reply(from: $0)) }
            feed(.lookAtDevice(self.caller(caller)))
        case .setIdleTimer(let isDisabled): feed(.setIdleTimer(disabled: isDisabled))
        case .complete(let delivery, let result): feed(.complete(delivery, result))
        case .answer(let number): feed(.done(number))
        case .watchTermination: termination = termination ?? Termination(loop, owner)
        case .stop: loop.exit()
        }
    }

    private func caller(_ caller: Caller) -> CallerToken {
        lastCaller += 1
        let token = CallerToken(lastCaller)
        callers[token] = caller
        return token
    }

    // MARK: The client

    private func feed(_ event: ClientEvent) {
        events.append(event)
        guard !isPerforming else { return }
        isPerforming = true
        defer { isPerforming = false }
        var effects: [ClientEffect] = []
        while !events.isEmpty {
            client.take(events.removeFirst(), into: &effects)
            for effect in effects { perform(effect) }
            effects.removeAll(keepingCapacity: true)
        }
    }

    private func perform(_ effect: ClientEffect) {
        switch effect {
        case .connect: connect()
        case .watch: socketWatch?.lookFromNowOn()
        case .send(let number, let call): send(number, call)
        // One that cannot be answered is the end of the connection, which is told by itself.
        case .reply(let number): try? incoming.removeValue(forKey: number)?.answer()
        case .refuse(let number, let name, let text):
            incoming.removeValue(forKey: number)?.refuse(name.rawValue, text)
        // If it fails, calls to a daemon that never answers do not time out. Others are answered.
        case .armTicker: try? ticker?.arm(at: Clocks.boot() + connection.settings.tick)
        case .answer(let token, let answer):
            callers.removeValue(forKey: token)?.answer(answer)
        case .giveUp(let token, let error): callers[token]?.answer(.failure(error))
        case .answerLate(let token, let reply):
            let caller = callers.removeValue(forKey: token)
            if let reply { caller?.late(reply) }
        case .reachable: owner.reachable()
        case .unreachable: owner.unreachable()
        case .greeted(let greeting): owner.connected(greeting)
        case .run(let work): run(work)
        case .expire(let delivery, let deadline):
            owner.expire(delivery: delivery, deadline: deadline)
        case .expireTask(let task, let deadline): owner.expire(task: task, deadline: deadline)
        case .enterBackground(let deadline, let work, let number):
            owner.enterBackground(deadline: deadline, work: work, number)
        case .enterForeground(let number): owner.enterForeground(number)
        case .becomeActive(let number): owner.becomeActive(number)
        case .openURLs(let urls, let number): owner.openURLs(urls, number)
        case .memoryWarning: owner.memoryWarning()
        case .changed(let status): owner.changed(backgroundRefresh: status)
        case .conditions(let conditions, let isTold):
            owner.changed(conditions: conditions, isTold: isTold)
        case .conditionsChanged(let conditions):
            owner.changed(conditions: conditions, isTold: true)
        case .taskEnded(let session, let end, let number):
            owner.taskEnded(session: session, end, number)
        case .taskProgressed(let session, let progress):
            owner.taskProgressed(session: session, progress)
        case .taskAsked(let session, let question):
            owner.taskAsked(session: session, question)
        case .log(let text): LibraryLog.write(text)
        }
    }

    private func run(_ work: ClientWork) {
        // Nothing of another kind was accepted.
        guard let kind = work.kind.known else { return }
        owner.run(
            AcceptedWork(
                delivery: work.delivery,
                kind: kind,
                identifier: work.identifier,
                deadline: work.deadline
            )
        )
    }

    // MARK: The socket

    private func connect() {
        guard let socket = connection.settings.socket, let socketWatch else {
            return feed(.notConnected(.unknownPlace))
        }
        if let error = socketWatch.recentFailure { return feed(.notConnected(error)) }
        do throws(BusError) {
            try connect(to: socket)
        } catch {
            let why = CallError(
                .unreachable,
                error.reason == .notListening
                    ? "the daemon is not running: nobody listens at \(socket) (start it with "
                        + "systemctl --user start offstaged)"
                    : "the daemon at \(socket) does not answer: \(error.message)"
            )
            socketWatch.failed(why, isThere: error.reason == .timedOut)
            return feed(.notConnected(why))
        }
        socketWatch.succeeded()
        feed(.connected)
    }

    private func connect(to socket: String) throws(BusError) {
        let bus = try Bus.connect(toSocket: socket, timeout: connection.settings.connecting)
        let object = try bus.export(AppObject1.interface, at: AppObject1.path) {
            [unowned self] in received($0)
        }
        try bus.onDisconnect { [unowned self] in lost() }
        try bus.attach(to: loop)
        self.bus = bus
        self.object = object
    }

    private func lost() {
        guard bus != nil else { return }
        hangUp()
        feed(.disconnected)
    }

    private func hangUp() {
        bus = nil
        object = nil
        incoming = [:]
    }

    private func send(_ number: CallNumber, _ call: App1) {
        guard let bus else { return feed(.answered(number, .failure(.stopped))) }
        let encoded = call.encoded
        do throws(BusError) {
            // The time is counted by the client: sd-bus would let a call that was answered while
            // this process was frozen time out.
            try bus.call(
                Target(nil, Control1.path, encoded.interface, encoded.method),
                encoded.arguments,
                signature: encoded.signature,
                timeout: .forever
            ) { [unowned self] answer in
                let reply = answer.mapError { CallError($0) }.flatMap(call.reply(from:))
                feed(.answered(number, reply))
            }
        } catch {
            feed(.answered(number, .failure(CallError(error))))
        }
    }

    private func received(_ call: ObjectCall) {
        do throws(OptionError) {
            guard let row = AppObject1.row(call.method.name) else {
                return call.refuse(ErrorName.unknownMethod, "no such method")
            }
            let typed = try row.call(call.arguments)
            lastIncoming += 1
            let number = IncomingNumber(lastIncoming)
            incoming[number] = call
            feed(.called(typed, number, hasHandler: hasHandler(typed)))
        } catch {
            call.refuse(ControlErrorName.invalid.rawValue, "\(error.reason): \(error.value)")
        }
    }

    private func hasHandler(_ call: AppObject1) -> Bool {
        guard case .offer(let offer) = call, let kind = offer.kind.known else {
            return false
        }
        return owner.canRun(kind, offer.identifier)
    }
}

extension App1 {
    /// What was replied; a reply that is not understood is the failure of the call.
    fileprivate func reply(from values: [Value]) -> Result<AppReply, CallError> {
        do throws(ValueError) {
            return .success(try reply(values))
        } catch {
            return .failure(CallError(unsupported: "its reply to \(encoded.method): \(error)"))
        }
    }
}

extension CallError {
    init(_ error: BusError) {
        switch error.reason {
        case .refused(ErrorName.unknownMethod), .refused(ErrorName.invalidArguments):
            self.init(unsupported: error.message)
        // As what is too large to be sent at all.
        case .refused(ErrorName.limitsExceeded): self.init(.refused(.invalid), error.message)
        case .refused(let name):
            self.init(.refused(ControlErrorName(rawValue: name)), error.message)
        case .timedOut: self.init(.timedOut, error.message)
        case .unsuitable, .tooLarge:
            self.init(.refused(.invalid), error.message)
        case .notListening, .disconnected, .system: self = .lost
        }
    }
}
