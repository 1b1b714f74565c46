import Glibc
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// A message that announces more than any call takes costs its sender the connection, and the
/// daemon nothing.
struct UnfinishedMessageTests {
    /// The most memory that the daemon ever had, in bytes.
    private func peak(_ bench: DaemonBench) throws -> Int {
        let status = try Files.text(
            "/proc/\(bench.daemon.identity?.pid ?? 0)/status",
            limit: 65_536
        )
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) << 10
    }

    private func send(_ bytes: [UInt8], to socket: borrowing FileDescriptor) throws {
        try socket.writeAll(bytes.span)
    }

    private func connect(_ bench: DaemonBench) throws -> FileDescriptor {
        // This thread is told by the write itself.
        try CurrentProcess.block(signals: [Signal.pipe])
        return try UnixSocket.connect(to: bench.daemon.socket)
    }

    /// Writes until the daemon hangs up; how many bytes were taken.
    private func flood(_ bench: DaemonBench, _ socket: borrowing FileDescriptor) throws -> Int {
        let piece = [UInt8](repeating: 1, count: 16 << 10)
        var taken = 0
        while taken < 128 << 20 {
            do {
                taken += try socket.write(piece.span)
            } catch { return taken }
            if taken % (1 << 20) == 0 { #expect(try bench.answers()) }
        }
        return taken
    }

    @Test(arguments: [(0x03FF_F000, 0), (0, 0x07F0_0000), (0x0020_0000, 0x0020_0000)])
    func `a long header or body is not waited for, and others are served`(
        fields: Int,
        body: Int
    ) throws {
        let bench = try DaemonBench()
        #expect(try bench.answers())
        let before = try peak(bench)
        for early in [true, false] {
            let socket = try connect(bench)
            let beginning = BusBytes.beginning(fields: fields, body: body)
            if early {
                try send(BusBytes.handshake + beginning, to: socket)
            } else {
                try send(BusBytes.handshake, to: socket)
                #expect(try bench.answers())
                try send(beginning, to: socket)
            }
            #expect(try flood(bench, socket) < 2 << 20)
            #expect(try bench.answers())
        }
        #expect(try peak(bench) < before + (8 << 20))
    }

    @Test func `bytes out of band are bytes like others, and no reason to look for ever`() throws {
        let bench = try DaemonBench()
        let socket = try connect(bench)
        try send(BusBytes.handshake, to: socket)
        #expect(try bench.answers())
        let byte: [UInt8] = [0x78]
        for _ in 0..<32 {
            guard Glibc.send(socket.number, byte, 1, Int32(MSG_OOB | MSG_NOSIGNAL)) == 1 else {
                break
            }
        }
        // No message begins so.
        let ends: Poll.Events = .hangUp
        try Wait.until(readable: socket.number, "the end of the connection", events: ends)
        #expect(try bench.answers())
    }

    @Test func `many unfinished messages of the largest size are held within bounds`() throws {
        let bench = try DaemonBench()
        #expect(try bench.answers())
        let before = try peak(bench)
        let message = BusBytes.handshake + BusBytes.beginning(fields: 64, body: 1 << 20)
        var sockets: [SharedDescriptor] = []
        for _ in 0..<60 {
            let socket = try connect(bench)
            try? send(message + [UInt8](repeating: 1, count: 1 << 19), to: socket)
            sockets.append(SharedDescriptor(socket))
            #expect(try bench.answers())
        }
        #expect(try peak(bench) < before + (24 << 20))
        withExtendedLifetime(sockets) {}
    }

    @Test func `the largest request is taken, all at once or byte by byte`() throws {
        let bench = try DaemonBench()
        let limit = Server.Limits().argumentBytes
        let text = String(repeating: "x", count: limit - 4096)
        let refusal = try bench.refusal(
            "Submit",
            ["kind": "refresh", "command": ["true"], "id": .string(text)]
        )
        #expect(refusal.name == "org.offstage.Error.Invalid")
        #expect(refusal.text.contains("id is too long"))
        let socket = try connect(bench)
        let call = BusBytes.call("/org/offstage", "org.offstage.Control1", "Tasks", text)
        // The beginning slowly, then as much as there is room for, with a look at others.
        for byte in BusBytes.handshake + call[..<100] { try send([byte], to: socket) }
        var rest = call[100...]
        while !rest.isEmpty {
            try send(Array(rest.prefix(50_000)), to: socket)
            rest = rest.dropFirst(50_000)
            #expect(try bench.answers())
        }
        var answer = ""
        while !answer.contains("org.offstage.Error") {
            try Wait.until(readable: socket.number, "an answer")
            let more = try socket.read(upTo: 65_536)
            guard !more.isEmpty else { throw DidNotHappen(description: "it hung up: \(answer)") }
            answer += String(decoding: more, as: UTF8.self)
        }
    }
}
