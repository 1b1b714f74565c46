import AppProtocol
import AppTranslation
import DeviceCore
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

@testable import DeviceShell

/// `Control1` on the private socket, over a real device.
struct AppBusTests {
    let server: BusThread
    let bus: Bus

    init() throws {
        server = try BusThread()
        bus = try Bus.connect(toSocket: server.socket)
    }

    /// Calls a method with the signature that the table gives it.
    static func call(_ bus: Bus, _ method: String, _ arguments: [Value] = []) throws -> Value {
        let row = try #require(Control1.interface.method(method))
        let answer = try bus.call(
            Target(Control1.busName, Control1.path, Control1.name, method),
            arguments,
            signature: row.inputSignature
        )
        return try #require(answer.first)
    }

    func call(_ method: String, _ arguments: Value...) throws -> Value {
        try Self.call(bus, method, arguments)
    }

    /// The name of the error that a call is refused with, and its words.
    func refusal(_ method: String, _ arguments: Value...) -> (name: ControlErrorName?, String) {
        do {
            let answer = try Self.call(bus, method, arguments)
            return (nil, "answered \(answer)")
        } catch let error as BusError {
            guard case .refused(let name) = error.reason else { return (nil, "\(error)") }
            return (ControlErrorName(rawValue: name), error.message)
        } catch {
            return (nil, "\(error)")
        }
    }

    // MARK: Questions

