import Linux
import TestKit
import Testing
import Vocabulary

/// `offstage download --connections`: ranges of one file side by side, with a real daemon, network
/// process and server.
struct ConnectionsTests {
    private let bench: DownloadBench
    private let server: FaultServer
    private static let size: Int64 = 12 << 20 + 1

    init() throws {
        bench = try DownloadBench()
        server = bench.server
        server.set("/file", Self.behaviour(1))
    }

    private static func behaviour(_ version: UInt64) -> FaultServer.Behaviour {
        var behaviour = FaultServer.Behaviour(VersionedObject(version: version, size: size))
        behaviour.fields = ["Accept-Ranges: bytes"]
        return behaviour
    }

    private func expectVersion(_ version: UInt64) throws {
        try bench.expect(VersionedObject(version: version, size: Self.size))
    }

    /// It has so many connections, each of which has brought this many bytes.
    private func held(_ bytes: Int64, _ connections: Int) throws -> String {
        server.change("/file") { $0.holdsAfter = bytes }
        let id = try bench.enqueue(["--connections", "\(connections)"])
        try server.waitUntilHeld(connections)
        return id
    }

    private func goOn() {
        server.change("/file") { ($0.holdsAfter, $0.holdsHead) = (nil, false) }
        server.release()
    }

    /// Bytes that were asked for since then, each counted once.
    private func asked(since count: Int) -> Int64 {
        let ranges = server.requests.dropFirst(count).map { request in
            let text = request.fields["range"]?.dropFirst("bytes=".count) ?? "0-"
            let ends = text.split(separator: "-").map { Int64($0) ?? 0 }
            return ends[0]..<(ends.count > 1 ? ends[1] + 1 : Self.size)
        }
        var (bytes, end) = (Int64(0), Int64(0))
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            bytes += max(0, range.upperBound - max(end, range.lowerBound))
            end = max(end, range.upperBound)
        }
        return bytes
    }

    // MARK: Side by side

    @Test func `ranges come side by side, each under the validator`() throws {
        let file = try bench.daemon.scratch.write("sum", "")
        bench.daemon.scratch.write(VersionedObject(version: 1, size: Self.size).all, to: "sum")
        let sum = try Command("sha256sum", file).run().output.prefix(64)
        server.change("/file") { $0.holdsAfter = 65_536 }
        let id = try bench.enqueue(["--connections", "4", "--checksum", "sha256:\(sum)"])
        try server.waitUntilHeld(4)
        #expect(server.mostBodies == 4)
        #expect(try bench.state(of: id)?["connections"] == 4)
        goOn()
        try bench.waitForEnd(id)
        try expectVersion(1)
        #expect(server.mostBodies == 4 && server.accepted >= 4)
        #expect(server.requests.first?.fields["range"] == nil)
        let ranges = server.requests.dropFirst()
        #expect(ranges.count >= 3)
        #expect(ranges.allSatisfy { $0.fields["if-range"] == "\"1\"" && $0.fields["range"] != nil })
    }

    @Test(arguments: [FaultServer.Tag.weak, .absent])
    func `without a strong validator there is one request`(tag: FaultServer.Tag) throws {
        server.change("/file") { $0.tag = tag }
        try bench.download(["-w", "--connections", "4"])
        try expectVersion(1)
        #expect(server.requests.count == 1)
    }

    @Test func `without a word on ranges, and of a small file, there is one request`() throws {
        server.change("/file") { $0.fields = [] }
        server.set("/small", .init(VersionedObject(version: 1, size: 4 << 20 - 1)))
        server.change("/small") { $0.fields = ["Accept-Ranges: bytes"] }
        try bench.download(["-w", "--connections", "4"])
        try bench.download(["-w", "--connections", "4"], from: "/small")
        try expectVersion(1)
        #expect(server.requests.count == 2)
    }

    @Test func `a server that ignores ranges, whatever it says, sends the file once`() throws {
        // What comes at once is not to end where a range does.
        server.change("/file") { ($0.honoursRange, $0.holdsAfter) = (false, 100) }
        let id = try bench.enqueue(["--connections", "4"])
        try server.waitUntilHeld(1)
        server.change("/file") { $0.holdsAfter = nil }
        try server.waitForRequests(4)
        server.release()
        try bench.waitForEnd(id)
        try expectVersion(1)
        let ranges = server.requests.map { $0.fields["range"] }
        #expect(ranges.count { $0 == nil } == 1)
        // Another attempt would ask for the rest as a whole.
        #expect(!ranges.contains { $0?.hasSuffix("-") ?? false })
    }

    @Test func `a connection that breaks costs its range nothing`() throws {
        server.change("/file") { $0.dropsAfter = 1 << 20 }
        try bench.download(["-w", "--connections", "3"])
        try expectVersion(1)
        let first = server.requests.count { $0.fields["range"] == nil }
        #expect(first == 1 && server.requests.count >= 12)
    }

    @Test func `a rate is that of all connections together`() throws {
        server.change("/file") { $0.object.size = 5 << 20 }
        let began = Clocks.boot()
        try bench.download(["-w", "--connections", "2", "--limit-rate", "1M"])
        // As much as half a second brings may come early, and what each had under way.
        #expect(Clocks.boot() - began >= .seconds(3))
        #expect(server.requests.count >= 2)
    }

    @Test(arguments: ["0", "17", "x"]) func `a number that cannot be is refused`(
        number: String
    ) throws {
        let outcome = try bench.download(["--connections", number], succeeds: false)
        #expect(outcome.status == .exited(2))
        #expect(outcome.errors.contains("is not a number from 1 to 16"))
    }

    // MARK: Versions

    /// `ignores`: it sends a part of another version, whatever `If-Range` says.
    @Test(arguments: [false, true])
    func `a file that changes before its ranges are answered begins anew`(ignores: Bool) throws {
        // The first one alone could bring all of the old version before the others are answered.
        server.change("/file") { ($0.holdsHead, $0.holdsAfter) = (true, 1 << 20) }
        let id = try bench.enqueue(["--connections", "4"])
        try server.waitUntilHeld(1)
        server.set("/file", Self.behaviour(2))
        server.change("/file") { $0.ignoresIfRange = ignores }
        server.release()
        try bench.waitForEnd(id)
        goOn()
        try expectVersion(2)
        // From the first byte. Requests of ranges may be read after that one.
        #expect(server.requests.dropFirst().contains { $0.fields["range"] == nil })
        #expect(try bench.state(of: id)?["state"] == "finished")
    }

    @Test(arguments: [false, true])
    func `a file that changes while its ranges come is one version`(ignores: Bool) throws {
        server.change("/file") { $0.dropsAfter = 1 << 20 }
        let id = try held(1 << 20, 4)
        server.set("/file", Self.behaviour(2))
        server.change("/file") { $0.ignoresIfRange = ignores }
        server.release()
        try bench.waitForEnd(id)
        try expectVersion(2)
    }

    // MARK: Interruptions

    @Test func `what a pause leaves of each range is not fetched again`() throws {
        let id = try held(1 << 20, 4)
        try Wait.until("all of it is told") {
            try bench.state(of: id)?["received"]?.integerValue == 4 << 20
        }
        #expect(try bench.offstage("pause", id).succeeded)
        try bench.waitUntilPaused(id)
        try bench.daemon.kill()
        try bench.daemon.start()
        #expect(try bench.state(of: id)?["received"]?.integerValue == 4 << 20)
        goOn()
        let count = server.requests.count
        #expect(try bench.offstage("resume", id).succeeded)
        try bench.waitForEnd(id)
        try expectVersion(1)
        #expect(asked(since: count) == Self.size - 4 << 20)
    }

    @Test func `a killed network process costs only what was not stored`() throws {
        let id = try held(1 << 20, 4)
        try Wait.until("all of it is told") {
            try bench.state(of: id)?["received"]?.integerValue == 4 << 20
        }
        #expect(try bench.offstage("pause", id).succeeded)
        try bench.waitUntilPaused(id)
        server.release()
        // Half a megabyte more on each of them, of which nobody knows what is stored.
        server.change("/file") { $0.holdsAfter = 524_288 }
        let before = server.heldCount
        #expect(try bench.offstage("resume", id).succeeded)
        try server.waitUntilHeld(before + 4)
        server.change("/file") { ($0.holdsHead, $0.holdsAfter) = (true, nil) }
        let (count, held) = (server.requests.count, server.heldCount)
        let killed = try bench.networkProcess()
        try PidFD(of: killed).send(Signal.kill)
        try Wait.untilGone(killed)
        try bench.daemon.hurry(id, until: "it asks again") { server.heldCount > held }
        let stored = try #require(try bench.state(of: id)?["received"]?.integerValue)
        #expect(stored >= 4 << 20)
        goOn()
        try bench.waitForEnd(id)
        try expectVersion(1)
        #expect(asked(since: count) == Self.size - stored)
    }

    @Test func `a cancelled one leaves nothing`() throws {
        let id = try held(65_536, 4)
        #expect(try bench.offstage("cancel", id).succeeded)
        try bench.waitForEnd(id)
        #expect(try bench.names() == [])
        server.release()
    }
}
