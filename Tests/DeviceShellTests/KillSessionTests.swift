import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// An app's session while the app, the daemon and the network process are killed at random moments,
/// and objects on the server change: each file comes, as exactly one version, and the app is told
/// of all of them, in the order in which they ended.
struct KillSessionTests {
    private let server: FaultServer
    private let app: SampleApp
    private let folder = ScratchDirectory()
    private static let files = 3

    init() throws {
        server = try FaultServer()
        try folder.write("notes", "")
        app = try SampleApp(
            "SessionPeer",
            "",
            environment: "DO=collect;COUNT=\(Self.files);FILE=\(folder.path);"
                + "SERVER=\(server.url(""));",
            options: ["--virtual-clock"]
        )
        try setConditions()
    }

    private func setConditions() throws {
        for (name, value) in [("network", "on"), ("metered", "off"), ("power", "on")] {
            try app.bench.set(name, value)
        }
    }

    /// One round, and what the server has had for it.
    private struct Round {
        let number: Int
        /// By file, all that it ever was.
        var versions: [[VersionedObject]] = []
        var kills = 0
        var name: String { "\(number)" }
        func path(_ index: Int) -> String { "/\(number)-\(index)" }
    }

    @Test func `whatever is killed, an app gets each of its files, of one version, and in order`()
        throws
    {
        var random = SeededRandom(seed: FreshSeeds.first)
        for number in 0..<KillRounds.count(usual: 5) {
            var round = Round(number: number)
            try begin(&round, &random)
            for _ in 0..<random.below(3) { try kill(&round, &random) }
            let order = (0..<Self.files).map { ($0, random.next()) }.sorted { $0.1 < $1.1 }.map(\.0)
            // Either it is launched or resumed when all have ended, or its user comes.
            let isWoken = random.chance(1, in: 2)
            if isWoken { try suspend() }
            let delivered = self.delivered
            for index in order {
                if !isWoken, random.chance(1, in: 3) { try kill(&round, &random) }
                try finish(round.path(index))
            }
            if isWoken {
                try Wait.until("round \(number) wakes it: \(notes)\n\(app.bench.report)") {
                    self.delivered > delivered
                } step: {
                    // Whatever keeps launches apart.
                    try app.bench.ask("Advance", .double(60), ["patience": 3600])
                }
            } else {
                if random.chance(1, in: 2) { try kill(&round, &random) }
                try app.bench.ask("Open", .string(app.name), [:])
            }
            try Wait.until("round \(number) is over: \(notes)\n\(app.bench.report)") {
                try transfers().isEmpty
            }
            try check(round, order)
        }
        let spool = app.bench.daemon.scratch("state/transfers/sessionpeer")
        #expect(try Files.list(spool) == [])
    }

    private var notes: [String] {
        ((try? folder.read("notes")) ?? "").split(separator: "\n").map(String.init)
    }

    private var delivered: Int { notes.count { $0 == "delivered" } }

    // MARK: A round

    /// The app has asked for its files, and the server holds the answers to all of them. Of some
    /// there are bytes to go on with: what a connection that breaks has left.
    private func begin(_ round: inout Round, _ random: inout SeededRandom) throws {
        for index in 0..<Self.files {
            round.versions.append([])
            var behaviour = FaultServer.Behaviour(next(&round, index, &random))
            if random.chance(1, in: 2) { behaviour.dropsAfter = 65_536 }
            behaviour.holdsAfter = behaviour.dropsAfter == nil ? 65_536 * below(3, &random) : nil
            server.set(round.path(index), behaviour)
        }
        try Files.replace(folder("round"), with: round.name)
        try suspend()
        let (held, asked) = (server.heldCount, server.requests.count)
        try app.bench.ask("Open", .string(app.name), [:])
        try server.waitForRequests(asked + Self.files)
        for index in 0..<Self.files {
            server.change(round.path(index)) {
                if $0.dropsAfter != nil { ($0.dropsAfter, $0.holdsAfter) = (nil, 65_536) }
            }
        }
        try hurry("round \(round.name) is held") { server.heldCount >= held + Self.files }
    }

