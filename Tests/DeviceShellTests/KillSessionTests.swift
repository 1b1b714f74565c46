import Linux
import TestKit
import Testing
import Vocabulary

/// An app's session while the app, the daemon and the network process are killed at random moments:
/// the app gets all of its files, each of one version, and nothing is left.
struct KillSessionTests {
    private let server: FaultServer
    private let sample: SampleApp
    private static let files = 3

    init() throws {
        server = try FaultServer()
        sample = try SampleApp(
            "PastAttachments",
            "",
            settings: "pause-after-start=0\npause-after-boot=0\nsettle-time=0\n",
            environment: "SERVER=\(server.url(""));ATTACHMENTS_DELAY=0;",
            options: ["--virtual-clock"]
        )
        try setConditions()
    }

    /// As a discretionary transfer wants them.
    private func setConditions() throws {
        try sample.bench.set("network", "on")
        try sample.bench.set("metered", "off")
        try sample.bench.set("power", "on")
        try sample.bench.set("idle", "on")
    }

    private func file(_ name: String) -> String {
        sample.bench.home(".local/share/attachments/\(name)")
    }

    @Test func `whatever is killed, an app gets each of its files, of one version`() throws {
        var random = SeededRandom(seed: FreshSeeds.first)
        for round in 0..<max(2, KillRounds.count / 10) {
            var versions: [[VersionedObject]] = []
            for index in 0..<Self.files {
                let object = Self.object(UInt64(round * 100 + index), &random)
                versions.append([object])
                var behaviour = FaultServer.Behaviour(object)
                behaviour.holdsAfter = 65_536 * Int64(random.below(3))
                server.set("/attachments/\(index).bin", behaviour)
            }
            try? Files.remove(file("enqueued"))
            let held = server.heldCount
            try sample.open(saying: "enqueued \(Self.files)", times: round + 1)
            try Wait.until("round \(round) is held") { server.heldCount >= held + Self.files }
            for _ in 0...random.below(2) {
                if random.chance(1, in: 2) {
                    let index = random.below(Self.files)
                    let object = Self.object(
                        UInt64(round * 100 + 50 + versions.joined().count),
                        &random
                    )
                    versions[index].append(object)
                    server.change("/attachments/\(index).bin") { $0.object = object }
                }
                try kill(&random)
            }
            for index in 0..<Self.files {
                server.change("/attachments/\(index).bin") { $0.holdsAfter = nil }
            }
            server.release()
            if random.chance(1, in: 2) { try kill(&random) }
            if random.chance(1, in: 3) {
                try sample.bench.ask("Open", .string(sample.name), [:])
            }
            try finish(round)
            for index in 0..<Self.files {
                let bytes = try Files.read(file("\(index).bin"), limit: 1 << 24)
                let isOne = versions[index].contains { $0.all == bytes }
                #expect(isOne, "round \(round): \(bytes.count) bytes, none of \(versions[index])")
                try Files.remove(file("\(index).bin"))
            }
        }
        let kept = sample.bench.daemon.scratch("state/transfers/pastattachments")
        #expect(try Files.list(kept) == [])
    }

    /// It has taken the file and dies, with its daemon, before that is known: told again, it would
    /// make room for a file that is no longer there.
    @Test func `an app that has taken its file is told of the end only`() throws {
        var objects: [VersionedObject] = []
        for index in 0..<Self.files {
            objects.append(VersionedObject(version: UInt64(index), size: 100_000))
            server.set("/attachments/\(index).bin", .init(objects[index]))
        }
        server.change("/attachments/0.bin") { $0.holdsAfter = 65_536 }
        try sample.open(saying: "enqueued \(Self.files)")
        try sample.bench.wait(until: "two are delivered") {
            try sample.bench.ask("Transfers").listValue?.count == 1
        }
        let app = try PidFD(of: sample.process())
        try app.send(Signal.stop)
        server.release()
        try sample.bench.wait(until: "it has ended") {
            try sample.bench.ask("Transfers")[0]?["ended"] != nil
        }
        try sample.bench.daemon.send(Signal.stop)
        try app.send(Signal.proceed)
        try sample.wait(for: "saved 0.bin 100000")
        try app.send(Signal.kill)
        try sample.bench.kill()
        try sample.bench.daemon.start()
        try setConditions()
        try finish(0)
        #expect(!sample.lines.contains { $0.hasPrefix("could not") }, "\(sample.lines)")
        for (index, object) in objects.enumerated() {
            let isSame = try Files.read(file("\(index).bin"), limit: 1 << 24) == object.all
            #expect(isSame)
        }
    }

    private static func object(_ version: UInt64, _ random: inout SeededRandom) -> VersionedObject {
        VersionedObject(version: version, size: 200_000 + Int64(random.below(400_000)))
    }

    private func kill(_ random: inout SeededRandom) throws {
        let daemon = sample.bench.daemon
        switch random.below(4) {
        case 0:
            if let process = try? sample.process() { try PidFD(of: process).send(Signal.kill) }
        case 1: if try daemon.networkProcess() != nil { try daemon.killNetworkProcess() }
        case 2: try restart()
        default:
            let process = try? sample.process()
            let network = try daemon.networkProcess()
            try sample.bench.kill()
            for process in [process, network].compactMap({ $0 }) {
                try? PidFD(of: process).send(Signal.kill)
            }
            try restart()
        }
    }

    private func restart() throws {
        try sample.bench.kill()
        server.release()
        try sample.bench.daemon.start()
        try setConditions()
    }

    /// By a launch for its events, unless it runs.
    private func finish(_ round: Int) throws {
        if (try? sample.process()) != nil { try sample.leave() }
        try Wait.until("round \(round) is over\n\(sample.bench.report)") {
            // Also what was asked for before.
            server.release()
            return try sample.bench.ask("Transfers").listValue?.isEmpty == true
        } step: {
            // The limit of launches, and each wait for another attempt, pass.
            try sample.bench.ask("Advance", .double(600), ["patience": 3600])
        }
    }
}
