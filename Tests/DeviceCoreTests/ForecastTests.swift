import Testing
import Vocabulary

@testable import DeviceCore

/// What is told of refreshes, before and after, is what they were decided by.
extension LearnedRefreshTests {
    private static func forecast(_ app: String, _ bench: Bench) throws -> RefreshForecast {
        try #require(bench.device.explain(AppID(app), at: bench.now).first?.forecast)
    }

    private static func decisions(_ bench: Bench) -> [RefreshDecision] {
        bench.history.compactMap { line in
            if case .wake(let wake) = line.entry { wake.decision } else { nil }
        }
    }

    @Test(arguments: [0, 8, 1000])
    func `what is foretold in the night comes true, and so do its reasons`(
        wakePrice: Int64
    ) throws {
        var bench = Self.bench(days: 12) { $0.wakePrice = wakePrice }
        let midnight = bench.now.wall
        var told: [(at: Interval, app: String, forecast: RefreshForecast)] = []
        var runs: [(app: String, at: Interval)] = []
        var day = Day(midnight: midnight, failing: "", slow: "")
        for step in Int64(0)..<47 {
            day.pass(&bench, until: .minutes(15 * step + 7))
            for app in Self.apps {
                told.append((.minutes(15 * step + 7), app.name, try Self.forecast(app.name, bench)))
            }
        }
        runs = day.runs
        #expect(runs.contains { $0.app == "mail" } || wakePrice == 1000)
        for (at, app, forecast) in told {
            let next = runs.first { $0.app == app && $0.at >= at }
            // Of those that wait for one that comes after the last look nothing is known here.
            if let expected = forecast.expectedAt.map({ $0 - midnight }), expected <= .minutes(697)
            {
                #expect(next?.at == expected, "\(app) at \(at): \(forecast)")
            } else {
                #expect(next == nil, "\(app) at \(at): \(forecast)")
            }
            switch forecast.blocker {
            case .price: #expect(forecast.chance <= forecast.price)
            case .wake: #expect(forecast.chance >= forecast.price)
            case nil:
                let expected = forecast.expectedAt ?? .distantFuture
                #expect(expected - midnight - at <= .minutes(5))
            case .nobody, .budget, .share, .fresh, .early: break
            }
        }
        let blockers = Set(told.compactMap(\.forecast.blocker))
        #expect(blockers.contains(.nobody), "\(blockers)")
        #expect(blockers.contains(.wake) == (wakePrice == 1000), "\(blockers)")
    }

    @Test func `nobody is said to be expected at night, not that it runs now`() {
        var bench = Self.bench(days: 12)
        bench.advance(.hours(2))
        let sentence = bench.sentence("mail")
        #expect(sentence.contains("nobody is expected to use the device soon"), "\(sentence)")
        #expect(!sentence.contains("It runs at 02:"), "\(sentence)")
    }

    @Test func `an empty budget is said to be empty`() throws {
        var bench = Self.bench(days: 12, budget: 1) { $0.sharedBudget = false }
        var day = Day(midnight: bench.now.wall, failing: "", slow: "")
        day.pass(&bench, until: .hours(12))
        #expect(day.runs.contains { $0.app == "mail" })
        day.pass(&bench, until: .hours(13))
        #expect(try Self.forecast("mail", bench).blocker == .budget)
        let sentence = bench.sentence("mail")
        #expect(sentence.contains("nothing is left of today's 1 refresh for it"), "\(sentence)")
    }

    @Test func `no device is woken for a small chance, however full the budget`() {
        var bench = Self.bench(days: 12, budget: 24)
        for _ in 0..<3 { LearnedRefreshTests.live(&bench) }
        let woken = Self.decisions(bench).filter { decision in
            let hour = decision.at.map { LocalTime($0, utcOffset: 0).hour } ?? 0
            return decision.because == .chance && decision.together == 1 && hour != 12
                && hour != 20
        }
        #expect(!woken.isEmpty)
        #expect(woken.allSatisfy { $0.chance >= 60 }, "\(woken.map(\.chance))")
    }

    @Test(arguments: [true, false])
    func `each refresh was worth the price that its record tells`(isShared: Bool) {
        var bench = Self.bench(days: 0, budget: 6) { $0.sharedBudget = isShared }
        for day in 0..<25 { Self.live(&bench, Self.alike(day)) }
        let decisions = Self.decisions(bench)
        #expect(decisions.count > 40)
        for decision in decisions {
            #expect(decision.chance >= decision.price, "\(decision)")
            #expect(decision.left <= decision.budget ?? 0 && decision.left > 0)
        }
        let reasons = Set(decisions.map(\.because))
        #expect(reasons.contains(.chance) && !reasons.contains(nil))
        #expect(reasons.contains(.deviceAwake) == isShared, "\(reasons)")
    }

