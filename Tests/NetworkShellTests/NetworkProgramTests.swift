import Linux
import TestKit
import Testing
import Vocabulary
import Wire

/// The program itself: who may start it, what it takes, and when it goes.
struct NetworkProgramTests {
    @Test func `it says that there is nothing to do by hand`() throws {
        let program = Products.path(of: "offstage-net")
        let plain = try Command(program).run()
        #expect(plain.status == .exited(2))
        #expect(plain.errors.hasPrefix("usage: offstage-net\n"))
        let help = try Command(program, "--help").run()
        #expect(help.succeeded && help.output == plain.errors)
    }

    @Test func `it ends with its daemon`() throws {
        let peer = try NetworkPeer()
        peer.close()
        #expect(try peer.exit() == .exited(0))
    }

    @Test(
        arguments: [
            .hello(version: NetworkFormat.version + 1), .stop(TransferID(1)),
            .begin(TransferID(1), ExchangeOrder(url: "http://127.0.0.1:9/")),
        ] as [NetworkOrder]
    )
    func `it takes nothing from a daemon of another version`(_ order: NetworkOrder) throws {
        let peer = try NetworkPeer(greets: false)
        try peer.send(order)
        #expect(try peer.exit() == .exited(1))
    }

    @Test(
        arguments: [
            [0], Array("GET / HTTP/1.1".utf8), [UInt8](repeating: 0xff, count: 1000),
        ] as [[UInt8]]
    )
    func `it takes nothing that no daemon says`(_ bytes: [UInt8]) throws {
        let peer = try NetworkPeer()
        try peer.send(bytes)
        #expect(try peer.exit() == .exited(1))
    }

    @Test func `it takes no order without its file`() throws {
        let peer = try NetworkPeer()
        try peer.send(.begin(TransferID(1), ExchangeOrder(url: "http://127.0.0.1:9/")))
        #expect(try peer.exit() == .exited(1))
    }

    @Test func `what it does not know cannot be stopped, and does no harm`() throws {
        let (peer, server, scratch) = (try NetworkPeer(), try FaultServer(), ScratchDirectory())
        try peer.send(.stop(TransferID(99)))
        try peer.send(.proceed(TransferID(99)))
        server.set("/", .init(VersionedObject(version: 1, size: 10)))
        let id = try peer.begin(ExchangeOrder(url: server.url("/")), to: scratch("file"))
        #expect(try peer.end(id).end == .complete(size: 10))
    }

    /// The daemon may have ordered something meanwhile.
    @Test(.enabled(if: Command.runsAsRoot && Landlock.version > 0, "needs root and Landlock"))
    func `a retired process answers orders as stopped until the daemon sends no more`() throws {
        let (place, server, scratch) = (ScratchDirectory(), try FaultServer(), ScratchDirectory())
        try Files.setPermissions(place.path, 0o755)
        #expect(try Command("cp", "-a", "/etc/.", place.path).run().succeeded)
        let peer = try NetworkPeer(etc: place.path)
        server.set("/", .init(VersionedObject(version: 1, size: 10)))
        let order = ExchangeOrder(url: server.url("/"))
        func fetch() throws -> ExchangeEnd {
            let id = try peer.begin(order, to: scratch("file"))
            return try peer.end(id).end
        }
        #expect(try fetch().isComplete)
        try Files.replace(place("hosts"), with: "127.0.0.1 other.example\n")
        try Files.setPermissions(place("hosts"), 0o644)
        // It looks once a second.
        try Wait.until("it stops what is ordered") { try fetch().cause == .stopped }
        #expect(peer.hasKept { $0 == .retires })
        for _ in 0..<3 { #expect(try fetch().cause == .stopped) }
        peer.endOrders()
        #expect(try peer.exit() == .exited(0))
    }

    @Test func `progress is told while others begin again and again`() throws {
        let (peer, server, scratch) = (try NetworkPeer(), try FaultServer(), ScratchDirectory())
        server.set("/large", .init(VersionedObject(version: 1, size: 1000)))
        server.set("/small", .init(VersionedObject(version: 1, size: 10)))
        server.change("/large") { $0.holdsAfter = 500 }
        let large = try peer.begin(ExchangeOrder(url: server.url("/large")), to: scratch("large"))
        try server.waitUntilHeld(1)
        var count = 0
        func isTold() -> Bool {
            peer.hasKept { if case .progress(large, 500, _) = $0 { true } else { false } }
        }
        while !isTold(), count < 5_000 {
            let id = try peer.begin(ExchangeOrder(url: server.url("/small")), to: scratch("small"))
            _ = try peer.end(id)
            count += 1
        }
        #expect(isTold(), "after \(count) others")
        server.release()
    }
}
