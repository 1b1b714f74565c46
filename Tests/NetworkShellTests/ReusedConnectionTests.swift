import TestKit
import Testing
import Vocabulary
import Wire

/// What one answer leaves on its connection comes before the next one.
struct ReusedConnectionTests {
    private let scratch = ScratchDirectory()

    @Test func `the rest of an answer ends no other exchange for good`() throws {
        let (server, peer) = (try FaultServer(), try NetworkPeer())
        let object = VersionedObject(version: 1, size: 1000)
        server.set("/file", .init(object))
        let order = ExchangeOrder(url: server.url("/file"), errors: .fail, timeout: .seconds(30))
        func fetch() throws -> ExchangeEnd { try peer.end(peer.begin(order, to: scratch("a"))).end }
        #expect(try fetch().isComplete)
        server.change("/file") { $0.leftover = "more than was said\r\n\r\n" }
        let end = try fetch()
        #expect(end.cause == .connection, "\(end)")
        #expect(server.accepted == 1)
        server.change("/file") { $0.leftover = nil }
        #expect(try fetch().isComplete)
        #expect(server.accepted == 2)
    }

    /// Nothing was left there.
    @Test func `what comes first on a connection, and is not HTTP, is the server's word`() throws {
        let (server, peer) = (try FaultServer(), try NetworkPeer())
        server.set("/file", .init(VersionedObject(version: 1, size: 1000)))
        server.change("/file") { $0.leftover = "more than was said\r\n\r\n" }
        let order = ExchangeOrder(url: server.url("/file"), errors: .fail, timeout: .seconds(30))
        let end = try peer.end(peer.begin(order, to: scratch("a"))).end
        #expect(end == .failed(ExchangeFailure(.badAnswer, reason: "the answer is not HTTP")))
    }
}
