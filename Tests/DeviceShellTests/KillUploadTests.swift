import Linux
import TestKit
import Testing
import Vocabulary

/// Uploads while the daemon, or its network process, is killed at random moments and connections
/// break: the server ends with exactly the bytes of the file. By PUT it may be given them twice, if
/// its first answer is lost with the process: one takes the place of the other. By POST it is given
/// them once at the most: where nobody can tell, the upload fails.
struct KillUploadTests {
    private let server: FaultServer
    private let daemon: ScratchDaemon
    private static let size: Int64 = 3 << 20

    init() throws {
        server = try FaultServer()
        daemon = try ScratchDaemon(settings: "pause-after-start=0\n")
        try daemon.start()
    }

    /// One file on its way.
    private struct Round {
        let method: String
        let path: String
        let object: VersionedObject
        var id = ""
        /// Bodies that the server had held before it waits for the next one.
        var held = 0
    }

    @Test func `whatever is killed, the server has the file and nothing else`() throws {
        var random = SeededRandom(seed: FreshSeeds.first)
        for number in 0..<KillRounds.count(usual: 10) {
            let round = try send("PUT", number, &random)
            let (end, count) = try finish(round)
            #expect(count > 0, "\(round.path): \(end ?? .null)")
        }
    }

    @Test func `whatever is killed, a POST makes one file, or none and says so`() throws {
        var random = SeededRandom(seed: FreshSeeds.first)
        var arrived = 0
        for number in 0..<KillRounds.count(usual: 5) {
            let round = try send("POST", number, &random)
            let (end, count) = try finish(round)
            arrived += count
            let isRight = end?["failure"] == nil ? count == 1 : count <= 1
            #expect(isRight, "\(round.path): \(count) files, \(end ?? .null)")
        }
        #expect(arrived > 0, "each of them failed")
    }

    /// It is on its way, and some of what sends it was killed.
    private func send(
        _ method: String,
        _ number: Int,
        _ random: inout SeededRandom
    ) throws -> Round {
        let object = VersionedObject(version: UInt64(number), size: Self.size)
        var round = Round(method: method, path: "/up\(number)", object: object)
        try begin(&round, &random)
        for _ in 0...random.below(3) {
            try waitUntilHeld(&round)
            try kill(round, &random)
        }
        try waitUntilHeld(&round)
        return round
    }

    private func begin(_ round: inout Round, _ random: inout SeededRandom) throws {
        let name = daemon.scratch("home" + round.path)
        try FileDescriptor(opening: name, [.writing, .create]).writeAll(round.object.all.span)
        var behaviour = FaultServer.Upload(interop: 8)
        behaviour.dropsAfter = 65_536 * Int64(1 + random.below(16))
        server.takeUploads(round.path, behaviour)
        let requests = server.requests.count
        round.held = server.heldCount
        let target = server.url(round.path)
        let outcome = try daemon.offstage("upload", "--method", round.method, target, name)
        guard outcome.succeeded else { throw DidNotHappen(description: outcome.errors) }
        try server.waitForRequests(requests + 1)
        server.changeUpload(round.path) {
            $0.dropsAfter = nil
            $0.holdsAfter = 65_536 * Int64(random.below(4))
        }
        round.id = String(outcome.output.dropFirst("transfer ".count).prefix { $0 != ":" })
    }

    private func kill(_ round: Round, _ random: inout SeededRandom) throws {
        if random.chance(1, in: 2) {
            try daemon.kill()
            server.cutUploads()
            server.release()
            try daemon.start()
        } else {
            // What was held may have been sent by one that was killed since.
            try daemon.hurry(round.id, until: "\(round.path) is on its way") {
                if try daemon.networkProcess() != nil { return true }
                return try isDone(round)
            }
            if try daemon.networkProcess() != nil { try daemon.killNetworkProcess() }
            server.cutUploads()
            server.release()
        }
    }

    /// Or there is nothing more to be held.
    private func waitUntilHeld(_ round: inout Round) throws {
        let held = round.held
        try daemon.hurry(round.id, until: "\(round.path) is held") {
            if server.heldCount > held { return true }
            return try isDone(round)
        }
        round.held = server.heldCount
    }

    /// How it ended, and how often the server has the file.
    private func finish(_ round: Round) throws -> (end: Value?, count: Int) {
        server.changeUpload(round.path) { $0.holdsAfter = nil }
        var end: Value?
        try daemon.hurry(round.id, until: "\(round.path) is over") {
            server.release()
            end = try self.end(of: round)
            return end != nil
        }
        let files = server.files(round.path)
        let isSame = files.allSatisfy { $0 == round.object.all }
        #expect(isSame, "\(round.path): \(files.count) files of \(files.map(\.count)) bytes")
        // A thousand of them would fill the memory and the disk.
        server.forgetUploads()
        try Files.remove(daemon.scratch("home" + round.path))
        return (end, files.count)
    }

    /// The server has it, or, by POST, nobody tries any more to bring it there.
    private func isDone(_ round: Round) throws -> Bool {
        if !server.files(round.path).isEmpty { return true }
        guard round.method == "POST" else { return false }
        return try end(of: round) != nil
    }

    /// Of an upload that has ended; nil: it has not.
    private func end(of round: Round) throws -> Value? {
        let list = try ValueJSON.parse(daemon.offstage("transfers", "--json").output).listValue
        return list?.first { $0["id"]?.integerValue == Int64(round.id) && $0["ended"] != nil }
    }
}
