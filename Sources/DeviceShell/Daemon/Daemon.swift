internal import AppProtocol
internal import BuildIdentity
internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// One device daemon: one thread, one loop, one core.
///
/// A turn is: wait for one source, let at most 64 run, then give all that happened to the driver,
/// which commits once and returns the effects, replies among them, for the daemon to perform.
@safe
final class Daemon {
    let paths: DaemonPaths
    let loop: EventLoop
    let machine: Machine
    let clock: DaemonClock
    let systemBus: ServiceBus
    let sessionBus: ServiceBus
    let control: any ProcessControl
    private(set) var driver: Driver<Machine.Port>
    private let state: StateDirectory
    private var inputs: Inputs?
    private var signals: [SignalSource] = []
    /// Set by `listen`.
    var bus: AppBus?
    /// Set by `listen`.
    var discovery: Discovery?
    /// Not handed over by a service manager. Set by `listen`.
    var ownSocket: FileStatus?
    private var keeper: ProcessSource?
    /// Kept a new scope of systemd alive until the keeper was in it; to be reaped.
    private var scopeHolder: ProcessSource?
    private var keeperTimer: TimerSource?
    private static let firstKeeperWait = Interval.seconds(5)
    private var keeperWait = Daemon.firstKeeperWait
    private var keptSince = BootTime.distantPast
    /// Why there is no keeper; nil: there is one.
    private(set) var keeperProblem: String?
    private var retryTimer: TimerSource?
    /// Far more than the slowest disk makes of the largest turn.
    private static let turnLimit = Interval.minutes(10)
    private static let firstRetryWait = Interval.seconds(1)
    private var retryWait = Daemon.firstRetryWait
    private var isRetryArmed = false
    let startedAt = Clocks.boot()
    /// The clock is being moved on.
    var advance: Advance?
    /// What is wrong with the settings file; empty when it is in force.
    var settingsProblems: [Diagnostic] = []
    /// What is wrong in the administrator's.
    var administratorProblems: [Diagnostic] = []

    /// Opens everything, decides nothing yet. Throws what a user can act on.
    ///
    /// SIGTERM, SIGINT, SIGHUP and SIGCHLD must be blocked.
    init(
        _ paths: DaemonPaths,
        scope: String? = nil,
        only step: ControlStep.Kind? = nil,
        isClockVirtual: Bool = false,
        childLimits: [ResourceLimit] = []
    ) throws(DaemonError) {
        self.paths = paths
        let markers = LaunchMarkers(paths.launches)
        let bootID: String
        var holder: PidFD?
        state = try StateDirectory(paths)
        do throws(LinuxError) {
            loop = try EventLoop()
            bootID = try Clocks.bootID()
        } catch {
            throw .system(error)
        }
        try state.take()
        clock = try DaemonClock(paths, isVirtual: isClockVirtual)
        (systemBus, sessionBus) = (.system(loop, paths.systemBus), .session(loop))
        try Self.checkNobodyListens(paths)
        Self.sweepTemporaries(paths)
        let (store, device) = try Self.open(paths)
        do {
            let unrecordedBoot = Self.open(markers, bootID: bootID)
            let name = ControlProbe.name(forState: paths.state)
            var scope = scope
            if scope == nil, (step ?? .cgroup2) == .cgroup2,
                let made = SystemdScope.open(name: name, markers: markers)
            {
                scope = made.path
                holder = made.holder
            }
            let probe = ControlProbe(name: name, markers: markers, scope: scope, only: step)
            control = FallbackControl(try probe.choose(), markers)
            machine = try Machine(
                loop,
                store: store,
                state: state,
                paths: paths,
                clock: clock,
                systemBus: systemBus,
                sessionBus: sessionBus,
                control: control,
                unrecordedBoot: unrecordedBoot,
                limits: childLimits,
                build: Version.build
            )
        } catch let error as LinuxError {
            throw .system(error)
        } catch {
            throw .step("\(error)")
        }
        driver = Driver(device: device, port: Machine.Port(machine: machine))
        do throws(LinuxError) {
            if let process = holder.take() {
                scopeHolder = try ProcessSource(loop, child: process) { [unowned self] _ in
                    scopeHolder = nil
                }
            }
            try state.know()
            store.loss = { [state] in state.loss }
            watchState()
            machine.lockWasReplaced = { [unowned self] in replaceKeeper() }
            try prepare(bootID: bootID)
        } catch {
            throw .system(error)
        }
    }

