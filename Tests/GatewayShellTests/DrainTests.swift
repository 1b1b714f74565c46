import Linux
import TestKit
import Testing
import Vocabulary

/// The end that SIGTERM begins.
struct DrainTests {
    private func token(_ gateway: ScratchGateway) throws -> [(String, String)] {
        [("apns-topic", ScratchGateway.topic), ("authorization", try gateway.bearer())]
    }

    @Test func `who waits for an answer gets it before the goodbye`() throws {
        let gateway = try ScratchGateway(settings: "acknowledgement = 1h\n")
        try gateway.start()
        let device = try ScratchDevice(gateway, options: ["--no-ack"])
        let sender = try ScratchSender(gateway, try device.token())
        sender.ask(try token(gateway))
        _ = try device.pushes(1)
        try gateway.signal(Signal.terminate)
        let frames = sender.raw.frames()
        let answer = try #require(frames.firstIndex { $0.type == 1 && $0.stream == 1 })
        let goodbye = try #require(frames.firstIndex { $0.type == 7 })
        #expect(answer < goodbye)
        #expect(sender.raw.isClosed)
        try device.end()
    }

    @Test func `the end is announced, and said when all that was sent before has come`() throws {
        let gateway = try ScratchGateway(settings: "drain-time = 1h\n")
        let token = try gateway.register(1)[0]
        try gateway.start()
        let sender = try ScratchSender(gateway, token)
        #expect(sender.push(try self.token(gateway)) == "")
        try gateway.signal(Signal.terminate)
        let early = sender.raw.frames { $0.type == 6 && $0.flags == 0 }
        let notice = try #require(early.last { $0.type == 7 })
        #expect(notice.payload.prefix(4) == [0x7F, 0xFF, 0xFF, 0xFF])
        // On its way before the notice was read: it is still answered.
        sender.ask(try self.token(gateway))
        let ping = try #require(early.last)
        sender.raw.send(RawConnection.frame(6, 1, 0, ping.payload))
        let rest = sender.raw.frames()
        let answer = try #require(rest.firstIndex { $0.type == 1 && $0.stream == 3 })
        let goodbye = try #require(rest.firstIndex { $0.type == 7 })
        #expect(answer < goodbye)
        #expect(rest[goodbye].payload.prefix(4) == [0, 0, 0, 3])
        #expect(try gateway.terminate() == .exited(0))
    }

    @Test func `who neither reads nor says anything holds the end up no longer than a moment`()
        throws
    {
        let gateway = try ScratchGateway(settings: "drain-time = 1h\n")
        let token = try gateway.register(1)[0]
        try gateway.start()
        let sender = try ScratchSender(gateway, token)
        #expect(sender.push(try self.token(gateway)) == "")
        // The connection is there all the time.
        #expect(try gateway.terminate() == .exited(0))
        #expect(sender.raw.frames().last?.type == 7)
    }

    @Test func `who reads slowly and goes on sending loses no answer`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let certificate = try gateway.run("keys", "certificate", ScratchGateway.topic).output
        let raw = try RawConnection(gateway, identity: certificate)
        raw.send(RawConnection.preface + RawConnection.settings)
        let long = String(repeating: "z", count: 3000)
        let request = RawConnection.request("/2/x", [("apns-id", long)])
        let count: UInt32 = 300
        for index in 0..<count { raw.send(RawConnection.frame(1, 5, 2 * index + 1, request)) }
        var looked: Int64?
        try Wait.until("all were looked at") {
            looked == Int64(count)
        } step: {
            let stats = try ValueJSON.parse(try gateway.run("stats", "--json").output)
            looked = stats["requests_refused_total"]?["BadPath"]?.integerValue
        }
        try gateway.signal(Signal.terminate)
        // It says more (the window grows by a byte) while the gateway ends.
        for _ in 0..<20 {
            guard raw.send(RawConnection.frame(8, 0, 0, [0, 0, 0, 1])) else { break }
            _ = try gateway.run("stats")
            if !Files.exists("/proc/\(gateway.pid)/fd/0") { break }
        }
        let frames = raw.frames()
        #expect(frames.filter { $0.type == 1 }.count == Int(count))
        #expect(frames.last?.type == 7)
    }
}
