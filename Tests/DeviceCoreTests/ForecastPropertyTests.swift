import TestKit
import Testing
import Vocabulary

@testable import DeviceCore

/// On random days, what is foretold at random moments is what is decided if nothing happens.
struct ForecastPropertyTests {
    @Test func `what is foretold of all apps comes true, and so do the reasons`() throws {
        var seen: Set<RefreshBlocker?> = []
        var compared = 0
        for seed in Array(UInt64(1)...10) + FreshSeeds.seeds(1) {
            var life = RandomLife(seed: seed)
            for _ in 0..<8 { try life.live() }
            for _ in 0..<3 {
                try life.live { life in
                    let told = try life.forecasts()
                    life.checkTimes(told)
                    for told in told {
                        try life.checkReason(told)
                        seen.insert(told.forecast.blocker)
                    }
                }
            }
            compared += life.compared
            #expect(
                life.problems.isEmpty,
                """
                seed \(seed): \(life.problems)
                \(FreshSeeds.again("DeviceCoreTests.ForecastPropertyTests"))
                """
            )
        }
        #expect(compared > 100)
        #expect(seen.count == RefreshBlocker.allCases.count + 1, "\(seen)")
    }
}

/// The life of a device with some apps: habits that are kept more or less, and chance.
private struct RandomLife {
    private var bench: Bench
    private var day: LearnedRefreshTests.Day
    private var random: SeededRandom
    private let habits: [(name: String, at: Int64)]
    private var days: Int64 = 0
    /// When each app was last used, as the user saw it.
    private var used: [String: WallTime] = [:]
    private(set) var problems: [String] = []
    /// Runs that came when they were foretold.
    private(set) var compared = 0
    private var slow: Set<String> = []

