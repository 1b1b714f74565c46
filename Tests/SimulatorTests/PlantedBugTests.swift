import DeviceCore
import Simulator
import Testing
import Vocabulary

/// Each rule is seen broken once.
struct PlantedBugTests {
    @Test(
        "a planted bug is noticed",
        arguments: PlantedBug.all
    )
    func plantedBugIsNoticed(bug: PlantedBug) {
        for seed in bug.seed..<bug.seed + 64 where breaks(bug, seed: seed) { return }
        Issue.record("no seed shows it: \(bug)")
    }

    @Test("a fault shows the bug that it is there for", arguments: PlantedBug.faults)
    func faultShowsItsBug(fault: Fault, bug: PlantedBug) {
        for seed in 1...UInt64(4) {
            #expect(!breaks(bug, seed: seed, only: []), "without it: seed \(seed)")
        }
        for seed in 1...UInt64(32) where breaks(bug, seed: seed, only: [fault]) { return }
        Issue.record("no seed shows it: \(bug)")
    }

    @Test("every rule has a bug that breaks it")
    func everyRuleHasABug() {
        let rules = PlantedBug.all.map(\.rule)
        let all = Invariants.all().map(\.name) + ["decisions are equal for equal logs"]
        #expect(all.filter { !rules.contains($0) } == [])
    }

    /// Only the rule in question looks on: others may notice sooner. `only`: no other faults than
    /// these happen, and nobody kills the daemon.
    private func breaks(_ bug: PlantedBug, seed: UInt64, only faults: [Fault]? = nil) -> Bool {
        var plan = DeviceSimulation.Plan(days: Int(bug.days), apps: 16, seed: seed)
        if let faults { plan.calm = Fault.allCases.filter { !faults.contains($0) } }
        var simulated = DeviceSimulation.make(
            plan,
            invariants: Invariants.all().filter { $0.name == bug.rule },
            corrupt: bug.event
        ) { port in
            Saboteur(
                inner: port,
                effect: bug.effect,
                changes: bug.changes,
                decisions: bug.decisions
            )
        }
        simulated.world.clientBug = bug.client
        simulated.world.answerBug = bug.answer
        simulated.world.explanationBug = bug.explanation
        simulated.world.isTalkative = bug.answer != nil
        if let faults {
            simulated.world.killInjector.isArmed = false
            // Whenever they can.
            for fault in faults { simulated.world.swarm.set(fault, to: 1_000) }
        }
        let isReplay = bug.rule == "decisions are equal for equal logs"
        simulated.replaysEvery = isReplay ? 1 : 0
        simulated.run(until: .days(bug.days))
        if simulated.watch.violation == nil { simulated.replayLife() }
        guard let violation = simulated.watch.violation else { return false }
        #expect(violation.invariant == bug.rule, "\(violation.text)")
        return bug.notices.isEmpty || violation.text.contains(bug.notices)
    }
}
