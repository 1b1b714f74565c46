import EventLoop
import Linux
import Synchronization
import SystemBus
import TestKit
import Vocabulary

/// A server with a few plain methods, on a thread and a socket of its own, until it is dropped.
///
/// What happens in it can be waited for: it reports a line for each event.
final class EchoServer: Sendable {
    static let name = "org.example.Echo"
    static let path = "/org/example/echo"
    static let interface = Interface(
        "org.example.Echo1",
        documentation: "Something to test with.",
        methods: [
            method("Echo", "v", "v", "Answers what it is given."),
            method("Types", "ybnqiuxtdsogayas(is)a{sv}a{us}", "av", "Answers all it is given."),
            method("Pairs", "a{us}", "a{sv}", "Answers no such thing."),
            method("Later", "s", "s", "Answers once Now is called."),
            method("Now", "", "u", "Answers all calls of Later, and says how many."),
            method("Refuse", "ss", "", "Refuses with a name and a text."),
            method("Drop", "", "", "Drops the call."),
            method("Unsendable", "", "s", "Answers with a text that D-Bus cannot carry."),
            method("Bytes", "u", "ay", "Answers so many bytes."),
            method("Shout", "s", "", "Sends the signal to everyone."),
            method("Change", "x", "", "Changes the property."),
            method("CallBack", "s", "v", "Calls a method of the caller's own object."),
            method("Close", "", "", "Ends the connection of the caller."),
            method("Patience", "x", "", "Sets how many milliseconds a new peer is given."),
            method("Who", "", "uu", "Answers process and user of the caller."),
        ],
        signals: [Interface.Signal("Shouted", [Interface.Argument("text", "s")], "Somebody did.")],
        properties: [
            Interface.Property("Version", "s", isConstant: true, "Never changes."),
            Interface.Property("Number", "x", "What Change was given."),
        ]
    )

    /// At the same path.
    static let empty = Interface(
        "org.example.Empty1",
        properties: [Interface.Property("Nothing", "s", "Has no value.")]
    )

    fileprivate static func method(
        _ name: String,
        _ input: String,
        _ output: String,
        _ documentation: String
    ) -> Interface.Method {
        Interface.Method(
            name,
            input: arguments(input),
            output: arguments(output),
            documentation
        )
    }

    /// Splits a signature whose containers stand alone.
    private static func arguments(_ signature: String) -> [Interface.Argument] {
        var arguments: [Interface.Argument] = []
        var type = ""
        var depth = 0
        for character in signature {
            type.append(character)
            if "({".contains(character) { depth += 1 }
            if ")}".contains(character) { depth -= 1 }
            if depth == 0, character != "a" {
                arguments.append(Interface.Argument("argument\(arguments.count)", type))
                type = ""
            }
        }
        return arguments
    }

    let scratch = ScratchDirectory()
    let socket: String
    var address: String { "unix:path=\(socket)" }
    private let reports: SharedPipe
    private let thread: ServingThread
    private let lines = Mutex<[UInt8]>([])

    /// `openToAll`: nothing but the server itself keeps others out.
    init(limits: Server.Limits = Server.Limits(), openToAll: Bool = false) throws {
        socket = scratch("bus")
        let reports = try SharedPipe()
        self.reports = reports
        let listener = try UnixListener(socket)
        if openToAll {
            try Files.setPermissions(scratch.path, 0o755)
            try Files.setPermissions(socket, 0o666)
        }
        let world = World(listener, limits, reports: reports)
        thread = try ServingThread { stopped in try world.serve(until: stopped) }
    }

    /// Waits until the server has reported a line; lines before it are dropped.
    func await(_ line: String) throws {
        try Wait.until(line) {
            lines.withLock { lines in
                while let end = lines.firstIndex(of: 10) {
                    let first = String(decoding: lines[..<end], as: UTF8.self)
                    lines.removeFirst(end + 1)
                    if first == line { return true }
                }
                return false
            }
        } step: {
            try Wait.until(readable: reports.reading.number, line)
            let more = try reports.reading.read(upTo: 4096)
            lines.withLock { $0 += more }
        }
    }
}

/// What the thread of an `EchoServer` runs. Made by the test's thread, then given away.
private final class World {
    let listener: UnixListener
    let limits: Server.Limits
    let reports: SharedPipe
    var server: Server?
    var waiting: [IncomingCall] = []
    var number: Int64 = 0

