import DeviceCore
import Testing
import Vocabulary

/// Refreshes of a user with habits: the mail at noon, the news at 20:00, every day.
struct LearnedRefreshTests {
    private static let apps: [(name: String, at: Interval)] = [
        ("mail", .hours(12)), ("news", .hours(20)),
    ]

    private static func habit(_ name: String) -> (inout AppManifest) -> Void {
        { manifest in
            manifest.useFrom = .exec("/usr/bin/" + name)
            manifest.noDataExit = [3]
        }
    }

    /// After so many days, at midnight. `others` are never opened.
    private static func bench(
        days: Int,
        budget: Int64 = 2,
        seed: Int64 = 1,
        others: [String] = [],
        set: (inout Settings) -> Void = { _ in }
    ) -> Bench {
        var settings = Settings()
        settings.refreshesPerDay = budget
        settings.runSlots = 50
        set(&settings)
        var bench = Bench(at: .zero, seed: seed, isCalm: false, settings: settings)
        for app in apps {
            bench.install(.refreshing(app.name, habit(app.name)))
        }
        for name in others { bench.install(.refreshing(name)) }
        for _ in 0..<days { live(&bench) }
        return bench
    }

    /// One day. Runs end after 10 s. What was begun, and when.
    @discardableResult
    private static func live(
        _ bench: inout Bench,
        failing: String = ""
    ) -> [(app: String, at: Interval)] {
        let midnight = bench.now.wall
        var runs: [(String, Interval)] = []
        for app in apps + [("", .days(1))] {
            let end = midnight + app.at
            while bench.now.wall < end {
                let next = bench.armed.map { max(.milliseconds(1), $0 - bench.now.boot) }
                bench.move(min(end - bench.now.wall, next ?? .days(1)))
                bench.send(.timer)
                finish(&bench, since: midnight, failing, &runs)
            }
            guard !app.name.isEmpty else { break }
            bench.send(.condition(.idle, .hand, .value(0)))
            finish(&bench, since: midnight, failing, &runs)
            bench.send(.used(AppID(app.name)))
            bench.move(.minutes(10))
            bench.send(.condition(.idle, .hand, .value(1)))
            finish(&bench, since: midnight, failing, &runs)
        }
        return runs
    }

    private static func finish(
        _ bench: inout Bench,
        since midnight: WallTime,
        _ failing: String,
        _ runs: inout [(String, Interval)]
    ) {
        let spawned = bench.spawned
        for run in spawned {
            runs.append((run.spec.app.name, bench.now.wall - midnight))
            bench.started(run.launch)
        }
        guard !spawned.isEmpty else { return }
        bench.move(.seconds(10))
        for run in spawned {
            bench.exited(run.launch, status: run.spec.app.name == failing ? 3 : 0)
        }
    }

    @Test func `after some days an app is refreshed before it is opened, and not at night`() {
        var bench = Self.bench(days: 10, budget: 6)
        let runs = Self.live(&bench)
        for app in Self.apps {
            let before = runs.filter { $0.app == app.name && $0.at < app.at }
            #expect(before.contains { app.at - $0.at <= .minutes(30) }, "\(runs)")
        }
        #expect(!runs.contains { $0.at < .hours(9) }, "\(runs)")
        #expect(runs.count <= 12)
    }

    @Test func `while little is known refreshes are spread over the day`() {
        var bench = Self.bench(days: 0, budget: 4)
        let runs = Self.live(&bench)
        #expect(runs.count { $0.app == "mail" } == 4, "\(runs)")
        #expect(runs.allSatisfy { $0.at >= .hours(7) })
        #expect(bench.sentence("mail").contains("spread") || bench.now.local.hour == 0)
    }

    @Test func `an app whose use nothing tells of stays spread`() {
        var bench = Self.bench(days: 10, budget: 4, others: ["quiet"])
        let runs = Self.live(&bench).filter { $0.app == "quiet" }
        #expect(runs.count == 4, "\(runs)")
        #expect(runs.allSatisfy { $0.at >= .hours(7) })
    }

