import DeviceCore
import Vocabulary

/// On no day begin more refreshes than the settings give. Those that the history says were chosen
/// for their moment: so many for each app, or for all apps together. The others of apps whose use
/// is known are spread: so many for each. What the user or a developer had run comes on top. That
/// each run has its line is another rule.
final class RefreshBudgetKept: CallInvariant {
    let name = "the refresh budget is kept"
    private var chosen = DayCount()
    private var spread = DayCount()
    /// When the last run of an app began: it may be handed two tasks at once.
    private var lastSpread: [AppID: WallTime] = [:]
    /// The most that the day's settings gave to an app, and whether apps shared.
    private var perDay: Int64 = 0
    private var isShared = false

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        chosen.asked(event)
        spread.asked(event)
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {}

    /// What ran is run again, and power may have taken along what was counted.
    func rebooted() { begin(chosen.day) }

    func ended(_ turn: Turn, _ world: World) -> String? {
        let day = turn.moment.local.day
        // Also of a day that comes twice: the clock was set, or the zone is another.
        if day != chosen.day || !turn.clockSetAt.isEmpty { begin(day) }
        perDay = max(perDay, world.settings.refreshesPerDay)
        isShared = isShared || world.settings.sharedBudget
        for line in turn.lines {
            guard case .wake(let report) = line.entry, report.trigger == .refresh,
                !report.simulated,
                world.plans.contains(where: { $0.id == line.app && $0.hasKnownUse })
            else { continue }
            let began = line.at - report.runTime
            guard LocalTime(began, utcOffset: line.utcOffset).day == day else { continue }
            let isChosen = report.decision != nil
            if let text = isChosen ? choose(line.app, world) : spread(line.app, began) {
                return text
            }
        }
        return nil
    }

    private func begin(_ day: Int64) {
        chosen.begin(day)
        spread.begin(day)
        (perDay, isShared) = (0, false)
    }

    private func choose(_ app: AppID, _ world: World) -> String? {
        chosen.count(app)
        if isShared {
            let all = perDay * Int64(world.plans.count { $0.hasKnownUse })
            return chosen.all > all + chosen.askedOfAll
                ? "refresh \(chosen.all) of the day, of \(all) for all apps" : nil
        }
        return excess(of: app, in: chosen)
    }

    private func spread(_ app: AppID, _ began: WallTime) -> String? {
        let last = lastSpread.updateValue(began, forKey: app)
        if let last, last <= began, began - last < .minutes(1) { return nil }
        spread.count(app)
        return excess(of: app, in: spread)
    }

    private func excess(of app: AppID, in count: DayCount) -> String? {
        let mine = count.byApp[app] ?? 0
        return mine > perDay + count.asked(of: app)
            ? "refresh \(mine) of \(app) today, of \(perDay)" : nil
    }
}

/// What began on a day, and what the user or a developer asked for on it or the day before.
struct DayCount {
    private(set) var day = Int64.min
    private(set) var all: Int64 = 0
    private(set) var byApp: [AppID: Int64] = [:]
    private var asked: [AppID: Int64] = [:]
    private var askedBefore: [AppID: Int64] = [:]

    mutating func begin(_ day: Int64) {
        self = DayCount(day: day, askedBefore: asked)
    }

    init() {}

    private init(day: Int64, askedBefore: [AppID: Int64]) {
        (self.day, self.askedBefore) = (day, askedBefore)
    }

    mutating func asked(_ event: Event) {
        guard case .user(let request, _) = event else { return }
        switch request {
        case .run(let app, _), .simulate(_, let app, _): asked[app, default: 0] += 1
        case .open, .leave, .close, .submit, .cancel, .cancelPending, .pause, .continue, .override:
            break
        }
    }

    mutating func count(_ app: AppID) {
        all += 1
        byApp[app, default: 0] += 1
    }

    func asked(of app: AppID) -> Int64 { (asked[app] ?? 0) + (askedBefore[app] ?? 0) }
    var askedOfAll: Int64 { asked.values.reduce(0, +) + askedBefore.values.reduce(0, +) }
}
