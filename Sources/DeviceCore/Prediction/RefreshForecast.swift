package import Vocabulary

/// What is expected of one app, told when somebody asks: the same chances, price, budget and search
/// that its refreshes are decided by.
package struct RefreshForecast: Hashable, Sendable, Codable {
    /// That it is opened within half an hour from the next decision, in thousandths.
    package var chance: Int64
    /// From which chance on a refresh is worth it then, in thousandths.
    package var price: Int64
    /// Refreshes left today, and how many there are for a day: fewer for what is of little use.
    package var left: Int64
    package var budget: Int64
    package var scope: RefreshBudgetScope
    /// What stands against it at the next decision; nil: nothing.
    package var blocker: RefreshBlocker?
    /// Within half an hour from when it is opened most likely in the next 24 hours, and how likely.
    package var likelyAt: WallTime
    package var likelyChance: Int64
    /// When it is refreshed if nothing happens until then; nil: not within 24 hours after it may
    /// begin, or not within an hour while the device is in use.
    package var expectedAt: WallTime?
}

/// What stands against a refresh at an instant.
package enum RefreshBlocker: String, CaseIterable, Hashable, Sendable, Codable {
    /// Nobody is expected to use the device.
    case nobody
    /// Nothing is left for it today: of the budget, or of its share of a common one.
    case budget, share
    /// It was used or refreshed a moment ago.
    case fresh
    /// Its date, its quiet period or a retry comes first.
    case early
    /// Its chance is below the price.
    case price
    /// It is worth a refresh, but not waking the device.
    case wake
}

/// A refresh that somebody asks about.
struct AskedRefresh {
    let index: Int
    /// Nothing chooses its moment before.
    let notBefore: WallTime
}

extension Device {
    /// Nil: its moments are not chosen by what was learned.
    func forecast(of request: Request, _ index: Int, at now: Moment) -> RefreshForecast? {
        guard apps[index].isPlanned, apps[index].isLearned else { return nil }
        // The search stores what it finds on the way.
        var device = self
        let asked = AskedRefresh(index: index, notBefore: notBefore(of: request, index))
        return device.makeForecast(asked, at: now)
    }

    private mutating func makeForecast(_ asked: AskedRefresh, at now: Moment) -> RefreshForecast {
        let index = asked.index
        findMembers()
        fillBudget()
        findWaiting(and: index)
        let first = UseTime(gridTime(after: now.wall), utcOffset: now.utcOffset)
        let blocker = blocker(to: asked, at: first)
        let left = max(0, refreshesLeft(of: index, at: first))
        let price = price(of: index, at: first, left: left).price
        let discount = use.isInUse ? discount(isAwake: true) : 0
        var forecast = RefreshForecast(
            chance: 0,
            price: chanceWanted(of: index, at: price - discount),
            left: left,
            budget: refreshesPerDay(of: index),
            scope: settings.budgetScope,
            blocker: blocker,
            likelyAt: first.wall,
            likelyChance: 0,
            expectedAt: blocker == nil ? first.wall : expected(asked, after: first.wall, now)
        )
        for step in 0..<Int64(DayGrid.binCount) {
            let time = UseTime(first.wall + RefreshPlanner.bin * step, utcOffset: now.utcOffset)
            let chance = chance(of: index, PredictionContext(self.use, at: time))
            let thousandths = Int64((chance * 1000).rounded())
            if step == 0 { forecast.chance = thousandths }
            if thousandths > forecast.likelyChance {
                (forecast.likelyAt, forecast.likelyChance) = (time.wall, thousandths)
            }
        }
        return forecast
    }

    /// In the 24 hours after it may begin. While the device is in use nobody knows for longer than
    /// an hour.
    private mutating func expected(
        _ asked: AskedRefresh,
        after first: WallTime,
        _ now: Moment
    ) -> WallTime? {
        let hour = first + RefreshPlanner.inUse
        guard asked.notBefore < (use.isInUse ? hour : first + .days(28)) else { return nil }
        let begin = asked.notBefore > first ? gridTime(after: asked.notBefore) : first
        return firstWorth(of: asked, from: begin, until: use.isInUse ? hour : begin + .days(1), now)
    }
}

