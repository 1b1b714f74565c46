import Linux
import TestKit
import Testing
import Vocabulary

/// Uploads while the daemon, or its network process, is killed at random moments and connections
/// break: the server ends with exactly the bytes of the file. By PUT it may be given them twice, if
/// its first answer is lost with the process: one takes the place of the other.
struct KillUploadTests {
    private static let size: Int64 = 3 << 20

    @Test func `whatever is killed, the server has the file and nothing else`() throws {
        let server = try FaultServer()
        let daemon = try ScratchDaemon(settings: "pause-after-start=0\n")
        try daemon.start()
        var random = SeededRandom(seed: FreshSeeds.first)
        let home = daemon.scratch("home")
        for round in 0..<KillRounds.count / 5 {
            let (path, name) = ("/up\(round)", "\(home)/file\(round)")
            let object = VersionedObject(version: UInt64(round), size: Self.size)
            try FileDescriptor(opening: name, [.writing, .create]).writeAll(object.all.span)
            var behaviour = FaultServer.Upload(interop: 8)
            behaviour.dropsAfter = 65_536 * Int64(1 + random.below(16))
            server.takeUploads(path, behaviour)
            let requests = server.requests.count
            var held = server.heldCount
            let outcome = try daemon.offstage("upload", server.url(path), name)
            #expect(outcome.succeeded, "\(outcome.errors)")
            try server.waitForRequests(requests + 1)
            server.changeUpload(path) {
                $0.dropsAfter = nil
                $0.holdsAfter = 65_536 * Int64(random.below(4))
            }
            let id = String(outcome.output.dropFirst("transfer ".count).prefix { $0 != ":" })
            func waitUntilHeld() throws {
                try daemon.hurry(id, until: "round \(round) is held") {
                    server.heldCount > held || !server.files(path).isEmpty
                }
                held = server.heldCount
            }
            for _ in 0...random.below(3) {
                try waitUntilHeld()
                if random.chance(1, in: 2) {
                    try daemon.kill()
                    server.cutUploads()
                    server.release()
                    try daemon.start()
                } else {
                    // What was held may have been sent by one that was killed since.
                    try daemon.hurry(id, until: "round \(round) is on its way") {
                        try daemon.networkProcess() != nil || !server.files(path).isEmpty
                    }
                    if try daemon.networkProcess() != nil { try daemon.killNetworkProcess() }
                    server.cutUploads()
                    server.release()
                }
            }
            try waitUntilHeld()
            server.changeUpload(path) { $0.holdsAfter = nil }
            try daemon.hurry(id, until: "round \(round) is there") {
                server.release()
                return !server.files(path).isEmpty
            }
            let files = server.files(path)
            let isSame = files.allSatisfy { $0 == object.all }
            #expect(isSame, "round \(round): \(files.count) files of \(files.map(\.count)) bytes")
        }
    }
}
