@testable import DeviceShell
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// What peers, files and users may do wrong: each gets its words or its disconnection, and the
/// daemon answers everybody else.
struct BadInputTests {
    /// A daemon with something to lose.
    private func bench(_ settings: String = "") throws -> DaemonBench {
        let bench = try DaemonBench(settings)
        try bench.submit("echo run >> runs", id: "mine", ["after": 3600])
        return bench
    }

    private func checkNothingIsLost(_ bench: DaemonBench) throws {
        #expect(try bench.answers())
        #expect(try bench.ask("Tasks", "command.mine")[0]?["task"] == "mine")
        #expect(bench.daemon.log.contains("Fatal") == false)
    }

    @Test(arguments: [
        "Explain", "Tasks", "Logs", "Open", "Leave", "Close", "Run", "Cancel",
    ])
    func `an unknown app is not found, and a likely one is suggested`(method: String) throws {
        let bench = try bench()
        let options: [Value] = method == "Tasks" ? [] : [[:]]
        do {
            let answer = try bench.ask(method, [.string("command.mien")] + options)
            Issue.record("\(method) answered \(answer)")
        } catch let error as BusError {
            #expect(error.reason == .refused("org.offstage.Error.NotFound"))
            #expect(error.message.contains("command.mien"), "\(error.message)")
            if method == "Explain" || method == "Tasks" {
                #expect(error.message.contains("did you mean command.mine?"), "\(error.message)")
            }
        }
        try checkNothingIsLost(bench)
    }

    @Test(arguments: [
        "Explain", "Logs", "Open", "Leave", "Close", "Run", "Cancel", "Pause", "Continue",
        "History", "Submit", "Simulate", "Set",
    ])
    func `an option that there is not is refused by name`(method: String) throws {
        let bench = try bench()
        let options: Value = [
            "colour": "red", "kind": "refresh", "command": ["true"],
        ]
        let wrong: Value = method == "Submit" ? options : ["colour": "red"]
        let texts: [Value] =
            switch method {
            case "Pause", "Continue", "History", "Submit": []
            case "Simulate": ["launch", "command.mine"]
            case "Set": ["battery", "50"]
            default: ["command.mine"]
            }
        do {
            let answer = try bench.ask(method, texts + [wrong])
            Issue.record("\(method) answered \(answer)")
        } catch let error as BusError {
            #expect(error.reason == .refused("org.offstage.Error.Invalid"))
            #expect(error.message.contains("colour"), "\(error.message)")
        }
        try checkNothingIsLost(bench)
    }

    // MARK: Settings

    @Test func `a mistake in the settings file keeps the old ones, and is told with its line`()
        throws
    {
        let bench = try bench("run-slots = 3\n")
        func slots() throws -> Value? {
            try bench.ask("Settings").listValue?.first { $0["setting"] == "run-slots" }?["value"]
        }
        #expect(try slots() == "3")
        let path = bench.daemon.scratch("offstage.conf")
        try Files.replace(path, with: DaemonBench.quick + "run-slots = 5\nbattery-limt = 10\n")
        let refusal = try bench.refusal("Reload")
        #expect(refusal.name == "org.offstage.Error.Held")
        for part in [path, "line 10", "battery-limt", "battery-limit"] {
            #expect(refusal.text.contains(part), "\(part) in: \(refusal.text)")
        }
        #expect(try slots() == "3", "all or nothing")
        let check = try bench.ask("Doctor").listValue?.first { $0["check"] == "settings" }
        #expect(check?["ok"] == false)
        let unset = try bench.refusal("Set", "run-slots", "7", [:])
        #expect(unset.name == "org.offstage.Error.Storage")
        #expect(unset.text.hasPrefix("\(path): line 10: battery-limt"), "\(unset.text)")
        #expect(unset.text.contains("; run-slots was not changed"), "\(unset.text)")
        #expect(bench.daemon.log.contains("battery-limt"))
        try Files.replace(path, with: DaemonBench.quick + "run-slots = 5\n")
        try bench.wait(until: "mended") { try slots() == "5" }
        try checkNothingIsLost(bench)
    }

