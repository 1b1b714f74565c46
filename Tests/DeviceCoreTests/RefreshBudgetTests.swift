import Testing
import Vocabulary

@testable import DeviceCore

/// What is spent on refreshes, by whom and when.
extension LearnedRefreshTests {
    @Test func `what is chosen and waits for a slot is as good as spent`() throws {
        let names = ["mail", "news", "c", "d"]
        let hourly = (Int64(8)..<22).flatMap { hour in
            names.indices.map { (name: names[$0], at: Interval.hours(hour) + .minutes(Int64($0))) }
        }
        var bench = Self.bench(days: 0, budget: 1) { $0.runSlots = 1 }
        for name in ["c", "d"] { bench.install(.refreshing(name, Self.habit(name))) }
        for _ in 0..<8 { Self.live(&bench, hourly) }
        bench.install(.processing("big"))
        try #require(bench.spawn(of: "big") != nil)
        var day = Day(midnight: bench.now.wall, failing: "", slow: "")
        day.pass(&bench, until: .hours(20) + .minutes(25))
        bench.spent(bench.device.refreshPolicy.budget.filled - 1)
        var most = 0
        for step: Int64 in 6..<18 {
            day.pass(&bench, until: .hours(20) + .minutes(5 * step))
            let chosen = names.count {
                bench.requests($0).contains { $0.isChosen(at: bench.now.wall) }
            }
            most = max(most, chosen)
        }
        #expect(most == 1)
    }

    /// A device of 12 days with an app of so many.
    private static func bench(withNewOf days: Int, budget: Int64) -> Bench {
        var bench = Self.bench(days: 12, budget: budget) { $0.sharedBudget = false }
        bench.install(.refreshing("new", habit("new")))
        let opens = [9, 11, 13, 15, 17, 19].map { ("new", Interval.hours($0)) }
        let habits = (apps + opens).sorted { $0.1 < $1.1 }
        for _ in 0..<days { live(&bench, habits) }
        return bench
    }

    @Test func `an app that is new on a device that is known is spread until it is known`() {
        for (days, words) in [(2, "spread"), (3, "most likely to open it")] {
            var bench = Self.bench(withNewOf: days, budget: 8)
            var day = Day(midnight: bench.now.wall, failing: "", slow: "")
            day.pass(&bench, until: .hours(13))
            let sentence = bench.sentence("new")
            #expect(sentence.contains(words), "\(sentence)")
        }
    }

    @Test func `an app with a budget of its own pays by the days that it is known`() throws {
        let bench = Self.bench(withNewOf: 4, budget: 2)
        let explanation = try #require(bench.device.explain(AppID("new"), at: bench.now).first)
        let forecast = try #require(explanation.forecast)
        #expect(forecast.price >= 100)
    }

    @Test func `a restart keeps what was seen and spent of the day`() throws {
        var bench = Self.bench(days: 10)
        var day = Day(midnight: bench.now.wall, failing: "", slow: "")
        day.pass(&bench, until: .hours(15))
        let before = bench.device.refreshPolicy
        #expect(before.budget.spent > 0)
        try bench.restart(
            manifests: Self.apps.map { .refreshing($0.name, Self.habit($0.name)) }
        )
        let after = bench.device.refreshPolicy
        #expect(after.budget.record == before.budget.record)
        // Until it was last refreshed.
        let mail = try #require(bench.device.apps.index(of: AppID("mail")))
        let morning = before.members.slots(of: mail).prefix(22)
        #expect(after.members.slots(of: mail).prefix(22) == morning && !morning.contains(0))
    }
}

extension Bench {
    /// As if so many refreshes of the common budget had been spent today.
    mutating func spent(_ count: Int64) {
        let policy = device.refreshPolicy
        device.refreshPolicy.restore(
            policy.use,
            RefreshBudgetRecord(day: policy.budget.day, spent: count)
        )
    }
}
