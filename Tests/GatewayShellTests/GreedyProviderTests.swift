import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary

/// Peers that want more than their share: of memory, of time, of places. None needs a key.
struct GreedyProviderTests {
    private typealias Raw = RawConnection

    private func serving(_ settings: String = "") throws -> ScratchGateway {
        let gateway = try ScratchGateway(settings: settings)
        try gateway.start()
        return gateway
    }

    private func stat(_ name: String, of gateway: ScratchGateway) throws -> Value? {
        try ValueJSON.parse(try gateway.run("stats", "--json").output)[name]
    }

    // MARK: Memory

    @Test(arguments: ["http/1.1", "h2"])
    func `who asks and never reads is read no further, and goes`(spoken: String) throws {
        let gateway = try serving("stall-time = 1s\n")
        let raw = try Raw(gateway, protocols: [spoken])
        if spoken == "h2" {
            // Nothing but the connection itself keeps the answers back.
            let window = Raw.frame(8, 0, 0, [0x3F, 0xFF, 0, 0])
            raw.send(Raw.preface + Raw.settings + window)
        }
        var sent = 0
        var stream: UInt32 = 1
        let limit = 64 << 20
        while sent < limit {
            var many: [UInt8] = []
            for _ in 0..<1000 {
                many +=
                    spoken == "h2"
                    ? Raw.frame(1, 5, stream, Raw.request("/x"))
                    : Array("GET / HTTP/1.1\r\nhost: l\r\n\r\n".utf8)
                stream += 2
            }
            guard raw.send(many, reading: false) else { break }
            sent += many.count
        }
        #expect(sent < limit)
        #expect(try gateway.residentBytes() < 100 << 20)
        #expect(try stat("provider_slow_requests_total", of: gateway) == 1)
    }

    @Test func `requests in a row over HTTP 1 are all answered, however many`() throws {
        let gateway = try serving()
        let raw = try Raw(gateway, protocols: ["http/1.1"])
        let one = Array("GET / HTTP/1.1\r\nhost: l\r\n\r\n".utf8)
        raw.send(Array(repeatElement(one, count: 999).joined()))
        raw.send(Array("GET / HTTP/1.1\r\nhost: l\r\nconnection: close\r\n\r\n".utf8))
        // Each answer has one body, and nothing else ends so.
        #expect(raw.bytes().count { $0 == UInt8(ascii: "}") } == 1000)
    }

    @Test func `an answer that is not taken is given up, and its stream with it`() throws {
        let gateway = try serving("request-time = 1s\n")
        let raw = try Raw(gateway)
        // No byte of a body may be sent.
        raw.send(Raw.preface + Raw.frame(4, 0, 0, [0, 4, 0, 0, 0, 0]))
        raw.send(Raw.frame(1, 5, 1, Raw.request("/3/device/00")))
        let reset = raw.frames { $0.type == 3 }.last
        #expect(reset?.stream == 1 && reset?.code == 8)
    }

    @Test func `header lists without end find little room before a good token, the rest 503`()
        throws
    {
        let gateway = try serving()
        let raw = try Raw(gateway)
        let fields = (0..<13).map { ("x-\($0)", String(repeating: "v", count: 500)) }
        raw.send(Raw.preface + Raw.settings)
        for number in 0..<100 {
            let request = Raw.request("/3/device/00", fields)
            raw.send(Raw.frame(1, 4, UInt32(2 * number + 1), request))
        }
        let answers = raw.frames { $0.type == 0 && $0.stream == 199 }.filter { $0.type == 0 }
        #expect(answers.last?.payload == Array(#"{"reason":"ServiceUnavailable"}"#.utf8))
        #expect(answers.count > 75 && answers.count < 90)
        #expect(raw.frames { $0.type == 3 && $0.stream == 199 }.last?.code == 0)
    }

    @Test func `all connections together have one memory for what is not whole`() throws {
        let gateway = try serving("request-memory = 20000\n")
        let fields = (0..<13).map { ("x-\($0)", String(repeating: "v", count: 500)) }
        let begun = Raw.frame(1, 4, 1, Raw.request("/3/device/00", fields))
        let ping = Raw.frame(6, 0, 0, [UInt8](repeating: 1, count: 8))
        let first = try (0..<2).map { _ in try Raw(gateway) }
        for raw in first {
            raw.send(Raw.preface + Raw.settings + begun + ping)
            #expect(!raw.frames { $0.type == 6 }.contains { $0.type == 0 })
        }
        let late = try Raw(gateway)
        late.send(Raw.preface + Raw.settings + begun + Raw.frame(0, 0, 1, [1]))
        let answer = late.frames { $0.type == 0 }.last
        #expect(answer?.payload == Array(#"{"reason":"ServiceUnavailable"}"#.utf8))
        // What is whole is not counted any more.
        for raw in first {
            raw.send(Raw.frame(0, 1, 1, [1]))
            #expect(raw.frames { $0.type == 0 }.last?.stream == 1)
        }
        late.send(Raw.frame(1, 4, 3, Raw.request("/3/device/00", fields)) + ping)
        #expect(!late.frames { $0.type == 6 }.contains { $0.type == 0 })
    }

