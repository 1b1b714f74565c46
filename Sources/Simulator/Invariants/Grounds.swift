import DeviceCore
import Vocabulary

/// What of the world can hold work back, and since when it has not: what was asked for, used and
/// begun, by the age of the world. Where a kill or a reboot hides what the device did, the latest
/// that it may have been.
final class Grounds {
    /// When anything was last done with the app, or by it.
    private var lastDeed: [AppID: Interval] = [:]
    /// What was heard of in this turn.
    private var heard: [AppID] = []
    private var apps: [LaunchID: AppID] = [:]
    /// No stamp of the device is from between this and now, but for what was done: the clock was
    /// set back, the machine booted, or the store failed.
    private var lastUpset = Interval.zero
    private var hasRebooted = false
    /// Wall time less the age of the world.
    private var clockOffset: Int64?
    /// By how much the clock has been set, back and forth, in all: where no daemon lived then, its
    /// successor may take that for time that has passed.
    private var steps = Interval.zero

    private var dates: [AppID: [String: WallTime]] = [:]
    private var rhythms: [AppID: Interval] = [:]
    private var opened: [AppID: Opening] = [:]
    /// Launches whose program waits for the reading of its result source.
    private var probing: [(launch: LaunchID, app: AppID)] = []
    private var shortages: [StartFailure.Cause: Interval] = [:]
    private var newShortages: [StartFailure.Cause] = []
    /// What the sensors said that work waits for to settle, and since when.
    private var sensed: [Int] = []
    private var sensedSince = Interval.zero
    private var wakes: [Int64: DayCount] = [:]
    /// By day, of one app or of all.
    private var runTimes: [Int64: [AppID?: Interval]] = [:]
    private var lastUpsetDay = Int64.min

    // MARK: What happens

    func asked(_ event: Event, at now: Moment) {
        guard let submission = event.submission else { return }
        let identifier = submission.identifier ?? ""
        let app = submission.app ?? AppID("command.\(identifier)")
        if let every = submission.every { rhythms[app] = max(every, rhythms[app] ?? every) }
        guard let date = submission.earliest ?? submission.after.map({ now.wall + $0 }) else {
            return
        }
        let known = dates[app]?[identifier] ?? date
        dates[app, default: [:]][identifier] = max(date, known)
    }

    func opened(_ app: AppID, at now: Moment) {
        opened[app] = Opening(at: now.boot, steps: steps)
    }

    private struct Opening {
        let at: BootTime
        /// `Grounds.steps` then.
        let steps: Interval
    }

    func heard(_ event: Event) {
        switch event {
        case .user(let request, _): if let app = request.app { heard.append(app) }
        case .used(let app): heard.append(app)
        case .app(let launch, let said):
            guard let app = apps[launch] else { return }
            heard.append(app)
            if case .fetchInterval(.every(let interval), _) = said {
                rhythms[app] = max(interval, rhythms[app] ?? interval)
            } else if case .fetchInterval(.minimum, _) = said {
                rhythms[app] = rhythms[app] ?? .zero
            }
        case .process(let launch, let event):
            if let app = apps[launch] { heard.append(app) }
            if case .notStarted(let failure) = event { newShortages.append(failure.cause) }
            if case .probed(_, .notAsked(let failure)) = event {
                newShortages.append(failure.cause)
            }
        case .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition, .triggered,
            .transfer,
            .storageRecovered, .stopping:
            break
        }
    }

    func performed(_ effect: Effect, _ world: World) {
        switch effect {
        case .spawn(let launch, let spec), .attach(let launch, _, let spec):
            did(launch, of: spec.app, world)
            probing.removeAll { $0.launch == launch }
        case .probe(let launch, let step, _, let spec, _):
            did(launch, of: spec.app, world)
            if step == .before { probing.append((launch, spec.app)) }
        case .cancelProbe(let launch): if let app = apps[launch] { did(launch, of: app, world) }
        case .freeze(let launch), .thaw(let launch), .terminate(let launch), .kill(let launch),
            .tell(let launch, _), .weigh(let launch, _):
            if let app = apps[launch] { did(launch, of: app, world) }
        case .release(let launch):
            probing.removeAll { $0.launch == launch }
            guard let app = apps.removeValue(forKey: launch) else { return }
            did(nil, of: app, world)
            guard let process = world.process(launch) else { return }
            let time = process.runTime(at: world.clock.elapsed)
            for whose in [app, nil] {
                runTimes[world.now.local.day, default: [:]][whose, default: .zero] += time
            }
        case .save, .measure, .checkLocks, .limitMemory, .transfer, .setDeadline, .holdAwake,
            .inhibitIdle,
            .sleepAgain,
            .watchIdle, .notifyFailures, .watchUse, .reply, .announce, .arm:
            break
        }
    }

