import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

/// What no honest sender does: it is ended, costs little, and others notice nothing.
struct HostileProviderTests {
    private typealias Raw = RawConnection

    /// An honest push is served as ever, and the memory stays what it was.
    private func expectUndisturbed(_ gateway: ScratchGateway, _ token: String) throws {
        let response = try gateway.client.send(
            "POST",
            "/3/device/" + token,
            [("apns-topic", ScratchGateway.topic), ("authorization", try gateway.bearer())],
            body: Array("{}".utf8)
        )
        #expect(response.status == 200)
        #expect(try gateway.residentBytes() < 200 << 20)
    }

    private func serving(_ settings: String = "") throws -> (ScratchGateway, String) {
        let gateway = try ScratchGateway(settings: settings)
        let token = try gateway.register(1)[0]
        try gateway.start()
        return (gateway, token)
    }

    @Test func `what is not HTTP/2 ends the connection`() throws {
        let (gateway, token) = try serving()
        let raw = try Raw(gateway)
        raw.send(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        #expect(!raw.frames().contains { $0.type == 1 })
        let garbage = try Raw(gateway)
        garbage.send(Raw.preface + [UInt8](repeating: 0xFF, count: 4096))
        _ = garbage.frames()
        try expectUndisturbed(gateway, token)
    }

    @Test(arguments: Attack.allCases.filter { $0.depth == .sending })
    func `each attack of the benchmark is ended, or costs little`(attack: Attack) throws {
        let (gateway, token) = try serving("stall-time = 1s\n")
        let raw = try Raw(gateway, protocols: attack.protocols)
        var bytes = AttackBytes(attack, bearer: try gateway.bearer(), seed: 1)
        var pieces = 0
        while pieces < 2000, raw.send(bytes.next(), reading: attack.reads) { pieces += 1 }
        if attack != .endlessHeaders {
            _ = raw.bytes()
            #expect(raw.isClosed)
        }
        try expectUndisturbed(gateway, token)
    }

    @Test func `a few settings and pings at once are acknowledged, many end the connection`() throws
    {
        let (gateway, token) = try serving()
        let raw = try Raw(gateway)
        let ping = Raw.frame(6, 0, 0, [UInt8](repeating: 1, count: 8))
        func many(_ count: Int) -> [UInt8] {
            Array(repeatElement(Raw.settings + ping, count: count).joined())
        }
        raw.send(Raw.preface + many(8) + Raw.frame(1, 5, 1, Raw.request("/3/device/00")))
        let frames = raw.frames { $0.type == 0 }
        #expect(frames.count { $0.type == 4 && $0.flags == 1 } == 8)
        #expect(frames.count { $0.type == 6 && $0.flags == 1 } == 8)
        raw.send(many(20))
        #expect(raw.frames().last?.code == 11)
        try expectUndisturbed(gateway, token)
    }

    @Test func `a client that offers no protocol is served`() throws {
        let (gateway, _) = try serving()
        let raw = try Raw(gateway, protocols: [])
        raw.send(Raw.preface + Raw.settings + Raw.frame(1, 5, 1, Raw.request("/3/device/00")))
        let frames = raw.frames { $0.type == 0 }
        #expect(frames.last?.payload == Array(#"{"reason":"MissingProviderToken"}"#.utf8))
        // The error is one frame with the end of the stream in it.
        #expect(frames.last?.flags == 1)
    }

    @Test func `header fields that cannot be decoded end the connection, with the code for it`()
        throws
    {
        let (gateway, token) = try serving()
        let raw = try Raw(gateway)
        raw.send(Raw.preface + Raw.settings + Raw.frame(1, 5, 1, [0xFF, 0xFF, 0xFF, 0xFF, 0x7F]))
        #expect(raw.frames().last { $0.type == 7 }?.code == 9)
        try expectUndisturbed(gateway, token)
    }

    @Test func `too long a header list resets its stream; the connection serves on`() throws {
        let (gateway, token) = try serving()
        let raw = try Raw(gateway)
        let fields = (0..<20).map { ("x-\($0)", String(repeating: "v", count: 500)) }
        raw.send(Raw.preface + Raw.settings)
        raw.send(Raw.frame(1, 5, 1, Raw.request("/3/device/00", fields)))
        let reset = raw.frames { $0.type == 3 || $0.type == 7 }.last
        #expect(reset?.type == 3)
        raw.send(Raw.frame(1, 5, 3, Raw.request("/3/device/00")))
        #expect(raw.frames { $0.type == 0 }.last?.stream == 3)
        try expectUndisturbed(gateway, token)
    }

    @Test func `trailers are fields of their request, for its limit as well`() throws {
        let (gateway, token) = try serving()
        let raw = try Raw(gateway)
        let topic = [("apns-topic", "a.b")]
        let half = (0..<9).map { ("x-\($0)", String(repeating: "v", count: 500)) }
        raw.send(Raw.preface + Raw.settings)
        raw.send(Raw.frame(1, 4, 1, Raw.request("/3/device/00", topic)))
        raw.send(Raw.frame(0, 0, 1, Array("{}".utf8)) + Raw.frame(1, 5, 1, Raw.block(topic)))
        let answer = raw.frames { $0.type == 0 }.last
        #expect(answer?.payload == Array(#"{"reason":"DuplicateHeaders"}"#.utf8))
        raw.send(Raw.frame(1, 4, 3, Raw.request("/3/device/00", half)))
        raw.send(Raw.frame(1, 5, 3, Raw.block(half)))
        let reset = raw.frames { $0.type == 0 || $0.type == 3 || $0.type == 7 }.last
        #expect(reset?.type == 3 && reset?.stream == 3)
        try expectUndisturbed(gateway, token)
    }

    @Test func `a header block without end is ended`() throws {
        let (gateway, token) = try serving()
        let raw = try Raw(gateway)
        raw.send(Raw.preface + Raw.settings + Raw.frame(1, 1, 1, Raw.request("/3/device/00")))
        let piece = Raw.frame(9, 0, 1, Raw.block([("x", "y")]))
        var sent = 0
        while sent < 100_000, raw.send(piece) { sent += 1 }
        #expect(raw.frames().contains { $0.type == 7 } || sent < 100_000)
        try expectUndisturbed(gateway, token)
    }

    @Test func `streams that are reset as fast as they are opened end the connection`() throws {
        let (gateway, token) = try serving()
        let raw = try Raw(gateway)
        raw.send(Raw.preface + Raw.settings)
        var isOpen = true
        for number in 0..<20_000 where isOpen {
            let stream = UInt32(2 * number + 1)
            isOpen = raw.send(
                Raw.frame(1, 4, stream, Raw.request("/3/device/00"))
                    + Raw.frame(3, 0, stream, [0, 0, 0, 8])
            )
        }
        let code = raw.frames().last { $0.type == 7 }?.code
        #expect(code != nil || !isOpen)
        try expectUndisturbed(gateway, token)
    }

    @Test func `a body that does not come is given up, and the connection serves on`() throws {
        let (gateway, token) = try serving("request-time = 1s\n")
        let raw = try Raw(gateway)
        raw.send(Raw.preface + Raw.settings + Raw.frame(1, 4, 1, Raw.request("/3/device/00")))
        #expect(raw.frames { $0.type == 3 }.last?.code == 8)
        raw.send(Raw.frame(1, 5, 3, Raw.request("/3/device/00")))
        #expect(raw.frames { $0.type == 0 }.last?.stream == 3)
        try expectUndisturbed(gateway, token)
    }
}

extension ScratchGateway {
    /// The most memory that it had.
    func residentBytes() throws -> Int64 {
        let status = try Files.text("/proc/\(pid)/status")
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (Int64(line.filter(\.isNumber)) ?? 0) * 1024
    }
}