    // MARK: Time

    @Test(arguments: [0, 8] as [UInt8])
    func `frames without number that bring nothing end the connection`(type: UInt8) throws {
        let gateway = try serving()
        let raw = try Raw(gateway)
        raw.send(Raw.preface + Raw.settings + Raw.frame(1, 4, 1, Raw.request("/3/device/00")))
        let piece = type == 0 ? Raw.frame(0, 0, 1, []) : Raw.frame(8, 0, 0, [0, 0, 0, 1])
        let many = Array(repeatElement(piece, count: 1000).joined())
        var rounds = 0
        while rounds < 20, raw.send(many) { rounds += 1 }
        #expect(raw.frames().last { $0.type == 7 }?.code == 11 || rounds < 20)
        #expect(try stat("provider_floods_total", of: gateway) == 1)
    }

    @Test func `header lists beyond the limit without number end the connection`() throws {
        let gateway = try serving()
        let raw = try Raw(gateway)
        let fields = (0..<20).map { ("x-\($0)", String(repeating: "v", count: 500)) }
        raw.send(Raw.preface + Raw.settings)
        var count: UInt32 = 0
        while count < 1000 {
            let request = Raw.request("/3/device/00", fields)
            guard raw.send(Raw.frame(1, 5, 2 * count + 1, request)) else { break }
            count += 1
        }
        let frames = raw.frames()
        #expect(frames.last { $0.type == 7 }?.code == 11 || count < 1000)
        #expect(frames.count { $0.type == 3 } < 50)
        #expect(try stat("provider_floods_total", of: gateway) == 1)
    }

    @Test func `a wrong signature is looked at once, and ten of them are enough`() throws {
        let gateway = try serving()
        let raw = try Raw(gateway)
        let parts = try gateway.bearer().split(separator: ".")
        func request(_ stream: UInt32, _ signature: UInt8) -> [UInt8] {
            let wrong = Base64.urlText([UInt8](repeating: signature, count: 64))
            let fields = [
                ("authorization", "\(parts[0]).\(parts[1]).\(wrong)"), ("apns-topic", "a.b"),
            ]
            return Raw.frame(1, 5, stream, Raw.request("/3/device/00", fields))
        }
        raw.send(Raw.preface + Raw.settings)
        var stream: UInt32 = 1
        for _ in 0..<50 {
            raw.send(request(stream, 1))
            stream += 2
        }
        _ = raw.frames { $0.type == 0 && $0.stream == stream - 2 }
        #expect(try stat("signatures_checked_total", of: gateway) == 1)
        for signature in 2...60 as ClosedRange<UInt8> {
            raw.send(request(stream, signature))
            stream += 2
        }
        let goodbye = raw.frames().last { $0.type == 7 }
        #expect(goodbye?.code == 0)
        let reason = goodbye?.payload.dropFirst(8)
        #expect(reason == Array(#"{"reason":"InvalidProviderToken"}"#.utf8)[...])
        #expect(try stat("signatures_checked_total", of: gateway) == 10)
    }

    // MARK: Places

    @Test func `who says nothing goes soon`() throws {
        let gateway = try serving("proof-time = 1s\n")
        let raw = try Raw(gateway)
        raw.send(Raw.preface + Raw.settings)
        let reason = raw.frames().last { $0.type == 7 }?.payload.dropFirst(8)
        #expect(reason == Array(#"{"reason":"IdleTimeout"}"#.utf8)[...])
    }

    @Test func `who says nothing makes room when all places are taken`() throws {
        let gateway = try serving("connections = 2\nproof-time = 10s\n")
        let silent = try (0..<2).map { _ in try Raw(gateway) }
        let limit = Clocks.boot() + .seconds(60)
        var status = 0
        while status == 0, Clocks.boot() < limit {
            status = (try? gateway.client.send("POST", "/3/device/00", [], body: []))?.status ?? 0
        }
        #expect(status == 403)
        #expect(try stat("provider_displaced_total", of: gateway) == 1)
        _ = silent[0].bytes()
        #expect(silent[0].isClosed)
    }
}