    @Test func questionsAreAnsweredByTheDevice() throws {
        #expect(try call("Status")["apps"] == 1)
        #expect(try call("Apps")[0]?["app"] == "reader")
        #expect(try call("Tasks", "")[0]?["app"] == "reader")
        #expect(try call("Tasks", "reader")[0]?["kind"] == "refresh")
        #expect(try call("Explain", "reader", [:])[0]?["state"]?.stringValue != nil)
        #expect(try call("Settings") == ValueEncoder().encode(Settings().report))
        #expect(try call("Gates") == ValueEncoder().encode(Gate.report))
        #expect(try call("Modes") == ValueEncoder().encode(BackgroundMode.report))
        #expect(try call("Conditions").listValue?.count == Condition.allCases.count)
        #expect(try call("Doctor") == [["check": "test", "ok": true, "found": "good"]])
        #expect(
            try call("Version") == [
                "version": "0.0.1", "build": "b", "pid": 1, "state": "/state", "socket": "/socket",
                "seconds": 2.0,
            ]
        )
        #expect(try call("Reload") == [:])
    }

    @Test func optionsReachTheHost() throws {
        #expect(
            try call("History", ["app": "reader", "limit": 7, "before": 12])
                == [["app": "reader", "at": "", "what": "limit 7, before 12"]]
        )
        #expect(try call("History", [:]) == [["app": "", "at": "", "what": "limit 50, before 0"]])
        #expect(try call("Logs", "reader", ["lines": 3])["text"] == "3 lines")
        let set = failure { _ = try call("Set", "battery", "40", ["app": "reader"]) }
        #expect(set?.message == "battery of reader to 40")
    }

    // MARK: Actions

    @Test func actionsAreAnsweredByTheCore() throws {
        #expect(try call("Pause", ["seconds": 60]) == [:])
        #expect(try call("Status")["paused"]?["until"] != nil)
        #expect(try call("Continue", [:]) == [:])
        let submitted = try call(
            "Submit",
            ["kind": "processing", "command": ["true"], "id": "one", "every": 3600, "token": "t"]
        )
        #expect(submitted["app"] == "command.one")
        #expect(try call("Tasks", "command.one")[0]?["everySeconds"] == 3600.0)
        #expect(try call("Cancel", "command.one", [:]).mapValue != nil)
        #expect(try call("Run", "reader", [:])["line"] == 41)
        #expect(try call("Open", "reader", [:])["launch"]?.integerValue != nil)
        #expect(try call("Leave", "reader", [:]).mapValue != nil)
        #expect(try call("Close", "reader", [:]).mapValue != nil)
    }

    @Test func whoAttachesIsTheCaller() throws {
        let mine = Int64(CurrentProcess.pid)
        #expect(refusal("Open", "reader", ["attach": 1]).name == .invalid)
        #expect(try call("Open", "reader", ["attach": .integer(mine)])["attach"] == true)
    }

    // MARK: Refusals

    @Test func anAppThatIsNotKnownIsNotFound() {
        for method in ["Explain", "Open", "Leave", "Close", "Run", "Cancel"] {
            #expect(refusal(method, "raeder", [:]).name == .notFound, "\(method)")
        }
        #expect(refusal("Tasks", "raeder").name == .notFound)
        #expect(refusal("Explain", "raeder", [:]).1.contains("did you mean reader?"))
        #expect(refusal("Simulate", "launch", "raeder", [:]).name == .notFound)
        #expect(refusal("Logs", "raeder", [:]).name == .notFound)
    }

    @Test func anOptionThatIsNotKnownIsRefusedByName() {
        for (method, leading) in [
            ("Explain", ["reader"]), ("Logs", ["reader"]), ("Open", ["reader"]),
            ("Leave", ["reader"]), ("Close", ["reader"]), ("Run", ["reader"]),
            ("Cancel", ["reader"]), ("History", []), ("Pause", []), ("Continue", []),
            ("Submit", []), ("Simulate", ["launch", "reader"]), ("Set", ["battery", "1"]),
        ] as [(String, [Value])] {
            var options: ValueMap = ["bogus": 1]
            if method == "Submit" { options = ["kind": "refresh", "command": ["a"], "bogus": 1] }
            let arguments = leading + [.map(options)]
            let error = failure { _ = try Self.call(bus, method, arguments) }
            #expect(error?.reason == .refused(ControlErrorName.invalid.rawValue), "\(method)")
            #expect(
                error?.message.contains("bogus") == true,
                "\(method): \(String(describing: error))"
            )
        }
    }

    @Test func aWrongValueIsInvalid() {
        #expect(refusal("Simulate", "everything", "reader", [:]).name == .invalid)
        for (what, options) in [
            ("expire", ["task": "t", "kind": "refresh"]), ("fetch", ["kind": "refresh"]),
            ("launch", ["kind": "refresh"]),
        ] as [(Value, ValueMap)] {
            let (name, text) = refusal("Simulate", what, "reader", .map(options))
            #expect(name == .invalid, "\(text)")
            #expect(text.hasPrefix("kind is for the launch of a task"), "\(text)")
        }
        #expect(refusal("Pause", ["seconds": -1]).name == .invalid)
        #expect(refusal("Submit", ["kind": "refresh"]).name == .invalid)
        #expect(refusal("History", ["limit": 0]).name == .invalid)
        #expect(refusal("Run", "reader", ["task": 1]).name == .invalid)
    }

    @Test func everyRefusalOfTheCoreHasItsName() {
        for code in Refusal.Code.allCases {
            #expect(
                code.errorName.rawValue.lowercased().hasSuffix("." + code.rawValue.lowercased())
            )
        }
    }

    // MARK: Peers of an app

    @Test func anAppsOwnProcessSeesOnlyItsApp() throws {
        let server = try BusThread(owner: AppID("reader"))
        let bus = try Bus.connect(toSocket: server.socket)
        func allowed(_ method: String, _ arguments: Value...) -> Bool {
            failure { _ = try Self.call(bus, method, arguments) } == nil
        }
        func refused(_ method: String, _ arguments: Value...) -> Bool {
            failure { _ = try Self.call(bus, method, arguments) }?.reason
                == .refused(ControlErrorName.notPermitted.rawValue)
        }
        #expect(allowed("Explain", "reader", [:]))
        #expect(allowed("Tasks", "reader"))
        #expect(allowed("Logs", "reader", [:]))
        #expect(allowed("History", ["app": "reader"]))
        #expect(allowed("Version"))
        #expect(refused("Explain", "other", [:]))
        #expect(allowed("Tasks", "") && refused("Tasks", "other"))
        #expect(refused("Logs", "other", [:]))
        #expect(try Self.call(bus, "History", [[:]])[0]?["app"] == "reader", "its own")
        #expect(refused("History", ["app": "other"]))
        for method in ["Status", "Apps", "Doctor", "Reload"] { #expect(refused(method)) }
        #expect(refused("Open", "reader", [:]) && refused("Close", "reader", [:]))
        #expect(refused("Pause", [:]) && refused("Continue", [:]))
        // What it asks for and takes back is its own.
        let command: ValueMap = ["kind": "processing", "command": ["a"], "id": "own"]
        #expect(
            failure { _ = try Self.call(bus, "Submit", [.map(command)]) }?.reason
                == .refused(ControlErrorName.invalid.rawValue)
        )
        #expect(refused("Submit", ["kind": "processing", "id": "not permitted"]))
        let answer = try Self.call(bus, "Submit", [["kind": "processing", "id": "own"]])
        #expect(answer["app"] == "reader")
        let tasks = try Self.call(bus, "Tasks", [""]).listValue ?? []
        #expect(tasks.contains { $0["task"] == "own" && $0["app"] == "reader" })
        #expect(allowed("Cancel", "reader", ["task": "own"]))
        #expect(refused("Cancel", "other", [:]))
        #expect(refused("Set", "battery", "1", [:]))
        #expect(refused("Simulate", "launch", "reader", [:]))
        #expect(refused("Run", "reader", [:]), "for the user to ask")
    }

    @Test func `the main process is known as such once its launch's process is known`() throws {
        let server = try BusThread(owner: AppID("reader"), isStarting: true)
        let bus = try Bus.connect(toSocket: server.socket)
        func say(_ method: String, _ arguments: [Value] = []) throws -> Value? {
            try bus.call(
                Target(Control1.busName, Control1.path, App1.name, method),
                arguments,
                signature: try #require(App1.interface.method(method)).inputSignature
            ).first
        }
        #expect(
            failure { _ = try say("Hello", [["version": 1]]) }?.reason
                == .refused(ControlErrorName.notPermitted.rawValue)
        )
        // Asked for it, the device learns who was started.
        _ = try say("Limits")
        #expect(try say("Hello", [["version": 1]])?["app"] == "reader")
    }

    @Test func whoHasEndedIsNobody() throws {
        // The process that connected ends; its child goes on with its socket.
        let script = """
            import os, select, socket, struct, sys
            bus = socket.socket(socket.AF_UNIX)
            bus.connect(sys.argv[1])
            user = str(os.getuid()).encode().hex().encode()
            bus.sendall(b"\\0AUTH EXTERNAL " + user + b"\\r\\nBEGIN\\r\\n")
            bus.recv(1024)
            us = os.pidfd_open(os.getpid())
            if os.fork():
                os._exit(0)
            select.select([us], [], [])
            fields = b""
            for code, kind, text in ((1, b"o", b"/org/offstage"), (3, b"s", b"Status"),
                                     (2, b"s", b"org.offstage.Control1")):
                fields += b"\\0" * (-len(fields) % 8) + bytes([code, 1]) + kind + b"\\0"
                fields += struct.pack("<I", len(text)) + text + b"\\0"
            message = struct.pack("<cBBBIII", b"l", 1, 0, 1, 0, 1, len(fields)) + fields
            bus.sendall(message + b"\\0" * (-len(message) % 8))
            sys.stdout.buffer.write(bus.recv(4096))
            """
        let outcome = try Command("/usr/bin/python3", "-c", script, server.socket).run()
        #expect(outcome.output.contains("org.offstage.Error.NotPermitted"), "\(outcome.errors)")
        #expect(outcome.output.contains("the connected process has exited"))
    }

    // MARK: Watching

    @Test func whoWatchesIsToldOfTheHistory() throws {
        var heard: [Value] = []
        let subscription = try bus.onSignal("Happened", of: Control1.name, at: Control1.path) {
            heard += $0.arguments
        }
        let other = try Bus.connect(toSocket: server.socket)
        var overheard = 0
        let silent = try other.onSignal("Happened", of: Control1.name) { _ in overheard += 1 }
        func match(_ method: String, _ rule: String) throws {
            let bus = "org.freedesktop.DBus"
            _ = try self.bus.call(
                Target(bus, "/org/freedesktop/DBus", bus, method),
                [.string(rule)],
                signature: "s"
            )
        }
        let rule = "type='signal',interface='\(Control1.name)',member='Happened'"
        try match("AddMatch", "type='signal',member='Other,Happened'")
        try match("AddMatch", rule)
        _ = try call("Open", "reader", [:])
        #expect(try bus.work(for: .minutes(1)) { !heard.isEmpty })
        _ = try Self.call(other, "Version")
        #expect(overheard == 0, "who did not ask is not told")
        try match("RemoveMatch", rule)
        let before = heard.count
        _ = try call("Leave", "reader", [:])
        _ = try call("Version")
        _ = try call("Version")
        #expect(heard.count == before)
        withExtendedLifetime(silent) {}
        #expect(heard[0]["app"] == "reader" && heard[0]["what"] == "opened")
        let object = (nil as String?, Control1.path, Control1.name)
        #expect(try bus.property("Version", of: object) == "0.0.1")
        withExtendedLifetime(subscription) {}
    }

    // MARK: Documents

    @Test func whatIsServedIsTheDocument() throws {
        let target = Target(
            nil,
            Control1.path,
            "org.freedesktop.DBus.Introspectable",
            "Introspect"
        )
        let served = try #require(try bus.call(target)[0].stringValue)
        func elements(_ xml: String) -> [Substring] {
            let parts = xml.split(separator: "<").compactMap { $0.split(separator: ">").first }
            let begin = parts.firstIndex(of: "interface name=\"\(Control1.name)\"") ?? 0
            let end = parts[begin...].firstIndex(of: "/interface") ?? begin
            return parts[begin..<end].filter {
                !$0.hasPrefix("!--") && !$0.contains("EmitsChangedSignal\" value=\"true\"")
            }.sorted()
        }
        #expect(elements(served) == elements(Control1.interface.xml))
        #expect(elements(served).count > 50)
    }

    @Test func otherClientsReachIt() throws {
        let busctl = try Command(
            "busctl",
            "--address=\(server.address)",
            "call",
            Control1.busName,
            Control1.path,
            Control1.name,
            "Tasks",
            "s",
            "raeder"
        ).run()
        #expect(
            busctl.errors == "Call failed: no app of that name: raeder (did you mean reader?)\n"
        )
        let gdbus = try Command(
            "gdbus",
            "call",
            "--address",
            server.address,
            "--dest",
            Control1.busName,
            "--object-path",
            Control1.path,
            "--method",
            "\(Control1.name).Version"
        ).run()
        #expect(gdbus.output.contains("'version': <'0.0.1'>"), "\(gdbus.errors)")
        let send = try Command(
            "dbus-send",
            "--bus=\(server.address)",
            "--dest=\(Control1.busName)",
            "--print-reply=literal",
            Control1.path,
            "\(Control1.name).Reload"
        ).run()
        #expect(send.succeeded, "\(send.errors)")
    }
}

/// The error of the bus that `body` threw, if it did.
private func failure(_ body: () throws -> Void) -> BusError? { caught(body) }
