import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Messages in pieces, and more than a message: what is allowed passes however it comes, and what
/// is not ends the connection before it costs anything.
struct UnfinishedMessageTests {
    private static let interface = "org.example.Echo1"

    private func later(_ text: String, serial: Int = 1) -> [UInt8] {
        BusBytes.call(EchoServer.path, Self.interface, "Later", text, serial: serial)
    }

    private func now(serial: Int) -> [UInt8] {
        BusBytes.call(EchoServer.path, Self.interface, "Now", serial: serial)
    }

    private func send(_ bytes: [UInt8], to socket: borrowing FileDescriptor) throws {
        try socket.writeAll(bytes.span)
    }

    private func connect(_ server: EchoServer) throws -> FileDescriptor {
        try CurrentProcess.block(signals: [Signal.pipe])
        return try UnixSocket.connect(to: server.socket)
    }

    /// Reads until a text has come back so many times.
    private func read(_ socket: borrowing FileDescriptor, until count: Int, of text: String) throws
    {
        var found = 0
        var rest: [UInt8] = []
        while found < count {
            try Wait.until(readable: socket.number, "an answer")
            let more = try socket.read(upTo: 1 << 20)
            guard !more.isEmpty else {
                throw DidNotHappen(description: "\(found) of \(count), then the end")
            }
            rest += more
            while let place = rest.firstRange(of: Array(text.utf8)) {
                found += 1
                rest.removeFirst(place.upperBound)
            }
            rest = rest.suffix(text.utf8.count)
        }
    }

    private func untilEnd(of socket: borrowing FileDescriptor) throws {
        while true {
            try Wait.until(readable: socket.number, "the server hangs up")
            guard let more = try? socket.read(upTo: 65_536), !more.isEmpty else { return }
        }
    }

    private func healthy(_ server: EchoServer) throws {
        let bus = try Bus.connect(toSocket: server.socket)
        #expect(try bus.call(BusTests.target("Echo"), [1], signature: "v") == [1])
    }

    // MARK: What passes

    @Test func `a handshake and calls may come byte by byte`() throws {
        let server = try EchoServer()
        let socket = try connect(server)
        let texts = later("first-text") + now(serial: 2) + later("first-text", serial: 3)
        let other = try Bus.connect(toSocket: server.socket)
        for byte in BusBytes.handshake + texts + now(serial: 4) {
            try send([byte], to: socket)
            // It has been looked at when a later call is answered.
            #expect(try other.call(BusTests.target("Echo"), [1], signature: "v") == [1])
        }
        try read(socket, until: 2, of: "first-text")
    }

    @Test func `a handshake and calls may come in one piece`() throws {
        let server = try EchoServer()
        let socket = try connect(server)
        var bytes = BusBytes.handshake
        for serial in 1...100 { bytes += later("many-texts", serial: serial) }
        try send(bytes + now(serial: 101), to: socket)
        try read(socket, until: 100, of: "many-texts")
    }

    @Test(arguments: [2020, 2048, 5000, 300_000])
    func `messages of any size may be split anywhere`(size: Int) throws {
        let server = try EchoServer()
        let socket = try connect(server)
        try send(BusBytes.handshake, to: socket)
        let mark = "mark-of-a-text"
        let text = mark + String(repeating: "x", count: size)
        // Each is cut at another place, and the rest goes with the beginning of the next.
        var rest: [UInt8] = []
        let count = size > 100_000 ? 8 : 40
        for serial in 1...count {
            let bytes = rest + later(text, serial: serial)
            let place = bytes.count - serial
            try send(Array(bytes[..<place]), to: socket)
            rest = Array(bytes[place...])
        }
        try send(rest + now(serial: 99), to: socket)
        try read(socket, until: count, of: mark)
    }

