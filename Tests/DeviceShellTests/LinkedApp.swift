import AppProtocol
import Linux
import SystemBus
import TestKit
import Vocabulary

/// A linked app in the hands of a test: its process is started by the daemon, connects to a socket
/// of the test's, and does what it is told there (`AppPeer`).
final class LinkedApp {
    /// Where the processes of an app come to be told what to do.
    final class Stage {
        let bench: DaemonBench
        let name: String
        private let listener: SharedListener

        /// Writes the manifest of the app; nothing is started.
        init(_ bench: DaemonBench, _ name: String, _ keys: String, entry: String = "") throws {
            (self.bench, self.name) = (bench, name)
            // Short, whatever the scratch directory is called.
            let path = bench.home(name)
            listener = SharedListener(try UnixListener(path))
            try write(keys, entry: entry)
        }

        /// Writes the manifest anew.
        func write(_ keys: String, entry: String = "") throws {
            try bench.manifest(
                name,
                exec: "\(Products.path(of: "ProcessPeer")) app \(bench.home(name))",
                entry: entry,
                keys
            )
        }

        /// The next process that comes.
        func next() throws -> LinkedApp {
            while true {
                try Wait.until(
                    readable: listener.listener.descriptor.number,
                    "a process of \(name)\n\(bench.report)"
                )
                if let connection = try listener.listener.accept() {
                    return try LinkedApp(self, connection)
                }
            }
        }

        /// The user opens it; its process, connected, after its hello, and ready for calls.
        func open(registered: [String] = [], answering: [String] = []) throws -> LinkedApp {
            try bench.ask("Open", .string(name), [:])
            let app = try next()
            try app.begin(registered: registered, answering: answering)
            return app
        }

        /// Its command line, for another process of the launch.
        var command: Value {
            .list([.string(Products.path(of: "ProcessPeer")), "app", .string(bench.home(name))])
        }
    }

    private final class SharedListener {
        let listener: UnixListener
        init(_ listener: consuming UnixListener) { self.listener = listener }
    }

    /// What the app was called.
    struct Call {
        let method: String
        let arguments: [Value]
        let number: Int64?

        var options: Value { arguments.last ?? .null }
        var delivery: Int64 { arguments.first?.integerValue ?? -1 }
    }

    private(set) var process = ProcessIdentity(pid: 0, startTime: 0)
    private let bench: DaemonBench
    private let socket: FileDescriptor
    private var bytes: [UInt8] = []
    /// Called, and not yet looked at.
    private(set) var calls: [Call] = []
    /// Answers that nobody waited for, and that come before the next.
    private var unheard = 0

    private init(_ stage: Stage, _ socket: consuming FileDescriptor) throws {
        bench = stage.bench
        self.socket = socket
        let pid = try read()["pid"]?.integerValue ?? 0
        guard let identity = ProcessIdentity(of: Int32(pid)) else {
            throw DidNotHappen(description: "a living app: \(pid)")
        }
        process = identity
    }

    // MARK: The talk with the app

