import AppProtocol
import EventLoop
import Linux
import Synchronization
import SystemBus
import TestKit
import Vocabulary

/// What the library sees of a daemon, and nothing behind it: it answers as a test says, calls the
/// app when a test says so, and dies when it should. It knows every peer as the app.
final class BenchDaemon: Sendable {
    /// How a method is answered.
    indirect enum Behaviour: Sendable {
        case answer([Value])
        case refuse(ControlErrorName, String)
        /// By a name that only a later version has.
        case refuseAs(String, String)
        /// Never.
        case silence
        /// The connection ends instead.
        case hangUp
        /// As its arguments want it.
        case decide(@Sendable ([Value]) -> Behaviour)
    }

    let scratch = ScratchDirectory()
    let socket: String
    private let ears: Ears
    private let life = Mutex<Life?>(nil)

    /// The time from a start to a death.
    private final class Life: Sendable {
        let thread: ServingThread
        let orders: Orders

        init(_ thread: ServingThread, _ orders: Orders) {
            (self.thread, self.orders) = (thread, orders)
        }
    }

    /// What is to be done on the daemon's thread.
    final class Orders: Sendable {
        private let list = Mutex<[@Sendable (BenchWorld) -> Void]>([])
        let wakeup: EventCounter

        init() throws { wakeup = try EventCounter() }

        func add(_ order: @escaping @Sendable (BenchWorld) -> Void) {
            list.withLock { $0.append(order) }
            wakeup.signal()
        }

        func take() -> [@Sendable (BenchWorld) -> Void] {
            wakeup.clear()
            return list.withLock { list in
                defer { list = [] }
                return list
            }
        }
    }

    private let interface: Interface

    /// `without`: methods that it does not know, as an older one.
    init(without methods: Set<String> = []) throws {
        interface = Interface(
            App1.name,
            methods: App1.interface.methods.filter { !methods.contains($0.name) }
        )
        socket = scratch("run/socket")
        ears = try Ears()
        try start()
    }

    // MARK: Its life

    func start() throws {
        // A program that another test starts just now may hold the old one for a moment.
        try? Files.remove(socket)
        var listener = Optional(try UnixListener(socket))
        let orders = try Orders()
        let thread = try ServingThread { [ears, interface] stopped in
            guard let listener = listener.take() else { return }
            try BenchWorld(ears, interface, listener).serve(orders, until: stopped)
        }
        life.withLock { $0 = Life(thread, orders) }
    }

    /// Everything of it ends at once, as by kill -9: the socket stays.
    func die() { life.withLock { $0 = nil } }

    /// The directory of the socket goes as well, as when systemd stops a service.
    func vanish() throws {
        die()
        try Files.removeTree(scratch("run"))
    }

    func restart() throws {
        die()
        try start()
    }

    // MARK: What it hears

    /// A greeting with these fields, besides what every daemon says.
    func greet(_ fields: ValueMap) {
        var greeting: ValueMap = [
            "app": "reader", "launch": 1, "state": "foreground", "background-refresh": "available",
        ]
        for (key, value) in fields.map({ ($0.key, $0.value) }) { greeting[key] = value }
        behave("Hello", .answer([.map(greeting)]))
    }

    func behave(_ method: String, _ behaviour: Behaviour) {
        ears.state.withLock { $0.behaviours[method] = behaviour }
    }

    /// Waits for a call of a method, and takes it; its arguments.
    @discardableResult
    func next(_ method: String) throws -> [Value] {
        while true {
            let found = ears.state.withLock { state -> [Value]? in
                let place = state.calls.firstIndex { $0.method == method }
                return place.map { state.calls.remove(at: $0).arguments }
            }
            if let found { return found }
            let calls = ears.state.withLock { $0.calls.map(\.method) }
            try Wait.until(readable: ears.heard.reading.number, "\(method), not \(calls)")
            _ = try ears.heard.reading.read(upTo: 1)
        }
    }

    /// Calls that were heard and not taken.
    func calls(of method: String) -> [[Value]] {
        ears.state.withLock { $0.calls.filter { $0.method == method }.map(\.arguments) }
    }

    /// What was heard of a method so far is of no interest.
    func forget(_ method: String) {
        ears.state.withLock { $0.calls.removeAll { $0.method == method } }
    }

    // MARK: What it says

    /// Calls the app's object, and waits for the answer.
    @discardableResult
    func tell(_ method: String, _ arguments: [Value]) throws -> Result<[Value], BusError> {
        try say(method, arguments).wait()
    }

    /// Calls the app's object; the answer may be waited for.
    func say(_ method: String, _ arguments: [Value]) throws -> Reply {
        let reply = try Reply(method)
        guard let life = life.withLock({ $0 }) else {
            throw DidNotHappen(description: "a daemon that could say \(method)")
        }
        life.orders.add { $0.tell(method, arguments, reply) }
        return reply
    }

    /// An answer to come.
    final class Reply: Sendable {
        private let method: String
        private let result = Mutex<Result<[Value], BusError>?>(nil)
        private let wakeup: EventCounter

        init(_ method: String) throws {
            self.method = method
            wakeup = try EventCounter()
        }

        func set(_ answer: Result<[Value], BusError>) {
            result.withLock { $0 = answer }
            wakeup.signal()
        }

