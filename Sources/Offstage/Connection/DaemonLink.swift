internal import AppProtocol
internal import EventLoop
internal import Linux
internal import SystemBus
internal import Vocabulary

/// The connection itself: says hello, calls, is called, and connects again after it was lost.
/// Confined to the library's thread.
///
/// What must survive the daemon is kept here: which work was accepted, runs and is finished, and
/// calls that are to reach whichever daemon comes next.
final class DaemonLink {
    /// How far a delivery is.
    enum Progress {
        /// Offered, and the receipt given; not to be run before the daemon says so.
        case accepted
        case running
        /// The daemon has not said yet that it knows.
        case finished(TaskResult)
    }

    typealias Answer<Success> = (Result<Success, CallError>) -> Void

    private struct Waiting {
        /// Nil: it is waited for as long as there is a connection.
        var ticksLeft: Int?
        let answer: Answer<[Value]>
    }

    let connection: DaemonConnection
    private let wakeup: Int32
    let owner: any DaemonListener
    private let loop: EventLoop
    private var bus: Bus?
    private var object: ExportedObject?
    private var socketWatch: SocketWatch?
    private var termination: Termination?
    private var ticker: TimerSource?
    private var isTicking = false

    /// Whether this process says hello: the main process of an app does, others do not.
    private var greets = false
    private var greeters: [(ticksLeft: Int, answer: DaemonConnection.Answer<Greeting>)] = []
    private var hasFinishedLaunching = false
    /// By the number that they were given when they were sent.
    private var waiting: [UInt64: Waiting] = [:]
    /// Calls to be made again until they are answered, in their order.
    private var kept: [(number: UInt64, call: OutgoingCall)] = []
    private var lastNumber: UInt64 = 0

    var deliveries: [DeliveryID: (work: AcceptedWork, progress: Progress)] = [:]
    /// Calls of the daemon's that the app works on.
    var working: [IncomingNumber: ObjectCall] = [:]
    var lastIncoming: UInt64 = 0

    /// What is kept for a daemon that may never come.
    private static let keptLimit = 1024

    init(
        _ connection: DaemonConnection,
        _ owner: any DaemonListener,
        wakeup: Int32
    ) throws(LinuxError) {
        self.connection = connection
        self.owner = owner
        self.wakeup = wakeup
        loop = try EventLoop()
    }

    /// Returns when the connection was told to stop.
    func run() throws(LinuxError) {
        ticker = try TimerSource(loop) { [unowned self] in tick() }
        if let socket = connection.settings.socket {
            socketWatch = SocketWatch(loop, socket) { [unowned self] in connect() }
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
        object = nil
        bus = nil
        fail(.stopped)
        let kept = kept
        self.kept = []
        for (_, call) in kept { call.answer(.failure(.stopped)) }
    }

    private func perform(_ request: DaemonConnection.Request) {
        switch request {
        case .greet(let answer):
            greets = true
            greeters.append((connection.settings.ticks, answer))
            armTicker()
            // One that connects says hello by itself.
            if bus != nil { hello() } else if let error = connect() { failGreeters(error) }
        case .finishedLaunching:
            hasFinishedLaunching = true
            // Should the connection be lost, the next hello says it.
            guard bus != nil else { return }
            let identifiers = owner.registeredIdentifiers
            send(App1.FinishedLaunching { $0.registered = identifiers }.encoded) { _ in }
        case .call(let call): perform(call)
        case .complete(let delivery, let result): complete(delivery, result)
        case .answer(let number): try? working.removeValue(forKey: number)?.answer()
        case .watchTermination: termination = termination ?? Termination(loop, owner)
        case .stop: loop.exit()
        }
    }

    private func perform(_ call: OutgoingCall) {
        switch call.persistence {
        case .now:
            if let error = connect() { return call.answer(.failure(error)) }
            send(
                call.encoded,
                ticks: connection.settings.ticks,
                late: call.late,
                answer: call.answer
            )
        case .kept:
            guard kept.count < Self.keptLimit else {
                return call.answer(.failure(CallError(.unreachable, "too much is kept for it")))
            }
            lastNumber += 1
            kept.append((lastNumber, call))
            // One that connects sends what is kept.
            if bus != nil { sendKept(lastNumber, call) } else { connect() }
        }
    }

    // MARK: Connecting

    /// Connects unless connected; why it cannot be.
    @discardableResult
    private func connect() -> CallError? {
        guard bus == nil else { return nil }
        guard let socket = connection.settings.socket, let socketWatch else {
            owner.unreachable()
            return .unknownPlace
        }
        if let error = socketWatch.recentFailure { return error }
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
            owner.unreachable()
            return why
        }
        socketWatch.succeeded()
        owner.reachable()
        if greets { hello() }
        for (number, call) in kept { sendKept(number, call) }
        return nil
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
        bus = nil
        object = nil
        working = [:]
        fail(CallError(.unreachable, "the connection to the daemon was lost (try again)"))
        socketWatch?.lookFromNowOn()
    }

    private func fail(_ error: CallError) {
        let failed = waiting.sorted { $0.key < $1.key }
        waiting = [:]
        for (_, waiting) in failed { waiting.answer(.failure(error)) }
        failGreeters(error)
    }

    private func failGreeters(_ error: CallError) {
        let greeters = greeters
        self.greeters = []
        for greeter in greeters { greeter.answer(.failure(error)) }
    }

    // MARK: Hello

