import Vocabulary

/// The histogram policy: how often an app was opened at this time of day, exponentially forgotten,
/// and the rank rule. It refreshes now if the expected number of better half-hours later today, by
/// the last 14 days, is below what is left of the budget.
package struct HistogramScores: Sendable {
    private let record: UsageRecord
    /// By eligible app, day and 5-minute bin; negative: not to be refreshed then.
    private var scores: [[Float]] = []
    /// By eligible app, day and half-hour: the highest; negative: none.
    private var highest: [[Float]] = []

    private static let slots = 48
    private static let binsPerSlot = 6
    private static let memory = 14

    package init(_ record: UsageRecord) {
        self.record = record
        for app in record.eligible {
            let scores = Self.scores(of: record.apps[app], record)
            self.scores.append(scores)
            highest.append(Self.highest(scores, record))
        }
    }

    // MARK: Scores

    private static func scores(of app: UsageRecord.Sessions, _ record: UsageRecord) -> [Float] {
        let bins = UsageRecord.binsPerDay
        let opens = opensAhead(app.starts, record)
        let (every, kind) = forgetting(opens, record)
        var scores: [Float] = []
        scores.reserveCapacity(record.days * bins)
        for day in 0..<record.days {
            for bin in 0..<bins {
                let time = Double(day) * UsageRecord.day + Double(bin) * UsageRecord.bin
                guard record.isValid[day], isStale(app, at: time) else {
                    scores.append(-1)
                    continue
                }
                scores.append(0.5 * every[day * bins + bin] + 0.5 * kind[day * bins + bin])
            }
        }
        return scores
    }

    private static func isStale(_ app: UsageRecord.Sessions, at time: Double) -> Bool {
        guard let session = app.session(at: time) else { return true }
        return time - app.ends[session] >= UsageRecord.freshness
    }

    /// By bin: 1 if the app is opened in the half-hour from it.
    private static func opensAhead(_ starts: [Double], _ record: UsageRecord) -> [Float] {
        let bins = record.days * UsageRecord.binsPerDay
        var opens = Array(repeating: Float(0), count: bins)
        for start in starts {
            let bin = min(Int(start / UsageRecord.bin), bins - 1)
            for index in max(0, bin - binsPerSlot + 1)...bin { opens[index] = 1 }
        }
        return opens
    }

    /// The share of earlier days, of all and of the same kind (week or weekend), as it was known
    /// on each day.
    private static func forgetting(
        _ opens: [Float],
        _ record: UsageRecord
    ) -> (every: [Float], kind: [Float]) {
        let bins = UsageRecord.binsPerDay
        // Half-lives of 7 and 10 days.
        var all = Decayed(bins: bins, keeping: 0.905_723_664_263_906_6)
        var kinds = [
            Decayed(bins: bins, keeping: 0.933_032_991_536_807_4),
            Decayed(bins: bins, keeping: 0.933_032_991_536_807_4),
        ]
        var (every, kind): ([Float], [Float]) = ([], [])
        for day in 0..<record.days {
            let isWeekend = (record.firstWeekday + day) % 7 >= 5 ? 1 : 0
            let mean = all.weight > 0 ? max(0.002, min(1, all.mean)) : 0.02
            for bin in 0..<bins {
                let share = all.share(bin, prior: mean, worth: 1)
                every.append(share)
                kind.append(kinds[isWeekend].share(bin, prior: share, worth: 2))
            }
            guard record.isValid[day] else { continue }
            let today = opens[day * bins..<(day + 1) * bins]
            all.add(today)
            kinds[isWeekend].add(today)
        }
        return (every, kind)
    }

    /// A sum of days that is forgotten.
    private struct Decayed {
        private var sums: [Float]
        private(set) var weight: Float = 0
        private let keeping: Float

        init(bins: Int, keeping: Float) {
            sums = Array(repeating: 0, count: bins)
            self.keeping = keeping
        }

        mutating func add(_ day: ArraySlice<Float>) {
            for (bin, value) in day.enumerated() { sums[bin] = sums[bin] * keeping + value }
            weight = weight * keeping + 1
        }

        var mean: Float { sums.reduce(0, +) / Float(sums.count) / max(weight, 1e-6) }

        func share(_ bin: Int, prior: Float, worth: Float) -> Float {
            (sums[bin] + worth * prior) / (weight + worth)
        }
    }

    // MARK: The rank rule

    private static func highest(_ scores: [Float], _ record: UsageRecord) -> [Float] {
        (0..<record.days * slots).map { slot in
            scores[slot * binsPerSlot..<(slot + 1) * binsPerSlot].max() ?? -1
        }
    }

    func refreshes(budget: Int, scope: RefreshBudgetScope) -> Refreshes {
        switch scope {
        case .device:
            return spent(by: Array(scores.indices), budget: budget * scores.count)
        case .app:
            var refreshes = Refreshes(of: record)
            for app in scores.indices {
                refreshes.times[app] = spent(by: [app], budget: budget).times[app]
            }
            return refreshes
        }
    }

    /// One budget a day for these apps; the best one first.
    private func spent(by apps: [Int], budget: Int) -> Refreshes {
        var refreshes = Refreshes(of: record)
        let bins = UsageRecord.binsPerDay
        for day in record.splitDay..<record.days where record.isValid[day] {
            let past = (0..<day).reversed().filter { record.isValid[$0] }.prefix(Self.memory)
            var left = budget
            var pool: [Float] = []
            for bin in 0..<bins where left > 0 {
                if bin % Self.binsPerSlot == 0 {
                    pool = later(than: bin / Self.binsPerSlot, apps, past)
                }
                let time = Double(day) * UsageRecord.day + Double(bin) * UsageRecord.bin
                var candidates = apps.filter { app in
                    scores[app][day * bins + bin] >= 0
                        && refreshes.times[app].last.map { time - $0 >= UsageRecord.freshness }
                            ?? true
                }
                while left > 0, !candidates.isEmpty {
                    // The one with the fewest better half-hours ahead.
                    let better = candidates.map { pool.countAbove(scores[$0][day * bins + bin]) }
                    guard let least = better.min(), let best = better.firstIndex(of: least),
                        Double(least) / Double(max(past.count, 1)) < Double(left)
                    else { break }
                    let app = candidates.remove(at: best)
                    refreshes.times[app].append(time)
                    left -= 1
                }
            }
        }
        return refreshes
    }

    /// The highest scores of the half-hours after `slot`, of the days before; in order.
    private func later(than slot: Int, _ apps: [Int], _ past: some Sequence<Int>) -> [Float] {
        var pool: [Float] = []
        for app in apps {
            for day in past {
                for later in slot + 1..<max(Self.slots, slot + 1) {
                    let score = highest[app][day * Self.slots + later]
                    if score >= 0 { pool.append(score) }
                }
            }
        }
        return pool.sorted()
    }
}

extension [Float] {
    /// How many, of values in order, are above `limit`.
    fileprivate func countAbove(_ limit: Float) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= limit { low = middle + 1 } else { high = middle }
        }
        return count - low
    }
}