    private func did(_ launch: LaunchID?, of app: AppID, _ world: World) {
        if let launch { apps[launch] = app }
        lastDeed[app] = world.clock.elapsed
    }

    func rebooted() {
        hasRebooted = true
        probing.removeAll()
        apps.removeAll()
        // Power may have taken it along.
        opened.removeAll()
    }

    func ended(_ turn: Turn, _ world: World) {
        let elapsed = world.clock.elapsed
        for app in heard { lastDeed[app] = elapsed }
        heard.removeAll(keepingCapacity: true)
        for cause in newShortages { shortages[cause] = elapsed }
        newShortages.removeAll(keepingCapacity: true)
        recordUpsets(turn, world)
        recordSensors(world)
        let day = turn.moment.local.day
        // What a kill hides is on record, or was not begun.
        let assigned = turn.wasKilled ? turn.assigned.map { ($0.launch, $0.app) } : []
        // So is a command that was stopped, and was to go on in the same turn.
        let resumed = turn.wasKilled ? world.processes.filter { $0.command != nil } : []
        for app in turn.begun(world).map(\.1) + assigned.map(\.1) + resumed.map(\.appID) {
            wakes[day, default: DayCount()].count(app)
        }
        for (_, app) in assigned { lastDeed[app] = elapsed }
        if turn.isStart {
            for process in world.processes {
                apps[process.launch] = process.appID
                lastDeed[process.appID] = elapsed
            }
        }
    }

    private func recordUpsets(_ turn: Turn, _ world: World) {
        let (now, elapsed) = (world.now, world.clock.elapsed)
        let offset = now.wall.nanoseconds - elapsed.nanoseconds
        let isSetBack = clockOffset.map { offset < $0 } ?? false
        steps += Interval(nanoseconds: abs(offset - (clockOffset ?? offset)))
        if isSetBack || hasRebooted || turn.wasRolledBack {
            (lastUpset, lastUpsetDay) = (elapsed, now.local.day)
        }
        (clockOffset, hasRebooted) = (offset, false)
    }

    private func recordSensors(_ world: World) {
        var now: [Int] = []
        for condition in [Condition.network, .metered, .power] {
            now.append(world.sensing(condition) == .known ? world.value(condition) : -1)
        }
        guard now != sensed else { return }
        (sensed, sensedSince) = (now, world.clock.elapsed)
    }

    // MARK: What can be said of it

    /// Nothing has been done with the app, or by it, for so long; nor is anything now.
    func hasRested(_ app: AppID, for time: Interval, _ world: World) -> Bool {
        let isAtWork =
            probing.contains { $0.app == app }
            || world.processes.contains { $0.appID == app && ($0.command != nil || !$0.isFrozen) }
        return !isAtWork
            && Self.hasPassed(time, since: max(lastDeed[app] ?? .zero, lastUpset), world)
    }

    /// It takes some time until what was done is accounted for: a result is read, an answer waited
    /// for.
    private static func hasPassed(_ time: Interval, since: Interval, _ world: World) -> Bool {
        world.clock.elapsed - since > time + .minutes(1)
    }

    /// Its caller's date has passed, and no command has just asked to be tried again.
    func isDue(_ identifier: String?, of app: AppID, _ world: World) -> Bool {
        guard hasRested(app, for: world.settings.backOff, world) else { return false }
        guard let date = dates[app]?[identifier ?? ""] else { return true }
        return world.now.wall > date + .minutes(1)
    }

    /// The longest that rests between its runs; nil: it has no rhythm.
    func rhythm(of app: AppID, _ world: World) -> Interval? {
        let plan = world.plan(of: app)
        var rests: [Interval] = rhythms[app].map { [max($0, minimum(world))] } ?? []
        if plan?.manifest.refreshCommand != nil {
            rests.append(plan?.manifest.refreshInterval ?? minimum(world))
        }
        if plan?.manifest.processingCommand != nil {
            rests.append(plan?.manifest.processingInterval ?? world.settings.processingInterval)
        }
        return rests.max()
    }

    private func minimum(_ world: World) -> Interval { world.settings.minimumRefreshInterval }

    /// Nothing that fits has happened for as long as the device may hold that against the app.
    func isUsed(_ app: AppID, _ world: World) -> Bool {
        guard world.plan(of: app)?.hasKnownUse == true else { return true }
        let isOpen = world.processes.contains {
            !$0.isDead && $0.appID == app && $0.weight == .foreground
        }
        if isOpen { return true }
        let limit = world.settings.unusedLimit
        if world.clock.elapsed + steps < limit { return true }
        guard let opening = opened[app] else { return false }
        return world.now.boot - opening.at + (steps - opening.steps) < limit
    }