    @Test func `the purse of a day is not overspent, by all together or by each`() {
        for isShared in [true, false] {
            var bench = Self.bench(days: 10, budget: 3) { $0.sharedPurse = isShared }
            for _ in 0..<4 {
                let runs = Self.live(&bench)
                #expect(runs.count <= 6, "\(runs)")
                guard !isShared else { continue }
                #expect(runs.count { $0.app == "mail" } <= 3)
            }
        }
    }

    @Test func `at night one alarm is armed, for a moment that is worth it, or none`() throws {
        var bench = Self.bench(days: 10)
        bench.advance(.hours(3))
        let alarm = try #require(bench.timers.alarm)
        // It does not tick: what is armed for lies hours ahead.
        #expect(alarm - bench.now.boot > .hours(5))
    }

    @Test func `moments are offset by the seed of the device`() {
        let bin = Interval.minutes(5).nanoseconds
        for seed: Int64 in [61_000_000_000, 299_000_000_000] {
            var bench = Self.bench(days: 10, seed: seed)
            let runs = Self.live(&bench).filter { $0.at < .hours(11) + .minutes(59) }
            #expect(!runs.isEmpty)
            #expect(runs.allSatisfy { $0.at.nanoseconds % bin == seed % bin }, "\(runs)")
        }
    }

    @Test func `a restart keeps what was learned and what was spent`() throws {
        var bench = Self.bench(days: 10)
        let loaded = try bench.loaded()
        var other = bench
        other.device = Device(restoring: loaded)
        other.send(.settings(bench.device.settings.value))
        other.send(.started(Start(bootID: "boot-1", seed: 1)))
        for app in Self.apps {
            other.install(.refreshing(app.name, Self.habit(app.name)))
        }
        other.send(.condition(.idle, .hand, .value(1)))
        let runs = Self.live(&other)
        #expect(runs.contains { $0.app == "mail" && .hours(12) - $0.at <= .minutes(30) })
        #expect(Self.live(&bench).count == runs.count)
    }

    @Test func `records of a version that learned nothing are read`() throws {
        let bench = Self.bench(days: 1)
        let old = try bench.records.sorted { $0.key < $1.key }.map { key, value in
            var map = try #require(value.mapValue)
            map["use"] = nil
            map["purse"] = nil
            if let refresh = map["refresh"]?.mapValue {
                var three = ValueMap()
                for name in ["newData", "noData", "opens"] { three[name] = refresh[name] }
                map["refresh"] = .map(three)
            }
            return try Record(key, .map(map))
        }
        let device = Device(restoring: old)
        let index = try #require(device.apps.index(of: AppID("mail")))
        #expect(device.apps[index].record.refresh.opens == 1)
        #expect(device.apps[index].record.lastUsed != nil)
    }

    @Test func `what is waited for is told in numbers, and kept with the run`() throws {
        var bench = Self.bench(days: 10)
        let sentence = bench.sentence("mail")
        #expect(sentence.contains("most likely to open it at 11:"), "\(sentence)")
        #expect(sentence.contains("of 4 left for all apps today"), "\(sentence)")
        let explanation = try #require(bench.device.explain(AppID("mail"), at: bench.now).first)
        let forecast = try #require(explanation.forecast)
        #expect(forecast.likelyChance > forecast.chance)
        #expect(forecast.expectedAt != nil)
        Self.live(&bench)
        let decisions = bench.history.compactMap { line in
            if case .wake(let wake) = line.entry { wake.decision } else { nil }
        }
        let last = try #require(decisions.last)
        #expect(last.left > 0 && last.together == 1 && last.purse == .device)
    }

    @Test func `what always brings nothing is refreshed less`() {
        var bench = Self.bench(days: 10, budget: 4)
        var counts = (mail: 0, news: 0)
        for _ in 0..<15 {
            let runs = Self.live(&bench, failing: "news")
            counts.mail += runs.count { $0.app == "mail" }
            counts.news += runs.count { $0.app == "news" }
        }
        #expect(counts.mail > counts.news, "\(counts)")
    }
}
