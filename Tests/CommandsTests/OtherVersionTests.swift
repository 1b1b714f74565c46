import AppProtocol
import CommandTable
@testable import Commands
import EventLoop
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// The command line with a daemon of another version: each command says what is the matter (A13).
struct OtherVersionTests {
    private var terminal = TestTerminal()

    /// A daemon that knows these methods of `Control1`, and answers as a test says.
    private final class OtherDaemon: Sendable {
        typealias Answer = @Sendable (IncomingCall) -> Void

        let scratch = ScratchDirectory()
        let socket: String
        private let thread: ServingThread

        init(_ answers: [String: Answer], of interface: String = Control1.name) throws {
            socket = scratch("socket")
            var listener = Optional(try UnixListener(socket))
            let methods = Control1.interface.methods.filter { answers[$0.name] != nil }
            thread = try ServingThread { stopped in
                guard let listener = listener.take() else { return }
                let loop = try EventLoop()
                let served = Interface(interface, methods: methods)
                let server = try Server(
                    loop,
                    name: Control1.busName,
                    objects: [Server.Object(Control1.path, [served])],
                    handlers: Server.Handlers { answers[$0.method.name]?($0) }
                )
                let sources = [
                    try DescriptorSource(loop, listener.descriptor.number, .readable) { _ in
                        while let peer = try? listener.accept() { _ = server.accept(peer) }
                    },
                    try DescriptorSource(loop, stopped, .readable) { _ in loop.exit() },
                ]
                while try loop.runTurn() {}
                withExtendedLifetime((sources, server)) {}
            }
        }
    }

    private static let version: OtherDaemon.Answer = {
        $0.answer([
            [
                "version": "0.1", "build": "b", "pid": 1, "state": "/", "socket": "/",
                "seconds": 1.5, "later": true,
            ]
        ])
    }

    private func run(_ line: String, _ daemon: OtherDaemon) throws -> Outcome {
        terminal.run(line, try DaemonControl(socket: daemon.socket))
    }

