import DeviceCore
import Vocabulary

/// On no day begin more refreshes than the settings give. Those that the device says were chosen
/// for their moment: so many for each app, or for all apps together. The others of apps whose use
/// is known are spread: so many for each. An app whose moments have been chosen is not spread
/// again: it would get both budgets. What the user or a developer had run comes on top. That each
/// run has its line is another rule.
final class RefreshBudgetKept: CallInvariant {
    let name = "the refresh budget is kept"
    private struct Run: Hashable {
        let launch: LaunchID
        /// Nil: a command's.
        let identifier: String?

        init(_ launch: LaunchID, _ identifier: String?) {
            (self.launch, self.identifier) = (launch, identifier)
        }
    }

    private var chosen = DayCount()
    private var spread = DayCount()
    /// When each refresh was decided upon, and whether for its moment.
    private var begun: [Run: (at: Moment, isChosen: Bool)] = [:]
    /// When the last run of an app began: it may be handed two tasks at once, and the later may end
    /// first.
    private var lastSpread: [AppID: WallTime] = [:]
    /// Those with a refresh that was chosen for its moment.
    private var everChosen: Set<AppID> = []
    /// Local time less boot time: as long as it stays the same, nobody sets a clock.
    private var clockOffset: Int64 = 0
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
        let local = turn.moment.local
        let day = local.day
        // Also of a day that comes twice: the clock was set, or the zone is another.
        let offset = local.wall(utcOffset: 0).nanoseconds - turn.moment.boot.nanoseconds
        if day != chosen.day || offset != clockOffset { begin(day) }
        clockOffset = offset
        perDay = max(perDay, world.settings.refreshesPerDay)
        isShared = isShared || world.settings.sharedBudget
        for assignment in turn.assigned where assignment.trigger == .refresh {
            begun[Run(assignment.launch, assignment.identifier)] =
                (turn.moment, assignment.isChosen)
        }
        for line in turn.lines {
            guard case .wake(let report) = line.entry, report.trigger == .refresh,
                !report.simulated, report.result != .unknown,
                world.plans[world.planIndex(line.app)].hasKnownUse
            else { continue }
            let run = Run(report.launch, report.identifier)
            guard let (began, isChosen) = begun[run] ?? begun[Run(report.launch, nil)],
                began.local.day == day
            else { continue }
            if let text = contradiction(isChosen, line.app) { return text }
            if let text = isChosen ? choose(line.app, world) : spread(line.app, began.wall) {
                return text
            }
        }
        return nil
    }

    private func begin(_ day: Int64) {
        chosen.begin(day)
        spread.begin(day)
        (perDay, isShared) = (0, false)
        // A run that began before the clock was set began on another day, whatever it is called.
        begun.removeAll()
    }

    private func contradiction(_ isChosen: Bool, _ app: AppID) -> String? {
        if isChosen { everChosen.insert(app) }
        guard !isChosen, everChosen.contains(app), spread.asked(of: app) == 0 else { return nil }
        return "a refresh of \(app) was not chosen for its moment, and earlier ones were"
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
        if let last, max(last, began) - min(last, began) < .minutes(1) { return nil }
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
    private var asked = Asked()
    private var askedBefore = Asked()

    private struct Asked {
        var all: Int64 = 0
        var byApp: [AppID: Int64] = [:]
    }

    mutating func begin(_ day: Int64) {
        let before = asked
        self = DayCount()
        (self.day, askedBefore) = (day, before)
    }

    mutating func asked(_ event: Event) {
        guard case .user(let request, _) = event else { return }
        switch request {
        case .run(let app, _), .simulate(_, let app, _):
            asked.all += 1
            asked.byApp[app, default: 0] += 1
        case .open, .leave, .close, .submit, .cancel, .cancelPending, .pause, .continue, .override:
            break
        }
    }

    mutating func count(_ app: AppID) {
        all += 1
        byApp[app, default: 0] += 1
    }

    func asked(of app: AppID) -> Int64 {
        (asked.byApp[app] ?? 0) + (askedBefore.byApp[app] ?? 0)
    }
    var askedOfAll: Int64 { asked.all + askedBefore.all }
}
