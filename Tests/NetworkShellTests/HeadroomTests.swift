import Linux
@testable import NetworkShell
import TestKit
import Testing
import Vocabulary
import Wire

/// What downloads leave of a file system to others.
struct HeadroomTests {
    @Test(
        arguments: [
            (0, 0, Int64.max), (1_000, 1_000, 990), (1_000, 10, 0), (1_000, 0, -10),
            (1 << 40, 1 << 30, (1 << 30) - (64 << 20)),
        ] as [(Int64, Int64, Int64)]
    )
    func `the hundredth part is left, up to a limit`(total: Int64, free: Int64, room: Int64) {
        #expect(Headroom.room(in: FileSystemSpace(total: total, free: free)) == room)
    }

    @Test func `a descriptor tells how much its file system has`() throws {
        let space = try FileDescriptor(opening: "/", [.reading, .directory]).space()
        #expect(space.total > 0 && space.free >= 0 && space.free <= space.total)
    }
}

struct ReservedRoomTests {
    private let scratch = ScratchDirectory()

    /// An attempt was killed when it had reserved room, and before it had written any of it.
    @Test func `what an attempt has reserved does not stay with the file of another`() throws {
        let (server, peer, file) = (try FaultServer(), try NetworkPeer(), scratch("file"))
        try FileDescriptor(opening: file, [.writing, .create]).reserve(32 << 20, at: 0)
        let before = try #require(Files.status(file))
        #expect(before.size == 0 && before.allocated >= 32 << 20)
        server.set("/small", .init(VersionedObject(version: 1, size: 1000)))
        let order = ExchangeOrder(url: server.url("/small"), errors: .fail, timeout: .seconds(30))
        #expect(try peer.end(peer.begin(order, to: file)).end.isComplete)
        let after = try #require(Files.status(file))
        #expect(after.size == 1000 && after.allocated < 1 << 20)
    }
}

/// With the real network process, on a small file system.
@Suite(.enabled(if: SmallDisk.isPossible, "only root can mount a small file system"))
struct FullDiskTests {
    private let server: FaultServer
    private let peer: NetworkPeer
    private let scratch = ScratchDirectory()

    init() throws {
        server = try FaultServer()
        peer = try NetworkPeer()
        try Files.makeDirectory(scratch("disk"), permissions: 0o700)
    }

    private func space() throws -> FileSystemSpace {
        try FileDescriptor(opening: scratch("disk"), [.reading, .directory]).space()
    }

    private func fetch(_ name: String) throws -> (end: ExchangeEnd, durable: Int64) {
        let order = ExchangeOrder(
            url: server.url("/" + name),
            errors: .fail,
            timeout: .seconds(30)
        )
        return try peer.end(peer.begin(order, to: scratch("disk/" + name)))
    }

    @Test func `a server without end does not fill it, and what it sent is gone`() throws {
        let disk = try #require(SmallDisk(at: scratch("disk"), megabytes: 8))
        defer { disk.unmount() }
        server.set("/endless", .init(VersionedObject(version: 1, size: 0)))
        server.change("/endless") {
            ($0.garbage, $0.isEndless) = ("HTTP/1.1 200 OK\r\n\r\n", true)
        }
        let (end, durable) = try fetch("endless")
        #expect(end.cause == .diskFull && durable == 0)
        let file = try #require(Files.status(scratch("disk/endless")))
        #expect(file.size == 0 && file.allocated == 0)
    }

    @Test func `what can be gone on with is kept, and room is left beside it`() throws {
        let disk = try #require(SmallDisk(at: scratch("disk"), megabytes: 8))
        defer { disk.unmount() }
        server.set("/chunks", .init(VersionedObject(version: 1, size: 16 << 20)))
        server.change("/chunks") { $0.isChunked = true }
        let (end, durable) = try fetch("chunks")
        #expect(end.cause == .diskFull && durable > 4 << 20)
        let space = try space()
        // To the page.
        #expect(space.free > space.total / 100 - 4_096 && space.free < space.total / 4)
    }

    @Test func `what would leave too little is not begun, and what fits is`() throws {
        let disk = try #require(SmallDisk(at: scratch("disk"), megabytes: 8))
        defer { disk.unmount() }
        let size = try space().free - 16_384
        server.set("/tight", .init(VersionedObject(version: 1, size: size)))
        let (end, durable) = try fetch("tight")
        #expect(end.cause == .diskFull && durable == 0)
        guard case .interrupted(let why) = end else { return }
        // What is left free, 83 KiB of 8 MiB, less 16.
        #expect(why.reason == "at least 65.9 KiB are missing")
        #expect(Files.status(scratch("disk/tight"))?.allocated == 0)
        server.set("/fits", .init(VersionedObject(version: 1, size: size - (128 << 10))))
        #expect(try fetch("fits").end.isComplete)
    }
}
