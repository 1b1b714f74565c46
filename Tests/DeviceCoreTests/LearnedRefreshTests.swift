import DeviceCore
import Testing
import Vocabulary

/// Refreshes of a user with habits: the mail at noon, the news at 20:00, every day.
struct LearnedRefreshTests {
    typealias Habit = (name: String, at: Interval)
    static let apps: [Habit] = [("mail", .hours(12)), ("news", .hours(20))]

    static func habit(_ name: String) -> (inout AppManifest) -> Void {
        { manifest in
            manifest.useFrom = .exec("/usr/bin/" + name)
            manifest.noDataExit = [3]
        }
    }

    /// After so many days, at midnight. `others` are never opened.
    static func bench(
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
    static func live(
        _ bench: inout Bench,
        _ habits: [Habit] = apps,
        failing: String = "",
        slow: String = ""
    ) -> [(app: String, at: Interval)] {
        var day = Day(midnight: bench.now.wall, failing: failing, slow: slow)
        for habit in habits {
            day.pass(&bench, until: habit.at)
            day.send(&bench, .condition(.idle, .hand, .value(0)))
            day.send(&bench, .used(AppID(habit.name)))
            day.pass(&bench, until: habit.at + .minutes(10))
            day.send(&bench, .condition(.idle, .hand, .value(1)))
        }
        day.pass(&bench, until: .days(1))
        return day.runs
    }

    /// A day, with its timers and the ends of what was begun.
    struct Day {
        let midnight: WallTime
        let failing: String
        let slow: String
        var runs: [(app: String, at: Interval)] = []
        private var ending: [(at: BootTime, launch: LaunchID, app: String)] = []

        init(midnight: WallTime, failing: String, slow: String) {
            (self.midnight, self.failing, self.slow) = (midnight, failing, slow)
        }

        mutating func send(_ bench: inout Bench, _ event: Event) {
            bench.send(event)
            for run in bench.spawned {
                let name = run.spec.app.name
                runs.append((name, bench.now.wall - midnight))
                ending.append(
                    (
                        bench.now.boot + .milliseconds(name == slow ? 24_000 : 2_400), run.launch,
                        name
                    )
                )
                bench.started(run.launch)
            }
        }

        mutating func pass(_ bench: inout Bench, until end: Interval) {
            let end = bench.now.boot + (midnight + end - bench.now.wall)
            while bench.now.boot < end {
                let place = ending.indices.min { ending[$0].at < ending[$1].at }
                let done = place.map { ending[$0].at } ?? .distantFuture
                let next = min(end, done, bench.armed ?? .distantFuture)
                bench.move(max(.milliseconds(1), next - bench.now.boot))
                if let place, done <= bench.now.boot {
                    let run = ending.remove(at: place)
                    let status: Int32 = run.app == failing ? 3 : 0
                    let usage = Usage(cpu: .seconds(run.app == slow ? 10 : 1), memory: 1 << 20)
                    send(&bench, .process(run.launch, .exited(.status(status), usage)))
                } else {
                    send(&bench, .timer)
                }
            }
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
        var day = Day(midnight: bench.now.wall, failing: "", slow: "")
        day.pass(&bench, until: .hours(13))
        #expect(bench.sentence("mail").contains("spread"))
    }

    @Test func `an app whose use nothing tells of stays spread`() {
        var bench = Self.bench(days: 10, budget: 4, others: ["quiet"])
        let runs = Self.live(&bench).filter { $0.app == "quiet" }
        #expect(runs.count == 4, "\(runs)")
        #expect(runs.allSatisfy { $0.at >= .hours(7) })
    }

    @Test func `the budget of a day is not overspent, by all together or by each`() {
        for isShared in [true, false] {
            var bench = Self.bench(days: 10, budget: 3) { $0.sharedBudget = isShared }
            for _ in 0..<4 {
                let runs = Self.live(&bench)
                #expect(runs.count <= 6, "\(runs)")
                // Nor saved: each comes to its refresh before it is opened.
                for app in Self.apps {
                    let before = runs.contains { $0.app == app.name && $0.at < app.at }
                    #expect(before, "\(app.name): \(runs)")
                }
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

    @Test func `a restart keeps what was learned`() throws {
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
            map["refreshBudget"] = nil
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
        let expected = try #require(forecast.expectedAt)
        let midnight = bench.now.wall
        let first = Self.live(&bench).first { $0.app == "mail" }
        #expect(first.map { abs((midnight + $0.at - expected).seconds) < 1 } == true)
        let decisions = bench.history.compactMap { line in
            if case .wake(let wake) = line.entry { wake.decision } else { nil }
        }
        let last = try #require(decisions.last)
        #expect(last.left > 0 && last.together == 1 && last.scope == .device)
    }

    /// Both at the same times, some days at the one and some at the other.
    static func alike(_ day: Int) -> [Habit] {
        let names = day % 2 == 0 ? ["mail", "news"] : ["news", "mail"]
        return [7, 9, 11, 13, 15, 17, 19, 21].filter { ($0 + day) % 3 != 0 }.flatMap { hour in
            [
                (names[0], Interval.hours(Int64(hour))),
                (names[1], .hours(Int64(hour)) + .minutes(40)),
            ]
        }
    }

    @Test(arguments: [true, false])
    func `of two apps used alike the thrifty one is refreshed more, by half`(isSlow: Bool) {
        var bench = Self.bench(days: 0, budget: 4)
        var counts = (mail: 0, news: 0)
        for day in 0..<18 {
            let runs = Self.live(
                &bench,
                Self.alike(day),
                failing: isSlow ? "" : "news",
                slow: isSlow ? "news" : ""
            )
            guard day >= 4 else { continue }
            counts.mail += runs.count { $0.app == "mail" }
            counts.news += runs.count { $0.app == "news" }
        }
        #expect(2 * counts.mail >= 3 * counts.news, "\(counts)")
        #expect(counts.news > 0)
    }

    /// Of equal habits, within three minutes of each other: a refresh that follows a use in some
    /// seconds is spread as their uses are.
    @Test func `users of equal habits do not load a server at once`() throws {
        var bench = Self.bench(days: 0, budget: 4)
        for day in 0..<6 { Self.live(&bench, Self.alike(day)) }
        let records = try bench.loaded()
        var random = SeededRandom(seed: 1)
        var minutes: [Int64: Int] = [:]
        var all = 0
        for _ in 0..<250 {
            let seed = Int64(random.next() >> 1)
            var other = bench
            other.device = Device(restoring: records.map { $0.offset(by: seed) })
            other.send(
                .started(Start(bootID: "boot-1", seed: 1, settings: bench.device.settings.value))
            )
            for app in Self.apps { other.install(.refreshing(app.name, Self.habit(app.name))) }
            other.send(.condition(.idle, .hand, .value(1)))
            let habits = Self.alike(6).map {
                ($0.name, $0.at + .seconds(random.within(-180...180)))
            }
            for run in Self.live(&other, habits) {
                minutes[run.at.nanoseconds / 60_000_000_000, default: 0] += 1
                all += 1
            }
        }
        let most = try #require(minutes.values.max())
        #expect(most * 20 <= all && all > 1250, "\(most) of \(all) in one minute")
    }

    @Test func `what two apps are wanted for at one time is one wake`() {
        let habits: [Habit] = [("mail", .hours(12)), ("news", .hours(12) + .minutes(2))]
        var bench = Self.bench(days: 0, budget: 1)
        for _ in 0..<8 { Self.live(&bench, habits) }
        let runs = Self.live(&bench, habits).filter { $0.at < .hours(12) }
        #expect(runs.map(\.app).sorted() == ["mail", "news"], "\(runs)")
        #expect(Set(runs.map(\.at)).count == 1, "\(runs)")
    }

    @Test func `an app that others outbid comes to its turn`() {
        let others = (7..<23).flatMap { hour in
            [("mail", Interval.hours(hour)), ("news", .hours(hour) + .minutes(30))]
        }
        var bench = Self.bench(days: 0, budget: 4)
        bench.install(.refreshing("rare", Self.habit("rare")))
        var turns: [Int64] = []
        for day: Int64 in 0..<32 {
            // Some time or other.
            let rare = ("rare", Interval.hours(7 + day * 5 % 16) + .minutes(15))
            let habits = day < 5 || day % 5 == 0 ? others + [rare] : others
            let runs = Self.live(&bench, habits.sorted { $0.1 < $1.1 })
            if day >= 14, runs.contains(where: { $0.app == "rare" }) { turns.append(day) }
        }
        // Every 8 days, by four refreshes a day.
        #expect((1...3).contains(turns.count), "\(turns)")
    }

    @Test func `no app takes the whole budget`() {
        let mail = (6..<23).map { (name: "mail", at: Interval.hours($0)) }
        var bench = Self.bench(days: 5, budget: 4)
        for day in 0..<14 {
            let count = Self.live(&bench, mail).count { $0.app == "mail" }
            #expect(count <= 6)
            if day > 10 { #expect(count == 6) }
        }
        var last = Day(midnight: bench.now.wall, failing: "", slow: "")
        last.pass(&bench, until: .hours(22))
        let sentence = bench.sentence("mail")
        #expect(sentence.contains("had as many of today's 8 refreshes for all"), "\(sentence)")
    }

    @Test func `a charger makes refreshes cheaper, a network paid by the byte dearer`() throws {
        var bench = Self.bench(days: 10)
        func price() throws -> Int64 {
            let explanation = try #require(bench.device.explain(AppID("mail"), at: bench.now).first)
            return try #require(explanation.forecast).price
        }
        let usual = try price()
        bench.send(.condition(.power, .hand, .value(1)))
        #expect(try price() < usual)
        bench.send(.condition(.power, .hand, .silent))
        bench.send(.condition(.metered, .hand, .value(1)))
        #expect(try price() > usual)
    }

    @Test func `a device in use is looked at once an hour while nothing else happens`() throws {
        var bench = Self.bench(days: 10, budget: 1)
        bench.advance(.hours(14))
        bench.send(.condition(.idle, .hand, .value(0)))
        let begin = bench.now.boot
        var timers = 0
        while bench.now.boot - begin < .hours(4) {
            let next = try #require(bench.armed)
            bench.move(max(.milliseconds(1), next - bench.now.boot))
            bench.send(.timer)
            for run in bench.spawned {
                bench.started(run.launch)
                bench.exited(run.launch)
            }
            timers += 1
        }
        // The first five minutes, then an hour each.
        #expect((4...8).contains(timers), "\(timers)")
    }

    @Test func `the smallest budget is never empty for good`() {
        var bench = Self.bench(days: 0, budget: 1)
        for _ in 0..<8 { Self.live(&bench, failing: "news") }
        #expect(Self.live(&bench, failing: "news").count == 1)
    }

    @Test func `an app of little worth waits for a chance that it does not have`() throws {
        var bench = Self.bench(days: 0, budget: 4)
        for day in 0..<8 { Self.live(&bench, Self.alike(day), failing: "news") }
        var day = Day(midnight: bench.now.wall, failing: "news", slow: "")
        var priced = 0
        for hour: Int64 in 7..<23 {
            day.pass(&bench, until: .hours(hour) + .minutes(31))
            let explanation = try #require(bench.device.explain(AppID("news"), at: bench.now).first)
            guard explanation.holds.contains(where: { $0.gate == "better-moment" }) else {
                continue
            }
            let forecast = try #require(explanation.forecast)
            #expect(forecast.blocker != nil)
            guard forecast.blocker == .price else { continue }
            #expect(forecast.chance <= forecast.price)
            priced += 1
        }
        #expect(priced > 0)
    }

    @Test func `the budget is told while something else holds the app`() throws {
        var bench = Self.bench(days: 10)
        bench.send(.condition(.lowPower, .hand, .value(1)))
        let manifests = Self.apps.map { AppManifest.refreshing($0.name, Self.habit($0.name)) }
        try bench.restart(manifests: manifests)
        let explanation = try #require(bench.device.explain(AppID("mail"), at: bench.now).first)
        #expect(explanation.forecast?.budget == 4)
    }

    @Test func `chances follow the local time from whatever happens next`() throws {
        var bench = Self.bench(days: 10, budget: 1)
        bench.advance(.hours(2))
        bench.now.utcOffset += 3600
        bench.send(.condition(.thermal, .kernel, .value(0)))
        // It is 3 now, and noon in nine hours.
        let runs = Self.live(&bench, [("mail", .hours(9)), ("news", .hours(17))])
        let mail = try #require(runs.first { $0.app == "mail" })
        #expect((.hours(8) + .minutes(20)...(.hours(9))).contains(mail.at), "\(runs)")
    }
}

extension Record {
    /// Of a device of another seed.
    fileprivate func offset(by seed: Int64) -> Record {
        guard case .device = self, var map = value.mapValue else { return self }
        map["seed"] = .integer(seed)
        return (try? Record(key, .map(map))) ?? self
    }
}