    private func hello() {
        var call = App1.Hello { $0.version = App1.version }
        var told: [DeliveryID] = []
        if hasFinishedLaunching {
            var running: [DeliveryID] = []
            var finished: [App1.Finished] = []
            for (id, delivery) in deliveries.sorted(by: { $0.key < $1.key }) {
                switch delivery.progress {
                // The next daemon offers it again, or knows of the receipt and says only go.
                case .accepted: break
                case .running: running.append(id)
                case .finished(let result):
                    finished.append(App1.Finished(id, result))
                    told.append(id)
                }
            }
            (call.running, call.finished) = (running, finished)
            call.registered = owner.registeredIdentifiers
        }
        send(call.encoded) { [unowned self] in
            greeted(App1.Hello.reply(from: $0), told: told)
        }
    }

    private func greeted(_ answer: Result<Greeting, CallError>, told: [DeliveryID]) {
        switch answer {
        case .success(let greeting):
            for delivery in told { deliveries[delivery] = nil }
            owner.connected(greeting)
            let greeters = greeters
            self.greeters = []
            for greeter in greeters { greeter.answer(.success(greeting)) }
        case .failure(let error):
            switch error.reason {
            case .refused(.storage): LibraryLog.write(error.text)
            case .refused:
                LibraryLog.write("the daemon does not know this process as an app: \(error.text)")
            case .unsupported: LibraryLog.write(error.text)
            case .unreachable, .timedOut: break
            }
            failGreeters(error)
        }
    }

    // MARK: Calls out

    private func send(
        _ call: EncodedCall,
        number: UInt64? = nil,
        ticks: Int? = nil,
        late: @escaping @Sendable ([Value]) -> Void = { _ in },
        answer: @escaping Answer<[Value]>
    ) {
        guard let bus else { return answer(.failure(.stopped)) }
        if number == nil { lastNumber += 1 }
        let number = number ?? lastNumber
        waiting[number] = Waiting(ticksLeft: ticks, answer: answer)
        do throws(BusError) {
            // The time is counted here: sd-bus would let a call that was answered while this
            // process was frozen time out.
            try bus.call(
                Target(nil, Control1.path, call.interface, call.method),
                call.arguments,
                signature: call.signature,
                timeout: .forever
            ) { [unowned self] in answered(number, $0, late: late) }
        } catch {
            waiting[number] = nil
            answer(.failure(CallError(error)))
            return
        }
        if ticks != nil { armTicker() }
    }

    private func answered(
        _ number: UInt64,
        _ answer: Result<[Value], BusError>,
        late: @Sendable ([Value]) -> Void
    ) {
        guard let waiting = waiting.removeValue(forKey: number) else {
            // It was given up in time; what came of it all the same may have to be undone.
            if case .success(let values) = answer { late(values) }
            return
        }
        waiting.answer(answer.mapError { CallError($0) })
    }

    /// Stays in `kept` until the daemon has answered, with yes or no.
    private func sendKept(_ number: UInt64, _ call: OutgoingCall) {
        send(call.encoded, number: number) { [unowned self] answer in
            if case .failure(let error) = answer, error.reason == .unreachable { return }
            kept.removeAll { $0.number == number }
            call.answer(answer)
        }
    }

    private var hasLimits: Bool {
        !greeters.isEmpty || waiting.values.contains { $0.ticksLeft != nil }
    }

    private func armTicker() {
        guard !isTicking else { return }
        isTicking = true
        // Without the timer a daemon that never answers keeps its callers waiting, no other.
        try? ticker?.arm(at: Clocks.boot() + connection.settings.tick)
    }

    private func tick() {
        isTicking = false
        let error = CallError(.timedOut, "the daemon has not answered in time (try again)")
        var late: [(number: UInt64, answer: Answer<[Value]>)] = []
        for number in waiting.keys {
            guard let left = waiting[number]?.ticksLeft else { continue }
            waiting[number]?.ticksLeft = left - 1
            if left <= 1, let answer = waiting[number]?.answer { late.append((number, answer)) }
        }
        for (number, _) in late { waiting[number] = nil }
        for index in greeters.indices { greeters[index].ticksLeft -= 1 }
        let greeters = greeters.filter { $0.ticksLeft <= 0 }
        self.greeters.removeAll { $0.ticksLeft <= 0 }
        if hasLimits { armTicker() }
        for greeter in greeters { greeter.answer(.failure(error)) }
        for (_, answer) in late.sorted(by: { $0.number < $1.number }) { answer(.failure(error)) }
    }

    // MARK: Completion

    private func complete(_ delivery: DeliveryID, _ result: TaskResult) {
        guard deliveries[delivery] != nil else { return }
        deliveries[delivery]?.progress = .finished(result)
        // Without a connection the next hello says it.
        guard bus != nil else { return }
        let call = App1.Complete { ($0.delivery, $0.result) = (delivery, result) }
        send(call.encoded) { [unowned self] answer in
            if case .failure(let error) = answer, error.reason == .unreachable { return }
            deliveries[delivery] = nil
        }
    }
}

extension CallError {
    init(_ error: BusError) {
        switch error.reason {
        case .refused(ErrorName.unknownMethod), .refused(ErrorName.invalidArguments):
            self.init(unsupported: error.message)
        case .refused(let name):
            self.init(.refused(ControlErrorName(rawValue: name)), error.message)
        case .timedOut: self.init(.timedOut, error.message)
        case .unsuitable, .tooLarge:
            self.init(.refused(.invalid), error.message)
        case .notListening, .disconnected, .system:
            self.init(.unreachable, "the connection to the daemon was lost (try again)")
        }
    }
}