    private func read() throws -> Value {
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: bytes[..<end], as: UTF8.self)
                bytes.removeFirst(end + 1)
                return try ValueJSON.parse(line)
            }
            try Wait.until(readable: socket.number, "a word of the app\n\(bench.report)")
            let more = try socket.read(upTo: 65_536)
            guard !more.isEmpty else {
                throw DidNotHappen(description: "a word of a living app\n\(bench.report)")
            }
            bytes += more
        }
    }

    /// Keeps a line that tells of a call; false: it is something else.
    private func keep(_ line: Value) -> Bool {
        guard let method = line["called"]?.stringValue else { return false }
        calls.append(
            Call(
                method: method,
                arguments: line["arguments"]?.listValue ?? [],
                number: line["number"]?.integerValue
            )
        )
        return true
    }

    @discardableResult
    private func order(_ order: ValueMap) throws -> Value {
        try socket.writeAll(Value.map(order).json() + "\n")
        while true {
            let line = try read()
            if keep(line) { continue }
            guard unheard > 0 else { return line }
            unheard -= 1
        }
    }

    // MARK: What it does

    /// Connects, offers its object, says hello, and that it has finished launching.
    func begin(registered: [String] = [], answering: [String] = []) throws {
        try connect(answering: answering)
        try call("Hello", ["version": 1])
        try call("FinishedLaunching", .list(registered.map { .string($0) }))
    }

    func connect(answering: [String] = [], path: String = AppObject1.path) throws {
        try order(["do": "connect", "socket": .string(bench.daemon.socket)])
        try order([
            "do": "export", "path": .string(path),
            "answering": .list(answering.map { .string($0) }),
        ])
    }

    /// Once more, without an end of the connection that there is.
    func connectAnew() throws { try connect() }

    func disconnect() throws { try order(["do": "disconnect"]) }

    @discardableResult
    func call(_ method: String, _ arguments: Value...) throws -> [Value] {
        try call(method, arguments)
    }

    @discardableResult
    func call(_ method: String, _ arguments: [Value]) throws -> [Value] {
        let answer = try order([
            "do": "call", "method": .string(method), "arguments": .list(arguments),
        ])
        guard let values = answer["answer"]?.listValue else {
            throw DidNotHappen(description: "\(method) is answered: \(answer)")
        }
        return values
    }

    /// Calls what the app may be suspended for: nobody waits for the answer.
    func say(_ method: String, _ arguments: Value...) throws {
        let order: Value = [
            "do": "call", "method": .string(method), "arguments": .list(arguments),
        ]
        try socket.writeAll(order.json() + "\n")
        unheard += 1
    }

    /// Calls, and wants no answer: as if it did not listen.
    func post(_ method: String, _ arguments: Value...) throws {
        try order(["do": "post", "method": .string(method), "arguments": .list(arguments)])
    }

    /// The name and words of the error that a call is answered with.
    func refusal(_ method: String, _ arguments: Value...) throws -> (name: String, text: String) {
        try refusal(method, arguments)
    }

    func refusal(_ method: String, _ arguments: [Value]) throws -> (name: String, text: String) {
        let answer = try order([
            "do": "call", "method": .string(method), "arguments": .list(arguments),
        ])
        guard let name = answer["error"]?.stringValue else {
            throw DidNotHappen(description: "\(method) is refused: \(answer)")
        }
        return (name, answer["text"]?.stringValue ?? "")
    }

    /// How many of so many calls at once were answered, and how many refused, by the error's name.
    func flood(_ method: String, _ arguments: Value..., times: Int) throws -> Value {
        try order([
            "do": "flood", "method": .string(method), "arguments": .list(arguments),
            "times": .integer(Int64(times)),
        ])["answer"]?[0] ?? .null
    }

    func start(_ command: Value) throws { try order(["do": "start", "command": command]) }
    func spend(_ bytes: Int64) throws { try order(["do": "spend", "bytes": .integer(bytes)]) }

    /// Ends the process.
    func exit(_ status: Int64 = 0) throws {
        let line = Value.map(["do": "exit", "number": .integer(status)]).json()
        try socket.writeAll(line + "\n")
        try Wait.untilGone(process)
    }

    // MARK: What it is told

    /// The next call of a method; others stay where they are.
    func next(_ method: String) throws -> Call {
        while true {
            if let place = calls.firstIndex(where: { $0.method == method }) {
                return calls.remove(at: place)
            }
            try hear()
        }
    }

    /// The next call, whatever it is.
    func next() throws -> Call {
        while calls.isEmpty { try hear() }
        return calls.removeFirst()
    }

    /// What comes while no answer is waited for: a call, or an answer that nobody waits for.
    private func hear() throws {
        if !keep(try read()) { unheard -= 1 }
    }

    func answer(_ call: Call) throws {
        try order(["do": "answer", "number": .integer(call.number ?? 0)])
    }

    func refuse(_ call: Call) throws {
        try order(["do": "refuse", "number": .integer(call.number ?? 0)])
    }

    /// Takes the next offer, and waits for its go.
    @discardableResult
    func accept() throws -> Call {
        let offer = try next("Offer")
        if offer.number != nil { try answer(offer) }
        let go = try next("Go")
        guard go.delivery == offer.delivery else {
            throw DidNotHappen(description: "go of \(offer.delivery): \(go.delivery)")
        }
        if go.number != nil { try answer(go) }
        return offer
    }
}
