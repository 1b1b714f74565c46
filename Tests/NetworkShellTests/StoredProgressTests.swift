import Linux
import TestKit
import Testing
import Vocabulary
import Wire

/// A kill of the daemon costs what the network process has brought and the daemon has not stored.
struct StoredProgressTests {
    private let server: FaultServer
    private let peer: NetworkPeer
    private let scratch = ScratchDirectory()
    private static let object = VersionedObject(version: 1, size: 40 << 20)

    init() throws {
        server = try FaultServer()
        peer = try NetworkPeer()
        server.set("/file", .init(Self.object))
    }

    /// Until all that has come is durable, and no more comes: what has come.
    private func untilHeld(_ id: TransferID) throws -> Int64 {
        try peer.first {
            guard case .progress(id, let received, let durable) = $0, durable == received,
                received >= 8 << 20
            else { return nil }
            return received
        }
    }

    @Test func `what is not stored is less than 16 MB, however long that takes`() throws {
        peer.storesProgress = false
        let file = scratch("file")
        let order = ExchangeOrder(url: server.url("/file"), errors: .fail, timeout: .seconds(30))
        let id = try peer.begin(order, to: file)
        let held = try untilHeld(id)
        // It is told again: what was told may have come to nothing.
        #expect(try untilHeld(id) == held)
        #expect(try #require(Files.status(file)).size == held && held < 16_000_000)
        peer.storesProgress = true
        try peer.send(.stored(id, durable: held))
        #expect(try peer.end(id).end == .complete(size: Self.object.size))
        let isSame = try Files.read(file, limit: 1 << 26) == Self.object.all
        #expect(isSame)
    }
}
