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
        ("pause", "Pause"), ("status", "Status"), ("limits", "Limits"),
        ("submit --refresh -- true", "Submit"),
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
}
