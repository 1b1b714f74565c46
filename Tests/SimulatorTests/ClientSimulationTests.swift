import Glibc
import Simulator
import TestKit
import Testing

/// The library's core against the daemon's: either may end, or the connection be lost, before and
/// after each message.
struct ClientSimulationTests {
    static let seeds =
        getenv("OFFSTAGE_CLIENT_SEEDS").flatMap { Int(String(cString: $0)) } ?? 0

    private static func plan(_ seed: UInt64) -> DeviceSimulation.Plan {
        var plan = DeviceSimulation.Plan(days: 1, apps: 8, seed: seed)
        plan.isOfClients = true
        return plan
    }

    @Test("no rule is broken between apps and the daemon", arguments: 1...UInt64(6))
    func seedHoldsAllRules(seed: UInt64) {
        let run = expectGood(Self.plan(seed))
        #expect(run.watch.figures.events > 100)
        #expect(run.world.killInjector.cutsMade.count > 3)
    }

    /// Other seeds with every commit; one that fails is worth a test of its own.
    @Test("no rule is broken in the commit's seeds of apps", arguments: FreshSeeds.seeds(2))
    func freshSeedHoldsAllRules(seed: UInt64) {
        expectGood(Self.plan(seed))
    }

    @Test("the cut is where it was asked for")
    func targetIsCut() throws {
        var plan = Self.plan(3)
        let run = DeviceSimulation.run(plan)
        let (seen, made) = (run.world.killInjector.cutsSeen, run.world.killInjector.cutsMade)
        // A message may be on its way while no daemon lives that could end.
        let missing = seen.filter { !made.contains($0) && $0.victim != .daemon }
        try #require(missing.count > 3)
        var reached = 0
        for cut in missing.suffix(4) {
            plan.messageTargets = [cut]
            let injector = DeviceSimulation.run(plan).world.killInjector
            // The first run may have made other cuts before, without which this one does not get
            // there.
            guard injector.cutsSeen.contains(cut) else { continue }
            reached += 1
            #expect(injector.cutsMade.contains(cut))
        }
        #expect(reached > 1)
    }

    /// `make soak`, in release.
    @Test(
        "every message is cut on its way by each end, and no rule is broken",
        .enabled(if: seeds > 0, "a campaign: make soak")
    )
    func campaignCutsEveryMessage() async {
        /// By the first seeds in which each was seen.
        var seen: [MessageCut: [UInt64]] = [:]
        var made: Set<MessageCut> = []
        var failed: [UInt64] = []
        await withTaskGroup(of: Outcome.self) { group in
            var next = 0
            func add() {
                next += 1
                let plan = Self.plan(UInt64(next))
                group.addTask { Outcome(DeviceSimulation.run(plan), plan.seed) }
            }
            for _ in 0..<min(Self.seeds, 4) { add() }
            for await outcome in group {
                for cut in outcome.seen where seen[cut, default: []].count < Self.mostTries {
                    seen[cut, default: []].append(outcome.seed)
                }
                made.formUnion(outcome.made)
                if let violation = outcome.violation {
                    failed.append(outcome.seed)
                    print("seed \(outcome.seed): \(violation.invariant): \(violation.text)")
                }
                fflush(nil)
                if next < Self.seeds { add() }
            }
        }
        // Else there are moments at which nobody ever tries to cut.
        let missing = MessageCut.all.filter { seen[$0] == nil }
        #expect(missing.map(\.description) == [])
        // What chance has not cut is cut where it was seen. The first run may have made other cuts
        // before that. This run does not make them, and may therefore not get there.
        for (cut, seeds) in seen {
            for seed in seeds where !made.contains(cut) {
                var plan = Self.plan(seed)
                plan.messageTargets = [cut]
                let outcome = Outcome(DeviceSimulation.run(plan), seed)
                made.formUnion(outcome.made)
                #expect(outcome.violation == nil, "\(cut) in seed \(seed)")
            }
        }
        // Making one small takes as long as many seeds.
        for seed in failed.prefix(3) { expectGood(Self.plan(seed)) }
        #expect(failed == [])
        #expect(seen.keys.filter { !made.contains($0) }.map(\.description).sorted() == [])
        print("\(Self.seeds) seeds of apps, \(made.count) of \(seen.count) cuts at messages")
    }

    /// Runs for one cut that chance has not made: some calls are rare.
    private static let mostTries = 64

    private struct Outcome: Sendable {
        let seed: UInt64
        let violation: Violation?
        let seen: [MessageCut]
        let made: [MessageCut]

        init(_ run: DeviceSimulation.Plain, _ seed: UInt64) {
            self.seed = seed
            violation = run.watch.violation
            seen = run.world.killInjector.cutsSeen
            made = run.world.killInjector.cutsMade
        }
    }

    @discardableResult
    private func expectGood(_ plan: DeviceSimulation.Plan) -> DeviceSimulation.Plain {
        let run = DeviceSimulation.run(plan)
        guard run.watch.violation != nil else { return run }
        let report = DeviceSimulation.shrunk(plan, runs: 60)
        guard let failure = report.failure else {
            Issue.record("seed \(plan.seed): not the same when it is run again")
            return run
        }
        let tail = failure.tail.suffix(20).joined(separator: "\n")
        Issue.record(
            """
            seed \(plan.seed), apps \(failure.apps), faults \(failure.faults): \
            \(failure.invariant): \(failure.text)
            \(FreshSeeds.again("SimulatorTests.ClientSimulationTests"))
            \(tail)
            """
        )
        return run
    }
}