    /// Nothing was missing for a start for longer than the device waits between tries.
    func hasRoom(_ cause: StartFailure.Cause, _ world: World) -> Bool {
        shortages[cause].map { Self.hasPassed(.minutes(1), since: $0, world) } ?? true
    }

    func isSteady(_ world: World) -> Bool {
        let since = max(sensedSince, world.settledSince, world.awakeSince)
        return Self.hasPassed(world.settings.settleTime, since: since, world)
    }

    /// The machine, and the daemon, have been up for longer than they pause.
    func isUp(_ world: World) -> Bool {
        let settings = world.settings
        let up = world.now.boot - BootTime(nanoseconds: 0)
        let pause = max(settings.pauseAfterStart, settings.pauseAfterResume) + .seconds(10)
        return up > settings.pauseAfterBoot + .seconds(10)
            && world.clock.elapsed - max(world.settledSince, world.awakeSince) > pause
    }

    /// The apps of today together, or one, have begun less and run for less time than they may.
    func isWithinQuota(_ app: AppID?, _ world: World) -> Bool {
        if world.sensing(.power) == .known, world.value(.power) == 1 { return true }
        let day = world.now.local.day
        // The reason may be that of a moment before midnight.
        guard day > lastUpsetDay, world.now.earlier(by: .seconds(5)).local.day == day else {
            return false
        }
        let living = world.processes.filter { app == nil || $0.appID == app }
        let begun = wakes[day]
        var time = runTimes[day]?[app] ?? .zero
        for process in living { time += process.runTime(at: world.clock.elapsed) }
        let count = app.map { begun?.byApp[$0] ?? 0 } ?? begun?.all ?? 0
        // Work that waits for the connection of its app may be counted, and not seen yet.
        let most = count + Int64(living.count { !$0.isFrozen }) + Int64(probing.count)
        let settings = world.settings
        let wakes = app == nil ? settings.deviceWakesPerDay : settings.appWakesPerDay
        let limit = app == nil ? settings.deviceTimePerDay : settings.appTimePerDay
        // Before its program runs and after it, a result is read.
        return most < wakes && time + world.settings.probeLimit * (3 * most) < limit
    }

    /// There is a slot, also for what is heavy. `waiting`: what is not offered yet may be.
    func hasSlot(_ waiting: [LaunchID: Set<DeliveryID>], _ world: World) -> Bool {
        var running = probing.count
        var isHeavy = running > 0
        for process in world.processes where !process.isFrozen {
            let waits = waiting[process.launch]?.isEmpty == false
            guard process.weight == .background || !process.talk.work.isEmpty || waits else {
                continue
            }
            running += probing.contains { $0.launch == process.launch } ? 0 : 1
            isHeavy =
                isHeavy || waits || process.command == .processing
                || process.talk.work.contains { $0.isProcessing }
        }
        return running < Int(world.settings.runSlots) && !isHeavy
    }
}

extension World {
    /// Nil: a command of the user's.
    func plan(of app: AppID) -> AppPlan? {
        let index = planIndex(app)
        return index < plans.count - 1 ? plans[index] : nil
    }
}

extension AppPlan {
    /// Its manifest has the modes of all that it does, and names the task.
    func permits(_ identifier: String?) -> Bool {
        if isLinked || manifest.refreshCommand != nil, !manifest.modes.contains(.fetch) {
            return false
        }
        if isLinked || manifest.processingCommand != nil, !manifest.modes.contains(.processing) {
            return false
        }
        return !isLinked || usesFetch || identifier.map { manifest.permits(identifier: $0) } ?? true
    }

    /// A task that it submits as processing.
    func isProcessing(_ identifier: String?) -> Bool {
        identifier.map { processingIdentifiers.contains($0) } ?? false
    }
}

extension Turn {
    /// All launches that were given anything to do in it, also what would not count.
    fileprivate func begun(_ world: World) -> [(LaunchID, AppID)] {
        var begun = probed.map { ($0.launch, $0.app) }
        for start in started where start.weight == .background {
            begun.append((start.launch, start.app))
        }
        for launch in thawed + offered.map(\.launch) {
            guard let process = world.process(launch),
                !begun.contains(where: { $0.0 == launch })
            else { continue }
            begun.append((launch, process.appID))
        }
        return begun
    }
}

extension UserRequest {
    fileprivate var app: AppID? {
        switch self {
        case .open(let app, _, _), .leave(let app), .close(let app), .run(let app, _),
            .cancel(let app, _), .cancelPending(let app, _), .simulate(_, let app, _, _):
            app
        case .submit(let submission):
            submission.app ?? submission.identifier.map { AppID("command.\($0)") }
        case .dismiss(let app): app
        case .pause, .continue, .override, .transfer: nil
        }
    }
}