    @Test func `arguments as large as are allowed pass, larger ones are refused`() throws {
        let server = try EchoServer()
        let bus = try Bus.connect(toSocket: server.socket)
        let limit = Server.Limits().argumentBytes
        let largest = Value.string(String(repeating: "x", count: limit - 64))
        #expect(try bus.call(BusTests.target("Echo"), [largest], signature: "v") == [largest])
        let larger = Value.string(String(repeating: "x", count: limit + 1))
        #expect(
            failure { _ = try bus.call(BusTests.target("Echo"), [larger], signature: "v") }?.reason
                == .refused("org.freedesktop.DBus.Error.LimitsExceeded")
        )
        #expect(try bus.call(BusTests.target("Echo"), [1], signature: "v") == [1])
    }

    // MARK: What does not

    @Test(
        arguments: [
            (0x03FF_FF00, 0), (0, 0x07FF_0000), (0x0010_0000, 0x0010_0000), (0, 0),
        ] as [(Int, Int)]
    )
    func `a length that is not allowed ends the connection before anything follows`(
        fields: Int,
        body: Int
    ) throws {
        let server = try EchoServer()
        let socket = try connect(server)
        try send(BusBytes.handshake, to: socket)
        let beginning = BusBytes.beginning(fields: fields, body: body)
        try send(beginning, to: socket)
        try untilEnd(of: socket)
        // Also right behind the handshake, and behind a whole call.
        for before in [[], later("before")] {
            let socket = try connect(server)
            try send(BusBytes.handshake + before + beginning, to: socket)
            try untilEnd(of: socket)
        }
        try healthy(server)
    }

    @Test func `a length hides neither behind a message that is none nor in one`() throws {
        let server = try EchoServer()
        // No fields that could be a call's: sd-bus drops it and goes on.
        let none = BusBytes.beginning(fields: 8, body: 0) + [UInt8](repeating: 9, count: 8)
        let long =
            BusBytes.beginning(fields: 8, body: 4000)
            + [UInt8](repeating: 9, count: 8 + 4000)
        let beginning = BusBytes.beginning(fields: 0, body: 0x07FF_0000)
        for before in [none, long] {
            let socket = try connect(server)
            try send(BusBytes.handshake + before + beginning, to: socket)
            try untilEnd(of: socket)
            // And in two pieces, the cut within the first.
            let slow = try connect(server)
            try send(BusBytes.handshake + before[..<20], to: slow)
            try healthy(server)
            try send(before[20...] + beginning, to: slow)
            try untilEnd(of: slow)
        }
        try healthy(server)
    }

    @Test func `of too many unfinished messages the oldest goes`() throws {
        var limits = Server.Limits()
        limits.unfinishedBytes = 300_000
        let server = try EchoServer(limits: limits)
        let sockets = try (0..<4).map { _ in SharedDescriptor(try connect(server)) }
        let message = later(String(repeating: "x", count: 90_000))
        for socket in sockets {
            try send(BusBytes.handshake + message[..<50_000], to: socket.descriptor)
            // They are served in the order in which they wrote.
            try healthy(server)
        }
        try untilEnd(of: sockets[0].descriptor)
        for (index, socket) in sockets.enumerated().dropFirst() {
            let end = now(serial: index + 5)
            try send(message[50_000...] + end, to: socket.descriptor)
            try read(socket.descriptor, until: 1, of: String(repeating: "x", count: 90_000))
        }
    }

    @Test func `a peer that asks for descriptions and reads none is hung up on`() throws {
        let server = try EchoServer()
        let socket = try connect(server)
        try send(BusBytes.handshake, to: socket)
        let name = "org.freedesktop.DBus.Introspectable"
        let call = BusBytes.call(EchoServer.path, name, "Introspect")
        var isCut = false
        // sd-bus answers these itself, and would keep hundreds of thousands.
        for _ in 0..<100_000 where !isCut {
            try Wait.until(readable: socket.number, "room", events: .writable)
            do { try send(call, to: socket) } catch { isCut = true }
        }
        #expect(isCut)
        try server.await("ended 1")
        try healthy(server)
    }

    @Test func `a message with descriptors ends its connection`() throws {
        let server = try EchoServer()
        let script = """
            import socket, sys
            peer = socket.socket(socket.AF_UNIX)
            peer.connect(sys.argv[1])
            peer.sendall(b"\\0AUTH EXTERNAL\\r\\nDATA\\r\\nNEGOTIATE_UNIX_FD\\r\\nBEGIN\\r\\n")
            answer = b""
            while b"ERROR\\r\\n" not in answer:
                answer += peer.recv(4096)
            call = bytes.fromhex(sys.argv[2])
            socket.send_fds(peer, [call[:40]], [peer.fileno()] * 253)
            try:
                peer.sendall(call[40:])
                print(peer.recv(4096))
            except (ConnectionResetError, BrokenPipeError):
                print(b"")
            """
        // One that is answered at once.
        let call = BusBytes.call(EchoServer.path, Self.interface, "Shout", "text", descriptors: 253)
        let hex = call.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let outcome = try Command("python3", "-c", script, server.socket, hex).run()
        #expect(outcome.output == "b''\n", "\(outcome.errors)")
        try healthy(server)
    }
}