    init(
        _ listener: consuming UnixListener,
        _ limits: Server.Limits,
        reports: SharedPipe
    ) {
        self.listener = listener
        self.limits = limits
        self.reports = reports
    }

    func report(_ line: String) { must { try reports.writing.writeAll(line + "\n") } }

    /// A failure here is one of the test's own works.
    func must<Answer: ~Copyable>(_ body: () throws -> Answer) -> Answer {
        do {
            return try body()
        } catch {
            fatalError("\(error)")
        }
    }

    func serve(until stopped: Int32) throws {
        let loop = try EventLoop()
        let server = try Server(
            loop,
            name: EchoServer.name,
            objects: [Server.Object(EchoServer.path, [EchoServer.interface, EchoServer.empty])],
            limits: limits,
            handlers: Server.Handlers(
                call: { [unowned self] in answer($0) },
                property: { [unowned self] _, _, name in
                    switch name {
                    case "Version": "1.0"
                    case "Number": .integer(number)
                    default: nil
                    }
                },
                ended: { [unowned self] in report("ended \($0.number)") }
            )
        )
        self.server = server
        let accepting = try DescriptorSource(loop, listener.descriptor.number, .readable) {
            [unowned self] _ in accept()
        }
        let stopping = try DescriptorSource(loop, stopped, .readable) { _ in loop.exit() }
        while try loop.runTurn() {}
        self.server = nil
        withExtendedLifetime((accepting, stopping, server)) {}
    }

    func accept() {
        while let socket = must({ try listener.accept() }) {
            switch server?.accept(socket) {
            case nil: report("accepted")
            case .foreignUser(let user): report("refused user \(user)")
            case .tooMany: report("refused: too many")
            case .tooManyOfProcess: report("refused: too many of one process")
            case .failed: report("failed")
            }
        }
    }

    func answer(_ call: IncomingCall) {
        let arguments = call.arguments
        func text(_ index: Int) -> String { arguments[index].stringValue ?? "" }
        func integer(_ index: Int) -> Int64 { arguments[index].integerValue ?? 0 }
        switch call.method.name {
        case "Echo": call.answer(arguments)
        case "Types": call.answer([.list(arguments)])
        case "Pairs": call.answer([["a": arguments[0]]])
        case "Later": waiting.append(call)
        case "Now":
            call.answer([.integer(Int64(waiting.count))])
            for call in waiting { call.answer(call.arguments) }
            waiting = []
        case "Refuse": call.refuse(text(0), text(1))
        case "Drop": break
        case "Unsendable": call.answer(["a\0b"])
        case "Bytes":
            call.answer([.bytes([UInt8](repeating: 7, count: Int(integer(0))))])
        case "Shout":
            call.answer()
            must { try shout(arguments) }
        case "Change":
            number = integer(0)
            call.answer()
            must { try tellChange() }
        case "CallBack":
            must { try callBack(call) }
        case "Patience":
            server?.limits.authentication = .milliseconds(integer(0))
            call.answer()
        case "Close": call.connection.end()
        case "Who":
            call.answer([
                .integer(Int64(call.connection.peer.pid)),
                .integer(Int64(call.connection.peer.user)),
            ])
        default: fatalError(call.method.name)
        }
    }

    func shout(_ arguments: [Value]) throws {
        try server?.emit(
            "Shouted",
            of: EchoServer.interface.name,
            at: EchoServer.path,
            arguments,
            signature: "s"
        )
    }

    func tellChange() throws {
        try server?.emit(
            "PropertiesChanged",
            of: "org.freedesktop.DBus.Properties",
            at: EchoServer.path,
            [.string(EchoServer.interface.name), .map(["Number": .integer(number)]), .list([])],
            signature: "sa{sv}as"
        )
    }

    func callBack(_ call: IncomingCall) throws {
        try call.connection.call(
            at: "/app",
            "org.example.App1",
            "Do",
            call.arguments,
            signature: "s"
        ) { answer in
            switch answer {
            case .success(let values): call.answer([values.first ?? .null])
            case .failure(let error): call.refuse("org.example.Error.NoAnswer", "\(error)")
            }
        }
    }
}