    private static func sweepTemporaries(_ paths: DaemonPaths) {
        for directory in [paths.state, paths.launches, paths.logs] {
            Sweep.temporaries(in: directory)
        }
        Sweep.temporaries(
            in: Files.directory(of: paths.configuration),
            of: Files.name(of: paths.configuration)
        )
    }

    /// The boot, if it cannot be written down yet.
    private static func open(_ markers: LaunchMarkers, bootID: String) -> String? {
        do throws(LinuxError) {
            try markers.open(bootID: bootID)
            return nil
        } catch {
            DaemonLog.write("nothing is started until this is over: \(error)")
            return bootID
        }
    }

    private static func open(_ paths: DaemonPaths) throws(DaemonError) -> (Store, Device) {
        do throws(StoreError) {
            let store = try Store(path: paths.database)
            return (store, Device(restoring: try store.load()))
        } catch {
            throw .store(error)
        }
    }

    /// The first turn: what the store remembers meets what the machine shows, before any peer is
    /// accepted.
    private func prepare(bootID: String) throws(LinuxError) {
        machine.launches = { [unowned self] in driver.device.launchOwners }
        machine.interruptible = { [unowned self] in driver.device.interruptibleLaunches }
        retryTimer = try TimerSource(loop) { [unowned self] in
            isRetryArmed = false
            retryWait = min(retryWait * 2, .minutes(1))
            machine.happened(.timer)
        }
        keeperTimer = try TimerSource(loop) { [unowned self] in ensureKeeper() }
        ensureKeeper()
        let inputs = try Inputs(self)
        self.inputs = inputs
        let seed = try FileDescriptor(opening: "/dev/urandom", .reading).read(upTo: 7)
        let survivors = try machine.survivors()
        let first = inputs.readFirst()
        machine.happened(
            .started(
                Start(
                    bootID: bootID,
                    survivors: survivors,
                    seed: seed.reduce(0) { $0 << 8 | Int64($1) },
                    settings: first.settings,
                    manifests: first.manifests,
                    conditions: first.conditions
                )
            )
        )
        machine.log.begin(with: driver.device)
        turn()
        machine.stayAwake.endStale()
        systemBus.connect()
    }

    // MARK: The keeper

    /// Holds the apps' scope and thaws everything should no daemon come back. Without one the apps
    /// run all the same.
    private func ensureKeeper() {
        do {
            let running = try startKeeper(state.lock)
            keeper =
                running.isOurs
                ? try ProcessSource(loop, child: running.process) { [unowned self] _ in
                    keeperEnded()
                }
                : try ProcessSource(loop, adopted: running.process) { [unowned self] _ in
                    keeperEnded()
                }
            (keeperProblem, keeperWait) = (nil, Self.firstKeeperWait)
            keptSince = Clocks.boot()
            machine.setKept(true)
        } catch {
            keeperProblem = "\(error)"
            DaemonLog.write("no keeper: frozen apps stay frozen if this daemon ends: \(error)")
            try? keeperTimer?.arm(at: Clocks.boot() + keeperWait)
            keeperWait = min(keeperWait * 2, .minutes(10))
        }
    }

    private func startKeeper(
        _ lock: borrowing DaemonLock
    ) throws(LinuxError) -> Keeper.Running {
        try Keeper.ensure(
            executable: "/proc/self/exe",
            lock: lock,
            markers: LaunchMarkers(paths.launches),
            control: control,
            logs: paths.logs,
            wakeLock: paths.wakeLock
        )
    }

    private var hasKeeper: Bool {
        guard let keeper else { return false }
        return !Poll.ready(keeper.process.descriptor.number, for: .readable, milliseconds: 0)
    }

    /// It was killed: a new one, but not again and again.
    private func keeperEnded() {
        keeper = nil
        machine.setKept(false)
        let now = Clocks.boot()
        let wait = now - keptSince > .minutes(1) ? .zero : Self.firstKeeperWait
        try? keeperTimer?.arm(at: now + wait)
    }

    // MARK: Turns