extension RefreshForecast {
    /// Completes "NAME waits: …".
    func sentence(at now: Moment) -> String {
        let likely =
            "you are most likely to open it \(now.text(for: likelyAt, toSecond: false)) or in the "
            + "half-hour after (\(Self.percent(likelyChance))), now \(Self.percent(chance))"
        let whose = scope == .app ? "for it" : "for all apps"
        let refreshes = "\(budget) refresh\(budget == 1 ? "" : "es") \(whose)"
        let remaining = "with \(left) of \(budget) left \(whose) today"
        let worth =
            "a refresh is worth it "
            + (price > 0 ? "from \(Self.percent(price)) on" : "at any chance")
        let use =
            expectedAt == nil
            ? "using the device, or apps that it follows, changes that"
            : "using the device, or apps that it follows, may bring that forward"
        // What stands against it, and what changes that.
        return switch blocker {
        case nil: "\(likely); that is worth a refresh at the next decision, \(remaining)"
        case .price: "\(likely); \(worth), \(remaining); \(use)"
        case .wake: "\(likely); \(worth), but not waking the device for it, \(remaining); \(use)"
        case .nobody: "\(likely); nobody is expected to use the device soon, \(remaining); \(use)"
        case .fresh:
            "it was used or refreshed a moment ago, and is fresh for half an hour; \(likely); "
                + "\(worth), \(remaining)"
        case .early:
            "\(likely); it is not due before its date, its quiet period or a retry, \(remaining)"
        case .budget:
            "nothing is left of today's \(refreshes); \(likely); the next day brings new ones"
        case .share:
            "it has had as many of today's \(refreshes) as one app may; \(likely); the next day "
                + "brings new ones"
        }
    }

    /// What the gate sees, and what it needs.
    var explanation: (value: String, needed: String) {
        let chance = Self.percent(chance)
        return switch blocker {
        case nil, .price: (chance, "\(Self.percent(price)) or more")
        case .wake: (chance, "enough to wake the device")
        case .nobody: ("nobody is expected", "use of the device soon")
        case .budget, .share: ("0 of \(budget) left", "1 or more")
        case .early: ("not due yet", "its date, quiet period or retry")
        case .fresh: ("used or refreshed a moment ago", "half an hour without")
        }
    }

    static func percent(_ thousandths: Int64) -> String {
        thousandths >= 100 || thousandths % 10 == 0
            ? "\((thousandths + 5) / 10) %" : "\(thousandths / 10).\(thousandths % 10) %"
    }
}

extension Report {
    static func share(_ thousandths: Int64) -> Value { .double(Double(thousandths) / 1000) }
}

extension Reporter {
    func forecast(_ forecast: RefreshForecast?) -> Value {
        guard let forecast else { return .null }
        return Report.map([
            ("chance", Report.share(forecast.chance)), ("price", Report.share(forecast.price)),
            ("left", .integer(forecast.left)), ("budget", .integer(forecast.budget)),
            ("scope", .string(forecast.scope.rawValue)), ("likelyAt", time(forecast.likelyAt)),
            ("likelyChance", Report.share(forecast.likelyChance)),
            ("blocker", forecast.blocker.map { .string($0.rawValue) } ?? .null),
            ("expectedAt", time(forecast.expectedAt)),
        ])
    }
}

extension RefreshDecision {
    var report: Value {
        Report.map([
            ("chance", Report.share(chance)), ("price", Report.share(price)),
            ("left", .integer(left)), ("budget", budget.map { .integer($0) } ?? .null),
            ("together", .integer(together)), ("scope", .string(scope.rawValue)),
            ("because", because.map { .string($0.rawValue) } ?? .null),
        ])
    }
}
