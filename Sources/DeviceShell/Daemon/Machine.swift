internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The machine behind the device: performs each effect at its place, and collects what happens
/// for the next turn. It decides nothing.
@safe
final class Machine {
    let loop: EventLoop
    let store: Store
    let state: StateDirectory
    let paths: DaemonPaths
    let clock: DaemonClock
    private let control: any ProcessControl
    /// What has happened since the last turn.
    private(set) var inbox: [TimedEvent] = []
    private var processes: AppProcesses?
    private var uses: UseWatch?
    private var desktopUnits: DesktopUnits?
    private var load: LoadEstimate?
    private(set) var transfers: Transfers?
    /// Wakes the machine, as far as it can be.
    private var alarm: TimerSource?
    private var timer: TimerSource?
    /// As the device asked for them last, without those that are over.
    /// When the device heard the last event.
    private var lastHeard: Moment?
    private(set) var timers = Timers()
    let stayAwake: StayAwake
    private let idleInhibition: IdleInhibition
    let wakeHelper: WakeHelper
    private(set) var isStopping = false
    private var waiting: [ReplyToken: (Reply) -> Void] = [:]
    private var lastToken: UInt64 = 0
    var log: EventLogFile

    init(
        _ loop: EventLoop,
        store: Store,
        state: StateDirectory,
        paths: DaemonPaths,
        clock: DaemonClock,
        systemBus: ServiceBus,
        sessionBus: ServiceBus,
        control: any ProcessControl,
        unrecordedBoot: String?,
        limits: [ResourceLimit],
        build: String
    ) throws(LinuxError) {
        (self.loop, self.store, self.state, self.paths) = (loop, store, state, paths)
        (self.clock, self.control) = (clock, control)
        log = EventLogFile(directory: paths.state, build: build)
        stayAwake = StayAwake(loop, systemBus, paths.wakeLock)
        idleInhibition = IdleInhibition(system: systemBus, session: sessionBus)
        wakeHelper = WakeHelper(systemBus)
        processes = try AppProcesses(
            loop,
            control: control,
            paths: paths,
            unrecordedBoot: unrecordedBoot,
            limits: limits,
            launches: { [unowned self] in launches() }
        ) { [unowned self] in
            happened(.process($0, $1))
        }
        transfers = Transfers(
            loop,
            program: paths.network,
            control: control,
            clock: { clock.now().wall }
        ) { [unowned self] in
            happened(.transfer($0, $1))
        }
        uses = try UseWatch(
            loop,
            // What is not known is not taken for a use.
            isOurs: { pid in
                do throws(LinuxError) {
                    return try control.launch(of: pid) != nil
                } catch {
                    return true
                }
            }
        ) { [unowned self] in
            happened(.used($0))
        }
        desktopUnits = paths.appSlice.map { directory in
            DesktopUnits(loop, directory) { [unowned self] app in
                // What the manifest names is told once.
                if uses?.watches(app) == false { happened(.used(app)) }
            }
        }
        load = try paths.load.map { (path) throws(LinuxError) in
            try LoadEstimate(loop, path, paths.cpuPressure) { [unowned self] in
                happened(.condition(.idle, .estimate, $0))
            }
        }
        alarm = try TimerSource(loop, wakingTheMachine: true) { [unowned self] in
            happened(.timer)
        }
        timer = try TimerSource(loop) { [unowned self] in happened(.timer) }
    }

    /// Something happened now.
    func happened(_ event: Event) {
        inbox.append(TimedEvent(event, at: clock.now()))
    }

    /// Found only now, but true before everything else in this turn, except the end of an earlier
    /// sleep.
    func foundFirst(_ event: Event) {
        let first = inbox.firstIndex { !$0.event.opensTurn } ?? inbox.endIndex
        let sleep = inbox.lastIndex { if case .sleep = $0.event { true } else { false } }
        let index = max(first, sleep.map { $0 + 1 } ?? 0)
        let now = index < inbox.endIndex ? inbox[index].moment : clock.now()
        inbox.insert(TimedEvent(event, at: now), at: index)
    }

    func takeInbox() -> [TimedEvent] {
        inbox.putEndsFirst(before: timers.first, since: lastHeard)
        measureBeforeInterruptions()
        lastHeard = inbox.last?.moment ?? lastHeard
        defer { inbox.removeAll(keepingCapacity: true) }
        return inbox
    }

    /// What a run has used when it is frozen is told with its end: too late to ask then.
    private func measureBeforeInterruptions() {
        guard let processes, inbox.contains(where: \.event.mayInterrupt) else { return }
        for id in interruptible() {
            guard let usage = processes.usage(of: id) else { continue }
            foundFirst(.process(id, .measured(usage)))
        }
    }

    /// The daemon ends with this turn: whatever else it brought begins nothing any more.
    func stop() {
        guard !isStopping else { return }
        isStopping = true
        let now = inbox.first?.moment ?? clock.now()
        inbox.insert(TimedEvent(.stopping, at: now), at: 0)
    }

    // MARK: The state directory

    /// Something was taken out of it: the next turn looks whether commits can still be found.
    private var mustLook = false

