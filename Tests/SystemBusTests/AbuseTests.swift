import Glibc
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Peers that are broken or mean. Each is gone afterwards, and the server serves everyone else.
struct AbuseTests {
    /// As our client does it, in one piece.
    static let authentication =
        "\0AUTH EXTERNAL \(hex(String(CurrentProcess.user)))\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n"

    static func hex(_ text: String) -> String {
        text.utf8.map { String($0, radix: 16) }.joined()
    }

    func healthy(_ server: EchoServer) throws {
        let bus = try Bus.connect(toSocket: server.socket)
        #expect(try bus.call(BusTests.target("Echo"), [1], signature: "v") == [1])
    }

    func connection(_ server: EchoServer) throws -> SharedDescriptor {
        SharedDescriptor(try UnixSocket.connect(to: server.socket))
    }

    /// Reads until the server hangs up.
    func untilEnd(of socket: borrowing FileDescriptor) throws {
        while true {
            try Wait.until(readable: socket.number, "the server hangs up")
            do {
                if try socket.read(upTo: 65_536).isEmpty { return }
            } catch  where error.errno.number == ECONNRESET {
                return
            }
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "\0garbage\r\n", "\0AUTH ANONYMOUS\r\nBEGIN\r\n",
        String(repeating: "x", count: 100_000), "\0\0\0\0", "\0AUTH EXTERNAL zz\r\nBEGIN\r\n",
    ])
    func garbageInsteadOfAuthentication(text: String) throws {
        let server = try EchoServer()
        let honest = try Bus.connect(toSocket: server.socket)
        // What may yet become an authentication is given that time.
        _ = try honest.call(BusTests.target("Patience"), [20], signature: "x")
        let socket = try UnixSocket.connect(to: server.socket)
        // It may hang up before all is written.
        signal(SIGPIPE, SIG_IGN)
        try? socket.writeAll(text)
        try untilEnd(of: socket)
        try healthy(server)
    }

    @Test(
        arguments: [
            // Neither byte order.
            Array("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".utf8),
            // Little endian, a call, version 9.
            [0x6c, 1, 0, 9, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            // No serial number.
            [0x6c, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            // A call without path and member.
            [0x6c, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            // A body above what D-Bus allows.
            [0x6c, 1, 0, 1, 1, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0],
            // Header fields above what D-Bus allows.
            [0x6c, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255],
            // Header fields that are none.
            [0x6c, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9],
        ] as [[UInt8]]
    )
    func aMalformedMessage(bytes: [UInt8]) throws {
        let server = try EchoServer()
        let socket = try UnixSocket.connect(to: server.socket)
        try socket.writeAll(Self.authentication)
        try socket.writeAll(bytes.span)
        // sd-bus drops a message that it cannot read but whose end it knows, and goes on: what
        // comes next is no beginning of one.
        try? socket.writeAll(String(repeating: "x", count: 32))
        try untilEnd(of: socket)
        try healthy(server)
    }

    @Test func aPeerThatNeverAuthenticates() throws {
        let server = try EchoServer()
        let honest = try Bus.connect(toSocket: server.socket)
        _ = try honest.call(BusTests.target("Patience"), [20], signature: "x")
        let silent = try UnixSocket.connect(to: server.socket)
        let slow = try UnixSocket.connect(to: server.socket)
        try slow.writeAll("\0AUTH EXTERNAL 30\r\n")
        try untilEnd(of: silent)
        try untilEnd(of: slow)
        #expect(try honest.call(BusTests.target("Echo"), [1], signature: "v") == [1])
    }

    @Test func aPeerThatStopsReading() throws {
        let server = try EchoServer()
        let greedy = try Bus.connect(toSocket: server.socket)
        for _ in 0..<1000 {
            // It may be hung up on before the last.
            try? greedy.call(BusTests.target("Bytes"), [100_000], signature: "u") { _ in }
        }
        try server.await("ended 1")
        try healthy(server)
    }

    @Test func aPeerThatStopsReadingSmallAnswers() throws {
        var limits = Server.Limits()
        limits.queuedMessages = 4
        let server = try EchoServer(limits: limits)
        let greedy = try Bus.connect(toSocket: server.socket)
        for _ in 0..<1000 {
            try? greedy.call(BusTests.target("Bytes"), [50_000], signature: "u") { _ in }
        }
        try server.await("ended 1")
        try healthy(server)
    }

    @Test func ofManyThatStopReadingTheGreediestGoes() throws {
        var limits = Server.Limits()
        limits.queuedBytesOfAll = 1_000_000
        let server = try EchoServer(limits: limits)
        let modest = try Bus.connect(toSocket: server.socket)
        var answer = 0
        try modest.call(BusTests.target("Bytes"), [600_000], signature: "u") {
            if case .success(let values) = $0 { answer = values.first?.bytesValue?.count ?? 0 }
        }
        try healthy(server)
        let greedy = try Bus.connect(toSocket: server.socket)
        try greedy.call(BusTests.target("Bytes"), [700_000], signature: "u") { _ in }
        try server.await("ended 3")
        #expect(try modest.work(for: .seconds(60)) { answer == 600_000 })
        try healthy(server)
    }

    @Test func aThousandConnectionsOfOneProcess() throws {
        let server = try EchoServer()
        var held: [SharedDescriptor] = []
        for _ in 0..<1000 { held.append(try connection(server)) }
        try server.await("refused: too many of one process")
        // Another process is served all the same.
        let outcome = try Command(
            "busctl",
            "--address=\(server.address)",
            "call",
            EchoServer.name,
            EchoServer.path,
            "org.example.Echo1",
            "Echo",
            "v",
            "s",
            "x"
        ).run()
        #expect(outcome.output == "v s \"x\"\n", "\(outcome.errors)")
        held = []
        try server.await("ended 64")
        try healthy(server)
    }

    @Test func silentPeersGiveWayToNewOnes() throws {
        var limits = Server.Limits()
        limits.connections = 8
        let server = try EchoServer(limits: limits)
        var held: [SharedDescriptor] = []
        for _ in 0..<100 { held.append(try connection(server)) }
        try healthy(server)
        try server.await("ended 101")
        // Peers that are not silent do not.
        var honest: [Bus] = []
        for _ in 0..<8 {
            honest.append(try Bus.connect(toSocket: server.socket))
            // Only now it is certain that the server has seen it authenticate.
            _ = try honest.last?.call(BusTests.target("Echo"), [1], signature: "v")
        }
        #expect(
            failure { _ = try Bus.connect(toSocket: server.socket) }?.reason == .disconnected
        )
        try server.await("refused: too many")
        for bus in honest {
            #expect(try bus.call(BusTests.target("Echo"), [1], signature: "v") == [1])
        }
    }

    // MARK: Another user

    @Test(.enabled(if: Command.runsAsRoot, "only root can run programs as another user"))
    func anotherUserDoesNotReachTheSocket() throws {
        let server = try EchoServer()
        var busctl = Command("busctl", "--address=\(server.address)", "list")
        busctl.user = Command.ordinaryUser
        let outcome = try busctl.run()
        #expect(outcome.status == .exited(1))
        #expect(outcome.errors.contains("Permission denied"), "\(outcome.errors)")
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can run programs as another user"))
    func anotherUserIsRefusedEvenIfTheSocketIsOpenToAll() throws {
        let server = try EchoServer(openToAll: true)
        let user = try #require(Command.ordinaryUser)
        var busctl = Command("busctl", "--address=\(server.address)", "list")
        busctl.user = user
        let outcome = try busctl.run()
        #expect(outcome.status == .exited(1))
        try server.await("refused user \(user.user)")
        try healthy(server)
    }
}
