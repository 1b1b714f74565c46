import Linux
import TestKit
import Testing
import Vocabulary
import Wire

/// A server as there are millions: nginx, over TLS.
struct RealServerTests {
    private let server: Nginx
    private let scratch = ScratchDirectory()

    init() throws { server = try Nginx() }

    /// Without showing how millions of bytes differ.
    private func expect(_ object: VersionedObject, at name: String) throws {
        let isSame = try Files.read(scratch(name), limit: 1 << 23) == object.all
        #expect(isSame, "it is not version \(object.version)")
    }

    @Test func `many files come over one connection`() throws {
        let object = VersionedObject(version: 1, size: 20_000)
        let peer = try NetworkPeer(environment: server.environment)
        for number in 0..<100 { server.put("\(number)", object) }
        let ids = try (0..<100).map {
            try peer.begin(ExchangeOrder(url: server.url("\($0)")), to: scratch("\($0)"))
        }
        for id in ids { #expect(try peer.end(id).end == .complete(size: 20_000)) }
        for number in 0..<100 {
            try expect(object, at: "\(number)")
        }
        let requests = try server.requests()
        #expect(requests.count == 100)
        #expect(requests.allSatisfy { $0[1] == "HTTP/2.0" && $0[2] == "200" })
        #expect(Set(requests.map { $0[0] }).count == 1)
    }

    /// Streams of one connection share what that one gets.
    @Test func `ranges of one file have a connection each`() throws {
        let object = VersionedObject(version: 1, size: 12 << 20)
        let peer = try NetworkPeer(environment: server.environment)
        server.put("file", object)
        var order = ExchangeOrder(url: server.url("file"))
        order.moreConnections = 2
        let id = try peer.begin(order, to: scratch("file"))
        #expect(try peer.answer(id).moreConnections == 2)
        #expect(try peer.end(id).end.isComplete)
        let isSame = try Files.read(scratch("file"), limit: 1 << 24) == object.all
        #expect(isSame)
        let requests = try server.requests()
        #expect(requests.allSatisfy { $0[1] == "HTTP/1.1" })
        #expect(Set(requests.map { $0[0] }).count >= 3)
        #expect(requests.count { $0[2] == "206" } >= 2)
    }

    /// Else a crash costs whatever the network was faster than the disk.
    @Test func `the network waits for a disk that is slower`() throws {
        let object = VersionedObject(version: 1, size: 48 << 20)
        let peer = try NetworkPeer(environment: server.environment)
        server.put("file", object)
        let id = try peer.begin(ExchangeOrder(url: server.url("file")), to: scratch("file"))
        var (known, most) = (Int64(0), Int64(0))
        let end: ExchangeEnd = try peer.first {
            switch $0 {
            case .progress(id, let received, let durable):
                (known, most) = (durable, max(most, received - known))
                return nil
            case .ended(id, let end, _): return end
            default: return nil
            }
        }
        #expect(end == .complete(size: object.size))
        #expect(most <= 8 << 20, "\(most) bytes were not durable")
    }

    @Test func `the rest of a file is asked for and appended`() throws {
        let object = VersionedObject(version: 1, size: 3_000_000)
        let peer = try NetworkPeer(environment: server.environment)
        server.put("file", object)
        let whole = try peer.begin(ExchangeOrder(url: server.url("file")), to: scratch("whole"))
        let validator = try #require(try peer.answer(whole).validator)
        #expect(try peer.end(whole).end.isComplete)
        scratch.write(object.bytes(at: 0, count: 1_000_001), to: "file")
        var order = ExchangeOrder(url: server.url("file"))
        order.resume = ResumePoint(offset: 1_000_001, validator: validator, total: object.size)
        let rest = try peer.begin(order, to: scratch("file"))
        #expect(try peer.answer(rest).offset == 1_000_001)
        #expect(try peer.end(rest).end.isComplete)
        try expect(object, at: "file")
        #expect(try server.requests().map { $0[2] } == ["200", "206"])
    }

    @Test func `another version takes the place of the old one`() throws {
        let (old, new) = (
            VersionedObject(version: 1, size: 3_000_000),
            VersionedObject(version: 2, size: 2_000_000)
        )
        let peer = try NetworkPeer(environment: server.environment)
        server.put("file", new)
        scratch.write(old.bytes(at: 0, count: 2_500_000), to: "file")
        var order = ExchangeOrder(url: server.url("file"))
        order.resume = ResumePoint(
            offset: 2_500_000,
            validator: .entityTag("\"another\""),
            total: old.size
        )
        #expect(try peer.end(peer.begin(order, to: scratch("file"))).end.isComplete)
        try expect(new, at: "file")
    }

    @Test func `a server is found by its name`() throws {
        let object = VersionedObject(version: 1, size: 20_000)
        let peer = try NetworkPeer(environment: server.environment)
        server.put("file", object)
        let order = ExchangeOrder(url: server.url("file", host: "localhost"))
        let id = try peer.begin(order, to: scratch("file"))
        #expect(try peer.end(id).end == .complete(size: 20_000))
        try expect(object, at: "file")
    }

    @Test func `a server whom nobody vouches for is not trusted`() throws {
        server.put("file", VersionedObject(version: 1, size: 10))
        let peer = try NetworkPeer()
        let id = try peer.begin(ExchangeOrder(url: server.url("file")), to: scratch("file"))
        let end = try peer.end(id).end
        #expect(end.failure == .untrusted)
        if case .failed(let failure) = end {
            #expect(failure.reason.contains("SSL_CERT_FILE"), "\(failure.reason)")
        }
        #expect(try Files.read(scratch("file"), limit: 10) == [])
    }
}