        var hasCome: Bool { result.withLock { $0 != nil } }

        func wait() throws -> Result<[Value], BusError> {
            try Wait.until(readable: wakeup.descriptor.number, "the app's answer to \(method)")
            return try result.withLock { result in
                guard let result else { throw DidNotHappen(description: "an answer") }
                return result
            }
        }
    }

    /// Answers what was met with silence until now.
    func answerTheSilent(_ values: [Value]) throws {
        guard let life = life.withLock({ $0 }) else {
            throw DidNotHappen(description: "a daemon that could answer")
        }
        life.orders.add { $0.answerTheSilent(values) }
    }

    func offer(_ delivery: Int64, _ kind: String, _ identifier: String = "") throws {
        _ = try tell(
            "Offer",
            [.integer(delivery), .string(kind), .string(identifier), [:]]
        ).get()
    }

    func go(_ delivery: Int64, _ options: Value = [:]) throws {
        _ = try tell("Go", [.integer(delivery), options]).get()
    }

    func deliver(_ delivery: Int64, _ kind: String, _ identifier: String = "") throws {
        try offer(delivery, kind, identifier)
        try go(delivery)
    }
}

/// What a `BenchDaemon` hears, in all its lives.
final class Ears: Sendable {
    struct State {
        var behaviours: [String: BenchDaemon.Behaviour] = [
            "Hello": .answer([
                [
                    "app": "reader", "launch": 1, "version": 1, "state": "foreground",
                    "background-refresh": "available",
                ]
            ])
        ]
        /// Calls in the order in which they came, until a test takes them.
        var calls: [(method: String, arguments: [Value])] = []
        var lastTask: Int64 = 0
    }

    let state = Mutex(State())
    let heard: SharedPipe

    init() throws { heard = try SharedPipe() }

    func hear(_ call: IncomingCall) -> BenchDaemon.Behaviour {
        let behaviour = state.withLock { state -> BenchDaemon.Behaviour in
            state.calls.append((call.method.name, call.arguments))
            if let behaviour = state.behaviours[call.method.name] { return behaviour }
            switch call.method.name {
            case "BeginTask":
                state.lastTask += 1
                return .answer([.integer(state.lastTask), [:]])
            case "Pending": return .answer([.list([])])
            case "Limits": return .answer([["state": "foreground"]])
            default: return .answer([])
            }
        }
        try? heard.writing.writeAll("x")
        return behaviour
    }
}

/// What runs on the thread of a `BenchDaemon`.
final class BenchWorld {
    private let ears: Ears
    private let interface: Interface
    private let listener: UnixListener
    private var server: Server?
    /// Calls that are never answered, while it lives.
    private var silent: [IncomingCall] = []

    init(_ ears: Ears, _ interface: Interface, _ listener: consuming UnixListener) {
        self.ears = ears
        self.interface = interface
        self.listener = listener
    }

    func serve(_ orders: BenchDaemon.Orders, until stopped: Int32) throws {
        let loop = try EventLoop()
        var limits = Server.Limits()
        limits.argumentBytes = Control1.mostArgumentBytes
        limits.messageBytes = Control1.mostMessageBytes + (64 << 10)
        server = try Server(
            loop,
            name: Control1.busName,
            objects: [Server.Object(Control1.path, [interface])],
            limits: limits,
            handlers: Server.Handlers(call: { [unowned self] in answer($0) })
        )
        let sources = [
            try DescriptorSource(loop, listener.descriptor.number, .readable) {
                [unowned self] _ in
                while let socket = try? listener.accept() { _ = server?.accept(socket) }
            },
            try DescriptorSource(loop, orders.wakeup.descriptor.number, .readable) {
                [unowned self] _ in
                for order in orders.take() { order(self) }
            },
            try DescriptorSource(loop, stopped, .readable) { _ in loop.exit() },
        ]
        while try loop.runTurn() {}
        // Its connections end without an answer.
        server = nil
        silent = []
        withExtendedLifetime(sources) {}
    }

    private func answer(_ call: IncomingCall) { perform(ears.hear(call), call) }

    private func perform(_ behaviour: BenchDaemon.Behaviour, _ call: IncomingCall) {
        switch behaviour {
        case .answer(let values): call.answer(values)
        case .refuse(let name, let text): call.refuse(name.rawValue, text)
        case .refuseAs(let name, let text): call.refuse(name, text)
        case .silence: silent.append(call)
        case .hangUp:
            silent.append(call)
            call.connection.end()
        case .decide(let decide): perform(decide(call.arguments), call)
        }
    }

    func answerTheSilent(_ values: [Value]) {
        for call in silent { call.answer(values) }
        silent = []
    }

    func tell(_ method: String, _ arguments: [Value], _ reply: BenchDaemon.Reply) {
        // A method that the app does not have is a later version's.
        let row = AppObject1.interface.method(method)
        guard let connection = server?.connections.last(where: \.isOpen) else {
            return reply.set(.failure(BusError(.disconnected, "call", method, "no app")))
        }
        do throws(BusError) {
            try connection.call(
                at: AppObject1.path,
                AppObject1.name,
                method,
                arguments,
                signature: row?.inputSignature ?? "a{sv}"
            ) {
                reply.set($0)
            }
        } catch {
            reply.set(.failure(error))
        }
    }
}
