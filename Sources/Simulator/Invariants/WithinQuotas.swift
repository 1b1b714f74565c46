import DeviceCore
import Vocabulary

/// Off the charger no app, and not the device, is woken more often on a day than it may. What the
/// user or a developer had run comes on top, and so do launches for the events of a session.
final class WithinQuotas: CallInvariant, ProcessInvariant, CommitInvariant {
    let name = "quotas are kept"
    private var today = DayCount()
    /// The most that the day's settings gave.
    private var perApp: Int64 = 0
    private var perDevice: Int64 = 0
    /// On which day programs were started that have not run yet: what never runs is no wake.
    private var started: [LaunchID: Int64] = [:]
    /// Runs that began on the charger, with the reading of their result source.
    private var begunOnCharger: Set<LaunchID> = []
    /// Programs that the user or a developer had run: what goes on after an interruption is still
    /// what was asked for.
    private var askedFor: Set<LaunchID> = []
    /// Launches whose run is for the events of a session.
    private var forEvents: Set<LaunchID> = []
    private var wasOnBattery = false
    private var wrong: String?

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) { today.asked(event) }
    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {}

    func committed(_ changes: [Change]) -> String? {
        for case .put(.launch(let record)) in changes {
            if record.launch.wake?.trigger == .sessionEvents {
                forEvents.insert(record.id)
            } else {
                forEvents.remove(record.id)
            }
        }
        return nil
    }

    /// Power may have taken along what was counted.
    func rebooted() { today.begin(today.day) }

    func ran(_ process: VirtualProcess, _ world: World) {
        if started.removeValue(forKey: process.launch) == today.day {
            wakes(process.appID, process.launch)
        }
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        // What begins in the turn in which the charger goes may still have begun with it.
        let isOnBattery = world.value(.power) == 0
        defer { wasOnBattery = isOnBattery }
        let day = turn.moment.local.day
        if day != today.day {
            today.begin(day)
            (perApp, perDevice) = (0, 0)
        }
        perApp = max(perApp, world.settings.appWakesPerDay)
        perDevice = max(perDevice, world.settings.deviceWakesPerDay)
        guard turn.beginsAnything else { return wrong }
        let asked = turn.askedToRun
        for start in turn.started
        where asked.contains(start.app) && world.process(start.launch)?.command != nil {
            askedFor.insert(start.launch)
        }
        // Its result source is read first.
        for probe in turn.probed where asked.contains(probe.app) { askedFor.insert(probe.launch) }
        guard isOnBattery, wasOnBattery else {
            begunOnCharger.subtract(turn.started.map(\.launch))
            begunOnCharger.formUnion(turn.probed.map(\.launch))
            return wrong
        }
        for (launch, app) in turn.begunInBackground(world) {
            if begunOnCharger.remove(launch) != nil { continue }
            if turn.started.contains(where: { $0.launch == launch }) {
                started[launch] = day
            } else if turn.thawed.contains(launch), !turn.isStart, !askedFor.contains(launch) {
                // A start repeats what the last daemon may have done.
                wakes(app, launch)
            }
        }
        return wrong
    }

    private func wakes(_ app: AppID, _ launch: LaunchID) {
        if forEvents.contains(launch) { today.allow(app) }
        today.count(app)
        let mine = today.byApp[app] ?? 0
        if mine > perApp + today.asked(of: app) {
            wrong = wrong ?? "wake \(mine) of \(app) today, of \(perApp)"
        } else if today.all > perDevice + today.askedOfAll {
            wrong = wrong ?? "wake \(today.all) of the day, of \(perDevice)"
        }
    }
}
