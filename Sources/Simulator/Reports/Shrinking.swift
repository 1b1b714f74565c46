import DeviceCore
import Vocabulary

/// Makes a failing run small: leaves out apps, kinds of faults and single faults as long as the
/// same rule is still broken.
struct Shrinking {
    private(set) var plan: DeviceSimulation.Plan
    private let invariant: String
    private var runsLeft: Int
    private(set) var smallest: DeviceSimulation.Plain

    private let rules: () -> [any Invariant]

    init(
        _ failed: DeviceSimulation.Plain,
        _ plan: DeviceSimulation.Plan,
        runs: Int,
        rules: @escaping () -> [any Invariant]
    ) {
        self.rules = rules
        self.plan = plan
        smallest = failed
        runsLeft = runs
        invariant = failed.watch.violation?.invariant ?? ""
    }

    mutating func shrink() {
        plan.days = shortened
        leaveOut(Array(0..<plan.apps)) { $0.without += $1 }
        let kinds = Fault.allCases.filter { smallest.world.swarm.counts[$0.index] > 0 }
        leaveOut(kinds) { $0.calm += $1 }
        leaveOut(Array(0..<smallest.world.swarm.drawn)) { $0.suppressed += $1 }
    }

    private var shortened: Int {
        let days = smallest.world.clock.elapsed.wholeSeconds / 86_400
        return min(plan.days, Int(days) + 1)
    }

    /// Delta debugging: larger pieces first, each piece once per size.
    private mutating func leaveOut<Part>(
        _ parts: [Part],
        _ remove: (inout DeviceSimulation.Plan, [Part]) -> Void
    ) {
        var left = parts
        var size = max(1, left.count / 2)
        while !left.isEmpty, runsLeft > 0 {
            var index = 0
            while index < left.count, runsLeft > 0 {
                let piece = Array(left[index..<min(index + size, left.count)])
                var smaller = plan
                remove(&smaller, piece)
                if stillFails(smaller) {
                    left.removeSubrange(index..<index + piece.count)
                } else {
                    index += piece.count
                }
            }
            if size == 1 { return }
            size /= 2
        }
    }

    private mutating func stillFails(_ candidate: DeviceSimulation.Plan) -> Bool {
        runsLeft -= 1
        let run = DeviceSimulation.run(candidate, rules: rules)
        guard run.watch.violation?.invariant == invariant else { return false }
        plan = candidate
        smallest = run
        plan.days = shortened
        return true
    }
}