    @Test(arguments: [
        ("pause", "Pause"), ("status", "Overview"), ("limits", "Limits"),
        ("submit --refresh -- true", "Submit"), ("transfers", "Transfers"),
    ])
    func `what an older daemon does not have is said with its version`(
        line: String,
        method: String
    ) throws {
        let outcome = try run(line, try OtherDaemon(["Version": Self.version]))
        #expect(outcome.status == 1)
        #expect(
            outcome.errors.hasPrefix(
                "offstage: the daemon is version 0.1, which does not have \(method) as this "
                    + "version does\nUse a daemon of this version"
            ),
            "\(outcome)"
        )
    }

    @Test func `an older daemon tells all transfers at once`() throws {
        var transfer = Report.Transfer()
        transfer.id = TransferID(7)
        let list = try [Reported(transfer)].values
        let daemon = try OtherDaemon([
            "Version": Self.version, "Transfers": { $0.answer(list) },
        ])
        let outcome = try run("transfers --json", daemon)
        #expect(outcome.status == 0, "\(outcome)")
        let printed = try ValueJSON.parse(outcome.output, limit: 1 << 20)
        #expect(printed.listValue?.compactMap { $0["id"]?.integerValue } == [7])
    }

    @Test func `what is not Offstage is not taken for another version of it`() throws {
        let stranger = try OtherDaemon(["Version": Self.version], of: "org.example.Other")
        let outcome = try run("status", stranger)
        #expect(outcome.status == 4 && outcome.errors.contains("is not Offstage"))
    }

    @Test func `a reply that lacks a field is not understood, and the field is named`() throws {
        let daemon = try OtherDaemon([
            "Version": Self.version, "Open": { $0.answer([["attach": false]]) },
        ])
        let outcome = try run("open a", daemon)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("reply to Open is not understood: "))
        #expect(outcome.errors.contains("launch"))
    }

    @Test func `URLs that an app has not been told of are spoken of`() throws {
        let daemon = try OtherDaemon([
            "Version": Self.version, "Open": { $0.answer([["launch": 1, "untold": 2]]) },
        ])
        let outcome = try run("open --url x:1 a", daemon)
        #expect(outcome.status == 0)
        #expect(outcome.errors.hasPrefix("offstage: warning: a has not been told of 2 URLs: "))
    }

    @Test func `a later daemon may say more, and refuse by other names`() throws {
        let daemon = try OtherDaemon([
            "Version": Self.version,
            "Logs": { $0.answer([["app": "a", "file": "/a", "text": "hello\n", "later": [1]]]) },
            "Pause": { $0.refuse("org.offstage.Error.Later", "not as things will be") },
        ])
        #expect(try run("logs a", daemon).output == "hello\n")
        let refused = try run("pause", daemon)
        #expect(refused.status == 1)
        #expect(refused.errors == "offstage: not as things will be\n")
    }

    /// Both sides have a limit: many small values take more memory than bytes.
    @Test(arguments: [200_000, 600_000])
    func `an answer that is too large is said to be that`(rows: Int) throws {
        let daemon = try OtherDaemon([
            "Version": Self.version,
            "Apps": { $0.answer([.list(Array(repeating: ["a": 1], count: rows))]) },
        ])
        let outcome = try run("apps", daemon)
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("offstage: the "), "\(outcome)")
        #expect(outcome.errors.contains("answer to Apps is too large"), "\(outcome)")
    }

    /// Questions, each with what answers it and may lack nothing of it.
    private static let questions: [(line: String, method: String, report: Value)] = [
        (
            "status", "Status",
            [
                "now": "2026-03-03T12:00:00+01:00", "failing": [], "running": [], "waiting": [],
                "conditions": [], "apps": 1, "requests": 0,
                "today": ["wakes": 0, "seconds": 0.0, "cpuSeconds": 0.0],
            ]
        ),
        (
            "apps", "Apps",
            [
                "app": "a", "name": "A", "state": "later", "modes": [], "transient": false,
                "tasks": 0, "today": ["wakes": 0, "seconds": 0.0, "cpuSeconds": 0.0],
            ]
        ),
        (
            "tasks", "Tasks",
            [
                "app": "a", "name": "A", "task": "t", "kind": "later", "origin": "later",
                "state": "later", "needs": [], "sentence": "It waits.",
            ]
        ),
        (
            "explain a", "Explain",
            [
                "app": "a", "name": "A", "state": "later", "sentence": "It waits.", "holds": [],
                "held": [],
            ]
        ),
        (
            "history", "History",
            ["app": "a", "at": "2026-03-03T12:00:00+01:00", "what": "later"]
        ),
        (
            "conditions", "Conditions",
            ["condition": "later", "sensing": "later", "choices": "", "documentation": ""]
        ),
        (
            "settings", "Settings",
            ["setting": "later", "value": "1", "default": "1", "choices": "", "documentation": ""]
        ),
        ("doctor", "Doctor", ["check": "later", "ok": true, "found": "good"]),
    ]

    private static func answering(_ method: String, _ report: ValueMap) throws -> OtherDaemon {
        let value: Value = method == "Status" ? .map(report) : .list([.map(report)])
        var answers: [String: OtherDaemon.Answer] = [
            "Version": version, method: { $0.answer([value]) },
        ]
        // It may ask for the beginnings of the lists only.
        if method == "Status" { answers["Overview"] = answers[method] }
        return try OtherDaemon(answers)
    }

    @Test(arguments: questions.indices)
    func `what a later daemon says in addition is printed as JSON`(_ index: Int) throws {
        let (line, method, value) = Self.questions[index]
        var report = try #require(value.mapValue)
        report["later"] = ["more": [1]]
        let daemon = try Self.answering(method, report)
        #expect(try run(line, daemon).status == 0)
        let printed = try ValueJSON.parse(try run(line + " --json", daemon).output, limit: 1 << 20)
        #expect(printed == (method == "Status" ? .map(report) : .list([.map(report)])))
    }

    @Test(arguments: questions.indices)
    func `a report that lacks a field is not understood, and the field is named`(
        _ index: Int
    ) throws {
        let (line, method, value) = Self.questions[index]
        let report = try #require(value.mapValue)
        let field = try #require(report.keys.last)
        var shorter = report
        shorter[field] = nil
        let daemon = try Self.answering(method, shorter)
        for options in ["", " --json"] {
            let outcome = try run(line + options, daemon)
            #expect(outcome.status == 1 && outcome.output.isEmpty)
            let asked = method == "Status" ? "Overview" : method
            var said = outcome.errors
            if !options.isEmpty {
                let error = try ValueJSON.parse(said, limit: 1 << 20)
                said = [error["error"], error["fix"]].compactMap { $0?.stringValue }
                    .joined(separator: "\n")
            }
            #expect(said.contains("reply to \(asked) is not understood: "), "\(outcome)")
            #expect(said.contains("\(field): is missing\nUse a daemon of this version"))
        }
    }

    @Test(arguments: ["Settings", "History"])
    func `lint says which reply it does not understand`(method: String) throws {
        let scratch = ScratchDirectory()
        let path = try scratch.write(
            "a.desktop",
            "[Desktop Entry]\nType=Application\nName=A\nExec=true\n"
                + "[X-Offstage]\nBackgroundModes=fetch;\n"
        )
        var answers: [String: OtherDaemon.Answer] = ["Version": Self.version]
        for name in ["Settings", "History"] { answers[name] = { $0.answer([.list([])]) } }
        #expect(try run("lint \(path)", try OtherDaemon(answers)).errors == "")
        answers[method] = { $0.answer([.list([["other": 1]])]) }
        let outcome = try run("lint \(path)", try OtherDaemon(answers))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("whose reply to \(method) is not understood"), "\(outcome)")
    }
}