    private static let names = ["mail", "news", "chat", "feed"]
    private static let failing = "feed"

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var settings = Settings()
        settings.refreshesPerDay = random.pick(from: [1, 2, 4, 8]) ?? 4
        settings.sharedBudget = random.chance(3, in: 4)
        settings.wakePrice = random.pick(from: [0, 16, 100, 400]) ?? 16
        settings.runSlots = 50
        bench = Bench(
            at: .zero,
            seed: random.within(1...1 << 40),
            isCalm: false,
            settings: settings
        )
        var habits: [(name: String, at: Int64)] = []
        for name in Self.names {
            let isSlow = random.chance(1, in: 4)
            if isSlow { slow.insert(name) }
            bench.install(
                .refreshing(name) {
                    LearnedRefreshTests.habit(name)(&$0)
                    if isSlow { $0.refreshInterval = .hours(6) }
                    if name == Self.failing { $0.noDataExit = [] }
                }
            )
            for _ in 0..<random.within(1...3) { habits.append((name, random.within(420...1350))) }
        }
        self.habits = habits
        self.random = random
        day = LearnedRefreshTests.Day(midnight: bench.now.wall, failing: Self.failing, slow: "mail")
    }

    // MARK: Living

    /// One day. `ask` is called at some moments of it.
    mutating func live(_ ask: (inout RandomLife) throws -> Void = { _ in }) throws {
        var steps: [(minute: Int64, name: String?)] = []
        for habit in habits where random.chance(4, in: 5) {
            steps.append((habit.at + random.within(-15...15), habit.name))
        }
        for _ in 0..<random.within(0...3) {
            steps.append((random.within(0...1400), random.pick(from: Self.names)))
        }
        for _ in 0..<8 { steps.append((random.within(0...1430), nil)) }
        steps.sort { ($0.minute, $0.name ?? "") < ($1.minute, $1.name ?? "") }
        for step in steps {
            pass(until: step.minute)
            if let name = step.name {
                send(.condition(.idle, .hand, .value(0)))
                send(.used(AppID(name)))
                used[name] = bench.now.wall
                pass(until: step.minute + random.within(1...25))
                send(.condition(.idle, .hand, .value(1)))
            } else {
                somethingChanges()
            }
            if bench.device.running.all == 0 { try ask(&self) }
        }
        pass(until: 1440)
        days += 1
    }

    private mutating func somethingChanges() {
        switch random.below(6) {
        case 0: send(.condition(.power, .kernel, .value(Int(random.within(0...1)))))
        case 1: send(.condition(.metered, .kernel, .value(Int(random.within(0...1)))))
        case 2...3: send(.condition(.idle, .hand, .value(Int(random.within(0...1)))))
        default: break
        }
    }

    private mutating func send(_ event: Event) { day.send(&bench, event) }

    /// A time that has passed already is now.
    private mutating func pass(until minute: Int64) {
        let end = Interval.days(days) + .minutes(minute) + .seconds(random.within(0...59))
        day.pass(&bench, until: end)
    }

    // MARK: Asking

    typealias Told = (app: String, forecast: RefreshForecast)

    func forecasts() throws -> [Told] {
        try Self.names.compactMap { name in
            try forecast(name).map { (name, $0) }
        }
    }

    private func forecast(_ name: String) throws -> RefreshForecast? {
        try #require(bench.device.explain(AppID(name), at: bench.now).first).forecast
    }

    private var isInUse: Bool { bench.device.refreshPolicy.use.isInUse }

    /// What is begun before `end` after a change, if nothing else happens.
    private func runs(
        before end: WallTime,
        onlyFirst: Bool = false,
        after change: (inout RandomLife) -> Void = { _ in }
    ) -> [Run] {
        var copy = self
        let count = day.runs.count
        change(&copy)
        while copy.bench.now.wall < end, !onlyFirst || copy.day.runs.count == count {
            let next = copy.bench.armed.map { $0 - copy.bench.now.boot } ?? .days(1)
            let time = min(end, copy.bench.now.wall + max(.milliseconds(1), next))
            copy.day.pass(&copy.bench, until: time - day.midnight)
        }
        return copy.day.runs[count...].map { Run(app: $0.app, at: day.midnight + $0.at) }
    }

    private struct Run {
        let app: String
        let at: WallTime
    }

    // MARK: Checking

    mutating func checkTimes(_ told: [Told]) {
        let midnight = day.midnight + .days(days + 1)
        // Beyond an hour of use, or the day that the prices are of, nobody knows.
        let end = min(
            isInUse ? bench.now.wall + .minutes(55) : midnight,
            midnight - .milliseconds(1)
        )
        let runs = runs(before: end, onlyFirst: true)
        let expected = told.compactMap(\.forecast.expectedAt).min().flatMap { $0 < end ? $0 : nil }
        // Of an app that is not known well enough nothing is foretold.
        let foretold = runs.filter { run in told.contains { $0.app == run.app } }
        let isTrue =
            foretold.isEmpty
            ? expected ?? end >= runs.first?.at ?? end
            : foretold.allSatisfy { run in
                run.at == expected
                    && told.contains { $0.app == run.app && $0.forecast.expectedAt == run.at }
            }
        if !isTrue { report("\(runs)", told) }
        compared += foretold.count
    }

    mutating func checkReason(_ told: Told) throws {
        let now = bench.now.wall
        // The next decision is made by then.
        let soon = now + .minutes(5) + .seconds(1)
        let lastRun = day.runs.last { $0.app == told.app }.map { day.midnight + $0.at }
        let touched = max(lastRun ?? .distantPast, used[told.app] ?? .distantPast)
        let mayBeStale = now - touched >= .minutes(22)
        let today = day.runs.filter { $0.at >= .days(days) }
        let ownRuns = today.count { $0.app == told.app }
        let isShared = bench.device.settings.sharedBudget
        func runs(_ budget: Int64?) -> [String] {
            self.runs(before: soon) { $0.makeFree(budget: budget) }.map(\.app)
        }
        let holds =
            switch told.forecast.blocker {
            case nil: mayBeStale && told.forecast.expectedAt != nil
            case .fresh: now - touched < .minutes(29)
            case .early:
                now - touched < (slow.contains(told.app) ? .hours(6) : .minutes(30))
                    || told.app == Self.failing
            case .budget: (isShared ? today.count : ownRuns) >= Int(told.forecast.budget)
            case .share: isShared && ownRuns >= max(1, Int(told.forecast.budget) * 3 / 4)
            case .nobody: try !isInUse && !isNobodyExpected(inUse: told.app)
            // Another may be worth more then, and take what is left of the budget.
            case .wake:
                mayBeStale && !isInUse && told.forecast.chance >= told.forecast.price
                    && !runs(nil).isEmpty
            case .price:
                // It may be worth its price on a device that is awake, where each refresh has a
                // discount: so it may run if wakes cost nothing.
                mayBeStale && told.forecast.chance <= told.forecast.price
                    && runs(1000).contains(told.app)
            }
        guard !holds else { return }
        let blocker = told.forecast.blocker?.rawValue ?? "refresh"
        let free = "without a wake's price \(runs(nil)) run, without any \(runs(1000))"
        report("no \(blocker), touched \(now - touched) ago, \(free)", [told])
    }

    /// Somebody picks up the device.
    private func isNobodyExpected(inUse name: String) throws -> Bool {
        var copy = self
        copy.send(.condition(.idle, .hand, .value(0)))
        return try copy.forecast(name)?.blocker == .nobody
    }

    /// A wake costs nothing; with `budget`, nor does a refresh.
    private mutating func makeFree(budget: Int64?) {
        if budget != nil { send(.condition(.metered, .kernel, .value(0))) }
        bench.configure {
            $0.wakePrice = 0
            if let budget { $0.refreshesPerDay = budget }
        }
    }

    private mutating func report(_ what: String, _ told: [Told]) {
        problems.append("\(bench.now.wall), in use: \(isInUse): \(what), but told \(told)")
    }
}
