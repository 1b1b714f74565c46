package import Vocabulary

/// What a policy brought one person.
package struct Tally: Sendable {
    package let data: String
    package let user: String
    var opens = 0
    var fresh = 0
    var ages: [Double] = []
    var refreshes = 0
    var wasted = 0
    var appDays = 0
    var days = 0
    var wakes = 0
    var wakesFromSleep = 0

    package init(_ refreshes: Refreshes, of record: UsageRecord) {
        (data, user) = (record.data, record.user)
        days = record.scoredDays
        var seconds: [Int64] = []
        for (index, app) in record.eligible.enumerated() {
            // On other days the logger was off.
            let times = refreshes.times[index].filter {
                record.isValid[min(record.days - 1, Int($0 / UsageRecord.day))]
            }
            add(times, record.apps[app], from: record.split)
            appDays += days
            seconds += times.map { Int64($0.rounded(.toNearestOrEven)) }
        }
        seconds.sort()
        for (index, second) in seconds.enumerated() where index == 0 || seconds[index - 1] < second
        {
            wakes += 1
            if !record.isInUse(at: Double(second)) { wakesFromSleep += 1 }
        }
    }

    private mutating func add(
        _ times: [Double],
        _ sessions: UsageRecord.Sessions,
        from split: Double
    ) {
        for (open, since) in sessions.counted(from: split) {
            let done = times.count(upTo: open - UsageRecord.refreshTime)
            let last = done > 0 ? max(times[done - 1], since) : since
            opens += 1
            if open - last <= UsageRecord.freshness { fresh += 1 }
            ages.append(open - last)
        }
        refreshes += times.count
        for time in times {
            let begun = sessions.starts.count(upTo: time)
            let next = begun < sessions.starts.count ? sessions.starts[begun] : .infinity
            // Nobody opened the app in the two hours after.
            if next - time > 7200 { wasted += 1 }
        }
    }
}

/// One policy with one budget, over the people of one data set or of all.
package struct EvaluationRow: Hashable, Sendable, Codable {
    package var policy: String
    package var scope: RefreshBudgetScope
    package var budget: Int
    /// Of the setting `wake-price`; nil: the policy has none.
    package var wakePrice: Int64?
    /// The name of a data set, or `all`.
    package var data: String
    package var users: Int
    /// Fresh opens of all people together, in percent.
    package var pooled: Double
    /// 95 % of the samples of people lie between these.
    package var pooledFrom: Double
    package var pooledTo: Double
    /// The mean of the people with at least 5 opens, in percent.
    package var userMean: Double
    package var medianAgeMinutes: Double
    package var spentPerAppDay: Double
    package var wastedPercent: Double
    package var wakesPerDay: Double
    package var wakesFromSleepPerDay: Double

    /// In place of the name of a data set.
    package static let all = "all"
    package var isOfAll: Bool { data == Self.all }

    package init(
        policy: String,
        scope: RefreshBudgetScope,
        budget: Int,
        wakePrice: Int64? = nil,
        data: String,
        _ tallies: [Tally]
    ) {
        (self.policy, self.scope, self.budget, self.data) = (policy, scope, budget, data)
        self.wakePrice = wakePrice
        users = tallies.count
        func sum(_ field: (Tally) -> Int) -> Double {
            Double(tallies.reduce(0) { $0 + field($1) })
        }
        func percent(_ part: Double, of whole: Double) -> Double { 100 * part / max(1, whole) }
        pooled = percent(sum(\.fresh), of: sum(\.opens))
        (pooledFrom, pooledTo) = Self.interval(tallies)
        let shares = tallies.filter { $0.opens >= 5 }.map {
            percent(Double($0.fresh), of: Double($0.opens))
        }
        userMean = shares.isEmpty ? pooled : shares.reduce(0, +) / Double(shares.count)
        let ages = tallies.flatMap(\.ages).sorted()
        medianAgeMinutes = ages.isEmpty ? 0 : ages.median / 60
        spentPerAppDay = sum(\.refreshes) / max(1, sum(\.appDays))
        wastedPercent = percent(sum(\.wasted), of: sum(\.refreshes))
        wakesPerDay = sum(\.wakes) / max(1, sum(\.days))
        wakesFromSleepPerDay = sum(\.wakesFromSleep) / max(1, sum(\.days))
    }

    /// Bootstrap over people: where 95 % of 1,000 samples lie.
    private static func interval(_ tallies: [Tally]) -> (Double, Double) {
        let people = tallies.filter { $0.opens > 0 }
        guard !people.isEmpty else { return (0, 0) }
        var random = SeededRandom(seed: 20_240_101)
        var shares: [Double] = []
        for _ in 0..<1000 {
            var (fresh, opens) = (0, 0)
            for _ in people.indices {
                let person = people[Int(random.below(UInt64(people.count)))]
                fresh += person.fresh
                opens += person.opens
            }
            shares.append(100 * Double(fresh) / Double(opens))
        }
        shares.sort()
        return (shares[25], shares[974])
    }
}

extension [Double] {
    /// Of values in order, at least one.
    fileprivate var median: Double {
        count % 2 == 1 ? self[count / 2] : (self[count / 2 - 1] + self[count / 2]) / 2
    }
}
