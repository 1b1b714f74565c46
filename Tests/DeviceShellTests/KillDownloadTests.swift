import Linux
import TestKit
import Testing
import Vocabulary

/// Downloads while the daemon, or its network process, is killed at random moments and the object
/// on the server changes: what arrives is exactly one version, and whole.
struct KillDownloadTests {
    private let server: FaultServer
    private let daemon: ScratchDaemon

    init() throws {
        server = try FaultServer()
        daemon = try ScratchDaemon(settings: "pause-after-start=0\n")
        try daemon.start()
    }

    @Test func `whatever is killed, a file is one version`() throws {
        var random = SeededRandom(seed: FreshSeeds.first)
        var version: UInt64 = 0
        for round in 0..<KillRounds.count {
            let path = "/file\(round)"
            version += 1
            let name = daemon.scratch("home\(path)")
            // Some are large enough for several connections.
            let size: Int64 = round % 8 == 7 ? 5 << 20 : 1 << 20
            let id = try begin(path, VersionedObject(version: version, size: size), &random)
            var objects = [server.object(path)]
            for _ in 0...random.below(2) {
                try daemon.hurry(id, until: "round \(round) is held") {
                    server.isHolding || Files.exists(name)
                }
                if Files.exists(name) { break }
                if random.chance(1, in: 2) {
                    version += 1
                    change(path, VersionedObject(version: version, size: size), &random)
                    objects.append(server.object(path))
                }
                try kill(path, &random)
            }
            server.change(path) { ($0.holdsAfter, $0.holdsHead) = (nil, false) }
            try daemon.hurry(id, until: "round \(round) is there") {
                // Also what was asked for before.
                server.release()
                return Files.exists(name)
            }
            // Else a daemon that was killed before it had stored that would fetch it anew.
            try Wait.until("round \(round) has ended") {
                try daemon.transfer(id)?["ended"] != nil
            }
            let bytes = try Files.read(name, limit: 1 << 24)
            let isOne = objects.contains { $0?.size == Int64(bytes.count) && $0?.all == bytes }
            #expect(isOne, "round \(round): \(bytes.count) bytes, none of \(objects)")
            try Files.remove(name)
        }
        let left = try Files.list(daemon.scratch("home"))
        if !left.isEmpty {
            let told = try daemon.offstage("transfers", "--json").output.suffix(3_000)
            let log = try daemon.offstage("history", "--json").output.suffix(3_000)
            Issue.record("\(left) are left\n\(told)\n\(log)\n\(daemon.log)")
        }
    }

    /// There is something durable to go on with: what a connection that breaks leaves.
    private func begin(
        _ path: String,
        _ object: VersionedObject,
        _ random: inout SeededRandom
    ) throws -> String {
        var behaviour = FaultServer.Behaviour(object)
        behaviour.fields = ["Accept-Ranges: bytes"]
        behaviour.dropsAfter = 65_536 * Int64(1 + random.below(12))
        server.set(path, behaviour)
        let requests = server.requests.count
        let home = daemon.scratch("home")
        let outcome = try daemon.offstage(
            "download",
            "--connections",
            "3",
            "-d",
            home,
            server.url(path)
        )
        guard outcome.succeeded else { throw DidNotHappen(description: outcome.errors) }
        try server.waitForRequests(requests + 1)
        server.change(path) {
            $0.dropsAfter = nil
            $0.holdsAfter = 65_536 * Int64(random.below(4))
            $0.holdsHead = random.chance(1, in: 4)
        }
        return String(outcome.output.dropFirst("transfer ".count).prefix { $0 != ":" })
    }

    private func change(
        _ path: String,
        _ object: VersionedObject,
        _ random: inout SeededRandom
    ) {
        let size = object.size + Int64(random.below(1 << 20)) - 1 << 19
        server.change(path) {
            $0.object = VersionedObject(version: object.version, size: size)
            $0.ignoresIfRange = random.chance(1, in: 2)
            $0.isChunked = random.chance(1, in: 8)
        }
    }

    /// While it waits, or while bytes come.
    private func kill(_ path: String, _ random: inout SeededRandom) throws {
        if random.chance(1, in: 2) { server.release() }
        switch random.below(3) {
        // A daemon that has just begun waits for the one of its predecessor, and has none yet.
        case 0: if try daemon.networkProcess() != nil { try daemon.killNetworkProcess() }
        case 1:
            try daemon.kill()
            try daemon.start()
        default:
            let process = try daemon.networkProcess()
            try daemon.kill()
            if let process { try? PidFD(of: process).send(Signal.kill) }
            try daemon.start()
        }
        server.release()
    }
}
