package import Vocabulary

/// The behaviour of a device, as one value: event and moment in, effects out.
///
/// Pure and deterministic: it does no I/O, reads no clock, draws no random number. It routes each
/// event to the part that it concerns (`Lifecycle`, `Scheduling`, `Settings`, …), then settles:
/// every app that was touched, or whose time has come, is looked at anew, and what may run starts.
package struct Device: Hashable, Sendable, Codable {
    package internal(set) var settings = Shared(Settings())
    package internal(set) var conditions = Conditions()
    package internal(set) var apps = AppTable()
    package internal(set) var pause = Pause.none
    package internal(set) var pausedAt: WallTime?
    /// When a pause for a while ends by the wall clock: all that another boot can go by.
    var pauseEnds: WallTime?
    package internal(set) var ledger = Ledger()
    package internal(set) var transfers = TransferTable()
    var refreshPolicy = RefreshPolicy()
    package internal(set) var bootID = ""
    package internal(set) var seed: Int64 = 0
    package internal(set) var startedAt = BootTime(nanoseconds: 0)
    var sleep = Sleep()
    var serials = Serials()
    var lastMoment: Moment?
    var armed = Timers()
    /// One-shot: should one have come too early, it is asked for again.
    var isTimerSpent = false
    var confirmedStart: NextStart?
    var isHeldAwake = false
    var isIdleInhibited = false
    var isIdleWatched = false
    /// When the next suspended app ends if memory is still short.
    var memoryCheckAt: AwakeTime?

    /// Set while the machine cannot start programs.
    package internal(set) var startBlock: StartBlock?
    /// The daemon ends with this turn: nothing is begun any more.
    package internal(set) var stoppingSince: WallTime?
    var isStopping: Bool { stoppingSince != nil }

    var liveLaunches = LaunchTable()

    /// Apps to look at before this event is done, by index; cleared with each event.
    var touched = UniqueList<Int>()
    /// Records to save with this event.
    var unsaved = UniqueList<Unsaved>()

    package enum Pause: Hashable, Sendable, Codable {
        case none
        /// For so long, whatever becomes of the clock.
        case until(BootTime)
        case untilDate(WallTime)
        case untilContinued
    }

    /// Runs in progress.
    package struct Running: Hashable, Sendable, Codable {
        package let all: Int
        package let processing: Int
    }
    package var running: Running {
        Running(all: liveLaunches.count(.run), processing: liveLaunches.count(.heavyRun))
    }

    /// Numbers are reserved in the store by the hundred, so that giving one out is no write.
    struct Serials: Hashable, Sendable, Codable {
        var next: UInt64 = 1
        var reserved: UInt64 = 1
    }

    enum Unsaved: Hashable, Sendable, Codable {
        case device
        case app(Int)
        case request(Int, RequestID)
        case launch(Int, LaunchID)
        case transfer(TransferID)
        case gone(RecordKey)
        case line(HistoryLine)
    }

    package init() {}

    /// Takes one event at one moment, and appends what must be done about it.
    ///
    /// `othersFollow`: more events of this turn follow. The timers and the transfers that begin are
    /// chosen after the last one.
    /// `rounds`: what settling takes at the most; what is left then is done a moment later.
    package mutating func handle(
        _ event: Event,
        at now: Moment,
        othersFollow: Bool = false,
        rounds: Int = 10_000,
        into effects: inout [Effect]
    ) {
        // No decision may depend on what is not recorded.
        var now = now
        now.zone = nil
        // The caller's room is used again.
        var transition = Transition(now: now)
        swap(&transition.effects, &effects)
        let first = transition.effects.count
        searchIfPostponed(until: now)
        noticeSleep(&transition)
        noticeClockStep(at: now)
        measureMoments(until: now)
        noticeUser(event, at: now)
        route(event, &transition)
        decideRefreshes(&transition)
        settle(rounds: rounds, &transition)
        settleTransfers(othersFollow: othersFollow, &transition)
        scheduleNextDecision(othersFollow: othersFollow, at: now)
        if !othersFollow { rearm(&transition) }
        let changes = takeChanges()
        if !changes.isEmpty { transition.effects.insert(.save(changes), at: first) }
        swap(&transition.effects, &effects)
        lastMoment = now
    }

    private mutating func route(_ event: Event, _ transition: inout Transition) {
        switch event {
        case .started(let start): started(start, &transition)
        case .timer: isTimerSpent = true
        case .sleep(let step): sleepStep(step, &transition)
        case .clockChanged: clockChanged(&transition)
        case .manifests(let changes): for change in changes { manifest(change, &transition) }
        case .settings(let settings):
            settingsChanged(settings, &transition)
            tellRefresh(&transition)
        case .condition(let condition, let source, let reading):
            sensed(ConditionReport(condition, source, reading), &transition)
        case .process(let launch, let event): take(.process(event), launch, &transition)
        case .app(let launch, let event): appSaid(launch, event, &transition)
        case .transfer(let id, let event): transferSaid(id, event, &transition)
        case .used(let app): wasUsed(app, &transition)
        case .triggered(let event): event.trigger.row.triggered?(&self, event, &transition)
        case .user(let request, let reply): user(request, reply, &transition)
        case .storageRecovered:
            conditionReported(.storage, .daemon, .value(0), &transition)
        case .stopping: stoppingSince = transition.now.wall
        }
    }

    /// What one event does: its moment, and the effects so far. A turn of the driver has many.
    struct Transition {
        let now: Moment
        var effects: [Effect] = []

        mutating func emit(_ effect: Effect) { effects.append(effect) }
        mutating func reply(_ token: ReplyToken, _ reply: Reply) {
            effects.append(.reply(token, reply))
        }
    }
}

