import EventLoop
import Glibc
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

struct ConnectTests {
    let scratch = ScratchDirectory()

    @Test func nobodyListening() throws {
        let path = scratch("bus")
        func error() throws -> BusError {
            try #require(failure { _ = try Bus.connect(toSocket: path) })
        }
        #expect(try error().reason == .notListening)
        #expect(try error().description == "connect \(path): No such file or directory")
        // A daemon that was killed leaves its socket behind.
        try leaveSocket(at: path)
        #expect(Files.exists(path))
        #expect(try error().reason == .notListening)
        #expect(try error().description == "connect \(path): Connection refused")
    }

    @Test func somebodyListeningWhoNeverAnswers() throws {
        let listener = try UnixListener(scratch("bus"))
        let error = try #require(
            failure { _ = try Bus.connect(toSocket: listener.path, timeout: .milliseconds(30)) }
        )
        #expect(error.reason == .timedOut)
        #expect(error.message == "no answer within 30ms")
    }

    @Test func aListenerWhoseQueueIsFull() throws {
        let listener = try UnixListener(scratch("bus"))
        var waiting: [Bus?] = []
        // The queue takes one more than it was told.
        for _ in 0...200 {
            let error = failure {
                waiting.append(
                    try Bus.connect(toSocket: listener.path, timeout: .milliseconds(1))
                )
            }
            #expect(error?.reason == .timedOut)
        }
        #expect(waiting.isEmpty)
        withExtendedLifetime(listener) {}
    }

    @Test func aPeerThatWantsNoneOfUs() throws {
        var limits = Server.Limits()
        limits.connectionsPerProcess = 0
        let server = try EchoServer(limits: limits)
        let error = try #require(failure { _ = try Bus.connect(toSocket: server.socket) })
        #expect(error.reason == .disconnected)
        #expect(error.subject == server.socket)
    }

    @Test(arguments: [String(repeating: "x", count: 108), "a\0b"])
    func aPathThatNoSocketCanHave(path: String) {
        #expect(
            failure { _ = try Bus.connect(toSocket: path) }?.reason == .system(ENAMETOOLONG)
        )
    }

    @Test func aMessageBusThatIsNotThere() {
        let error = failure {
            let bus = try Bus.messageBus(at: "unix:path=\(scratch("none"))")
            _ = try bus.work(for: .minutes(1)) { bus.isReady }
        }
        #expect(error?.reason == .notListening)
        #expect(failure { _ = try Bus.messageBus(at: "nonsense") }?.reason == .notListening)
    }

    @Test func theUsersAndTheMachinesBus() throws {
        let users = try MessageBusDaemon()
        let machines = try MessageBusDaemon()
        // The environment belongs to a process: one of its own is asked.
        var peer = Command(Products.path(of: "ProcessPeer"), "buses")
        peer.environment = Command.cleanEnvironment([
            "DBUS_SESSION_BUS_ADDRESS": users.address, "DBUS_SYSTEM_BUS_ADDRESS": machines.address,
        ])
        let outcome = try peer.run()
        let expected = try [users, machines].map { daemon in
            let answer = try Bus.messageBus(at: daemon.address)
                .call(MessageBusDaemon.target("GetId"))
            return try #require(answer[0].stringValue) + "\n"
        }
        #expect(outcome == .init(status: .exited(0), output: expected.joined(), errors: ""))
        #expect(expected[0] != expected[1])
    }

    @Test func whatAMessageBusTells() throws {
        let daemon = try MessageBusDaemon()
        let bus = try Bus.messageBus(at: daemon.address)
        var changes: [[Value]] = []
        let subscription = try bus.onSignal(
            "NameOwnerChanged",
            of: "org.freedesktop.DBus",
            at: "/org/freedesktop/DBus",
            from: "org.freedesktop.DBus"
        ) { changes.append($0.arguments) }
        // The answer to a call after it shows that the match stands.
        _ = try bus.call(MessageBusDaemon.target("GetId"))
        let other = try Bus.messageBus(at: daemon.address)
        #expect(try other.work(for: .minutes(1)) { other.isReady })
        #expect(try bus.work(for: .minutes(1)) { changes.contains { $0[1] == "" } })
        withExtendedLifetime(subscription) {}
    }
}

/// A message bus of one test.
final class MessageBusDaemon {
    let scratch = ScratchDirectory()
    let address: String
    private let process: PidFD

    init() throws {
        address = "unix:path=\(scratch("daemon"))"
        process = try Command(
            "dbus-daemon",
            "--session",
            "--nofork",
            "--nopidfile",
            "--address=\(address)",
            "--print-address=1"
        ).start(logging: scratch("address"))
        try Wait.until(file: scratch("address")) { $0.hasSuffix("\n") }
    }

    deinit {
        try? process.send(Signal.kill)
        _ = try? process.wait(block: true)
    }

    static func target(_ member: String) -> Target {
        Target("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member)
    }
}