    /// If it runs: its user may be there.
    private func suspend() throws {
        guard (try? app.process()) != nil else { return }
        _ = try? app.leave()
        try app.waitUntilSuspended()
    }

    private func below(_ limit: Int, _ random: inout SeededRandom) -> Int64 {
        Int64(random.below(limit))
    }

    /// Another version of a file.
    private func next(
        _ round: inout Round,
        _ index: Int,
        _ random: inout SeededRandom
    ) -> VersionedObject {
        let serial = (round.number * Self.files + index) * 100 + round.versions[index].count
        let object = VersionedObject(
            version: UInt64(serial),
            size: 600_000 + below(400_000, &random)
        )
        round.versions[index].append(object)
        return object
    }

    /// One of the three, if it runs, or all of them; and perhaps a file changes meanwhile.
    private func kill(_ round: inout Round, _ random: inout SeededRandom) throws {
        if random.chance(1, in: 2) {
            let index = random.below(Self.files)
            let object = next(&round, index, &random)
            server.change(round.path(index)) { $0.object = object }
        }
        let daemon = app.bench.daemon
        let (process, network) = (try? app.process(), try daemon.networkProcess())
        switch random.below(4) {
        case 0:
            guard let process else { return }
            try PidFD(of: process).send(Signal.kill)
            try app.bench.wait(until: "its end is known") {
                try app.bench.running(app.name)?["pid"] != .integer(Int64(process.pid))
            }
        case 1:
            guard network != nil else { return }
            try daemon.killNetworkProcess()
        case 2: try restart()
        default:
            try app.bench.kill()
            for process in [process, network].compactMap({ $0 }) {
                try? PidFD(of: process).send(Signal.kill)
                try Wait.untilGone(process)
            }
            try daemon.start()
            try setConditions()
        }
        round.kills += 1
    }

    private func restart() throws {
        try app.bench.kill()
        try app.bench.daemon.start()
        try setConditions()
    }

    /// The server sends the rest of it, and no other file's.
    private func finish(_ path: String) throws {
        server.change(path) { $0.holdsAfter = nil }
        try hurry("\(path) is there: \(notes)") {
            // Also what was asked for before that.
            server.release(path)
            return try !isOnItsWay(path)
        }
    }

    private func transfers() throws -> [Value] {
        try app.bench.ask("Transfers").listValue ?? []
    }

    private func isOnItsWay(_ path: String) throws -> Bool {
        try transfers().contains {
            $0["url"] == .string(server.url(path)) && $0["ended"] == nil
        }
    }

    /// Whoever waits to try again is told to do so at once: how long it waits is another test's.
    private func hurry(_ what: String, _ condition: () throws -> Bool) throws {
        try Wait.until("\(what)\n\(app.bench.report)", condition) {
            let ids = try transfers().filter { $0["state"] == "waiting" }.compactMap { $0["id"] }
            // Some may have ended since then.
            if !ids.isEmpty { _ = try? app.bench.ask("ChangeTransfers", "resume", .list(ids)) }
            try Wait.pause()
        }
    }

    // MARK: What has come of it

    private func check(_ round: Round, _ order: [Int]) throws {
        let notes = notes
        #expect(!notes.contains { $0.hasPrefix("failed") || $0.hasPrefix("could") }, "\(notes)")
        var first: [Int] = []
        for index in order {
            let name = String(round.path(index).dropFirst())
            let told = notes.filter { $0.hasPrefix("takes \(name) ") }
            // Again only after a kill, and then as the same one.
            #expect(Set(told).count == 1 && told.count <= 1 + round.kills, "\(told)")
            let ends = notes.filter { $0.hasPrefix("ended \(name) ") }
            #expect(Set(ends).count == 1 && ends.count <= 1 + round.kills, "\(ends)")
            if let place = notes.firstIndex(where: { $0.hasPrefix("takes \(name) ") }) {
                first.append(place)
            }
            let bytes = try Files.read(folder(name), limit: 1 << 24)
            let isOne = round.versions[index].contains { $0.all == bytes }
            #expect(isOne, "\(name): \(bytes.count) bytes, none of \(round.versions[index])")
            try Files.remove(folder(name))
        }
        #expect(first == first.sorted(), "told in another order than \(order): \(notes)")
    }
}
