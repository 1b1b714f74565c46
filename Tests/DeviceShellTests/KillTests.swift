import Linux
import TestKit
import Testing
import Vocabulary

/// Kill -9 of the daemon at random moments under load: what was acknowledged is done, once;
/// judged by what the commands wrote. `OFFSTAGE_ROUNDS` asks for more rounds, `OFFSTAGE_SEED` for
/// the same moments again.
struct KillTests {
    static let rounds = CurrentProcess.environment("OFFSTAGE_ROUNDS").flatMap { Int($0) } ?? 20
    static let seed =
        CurrentProcess.environment("OFFSTAGE_SEED").flatMap { UInt64($0) }
        ?? UInt64.random(in: 0...999_999)

    /// A client that asks again, with the same token, for what it got no answer to.
    private struct Client {
        private let bench: DaemonBench
        private(set) var acknowledged: [String] = []
        private var unanswered: [(token: String, kind: String)] = []
        private var random: SeededRandom

        init(_ bench: DaemonBench, seed: UInt64) {
            (self.bench, random) = (bench, SeededRandom(seed: seed))
        }

        mutating func number(below limit: Int) -> Int { random.below(limit) }

        private func send(_ token: String, _ kind: String) throws {
            // Some are over at once, some live through the next kill.
            let rest = token.hasSuffix("7") ? "sleep 0.3" : ":"
            try bench.submit(
                "echo \(token) >> tokens; \(rest)",
                id: token,
                kind: kind,
                ["token": .string(token)]
            )
        }

        /// False: the daemon went away.
        mutating func submit() -> Bool {
            let serial = acknowledged.count + unanswered.count
            let next = ("t\(serial)", number(below: 4) == 0 ? "processing" : "refresh")
            unanswered.append(next)
            return confirm()
        }

        /// Asks for all that was not answered yet.
        mutating func confirm() -> Bool {
            while let first = unanswered.first {
                do {
                    try send(first.token, first.kind)
                } catch {
                    return false
                }
                acknowledged.append(first.token)
                unanswered.removeFirst()
            }
            return true
        }
    }

    @Test
    func `nothing acknowledged is lost and nothing runs twice, whenever the daemon is killed`()
        throws
    {
        print("kill rounds: OFFSTAGE_ROUNDS=\(Self.rounds) OFFSTAGE_SEED=\(Self.seed)")
        let bench = try DaemonBench("run-slots = 8\nhistory-lines = 100000\n", starting: false)
        for name in ["one", "two"] {
            try bench.refresh(name, "echo run >> \(name)-runs", "RefreshInterval=1s")
        }
        var client = Client(bench, seed: Self.seed)
        for round in 0..<Self.rounds {
            // Every fourth dies while it starts.
            if round % 4 == 3 {
                _ = try bench.daemon.start(killedAfter: Int32(client.number(below: 120)))
            } else {
                try bench.daemon.start()
            }
            guard let identity = bench.daemon.identity, identity.isAlive else { continue }
            let fuse = Double(client.number(below: 500)) / 1000
            let killer = try Command("sh", "-c", "sleep \(fuse); kill -9 \(identity.pid)").start()
            while client.submit() {}
            try Wait.until(readable: killer.descriptor.number, "the kill")
            _ = try killer.wait(block: true)
            try bench.kill()
        }
        try bench.daemon.start()
        let allAnswered = client.confirm()
        #expect(allAnswered)
        try bench.wait(until: "everything has run") {
            try bench.ask("Tasks", "").listValue?
                .allSatisfy { $0["origin"] != "submitted" } == true
        }
        try check(bench, client.acknowledged)
    }

    private func check(_ bench: DaemonBench, _ tokens: [String]) throws {
        var counts: [String: Int] = [:]
        for line in bench.lines("tokens") { counts[line, default: 0] += 1 }
        #expect(tokens.count > Self.rounds, "there was load")
        #expect(tokens.filter { counts[$0] == nil } == [], "lost")
        #expect(counts.filter { $0.value > 1 } == [:], "run twice")
        var runs: [String: Int] = [:]
        for line in try bench.allHistory() where line["what"] == "run" {
            runs[line["task"]?.stringValue ?? "", default: 0] += 1
        }
        let wrong = tokens.filter { runs[$0] != 1 }
        #expect(wrong == [], "each run leaves one line: \(wrong.map { runs[$0] ?? 0 })")
        for name in ["one", "two"] { #expect(bench.lines("\(name)-runs").count > 1) }
    }

    @Test(arguments: [0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128])
    func `a daemon killed while it starts leaves nothing behind that stops the next`(
        milliseconds: Int32
    ) throws {
        let bench = try DaemonBench(starting: false)
        try bench.refresh("reader", "echo run >> runs", "RefreshInterval=1h")
        for _ in 0..<3 {
            _ = try bench.daemon.start(killedAfter: milliseconds)
            try bench.kill()
        }
        try bench.daemon.start()
        #expect(try bench.answers())
        try bench.wait(for: "runs")
        _ = try bench.nextRun("reader")
        #expect(bench.read("runs") == "run\n")
    }
}