    func stateWasLost() {
        mustLook = true
        happened(.timer)
    }

    func takeMustLook() -> Bool {
        defer { mustLook = false }
        return mustLook
    }

    /// Those that an event may freeze in mid-run.
    var interruptible: () -> [LaunchID] = { [] }
    /// The launches of the core, and whose they are.
    var launches: () -> [(launch: LaunchID, app: AppID)] = { [] }

    /// The keeper holds one that nobody else can find.
    var lockWasReplaced: () -> Void = {}
    /// It was made anew, with nothing in it but what was committed then.
    private var wasMadeAnew = false
    /// Another daemon has made itself one in the same place.
    private(set) var isTaken: DaemonError?

    func takeWasMadeAnew() -> Bool {
        defer { wasMadeAnew = false }
        return wasMadeAnew
    }

    /// Nothing is written but in a directory that is ours, and nothing over what others have put
    /// there. The store comes last: a daemon that starts believes what it finds in it.
    private func commitAnew(
        _ records: [Record],
        with changes: [Change]
    ) throws(CommitError) {
        let loss = state.loss
        do {
            guard let loss else {
                try markLaunches(records)
                try store.commitAnew(records, with: changes)
                return
            }
            if let other = state.otherDaemon { throw other }
            guard loss.kind == .deleted else { throw StoreError.gone(loss) }
            if try state.makeAgain() { lockWasReplaced() }
            let markers = LaunchMarkers(paths.launches)
            try markers.open(bootID: Clocks.bootID())
            try markers.record(control.step)
            try markLaunches(records)
            if state.hasLostStore {
                try store.make(records, with: changes)
                knowState()
            } else {
                knowState()
                try store.commitAnew(records, with: changes)
            }
            wasMadeAnew = true
        } catch let error as StoreError {
            throw CommitError(error)
        } catch {
            if let error = error as? DaemonError, case .alreadyRunning = error {
                isTaken = error
                loop.exit()
            }
            let prefix = loss.map { "\($0), and cannot be made again: " } ?? ""
            throw CommitError(.gone, reason: "\(prefix)\(error)")
        }
    }

    private func knowState() {
        do throws(LinuxError) {
            try state.know()
        } catch {
            state.forget()
            DaemonLog.write("deletion of the state directory will not be noticed: \(error)")
        }
    }

    private func markLaunches(_ records: [Record]) throws(LinuxError) {
        let markers = LaunchMarkers(paths.launches)
        for case .launch(let record) in records {
            guard let process = record.launch.process, record.launch.exit == nil else { continue }
            try markers.restore(
                record.id,
                ProcessIdentity(pid: process.pid, startTime: process.startTime),
                until: record.launch.deadline.map(clock.onMachine)
            )
        }
    }

    /// Events that this turn had no time for go first in the next.
    func putBack(_ events: [TimedEvent]) { inbox = events + inbox }

    /// Processes that left their launch, which nothing tells any more.
    var strays: [ProcessStatus] { processes?.strays ?? [] }

    func usage(of launch: LaunchID) -> Usage? { processes?.usage(of: launch) }
    func survivors() throws(LinuxError) -> [Survivor] { try processes?.survivors() ?? [] }

    /// Nobody would end them any more, and the next daemon asks anew.
    func cancelProbes() { processes?.cancelProbes() }

    func takeEnvironment(of attached: LaunchID) -> [String] {
        processes?.takeEnvironment(of: attached) ?? []
    }

    /// Whether an alarm of this process wakes the machine.
    var wakesTheMachine: Bool { alarm?.isAlarm == true }

    func prepareForSleep(_ done: @escaping () -> Void) {
        log.flush()
        // Also when the daemon sets the kernel's alarm itself: the helper suspends the machine
        // again only for a caller whose alarm it knows.
        wakeHelper.prepare(
            wakingAt: timers.alarm.map(clock.onMachine),
            isNeeded: !wakesTheMachine,
            done
        )
    }

    /// Why changes of files may go unseen; nil: they do not.
    var watchProblem: LinuxError? {
        uses?.problem ?? desktopUnits?.problem ?? processes?.logWatchProblem
    }

    /// Whether starts by the desktop are seen; nil: nobody looks for them.
    var seesDesktopUnits: Bool? { desktopUnits?.isThere }

    func renewDesktopUnits() { desktopUnits?.renew() }

    func renewWatches() {
        uses?.renew()
        processes?.renewWatches()
    }

    func setIdleLoad(_ limit: Int64) { load?.limit = limit }

    func restartLogs() { processes?.restartLogs() }

    func setLogSize(_ size: Int64) { processes?.setLogSize(Int(size)) }

    /// Whether a keeper runs, which holds the logs to their limit.
    func setKept(_ isKept: Bool) { processes?.setKept(isKept) }

    /// For those who watch on the private socket.
    var announced: (HistoryLine) -> Void = { _ in }
    /// For apps on it.
    var told: (LaunchID, AppMessage) -> Void = { _, _ in }

