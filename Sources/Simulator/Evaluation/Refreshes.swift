package import Vocabulary

/// The refreshes that a policy gave one person's apps: for each eligible app its times, in order.
package struct Refreshes: Sendable {
    package var times: [[Double]]

    init(of record: UsageRecord) { times = Array(repeating: [], count: record.eligible.count) }
}

/// What Offstage is compared with.
package enum Baseline: String, CaseIterable, Hashable, Sendable {
    case fixed, waking, histogram, oracle

    package func refreshes(
        _ record: UsageRecord,
        budget: Int,
        scope: RefreshBudgetScope,
        _ scores: HistogramScores
    ) -> Refreshes {
        switch self {
        case .fixed:
            let every = UsageRecord.day / Double(budget)
            return planned(record, budget) { _ in (0..<budget).map { Double($0) * every } }
        case .waking:
            let windows = WakingWindow.ofScoredDays(record)
            return planned(record, budget) { windows[$0 - record.splitDay].times(budget) }
        case .histogram: return scores.refreshes(budget: budget, scope: scope)
        case .oracle: return oracle(record, budget, scope)
        }
    }

    /// At times that stand in the morning: not while the app is in use, nor less than 15 minutes
    /// after the one before.
    private func planned(
        _ record: UsageRecord,
        _ budget: Int,
        _ times: (_ day: Int) -> [Double]
    ) -> Refreshes {
        var refreshes = Refreshes(of: record)
        for day in record.splitDay..<record.days where record.isValid[day] {
            let times = times(day).map { Double(day) * UsageRecord.day + $0 }
            for (index, app) in record.eligible.enumerated() {
                let sessions = record.apps[app]
                var left = budget
                for time in times where left > 0 {
                    if let session = sessions.session(at: time), time < sessions.ends[session] {
                        continue
                    }
                    if let last = refreshes.times[index].last, time - last < 900 { continue }
                    refreshes.times[index].append(time)
                    left -= 1
                }
            }
        }
        return refreshes
    }

    /// Knows the future: just before each open that counts, as long as the day's budget lasts.
    private func oracle(_ record: UsageRecord, _ budget: Int, _ scope: RefreshBudgetScope)
        -> Refreshes
    {
        var opens: [(time: Double, app: Int)] = []
        for (app, eligible) in record.eligible.enumerated() {
            opens += record.apps[eligible].counted(from: record.split).map { ($0.open, app) }
        }
        opens.sort { ($0.time, $0.app) < ($1.time, $1.app) }
        var refreshes = Refreshes(of: record)
        let budget = scope == .device ? budget * record.eligible.count : budget
        var spent = Array(repeating: 0, count: record.eligible.count)
        var day = -1
        for open in opens {
            let today = Int(open.time / UsageRecord.day)
            if today != day {
                day = today
                for index in spent.indices { spent[index] = 0 }
            }
            let payer = scope == .device ? 0 : open.app
            guard spent[payer] < budget else { continue }
            spent[payer] += 1
            refreshes.times[open.app].append(open.time - UsageRecord.refreshTime)
        }
        return refreshes
    }
}

/// The hours in which a person was awake so far: the fewest in a row that hold 95 % of the use.
private struct WakingWindow {
    var hour = 0
    var length = 24

    func times(_ budget: Int) -> [Double] {
        (0..<budget).map { index in
            let hours = Double(length) * (Double(index) + 0.5) / Double(budget)
            return ((Double(hour) + hours) * 3600).truncatingRemainder(dividingBy: UsageRecord.day)
        }.sorted()
    }

    static func ofScoredDays(_ record: UsageRecord) -> [WakingWindow] {
        var counts = Array(repeating: Array(repeating: 0.0, count: 24), count: record.days)
        for start in record.activityStarts {
            let day = Int(start / UsageRecord.day)
            counts[day][Int((start - Double(day) * UsageRecord.day) / 3600)] += 1
        }
        var use = Array(repeating: 0.0, count: 24)
        var windows: [WakingWindow] = []
        for day in 0..<record.days {
            if day >= record.splitDay { windows.append(WakingWindow(use)) }
            for hour in 0..<24 { use[hour] = use[hour] * 0.95 + counts[day][hour] }
        }
        return windows
    }

    private init(_ use: [Double]) {
        let all = use.reduce(0, +)
        for length in 6...24 {
            let sums = (0..<24).map { hour in
                (0..<length).reduce(0.0) { $0 + use[(hour + $1) % 24] }
            }
            guard let most = sums.max(), most >= 0.95 * all else { continue }
            (hour, self.length) = (sums.firstIndex(of: most) ?? 0, length)
            return
        }
    }
}
