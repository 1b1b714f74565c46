import DeviceCore
import Vocabulary

/// On no day begin more refreshes than the settings give. Refreshes are what ran as such: a command
/// that the machine ran, and a task that an app was offered as one and told to begin. Those that
/// are chosen for their moment: so many for each app, or for all apps together. The others of apps
/// whose use is known are spread: so many for each. What the user or a developer had run comes on
/// top, and what a kill or a reboot interrupted is run again.
///
/// Which are chosen only the device can say. It gains nothing by saying it wrongly: nothing is
/// chosen for an app that is hardly used, and an app whose moments have been chosen is not spread
/// again. So no app gets both budgets, but for the day on which its moments begin to be chosen.
final class RefreshBudgetKept: CallInvariant, ProcessInvariant {
    let name = "the refresh budget is kept"
    private enum Run: Hashable {
        case command(LaunchID)
        case task(DeliveryID)
    }

    private struct Begun {
        let run: Run
        let app: AppID
        let launch: LaunchID
        let isChosen: Bool
    }

    private var chosen = DayCount()
    private var spread = DayCount()
    /// When each run was put on record, and whether for its moment: until it begins.
    private var decided: [Run: (at: Moment, isChosen: Bool)] = [:]
    private var offered: Set<DeliveryID> = []
    /// Commands that ran since the last turn.
    private var ran: [LaunchID] = []
    /// Of this day, as long as a kill may hide how they end.
    private var begun: [Begun] = []
    /// When the last run of an app began: it may be handed two tasks at once, and the later may end
    /// first.
    private var lastSpread: [AppID: WallTime] = [:]
    /// Those with a refresh that was chosen for its moment.
    private var everChosen: Set<AppID> = []
    /// How often the user has used an app.
    private var uses: [AppID: Int] = [:]
    /// Before that nothing is learned of an app.
    private static let enoughUses = 5
    private var life = 0
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

    func heard(_ event: Event) {
        switch event {
        case .used(let app), .user(.open(let app, _, _), _): uses[app, default: 0] += 1
        case .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition, .process,
            .app, .triggered, .transfer, .user, .storageRecovered, .stopping:
            break
        }
    }

    func ran(_ process: VirtualProcess, _ world: World) {
        if process.command == .refresh { ran.append(process.launch) }
    }

    /// What ran is run again, and power may have taken along what was counted and learned.
    func rebooted() {
        begin(chosen.day)
        everChosen.removeAll()
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        let local = turn.moment.local
        let day = local.day
        // Also of a day that comes twice: the clock was set, or the zone is another.
        let offset = local.wall(utcOffset: 0).nanoseconds - turn.moment.boot.nanoseconds
        if day != chosen.day || offset != clockOffset { begin(day) }
        clockOffset = offset
        perDay = max(perDay, world.settings.refreshesPerDay)
        isShared = isShared || world.settings.sharedBudget
        if life != world.life { forgive(world) }
        for assignment in turn.assigned {
            let run = assignment.delivery.map { Run.task($0) } ?? .command(assignment.launch)
            decided[run] = (turn.moment, assignment.isChosen)
        }
        for offer in turn.offered where offer.kind == .trigger(.refresh) {
            offered.insert(offer.delivery)
        }
        for launch in ran {
            if let text = count(.command(launch), launch, world) { return text }
        }
        ran.removeAll(keepingCapacity: true)
        for (launch, delivery) in turn.toldToGo where offered.remove(delivery) != nil {
            if let text = count(.task(delivery), launch, world) { return text }
        }
        return nil
    }

    private func begin(_ day: Int64) {
        chosen.begin(day)
        spread.begin(day)
        (perDay, isShared) = (0, false)
        // A run that began before the clock was set began on another day, whatever it is called.
        decided.removeAll()
        begun.removeAll()
    }

    /// A daemon was killed: what went on then may come to no end that the next one knows, and is
    /// begun again.
    private func forgive(_ world: World) {
        life = world.life
        begun.removeAll { begun in
            guard let process = world.process(begun.launch) else { return false }
            let goesOn =
                switch begun.run {
                case .command: true
                case .task(let delivery): process.talk.work.contains { $0.id == delivery }
                }
            guard goesOn else { return false }
            if begun.isChosen { chosen.forgive(begun.app) } else { spread.forgive(begun.app) }
            return true
        }
    }

    private func count(_ run: Run, _ launch: LaunchID, _ world: World) -> String? {
        guard let (at, isChosen) = decided.removeValue(forKey: run),
            let app = world.process(launch)?.appID, world.plan(of: app)?.hasKnownUse == true
        else { return nil }
        if let text = contradiction(isChosen, app) { return text }
        let last = lastSpread[app]
        if !isChosen { lastSpread[app] = at.wall }
        // Handed over with the one before.
        if !isChosen, let last, max(last, at.wall) - min(last, at.wall) < .minutes(1) {
            return nil
        }
        begun.append(Begun(run: run, app: app, launch: launch, isChosen: isChosen))
        return isChosen ? choose(app, world) : excess(of: app, in: &spread)
    }

    private func contradiction(_ isChosen: Bool, _ app: AppID) -> String? {
        if isChosen { everChosen.insert(app) }
        if isChosen, uses[app] ?? 0 < Self.enoughUses, chosen.asked(of: app) == 0 {
            return "a refresh of \(app) was chosen for its moment, and nothing is known of its use"
        }
        guard !isChosen, everChosen.contains(app), spread.asked(of: app) == 0 else { return nil }
        return "a refresh of \(app) was not chosen for its moment, and earlier ones were"
    }

    private func choose(_ app: AppID, _ world: World) -> String? {
        guard isShared else { return excess(of: app, in: &chosen) }
        chosen.count(app)
        let most = perDay * Int64(world.plans.count { $0.hasKnownUse })
        return chosen.all > most + chosen.askedOfAll
            ? "refresh \(chosen.all) of the day, of \(most) for all apps" : nil
    }

    private func excess(of app: AppID, in count: inout DayCount) -> String? {
        count.count(app)
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
        case .run(let app, _), .simulate(_, let app, _, _): allow(app)
        case .open, .leave, .close, .submit, .cancel, .cancelPending, .dismiss, .pause, .continue,
            .override,
            .transfer:
            break
        }
    }

    /// One that comes on top.
    mutating func allow(_ app: AppID) {
        asked.all += 1
        asked.byApp[app, default: 0] += 1
    }

    mutating func count(_ app: AppID) {
        all += 1
        byApp[app, default: 0] += 1
    }

    /// One that was counted is begun again.
    mutating func forgive(_ app: AppID) {
        all -= 1
        byApp[app, default: 0] -= 1
    }

    func asked(of app: AppID) -> Int64 {
        (asked.byApp[app] ?? 0) + (askedBefore.byApp[app] ?? 0)
    }
    var askedOfAll: Int64 { asked.all + askedBefore.all }
}