    @Test func `a daemon that starts with a mistake in its settings runs with the defaults`() throws
    {
        let bench = try DaemonBench("run-slots = many\n")
        let slots = try bench.ask("Settings").listValue?.first { $0["setting"] == "run-slots" }
        #expect(slots?["value"] == "4")
        #expect(bench.daemon.log.contains("line 9"))
        #expect(bench.daemon.log.contains("run-slots"))
    }

    @Test(arguments: [
        ("run-slot", "3", "run-slots"), ("powr", "off", "power"), ("run-slots", "many", "many"),
        ("battery", "101", "0 to 100"), ("idle", "perhaps", "off, on"), ("", "", "setting"),
        ("wake-grant", "5s", "expiry-warning"), ("expiry-warning", "30s", "wake-grant"),
    ])
    func `setting what there is not, or to what it cannot be, is refused`(
        name: String,
        value: String,
        words: String
    ) throws {
        let bench = try bench()
        let before = try bench.daemon.scratch.read("offstage.conf")
        let refusal = try bench.refusal("Set", .string(name), .string(value), [:])
        #expect(refusal.name == "org.offstage.Error.Invalid")
        #expect(refusal.text.contains(words), "\(refusal.text)")
        #expect(try bench.daemon.scratch.read("offstage.conf") == before)
    }

    @Test func `a setting that is set stands in the file, with what was there already`() throws {
        let bench = try bench("# mine\nrun-slots = 3 \n")
        try bench.set("run-slots", "7")
        let text = try bench.daemon.scratch.read("offstage.conf")
        #expect(text.contains("# mine\n"))
        #expect(text.contains("run-slots = 7"))
        try bench.ask("Set", "background-refresh", "off", ["app": "command.mine"])
        let refusal = try bench.refusal(
            "Submit",
            ["kind": "refresh", "command": ["true"], "id": "mine"]
        )
        #expect(refusal.name == "org.offstage.Error.Unavailable")
        #expect(refusal.text.contains("--app command.mine"))
        try bench.restart()
        let slots = try bench.ask("Settings").listValue?.first { $0["setting"] == "run-slots" }
        #expect(slots?["value"] == "7")
    }

    // MARK: Bytes

    private static let authentication = "\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n"

    /// A connection of raw bytes.
    private func connect(_ bench: DaemonBench, _ bytes: [UInt8]) throws -> FileDescriptor {
        // This thread is told by the write itself; programs begin with no signal blocked.
        try CurrentProcess.block(signals: [Signal.pipe])
        let socket = try UnixSocket.connect(to: bench.daemon.socket)
        // A daemon that has had enough closes while we write.
        try? socket.writeAll(bytes.span)
        return socket
    }

    /// Reads until the daemon closes the connection.
    private func waitUntilClosed(_ socket: borrowing FileDescriptor) throws {
        while true {
            try Wait.until(readable: socket.number, "the daemon closes the connection")
            guard let bytes = try? socket.read(upTo: 65_536), !bytes.isEmpty else { return }
        }
    }