    @Test func `what is not due yet is foretold for when it is, and not said to be fresh`() throws {
        var bench = Self.bench(days: 12, budget: 4)
        let midnight = bench.now.wall
        let used = try #require(bench.app("mail")?.lastUsed)
        bench.install(
            .refreshing("mail") {
                Self.habit("mail")(&$0)
                $0.refreshInterval = .hours(30)
            }
        )
        var day = Day(midnight: midnight, failing: "", slow: "")
        day.pass(&bench, until: .hours(11) + .minutes(45))
        #expect(!day.runs.contains { $0.app == "mail" })
        let forecast = try Self.forecast("mail", bench)
        #expect(forecast.blocker == .early)
        #expect(try #require(forecast.expectedAt) >= used + .hours(30), "\(forecast)")
        let sentence = bench.sentence("mail")
        #expect(sentence.contains("it is not due before its date"), "\(sentence)")
        #expect(!sentence.contains("It runs at 11:"), "\(sentence)")
    }

    @Test func `what waits for a retry is not said to be fresh`() throws {
        var bench = Self.bench(days: 12, budget: 24) { $0.backOff = .hours(4) }
        bench.install(
            .refreshing("mail") {
                Self.habit("mail")(&$0)
                $0.noDataExit = []
            }
        )
        var day = Day(midnight: bench.now.wall, failing: "mail", slow: "")
        day.pass(&bench, until: .hours(11) + .minutes(50))
        let until = try #require(bench.app("mail")?.record.failures.until)
        let forecast = try Self.forecast("mail", bench)
        #expect(forecast.blocker == .early, "\(forecast)")
        #expect(forecast.expectedAt.map { $0 >= until } ?? true, "\(forecast)")
    }

    @Test func `nothing is foretold for a pause`() throws {
        var bench = Self.bench(days: 12, budget: 4)
        #expect(try Self.forecast("mail", bench).expectedAt != nil)
        bench.ask(.pause(.hours(18)))
        let expected = try #require(try Self.forecast("mail", bench).expectedAt)
        #expect(expected >= bench.now.wall + .hours(18))
    }

    @Test func `while the device is in use nothing is foretold for the night`() throws {
        var bench = Self.bench(days: 12, budget: 4)
        var day = Day(midnight: bench.now.wall, failing: "", slow: "")
        day.pass(&bench, until: .hours(20))
        day.send(&bench, .condition(.idle, .hand, .value(0)))
        day.send(&bench, .used(AppID("news")))
        day.pass(&bench, until: .hours(22))
        for app in Self.apps {
            let expected = try Self.forecast(app.name, bench).expectedAt
            #expect(expected.map { $0 - bench.now.wall <= Self.inUse } ?? true, "\(app.name)")
        }
        // Once its user is gone, each is foretold for the next day at the latest.
        day.send(&bench, .condition(.idle, .hand, .value(1)))
        for app in Self.apps {
            let expected = try #require(try Self.forecast(app.name, bench).expectedAt)
            #expect(expected > bench.now.wall, "\(app.name)")
        }
    }

    /// So far is looked ahead while the device is in use, from the next moment on.
    private static let inUse = Interval.hours(1) + .minutes(5)

    @Test func `while the device is in use what comes within the hour is foretold`() throws {
        var bench = Self.bench(days: 12, budget: 4)
        var day = Day(midnight: bench.now.wall, failing: "", slow: "")
        day.pass(&bench, until: .hours(10))
        day.send(&bench, .condition(.idle, .hand, .value(0)))
        var foretold = 0
        for step in Int64(0)..<8 {
            day.pass(&bench, until: .hours(10) + .minutes(15 * step))
            guard let expected = try Self.forecast("mail", bench).expectedAt else { continue }
            foretold += 1
            #expect(expected > bench.now.wall && expected - bench.now.wall <= Self.inUse)
        }
        #expect(foretold > 0)
    }

    @Test func `what is opened as it would be chosen is not refreshed`() throws {
        var bench = Self.bench(days: 0, budget: 1)
        bench.install(.linked("reader", identifiers: ["reader.refresh"]))
        var task = Submission(app: AppID("reader"), identifier: "reader.refresh", kind: .refresh)
        task.after = .days(12)
        bench.ask(.submit(task))
        for _ in 0..<12 { Self.live(&bench, [("reader", .hours(21))]) }
        var day = Day(midnight: bench.now.wall, failing: "", slow: "")
        day.pass(&bench, until: .hours(12))
        let expected = try #require(try Self.forecast("reader", bench).expectedAt)
        day.pass(&bench, until: expected - bench.now.wall - .seconds(1) + .hours(12))
        bench.move(expected - bench.now.wall)
        bench.send(.used(AppID("reader")))
        #expect(bench.spawned.isEmpty)
        #expect(bench.requests("reader").map(\.decision) == [nil])
    }

    @Test func `a refresh that a linked app asks for comes at a learned time`() {
        var bench = Self.bench(days: 0, budget: 1)
        bench.install(.linked("reader", identifiers: ["reader.refresh"]))
        var task = Submission(app: AppID("reader"), identifier: "reader.refresh", kind: .refresh)
        task.after = .days(12)
        bench.ask(.submit(task))
        var runs: [Interval] = []
        for _ in 0..<13 {
            #expect(runs.isEmpty)
            let day = Self.live(&bench, [("reader", .hours(21))])
            runs = day.filter { $0.app == "reader" }.map(\.at)
        }
        let before = Interval.hours(20)...Interval.hours(21)
        #expect(runs.first.map { before.contains($0) } == true, "\(runs)")
    }
}