// MARK: - Sensors and settings

extension Device {
    mutating func settingsChanged(_ new: Settings, _ transition: inout Transition) {
        let wait = settings.discretionaryWait
        settings = Shared(new)
        conditions.updateBattery(
            limit: Int(settings.batteryLimit),
            margin: Int(settings.batteryMargin)
        )
        refreshPolicy.settingsChanged()
        if settings.discretionaryWait != wait { requeueTransfers(at: transition.now) }
        touchAll()
    }

    mutating func conditionReported(
        _ condition: Condition,
        _ source: ConditionSource,
        _ reading: Reading,
        _ transition: inout Transition
    ) {
        let grant = processingGrant
        let (wasIdle, wasUnlocked) = (conditions.deviceIdle, conditions.unlockedOnce)
        let change = conditions.report(
            condition,
            source,
            reading,
            limit: Int(settings.batteryLimit),
            margin: Int(settings.batteryMargin),
            at: transition.now
        )
        if source == .hand || conditions.unlockedOnce != wasUnlocked { save(.device) }
        let isOfUse = condition == .idle && source != .estimate
        guard isOfUse && useReported(wasIdle: wasIdle, &transition) || change.isAny else { return }
        refreshPolicy.conditionChanged(condition)
        tellConditions(after: condition, &transition)
        if change.isOfValue { stopWhatMayNotGoOn(after: condition, &transition) }
        grantChanged(by: processingGrant - grant, &transition)
        if condition == .memory { relieveMemory(&transition) }
        transferGatesChanged(condition, &transition)
        touch(heldBy: condition.gates)
        // Who may run, runs: a gate that closes holds back only those whose moment is to come.
        if condition.gates.overlaps(.ofRefreshes) {
            for index in refreshPolicy.members.indices where apps[index].mayWait { touch(index) }
        }
        // What starts by time alone shares its wakes while nobody uses the device, and the machine
        // is not woken for what may not start any more.
        if condition == .idle || change.mayClose {
            for index in apps.dated { touch(index) }
        }
    }

    /// Somebody uses the device, or nobody does any more. Returns whether that is new.
    private mutating func useReported(wasIdle: Bool, _ transition: inout Transition) -> Bool {
        let changed = conditions.deviceIdle != wasIdle
        // In use though nothing said so of the device: an app was opened, or that is what was known
        // before the daemon started.
        guard changed || conditions.deviceIdle && refreshPolicy.use.isInUse else { return false }
        let start = transition.now.wall - (transition.now.boot - startedAt)
        if !conditions.deviceIdle {
            refreshPolicy.deviceUsed(at: UseTime(transition.now))
            // Its end is seen again by a daemon that starts.
            save(.device)
        } else if changed || refreshPolicy.use.lastUse.map({ $0 >= start }) ?? false {
            refreshPolicy.deviceLeft(at: UseTime(transition.now))
        } else {
            refreshPolicy.deviceLeftUnseen()
        }
        return true
    }
}

// MARK: - Bookkeeping

extension Device {
    var usedIndices: [Int] { (0..<apps.endIndex).filter { apps.isUsed($0) } }

    mutating func touch(_ index: Int) { touched.append(index) }

    /// Another look at those that one of these gates held when they were last looked at.
    mutating func touch(heldBy gates: GateSet) {
        touchTransfers(heldBy: gates)
        for index in apps.held(by: gates) { touch(index) }
    }

    /// The same of transfers alone: what has changed is of an app that is touched itself.
    mutating func touchTransfers(heldBy gates: GateSet) {
        if transfers.heldBy.overlaps(gates) { transfers.isTouched = true }
    }

    mutating func touchAll() {
        touched = UniqueList(usedIndices)
        transfers.touch()
    }

    mutating func nextSerial<Kind>(_ kind: Kind.Type) -> Serial<Kind> {
        if serials.next == serials.reserved {
            serials.reserved += 100
            save(.device)
        }
        defer { serials.next += 1 }
        return Serial(serials.next)
    }

    /// The index of the app of a launch, and of the launch within it.
    func find(_ launch: LaunchID) -> (app: Int, launch: Int)? {
        guard let app = liveLaunches.app(of: launch) else { return nil }
        return apps[app].index(of: launch).map { (app, $0) }
    }
}
