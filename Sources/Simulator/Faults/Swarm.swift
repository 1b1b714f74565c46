import Vocabulary

/// Which kinds of fault a seed has, and how often: some are left out of each seed, so that the
/// others are seen alone as well. Also what shrinking takes away.
package struct Swarm {
    private var weights: [Int]
    /// Ordinals of faults that do not happen, in rising order.
    package var suppressed: [Int] = []
    /// Faults that would have happened so far.
    package private(set) var drawn = 0
    package private(set) var counts: [Int]

    /// No faults at all.
    package init() {
        weights = Array(repeating: 0, count: Fault.allCases.count)
        counts = weights
    }

    package init(seed: UInt64) {
        self.init()
        var random = SeededRandom(seed: seed ^ 0x5357_4152_4D00)
        for index in weights.indices where random.chance(3, in: 5) {
            weights[index] = 1 + random.below(10)
        }
    }

    package func weight(_ fault: Fault) -> Int { weights[fault.index] }
    package mutating func set(_ fault: Fault, to weight: Int) { weights[fault.index] = weight }

    /// Whether a fault happens here; the draw moves `random` alike, whatever the answer.
    mutating func strikes(_ fault: Fault, in whole: Int, _ random: inout SeededRandom) -> Bool {
        let draw = random.below(whole * 10)
        guard draw < weights[fault.index], allows() else { return false }
        counts[fault.index] += 1
        return true
    }

    /// For a fault that was drawn elsewhere; false when shrinking has taken it away.
    mutating func allows() -> Bool {
        defer { drawn += 1 }
        return !suppressed.contains(drawn)
    }

    mutating func count(_ fault: Fault) { counts[fault.index] += 1 }
}