    /// A caller to be answered, once, after the commit of what it asks for.
    func expect(_ answer: @escaping (Reply) -> Void) -> ReplyToken {
        lastToken += 1
        let token = ReplyToken(lastToken)
        waiting[token] = answer
        return token
    }

    /// The form in which the driver holds the machine.
    struct Port: DevicePort {
        let machine: Machine

        mutating func commit(
            _ changes: [Change],
            _ durability: Durability
        ) throws(CommitError) {
            do throws(StoreError) {
                try machine.store.commit(changes, durability)
            } catch {
                if case .gone = error {
                    DaemonLog.write("nothing is started until this is over: \(error)")
                }
                throw CommitError(error)
            }
        }

        mutating func commitAnew(
            _ records: [Record],
            with changes: [Change]
        ) throws(CommitError) {
            try machine.commitAnew(records, with: changes)
        }

        mutating func prepare(_ effects: [Effect]) {
            for effect in effects {
                if case .spawn(let id, let spec) = effect { machine.processes?.prepare(id, spec) }
                if case .release(let id) = effect { machine.processes?.prepareRemoval(of: id) }
            }
        }

        mutating func record(_ event: TimedEvent, _ decisions: [Effect]) {
            machine.log.append(event, decisions)
        }

        mutating func recordRollback(of count: Int) {
            machine.log.appendRollback(of: count)
            machine.processes?.removePrepared()
        }
    }

    func perform(_ effect: Effect) {
        guard let processes else { return }
        switch effect {
        case .save: break
        case .reply(let token, let reply): waiting.removeValue(forKey: token)?(reply)
        case .announce(let line):
            if case .transferred(let id, _, _) = line.entry { transfers?.release(id) }
            announced(line)
        case .spawn(let id, let spec): processes.spawn(id, spec.onMachine(clock))
        case .attach(let id, let caller, let spec): processes.attach(id, caller, spec)
        case .probe(let id, let step, let source, let spec, let limit):
            processes.probe(id, step, source, spec, limit: limit)
        case .cancelProbe(let id): processes.cancelProbe(id)
        case .freeze(let id): processes.freeze(id)
        case .thaw(let id): processes.thaw(id)
        case .terminate(let id): processes.terminate(id)
        case .kill(let id): processes.kill(id)
        case .release(let id): processes.release(id)
        case .measure(let id): processes.measure(id)
        case .checkLocks(let id): processes.checkLocks(id)
        case .weigh(let id, let weight): processes.weigh(id, weight)
        case .limitMemory(let id, let bytes): processes.limitMemory(id, bytes)
        case .setDeadline(let id, let deadline):
            processes.setDeadline(id, deadline.map(clock.onMachine))
        case .tell(let id, let message): told(id, message)
        case .transfer(let id, let action): transfers?.perform(action, id)
        case .holdAwake(let hold): stayAwake.hold(hold)
        case .inhibitIdle(let inhibits): idleInhibition.hold(inhibits)
        case .notifyFailures(let app, let count, let reason, let command):
            notifyFailures(app, count, reason, command)
        case .sleepAgain: wakeHelper.sleepAgain()
        case .watchIdle(let watches):
            // Where it is not read nothing ever told it: it stays unknown.
            load?.watch(watches)
        case .watchUse(let app, let source): uses?.watch(app, source)
        case .arm(let timers):
            self.timers = timers
            arm()
        }
    }

    /// Moves a virtual clock on to `instant`; what is due by then happens.
    /// `asleep`: then the device wakes, and looks at everything.
    func move(to instant: BootTime, asleep: Bool = false) throws(LinuxError) {
        try clock.move(to: instant, asleep: asleep)
        func isLeft(_ time: BootTime) -> Bool { time > instant }
        let isDue = timers.first.map { !isLeft($0) } ?? false
        // Each is for once.
        timers = Timers(
            alarm: timers.alarm.flatMap { isLeft($0) ? $0 : nil },
            timer: timers.timer.flatMap { isLeft($0) ? $0 : nil }
        )
        arm()
        if isDue || asleep { happened(.timer) }
    }

    private func arm() {
        // The loop has ended, or ends.
        guard !isStopping else { return }
        do throws(LinuxError) {
            try alarm?.arm(at: timers.alarm.map(clock.onMachine))
            try timer?.arm(at: timers.timer.map(clock.onMachine))
        } catch {
            DaemonLog.write("the timers cannot be set, retrying with the next event: \(error)")
        }
    }

    private func notifyFailures(
        _ app: AppID,
        _ count: Int64,
        _ reason: String,
        _ command: String
    ) {
        guard let words = ArgumentList.parse(command, home: paths.home) else {
            DaemonLog.write("ignoring failure-command, which is not a command line: \(command)")
            return
        }
        processes?.notifyFailures(app, count: count, reason: reason, command: words)
    }
}

extension CommitError {
    package init(_ error: StoreError) {
        let cause: Cause
        switch error {
        case .gone: cause = .gone
        case .notOurs, .newer, .corrupt, .foreign, .database, .file:
            cause = error.isFull ? .full : .failing
        }
        self.init(cause, reason: "\(error)")
    }
}