    @Test(
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", 1), ("A", 100_000),
            ("\0AUTH KERBEROS x\r\n", 1), ("\0AUTH\r\n", 5000),
            ("\u{1}\u{2}\u{3}\u{4}", 1), ("\0BEGIN\r\n", 1),
        ] as [(String, Int)]
    )
    func `garbage on the socket ends that connection and no other`(
        text: String,
        times: Int
    ) throws {
        let bench = try bench()
        let socket = try connect(bench, Array(String(repeating: text, count: times).utf8))
        try waitUntilClosed(socket)
        try checkNothingIsLost(bench)
    }

    @Test(
        arguments: [
            // An endianness that there is not.
            [UInt8](repeating: 0x78, count: 64),
            // A header of 64 MB and more, and a body beyond what D-Bus allows.
            [0x6C, 1, 0, 1, 0xFF, 0xFF, 0xFF, 0x7F, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x0F],
            // A protocol version to come.
            [0x6C, 1, 0, 9, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            // Serial 0.
            [0x6C, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            // A header field that ends beyond the header.
            [0x6C, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 1, 1, 0x6F, 0, 0xFF, 0, 0, 0],
        ] as [[UInt8]]
    )
    func `a malformed message is dropped or ends its connection, and no other`(message: [UInt8])
        throws
    {
        let bench = try bench()
        let socket = try connect(bench, Array(Self.authentication.utf8) + message)
        try checkNothingIsLost(bench)
        withExtendedLifetime(socket.number) {}
    }

    @Test func `a message of more than we take is refused, and its sender may go on`() throws {
        let bench = try bench()
        // Short on the way: what is read of each word takes four times as much memory.
        let words = Array(repeating: Value.string(""), count: AppBus.limits.argumentBytes / 32 + 1)
        let refusal = try bench.refusal("Submit", ["kind": "refresh", "command": .list(words)])
        #expect(refusal.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        let long = try bench.refusal(
            "Submit",
            [
                "kind": "refresh", "command": ["true"],
                "id": .string(String(repeating: "x", count: 5000)),
            ]
        )
        #expect(long.name == "org.offstage.Error.Invalid")
        #expect(long.text.contains("id is too long"))
        try checkNothingIsLost(bench)
    }

    /// The beginning of a call with so many megabytes of bytes, which are to follow.
    private static func call(megabytes: UInt32) -> [UInt8] {
        func le(_ number: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        let size = megabytes << 20
        let fields: [UInt8] =
            [1, 1, 0x6F, 0] + le(1) + Array("/\0".utf8) + [UInt8](repeating: 0, count: 6)
            + [3, 1, 0x73, 0] + le(1) + Array("X\0".utf8) + [UInt8](repeating: 0, count: 6)
            + [8, 1, 0x67, 0] + [2] + Array("ay\0".utf8)
        var header = [0x6C, 1, 0, 1] + le(size + 4) + le(1) + le(UInt32(fields.count)) + fields
        header += [UInt8](repeating: 0, count: (8 - header.count % 8) % 8) + le(size)
        return Array(authentication.utf8) + header
    }

    private static let megabyte = [UInt8](repeating: 0x41, count: 1 << 20)

    @Test func `the largest message that D-Bus allows costs its sender the connection`() throws {
        let bench = try bench()
        let socket = try connect(bench, Self.call(megabytes: 127))
        for _ in 0..<127 {
            do { try socket.writeAll(Self.megabyte.span) } catch { break }
        }
        try waitUntilClosed(socket)
        try checkNothingIsLost(bench)
    }

    @Test func `several large messages at once cost each of their senders the connection`() throws {
        let bench = try bench()
        let sockets = try (0..<3).map { _ in
            SharedDescriptor(try connect(bench, Self.call(megabytes: 50)))
        }
        var open = sockets
        for _ in 0..<50 {
            open.removeAll { (try? $0.descriptor.writeAll(Self.megabyte.span)) == nil }
        }
        #expect(open.isEmpty)
        try checkNothingIsLost(bench)
    }

    @Test func `a daemon without descriptors hangs up on who comes, and goes on`() throws {
        let bench = try bench()
        let pid = bench.daemon.identity?.pid ?? 0
        func allow(_ descriptors: Int) throws {
            let limit = "--nofile=\(descriptors):4096"
            #expect(try Command("prlimit", "--pid", "\(pid)", limit).run().succeeded)
        }
        let taken = Set(try Files.list("/proc/\(pid)/fd").compactMap { Int($0) })
        // What is open stays open; the lowest free number is the first that is not given out.
        try allow((0...taken.count).first { !taken.contains($0) } ?? 0)
        let late = try UnixSocket.connect(to: bench.daemon.socket)
        try waitUntilClosed(late)
        #expect(bench.daemon.log.contains("ignoring a peer"), "\(bench.daemon.log)")
        #expect(try bench.answers())
        try allow(4096)
        _ = try bench.ask(at: bench.daemon.socket, "Version")
        try checkNothingIsLost(bench)
    }

    private func askFromAnotherProcess(
        _ bench: DaemonBench,
        as user: User? = nil
    ) throws -> Command.Outcome {
        var command = Command(
            "busctl",
            "--address=unix:path=\(bench.daemon.socket)",
            "call",
            "org.offstage.Offstage",
            "/org/offstage",
            "org.offstage.Control1",
            "Version"
        )
        command.user = user
        return try command.run()
    }

    @Test func `a thousand connections neither stop the daemon nor keep others out for long`()
        throws
    {
        let bench = try bench()
        var sockets: [SharedDescriptor] = []
        for _ in 0..<1000 {
            guard let socket = try? UnixSocket.connect(to: bench.daemon.socket) else { continue }
            sockets.append(SharedDescriptor(socket))
        }
        #expect(sockets.count > 500)
        try checkNothingIsLost(bench)
        #expect(try askFromAnotherProcess(bench).succeeded, "it gets in")
        withExtendedLifetime(sockets) {}
    }

    @Test func `a client that never authenticates is let go, and waits in nobody's way`() throws {
        let bench = try bench()
        let silent = try UnixSocket.connect(to: bench.daemon.socket)
        try checkNothingIsLost(bench)
        try waitUntilClosed(silent)
        try checkNothingIsLost(bench)
    }

    @Test func `a client that stops reading is disconnected, and the others are served`() throws {
        let bench = try bench()
        let socket = try connect(bench, Array(Self.authentication.utf8))
        // Calls of Conditions, each answered with some kilobytes that nobody reads.
        func padded(_ bytes: [UInt8]) -> [UInt8] {
            bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
        }
        func field(_ code: UInt8, _ type: Character, _ text: String) -> [UInt8] {
            let length = UInt32(text.utf8.count)
            return [code, 1, type.asciiValue ?? 0, 0]
                + (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
                + Array(text.utf8) + [0]
        }
        let fields =
            padded(field(1, "o", "/org/offstage"))
            + padded(field(2, "s", "org.offstage.Control1")) + field(3, "s", "Settings")
        let length = UInt32(fields.count)
        let head: [UInt8] = (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
        var calls: [UInt8] = []
        for serial in UInt32(1)...100 {
            calls += [0x6C, 1, 0, 1, 0, 0, 0, 0]
            calls += (0..<4).map { UInt8(truncatingIfNeeded: serial >> ($0 * 8)) }
            calls += head + padded(fields)
        }
        var isCut = false
        for _ in 0..<1000 where !isCut {
            guard
                Poll.ready(socket.number, for: [.writable, .hangUp], milliseconds: 60_000)
            else { break }
            do { try socket.writeAll(calls.span) } catch { isCut = true }
        }
        #expect(isCut, "the daemon hangs up on one that does not read")
        try checkNothingIsLost(bench)
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can become somebody else"))
    func `a peer of another user is sent away`() throws {
        let bench = try bench()
        // So that only the check of the peer is left to keep it out.
        try Files.setPermissions(bench.daemon.scratch.path, 0o777)
        try Files.setPermissions(bench.daemon.scratch("run"), 0o777)
        try Files.setPermissions(bench.daemon.socket, 0o777)
        let outcome = try askFromAnotherProcess(bench, as: Command.ordinaryUser)
        #expect(!outcome.succeeded)
        #expect(outcome.output == "")
        // The peer may see the end of its connection before the line is written.
        try Wait.until(file: bench.daemon.logPath, "the reason") {
            $0.contains("ignoring a peer: it is of user")
        }
        try checkNothingIsLost(bench)
    }

    @Test func `an app may look at itself and at nobody else`() throws {
        let bench = try bench()
        let call =
            "busctl --address=unix:path=$OFFSTAGE_SOCKET call org.offstage.Offstage"
            + " /org/offstage org.offstage.Control1"
        try bench.ask("Set", "background-refresh", "off", ["app": "mine"])
        try bench.submit(
            """
            \(call) Tasks s $OFFSTAGE_APP > own 2>&1
            \(call) Tasks s command.mine > other 2>&1
            \(call) Status > status 2>&1
            \(call) Settings > settings 2>&1
            \(call) Cancel 'sa{sv}' command.mine 0 > cancel 2>&1
            echo > done
            """,
            id: "curious"
        )
        try bench.wait(for: "done")
        let settings = bench.read("settings")
        #expect(settings.contains("run-slots") && !settings.contains("command.mine"), "\(settings)")
        #expect(bench.read("own").hasPrefix("aa{sv} 1 "), "\(bench.read("own"))")
        for name in ["other", "status", "cancel"] {
            let text = bench.read(name)
            #expect(text.contains("an app may only act for itself"), "\(name): \(text)")
        }
        try checkNothingIsLost(bench)
    }
}