    /// Until a signal, or `stop`.
    func run() throws(DaemonError) {
        do throws(LinuxError) {
            signals = [
                try SignalSource(loop, Signal.terminate) { [unowned self] _ in stop() },
                try SignalSource(loop, Signal.interrupt) { [unowned self] _ in stop() },
                try SignalSource(loop, Signal.hangUp) { [unowned self] _ in inputs?.readAll() },
            ]
            // What is ready together with them goes first.
            for signal in signals { try signal.setPriority(1) }
            if try !ServiceManager.ready() {
                // No service manager: whoever has started it waits for a word.
                DaemonLog.tell("ready at \(paths.socket), with its state in \(paths.state)")
            }
            loop.turnLimit = Self.turnLimit
            while try loop.runTurn() { turn() }
            // What came with the signal is no less true: exits, uses, callers that wait.
            turn()
            machine.cancelProbes()
            machine.log.flush()
            machine.stayAwake.end()
            leaveNothing()
            // A service manager that does not listen any more changes nothing about the end.
            _ = try? ServiceManager.stopping()
        } catch {
            throw .system(error)
        }
        if let error = machine.isTaken { throw error }
    }

    /// A clean end: what the next daemon makes anew is not left lying about.
    private func leaveNothing() {
        let socket = Files.status(paths.socket, followLinks: false)
        if let ownSocket, socket?.isSameFile(as: ownSocket) == true {
            try? Files.remove(paths.socket)
        }
        machine.transfers?.end()
        let markers = LaunchMarkers(paths.launches)
        let owner = ScopeOwner(of: control.step, state.lock, markers)
        guard owner == .we, driver.device.launchIDs.isEmpty, endsDying() else {
            // The next one in its place was still to come.
            if !hasKeeper { leaveToOthers(owner, markers) }
            return
        }
        if let keeper {
            try? keeper.process.send(Signal.kill)
            let number = keeper.process.descriptor.number
            _ = Poll.ready(number, for: .readable, milliseconds: 1000)
        }
        let isOther = state.lock.place == .other
        control.step.removeScope(besides: isOther ? markers.recordedStep() : nil)
    }

    /// What still lives is kept by a keeper. Where none can be had, nothing stays frozen.
    private func leaveToOthers(_ owner: ScopeOwner, _ markers: LaunchMarkers) {
        do throws(LinuxError) {
            if state.lock.place != .other {
                _ = try startKeeper(state.lock)
                return
            }
            // Whoever is in our place with our scope keeps what is in it; a copy has no keeper yet.
            if owner == .others, markers.recordedStep()?.kind == control.step.kind {
                let theirs = try DaemonLock(paths.lock)
                if try !theirs.daemonLives() { _ = try startKeeper(theirs) }
                return
            }
        } catch {
            DaemonLog.write("no keeper, so nothing is left frozen: \(error)")
        }
        let reached = reached
        for id in reached?.discover() ?? [] { try? reached?.thaw(id) }
    }

    private var reached: (any ProcessControl)? {
        control.step.reach(control, from: state.lock.place)
    }

    /// What was killed needs a moment to die, and no timer comes back to it. False: it needs more.
    private func endsDying() -> Bool {
        guard let control = reached else { return true }
        let end = Clocks.boot() + .seconds(1)
        while !control.discover().filter({ !control.remove($0) }).isEmpty {
            guard Clocks.boot() < end else { return false }
            _ = Poll.ready(-1, for: .readable, milliseconds: 5)
        }
        return true
    }

    private func stop() {
        // Where it cannot be said, the next one is refused until this one is gone.
        try? state.lock.sayEnding()
        machine.stop()
        loop.exit()
    }

    /// Everything that happened, and what happens because of it at once.
    func turn() {
        inputs?.refresh()
        var events = machine.takeInbox()
        var rounds = 0
        while !events.isEmpty {
            let effects = driver.turn(events, looksAtStore: machine.takeMustLook())
            for effect in effects {
                advance?.saw(effect)
                if case .spawn = effect { hasStartedProgram = true }
                machine.perform(effect)
            }
            machine.transfers?.turnEnded(isStored: !driver.mustRetry)
            if machine.takeWasMadeAnew() { settleAnew() }
            adoptSettings()
            inputs?.refresh()
            events = machine.takeInbox()
            rounds += 1
            if rounds == 64, !events.isEmpty {
                // Others want their turn as well; what is left comes with the next one.
                machine.putBack(events)
                deferred = try? DeferredSource(loop) {}
                break
            }
        }
        let bodies = atTurnEnd
        atTurnEnd = []
        for body in bodies { body() }
        // One that asks for another turn gets it at once.
        if !atTurnEnd.isEmpty { deferred = try? DeferredSource(loop) {} }
        advance?.turnEnded()
        logWhenIdle()
        retryIfNeeded()
    }
    /// Answers that say what is so once the core has decided.
    var atTurnEnd: [() -> Void] = []
    private var deferred: DeferredSource?

