import Linux
import TestKit
import Testing
import Vocabulary

/// Downloads while the daemon, or its network process, is killed at random moments and the object
/// on the server changes: what arrives is exactly one version, and whole.
struct KillDownloadTests {
    static let rounds = CurrentProcess.environment("OFFSTAGE_ROUNDS").flatMap { Int($0) } ?? 8
    private static let size: Int64 = 3 << 20

    @Test func `whatever is killed, a file is one version`() throws {
        let server = try FaultServer()
        let daemon = try ScratchDaemon(settings: "pause-after-start=0\n")
        try daemon.start()
        var random = SeededRandom(seed: FreshSeeds.first)
        var version: UInt64 = 1
        for round in 0..<Self.rounds {
            let path = "/file\(round)"
            var behaviour = FaultServer.Behaviour(
                VersionedObject(version: version, size: Self.size)
            )
            // What a connection that breaks leaves is durable: there is something to go on with.
            behaviour.dropsAfter = 65_536 * Int64(1 + random.below(16))
            server.set(path, behaviour)
            var held = server.heldCount
            let requests = server.requests.count
            let home = daemon.scratch("home")
            let outcome = try daemon.offstage("download", "-d", home, server.url(path))
            #expect(outcome.succeeded, "\(outcome.errors)")
            try server.waitForRequests(requests + 1)
            server.change(path) {
                $0.dropsAfter = nil
                $0.holdsAfter = 65_536 * Int64(random.below(4))
            }
            for _ in 0...random.below(3) {
                held += 1
                try server.waitUntilHeld(held)
                if random.chance(1, in: 2) {
                    version += 1
                    let size = Self.size + Int64(random.below(1 << 20))
                    server.change(path) {
                        $0.object = VersionedObject(version: version, size: size)
                        $0.ignoresIfRange = random.chance(1, in: 2)
                    }
                }
                if random.chance(1, in: 2) {
                    try daemon.kill()
                    server.release()
                    try daemon.start()
                } else {
                    let process = try #require(try daemon.networkProcess())
                    try PidFD(of: process).send(Signal.kill)
                    server.release()
                }
            }
            try server.waitUntilHeld(held + 1)
            server.change(path) { $0.holdsAfter = nil }
            server.release()
            let name = "\(home)/file\(round)"
            try Wait.until("round \(round) is there") { Files.exists(name) }
            let object = try #require(server.object(path))
            let bytes = try Files.read(name, limit: 1 << 24)
            #expect(bytes.count == object.size, "round \(round)")
            #expect(bytes == object.all, "round \(round) is not version \(version)")
        }
        #expect(try Files.list(daemon.scratch("home")).count == Self.rounds)
    }
}
