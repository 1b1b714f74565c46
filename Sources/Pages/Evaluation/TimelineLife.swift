import DeviceCore
import Simulator
internal import Vocabulary

/// A person's scored days with one budget, in figures and as they are told.
struct TimelineLife {
    let record: UsageRecord
    let budget: Int
    let scope: RefreshBudgetScope
    /// Those on which anything happened, up to the end of the log.
    let days: [Int]
    /// Seconds since the first midnight; nothing is known of what comes after.
    let end: Double
    /// Those that began together, in order.
    let moments: [Moment]
    /// The opens that count, in order.
    let opens: [Open]
    /// By rank among the eligible apps: the ones opened most come first.
    let lanes: [Int]
    let inUse: [(start: Double, end: Double)]
    /// The same for all days.
    let scale: DayScale

    struct Moment {
        var time: Double
        var wakes: Bool
        var refreshes: [Refresh]
    }

    struct Refresh {
        var moment: RefreshMoment
        var name: String
        /// When the app is opened next; nil: never in this log.
        var next: Double?

        /// How many seconds later.
        var wait: Double? { next.map { $0 - moment.time } }
    }

    struct Open {
        var app: Int
        var time: Double
        var isFresh: Bool
    }

    init(_ record: UsageRecord, _ all: [RefreshMoment], budget: Int, scope: RefreshBudgetScope) {
        (self.record, self.budget, self.scope) = (record, budget, scope)
        let inUse = record.inUse
        let end = inUse.last?.end ?? Double(record.days) * 86_400
        (self.inUse, self.end) = (inUse, end)
        let days = (record.splitDay..<record.days).filter { record.isValid[$0] }
        self.days = days
        scale = DayScale(folding: Self.night(inUse, days))
        let kept = all.filter {
            $0.time <= end && record.isValid[min(record.days - 1, Int($0.time / 86_400))]
        }
        let starts = record.eligible.map { record.apps[$0].starts }
        var moments: [Moment] = []
        // Of one moment by what was left: in the order in which they were decided.
        let order = kept.sorted {
            ($0.time, -($0.decision?.left ?? 0), $0.app) < (
                $1.time, -($1.decision?.left ?? 0), $1.app
            )
        }
        for refresh in order {
            let told = Refresh(
                moment: refresh,
                name: record.apps[record.eligible[refresh.app]].name,
                next: starts[refresh.app].first { $0 > refresh.time }
            )
            let second = refresh.time.rounded(.toNearestOrEven)
            if let last = moments.last, last.time == second {
                moments[moments.count - 1].refreshes.append(told)
            } else {
                let wakes = !record.isInUse(at: second)
                moments.append(Moment(time: second, wakes: wakes, refreshes: [told]))
            }
        }
        self.moments = moments
        let split = Double(record.splitDay) * 86_400
        opens = record.eligible.indices.flatMap { index in
            let times = kept.filter { $0.app == index }.map(\.time)
            return record.apps[record.eligible[index]].counted(from: split).map { open, _ in
                let isFresh = times.contains { $0 <= open - 10 && open - $0 <= 1800 }
                return Open(app: index, time: open, isFresh: isFresh)
            }
        }.sorted { $0.time < $1.time }
        lanes = record.eligible.indices.sorted {
            (starts[$1].count, $0) < (starts[$0].count, $1)
        }
    }

    /// The longest row of hours, around midnight too, in each of which the device was used on at
    /// most a tenth of the days; empty: there is none of three hours.
    static func night(_ inUse: [(start: Double, end: Double)], _ days: [Int]) -> [Int] {
        var counts = Array(repeating: 0, count: 24)
        for day in days {
            for hour in 0..<24 {
                let from = (Double(day) * 24 + Double(hour)) * 3600
                if inUse.contains(where: { $0.start < from + 3600 && $0.end > from }) {
                    counts[hour] += 1
                }
            }
        }
        let isQuiet = counts.map { $0 * 10 <= days.count }
        let rows = (0..<24).map { first in
            (0..<24).map { (first + $0) % 24 }.prefix { isQuiet[$0] }
        }
        guard let longest = rows.max(by: { $0.count < $1.count }), (3..<24).contains(longest.count)
        else { return [] }
        return longest.sorted()
    }

    var markup: String { days.map { TimelineDay(self, $0).markup }.joined() }

    /// One line about the person.
    var summary: String {
        let refreshes = moments.reduce(0) { $0 + $1.refreshes.count }
        let lost = moments.reduce(0) { count, moment in
            count + moment.refreshes.count { ($0.wait ?? .infinity) > 7200 }
        }
        // The last day as far as the log goes.
        let length = days.reduce(0.0) { $0 + min(1, max(0, end / 86_400 - Double($1))) }
        let perDay = { (count: Int) in (Double(count) / max(0.01, length)).tenths }
        let share = Double(lost) * 100 / Double(max(1, refreshes))
        return "\(Self.fresh(opens)), with \(perDay(refreshes)) refreshes and "
            + "\(perDay(moments.count(where: \.wakes))) wakes from sleep a day; after "
            + "\(share.tenths) % of the refreshes the app was not opened for two hours"
    }

    static func fresh(_ opens: [Open]) -> String {
        let fresh = opens.count(where: \.isFresh)
        let share = Double(fresh) * 100 / Double(max(1, opens.count))
        return "\(fresh) of \(opens.count) opens fresh (\(share.tenths) %)"
    }
}
