import DeviceCore
import Simulator

/// Many seeds in a row, and what they covered together.
struct Campaign {
    private(set) var seeds: Int64 = 0
    private(set) var days: Int64 = 0
    private(set) var events: Int64 = 0
    private(set) var killsSurvived: Int64 = 0
    /// The reports of the seeds that broke a rule.
    private(set) var failures: [SimulationReport] = []
    private var faults: [Int64] = Array(repeating: 0, count: Fault.allCases.count)
    private var seen: [SeenPair] = []
    private var killed: [EffectPair] = []

    private struct SeenPair {
        var pair: EffectPair
        /// Where it was first seen.
        var seed: Int64
        var days: Int64
        var apps: Int64
        /// The kills without which it may not come to it.
        var targets: [EffectPair]
    }

    mutating func add(_ report: SimulationReport, targets: [EffectPair] = []) {
        seeds += 1
        days += report.days
        events += report.events
        killsSurvived += report.killsSurvived
        if report.failure != nil { failures.append(report) }
        for (index, fault) in report.faults.enumerated() { faults[index] += fault.count }
        for pair in report.pairsSeen where !seen.contains(where: { $0.pair == pair }) {
            seen.append(
                SeenPair(
                    pair: pair,
                    seed: report.seed,
                    days: report.days,
                    apps: report.apps,
                    targets: targets
                )
            )
        }
        for pair in report.pairsKilled where !killed.contains(pair) { killed.append(pair) }
    }

    /// Kinds of faults that never happened.
    var missingFaults: [Fault] { zip(Fault.allCases, faults).filter { $1 == 0 }.map(\.0) }

    /// Effects that followed each other, and were never cut apart by a kill.
    var pairsNotKilled: [EffectPair] { seen.map(\.pair).filter { !killed.contains($0) } }

    var pairCount: Int { seen.count }

    var isGood: Bool {
        failures.isEmpty && missingFaults.isEmpty && pairsNotKilled.isEmpty
    }

    /// Runs again the seeds in which pairs were seen that chance did not cut, and kills there.
    mutating func cutTheRest() {
        // A kill makes another run, in which other pairs may be seen.
        for _ in 0..<8 { killOnce() }
    }

    private mutating func killOnce() {
        for pair in pairsNotKilled {
            guard let known = seen.first(where: { $0.pair == pair }) else { continue }
            var plan = DeviceSimulation.Plan(
                days: Int(known.days),
                apps: Int(known.apps),
                seed: UInt64(bitPattern: known.seed)
            )
            plan.targets = known.targets + [pair]
            add(DeviceSimulation.report(plan), targets: plan.targets)
        }
    }
}
