import AppProtocol
import Glibc
import Linux
import SystemBus
import TestKit
import Vocabulary

/// The programs of `make bench ONLY=apps`, as scripts/bench builds them.
enum BenchPrograms {
    /// With the Swift runtime linked in, as our own programs are.
    static let linked = Products.path(of: "offstage-bench-app")
    static let plain = Products.path(of: "offstage-bench-foundation")

    /// The same, with the runtime in libraries beside them, as `swift build` makes them.
    static func dynamic(_ program: String) throws -> String {
        let path = ".build/dynamic/release/" + Files.name(of: program)
        guard let path = Files.resolved(path) else {
            throw DidNotHappen(description: "\(path) (scripts/bench builds it)")
        }
        return path
    }
}

/// The linked app (Benchmarks/LinkedApp) under a daemon of its own.
final class MeasuredApp {
    let daemon: ScratchDaemon
    private let program: String
    private let bus: Bus
    private let orders: FileDescriptor?
    private static let task = "org.offstage.bench.refresh"

    /// `orders`: the argument is followed by the path of a FIFO that `order` writes to.
    init(_ program: String, _ argument: String = "", orders: Bool = false) throws {
        let daemon = try ScratchDaemon(
            settings: """
                pause-after-start = 0s
                pause-after-boot = 0s
                pause-after-resume = 0s
                suspend-delay = 0s
                """
        )
        var exec = "\(program) \(argument)"
        if orders {
            let path = daemon.scratch("orders")
            guard mkfifo(path, 0o600) == 0 else {
                throw DidNotHappen(description: "a FIFO at \(path)")
            }
            exec += " " + path
            // Open for both, so that neither side waits for the other.
            let fifo = try FileDescriptor(opening: path, .both)
            self.orders = consume fifo
        } else {
            self.orders = nil
        }
        try daemon.write(
            manifest: "linked",
            """
            [Desktop Entry]
            Type=Application
            Name=Linked
            Exec=\(exec)
            NoDisplay=true

            [X-Offstage]
            BackgroundModes=fetch;
            PermittedTaskIdentifiers=\(Self.task);
            """
        )
        try Files.makeDirectory(daemon.scratch("state/logs"), permissions: 0o700, parents: true)
        try daemon.start()
        bus = try Bus.connect(toSocket: daemon.socket)
        self.daemon = daemon
        self.program = program
    }

    // MARK: What the user does

    func open() throws { try ask("Open", ["linked", [:]]) }

    func leave() throws { try ask("Leave", ["linked", [:]]) }

    /// Returns when its process is gone.
    func close() throws {
        try ask("Close", ["linked", [:]])
        try until("the app closed") { try running() == nil }
    }

    /// One byte for an app that waits for orders.
    func order() throws { try orders?.writeAll("x") }

    // MARK: Deliveries

    /// Has its task launched, and returns when its handler ran; CLOCK_MONOTONIC, nanoseconds.
    /// `number`: so many times it ran then.
    func deliver(_ number: Int) throws -> Double {
        try ask("Simulate", ["launch", "linked", ["task": .string(Self.task)]])
        return try Self.handled(try line("handler", number))
    }

    /// Starts the program without a daemon; nanoseconds until it is where the handler would be.
    func startByHand(_ number: Int) throws -> Double {
        let log = daemon.scratch("by-hand.log")
        let begin = Double(Clocks.now().awake.nanoseconds)
        let process = try Command(program, "by-hand").start(logging: log)
        let line = try Self.line("handler", number, of: log)
        try process.send(Signal.kill)
        _ = try process.wait(block: true)
        return try Self.handled(line) - begin
    }

    private static func handled(_ line: String) throws -> Double {
        guard let time = line.split(separator: " ").last.flatMap({ Double($0) }) else {
            throw DidNotHappen(description: "a time in \(line)")
        }
        return time
    }

    /// Returns when nothing is left to do for anybody.
    func untilSuspended() throws {
        try until("the app suspended") { try running()?["frozen"] == true }
        // The daemon writes its log when it has nothing better to do.
        pause(milliseconds: 100)
    }

    // MARK: What it says

    /// Its line number `number` that begins with `word`.
    func line(_ word: String, _ number: Int) throws -> String {
        try Self.line(word, number, of: daemon.scratch("state/logs/linked.log"))
    }

    private static func line(_ word: String, _ number: Int, of log: String) throws -> String {
        func found(_ text: String) -> [Substring] {
            // One that is written to its end.
            text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .filter { $0.hasPrefix(word + " ") }
        }
        let text = try Wait.until(file: log, word) { found($0).count >= number }
        return String(found(text)[number - 1])
    }

    // MARK: What the daemon says

    /// Its main process.
    func pid() throws -> Int32 {
        Int32(clamping: try running()?["pid"]?.integerValue ?? 0)
    }

    private func running() throws -> Value? {
        try ask("Status")["running"]?.listValue?.first { $0["app"] == "linked" }
    }

    private func until(_ what: String, _ isSo: () throws -> Bool) throws {
        try Wait.until(what + "\n" + daemon.log, isSo) { pause(milliseconds: 20) }
    }

    @discardableResult
    private func ask(_ method: String, _ arguments: [Value] = []) throws -> Value {
        let answers = try bus.call(
            Target(Control1.busName, Control1.path, Control1.name, method),
            arguments,
            signature: Control1.interface.method(method)?.inputSignature ?? "",
            timeout: .seconds(60)
        )
        return answers.first ?? .null
    }
}