    /// Once it is known, the next try is due in its time, and not with each file of a directory.
    private func watchState() {
        state.watch(loop) { [unowned self] in
            if !driver.mustRetry { machine.stateWasLost() }
        }
    }

    /// The state directory is another one: whoever has the old one open is to know of it.
    private func settleAnew() {
        watchState()
        DaemonLog.write("\(paths.state) has been recreated with all known data")
        machine.log.begin(with: driver.device)
        machine.restartLogs()
        inputs?.keepAnew()
        // A failure ends the next advance.
        try? clock.keep()
    }

    /// It holds a lock that nobody else can find. A new one follows its end.
    private func replaceKeeper() {
        guard let keeper else { return }
        keptSince = .distantPast
        try? keeper.process.send(Signal.kill)
        guard machine.isStopping else { return }
        // The loop tells of no end any more.
        _ = Poll.ready(keeper.process.descriptor.number, for: .readable, milliseconds: 1000)
        ensureKeeper()
    }

    /// Nobody waits for the log. It is written in the same wake-up, except 5 ms after a program was
    /// started, 100 ms after a large turn, and 1 s after a burst.
    private func logWhenIdle() {
        guard machine.log.isWaiting, !isLogDue else { return }
        let (isBehind, isHeavy) = (machine.log.isBehind, machine.log.isHeavy)
        guard hasStartedProgram || isBehind || isHeavy else { return logNext() }
        logPause =
            logPause
            ?? (try? TimerSource(loop) { [unowned self] in
                hasStartedProgram = false
                logNext()
            })
        let pause = isBehind ? Interval.seconds(1) : .milliseconds(isHeavy ? 100 : 5)
        isLogDue = (try? logPause?.arm(at: Clocks.boot() + pause)) != nil
    }

    private func logNext() {
        idle = try? DeferredSource(loop) { [unowned self] in
            isLogDue = false
            // The turn that it brought is waited for, and comes back to this.
            guard machine.inbox.isEmpty else { return }
            let bytes = machine.log.writeNext(continuingWith: driver.device)
            // Reading the store and logging the whole device were the peak, and so is a turn with
            // thousands of changes.
            if !hasSettledIn || bytes > 1 << 20 {
                machine.store.releaseCache()
                CurrentProcess.releaseFreeMemory()
            }
            hasSettledIn = true
            sweep()
            forgetStart()
        }
        isLogDue = (try? idle?.setPriority(10)) != nil
    }

    /// Most of what is mapped of the program is the code of the start, which never runs again.
    private func forgetStart() {
        guard !hasForgottenStart, !driver.isStarting else { return }
        hasForgottenStart = true
        CurrentProcess.releaseProgram()
    }
    private var hasForgottenStart = false

    /// When there is nothing better to do, and not again and again.
    private func sweep() {
        let isDue = lastSweep.map { Clocks.boot() - $0 > .hours(1) } ?? true
        guard isDue, !driver.isStarting else { return }
        lastSweep = Clocks.boot()
        Sweep.logs(in: paths.logs, of: driver.device)
        Sweep.transfers(in: paths.transfers, of: driver.device)
    }
    private var lastSweep: BootTime?
    private var idle: DeferredSource?
    private var logPause: TimerSource?
    private var hasStartedProgram = false
    private var isLogDue = false
    private var hasSettledIn = false

    private func adoptSettings() {
        let settings = driver.device.settings
        machine.setLogSize(settings.logSize)
        machine.setIdleLoad(settings.idleLoad)
        conditionSources?.adopt(settings.value)
        machine.store.historyLimit = settings.historyLines
        machine.store.historyAge = settings.historyAge
    }

    /// While the store takes nothing, it is tried again: soon, then every minute.
    private func retryIfNeeded() {
        guard driver.mustRetry else {
            retryWait = Self.firstRetryWait
            return
        }
        // Once set it stands: whoever asks meanwhile must not put it off.
        guard !isRetryArmed else { return }
        isRetryArmed = (try? retryTimer?.arm(at: Clocks.boot() + retryWait)) != nil
    }

    func reread() { inputs?.readAll() }

    func rereadSettings() { inputs?.rereadSettings() }

    func rereadManifests() { inputs?.rereadManifests() }

    var administratorText: ConfigurationText { inputs?.administrator ?? ConfigurationText() }

    var conditionSources: ConditionSources? { inputs?.conditions }
    var watchProblem: LinuxError? { inputs?.watchProblem }
    var manifestsPassedOver: [String] { inputs?.manifestsPassedOver ?? [] }
}
