internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The processes of all launches: starts them as the core says, and tells it what became of them.
@safe
final class AppProcesses {
    let loop: EventLoop
    let control: any ProcessControl
    private let markers: LaunchMarkers
    /// The boot, while it could not be written down; markers mean nothing without it.
    private var unrecordedBoot: String?
    private let paths: DaemonPaths
    let report: (LaunchID, ProcessEvent) -> Void
    private var watched: [LaunchID: ProcessSource] = [:]
    /// Children whose end the loop could not be told to watch for, by process number.
    private var unwatched: [LaunchID: Int32] = [:]
    /// Of our children: what to say of one whose execve fails after its start.
    private var specs: [LaunchID: ProcessSpec] = [:]
    var probes: [LaunchID: ResultProbe] = [:]
    /// Programs of the user's that are no launches (failure-command); reaped when they end.
    var others: [Int32: ProcessSource] = [:]
    /// Limits of this process that are not for its children: what held when it began.
    private let limits: [ResourceLimit]
    private let session = SessionEnvironment()
    /// Launches that are over, with processes that still die.
    private var dying: [LaunchID] = []
    /// Nil: the step in force finds every process by itself.
    private var orphans: Orphans?
    private var sweep: TimerSource?
    private var peaks: PeakSamples?
    private var sweepWait = AppProcesses.firstSweep
    private static let firstSweep = Interval.milliseconds(200)
    var logs: AppLogs
    /// The launches of the core, and whose they are.
    private let launches: () -> [(launch: LaunchID, app: AppID)]
    /// Environments of those that were attached, until they are told.
    private var attached: [LaunchID: [String]] = [:]

    init(
        _ loop: EventLoop,
        control: any ProcessControl,
        paths: DaemonPaths,
        unrecordedBoot: String?,
        limits: [ResourceLimit],
        launches: @escaping () -> [(launch: LaunchID, app: AppID)],
        report: @escaping (LaunchID, ProcessEvent) -> Void
    ) throws(LinuxError) {
        (self.loop, self.control, self.paths, self.report) = (loop, control, paths, report)
        (self.unrecordedBoot, self.limits, self.launches) = (unrecordedBoot, limits, launches)
        markers = LaunchMarkers(paths.launches)
        logs = AppLogs(paths)
        if control.step.kind == .signals {
            orphans = try Orphans(loop) { [unowned self] in unwatched.values.contains($0) }
        }
        sweep = try TimerSource(loop) { [unowned self] in
            dying.removeAll { control.remove($0) }
            watchUnwatched()
            endStrays()
            sweepWait = min(sweepWait * 2, .minutes(1))
            sweepLater()
        }
        peaks = try PeakSamples(loop) { [unowned self] in
            self.control.usage(of: $0)
        } report: { [unowned self] in
            self.report($0, .seen(memory: $1))
        }
        renewWatches()
    }

    /// Why a log that grows is bounded only when its app is started and ends; nil: it is not.
    var logWatchProblem: LinuxError? { logs.problem }

    func renewWatches() { logs.renew(loop) }

    func restartLogs() { logs.restart(loop) }

    /// Bytes that a log may have.
    func setLogSize(_ size: Int) { logs.setLimit(size) }

    /// Whether a keeper holds the logs to their limit.
    func setKept(_ isKept: Bool) { logs.setKept(isKept) }

    // MARK: Starting

    /// Makes the groups of a launch while it is committed.
    func prepare(_ id: LaunchID, _ spec: ProcessSpec) {
        control.prepare(id, LaunchLimits(spec))
    }

    /// Takes away what an ended launch leaves while its end is committed.
    func prepareRemoval(of id: LaunchID) { control.prepareRemoval(of: id) }

    /// The commit failed.
    func removePrepared() { control.removePrepared() }

    func spawn(_ id: LaunchID, _ spec: ProcessSpec) {
        do throws(StartFailure) {
            let process = try start(id, spec)
            let startTime = process.identity?.startTime ?? 0
            specs[id] = spec
            report(id, .started(ProcessID(pid: process.pid, startTime: startTime)))
            peaks?.begin(id)
            watchChild(id, process)
        } catch {
            control.remove(id)
            report(id, .notStarted(error))
        }
    }

    private func start(_ id: LaunchID, _ spec: ProcessSpec) throws(StartFailure) -> PidFD {
        let files = try openFiles(id, spec)
        do throws(LinuxError) {
            var program = try program(spec, id)
            program.output = files.log.number
            program.error = files.log.number
            program.marker = files.marker.number
            // The loop waits this long. A later failure of execve is told by the exit; so is every
            // one of a program that nobody is waiting for.
            program.patienceMilliseconds = 500
            program.waitsForExecve = spec.weight == .foreground
            return try control.launch(
                id,
                program,
                LaunchLimits(spec)
            )
        } catch {
            throw StartFailure(starting: error, spec)
        }
    }

    /// The files of ours that a start takes.
    private struct StartFiles: ~Copyable {
        let marker: FileDescriptor
        let log: FileDescriptor
    }

    private func openFiles(
        _ id: LaunchID,
        _ spec: ProcessSpec
    ) throws(StartFailure) -> StartFiles {
        do throws(LinuxError) {
            try recordBoot()
            return StartFiles(
                marker: try markers.create(id, until: spec.deadline),
                log: try openLog(spec.app)
            )
        } catch {
            throw StartFailure(writing: error)
        }
    }

    /// What lies at the place of one app's log holds up neither that app nor the others.
    func openLog(_ app: AppID) throws(LinuxError) -> FileDescriptor {
        do throws(LinuxError) {
            return try logs.open(app)
        } catch {
            guard logs.isBlocked(app, error) else { throw error }
            DaemonLog.write("what \(app) says is not kept: \(error)")
            return try FileDescriptor(opening: "/dev/null", .writing)
        }
    }

    private func recordBoot() throws(LinuxError) {
        guard let boot = unrecordedBoot else { return }
        try markers.open(bootID: boot)
        unrecordedBoot = nil
    }

    func attach(_ id: LaunchID, _ caller: ProcessID, _ spec: ProcessSpec) {
        do throws(StartFailure) {
            try take(id, caller, spec)
            attached[id] = [LaunchTags.variable(id, markers)] + environment(spec)
            report(id, .started(caller))
        } catch {
            watched[id] = nil
            // First, so that nothing takes the caller for a process of the launch and ends it.
            try? markers.remove(id)
            control.remove(id)
            report(id, .notStarted(error))
        }
    }

    /// The caller becomes a process of the launch with the last step that can fail.
    private func take(
        _ id: LaunchID,
        _ caller: ProcessID,
        _ spec: ProcessSpec
    ) throws(StartFailure) {
        let identity = ProcessIdentity(pid: caller.pid, startTime: caller.startTime)
        do throws(LinuxError) {
            try recordBoot()
            try markers.mark(id, identity)
        } catch {
            throw StartFailure(writing: error)
        }
        do throws(LinuxError) {
            try watchAdopted(id, try PidFD(of: identity))
            try control.adopt(id, pid: caller.pid, LaunchLimits(spec))
        } catch {
            throw StartFailure(attaching: error)
        }
    }

    /// What a process that was attached is to run with; told once.
    func takeEnvironment(of id: LaunchID) -> [String] { attached.removeValue(forKey: id) ?? [] }

    private func environment(
        _ spec: ProcessSpec,
        with more: [EnvironmentVariable] = []
    ) -> [String] {
        AppEnvironment.build(
            spec,
            from: session.entries(),
            ours: [
                EnvironmentVariable(name: "OFFSTAGE_APP", value: spec.app.name),
                EnvironmentVariable(name: "OFFSTAGE_SOCKET", value: paths.socket),
            ] + more
        )
    }

    func program(
        _ spec: ProcessSpec,
        _ id: LaunchID,
        with more: [EnvironmentVariable] = []
    ) throws(LinuxError) -> Program {
        let environment = environment(spec, with: more)
        let name = spec.arguments.first ?? ""
        let searchPath =
            environment.first { $0.hasPrefix("PATH=") }.map { String($0.dropFirst(5)) } ?? ""
        guard let path = Files.executable(name, searchPath: searchPath) else {
            throw LinuxError("execve", name, .noEntry)
        }
        var program = Program(
            path,
            arguments: spec.arguments,
            environment: [LaunchTags.variable(id, markers)] + environment
        )
        program.directory = spec.directory ?? paths.home
        program.limits = limits
        return program
    }

    private static func explanation(_ error: LinuxError, _ spec: ProcessSpec) -> String {
        error.explanation(starting: spec.arguments.first, in: spec.directory)
    }

    // MARK: Watching

    /// It runs: should the loop have no room to watch it, it is tried again.
    private func watchChild(_ id: LaunchID, _ process: consuming PidFD) {
        let pid = process.pid
        do throws(LinuxError) {
            watched[id] = try ProcessSource(loop, child: process) { [unowned self] exit in
                ended(id, exit)
            }
        } catch {
            DaemonLog.write("process \(pid) is not watched yet: \(error)")
            unwatched[id] = pid
            sweepLater()
        }
    }

    private func watchUnwatched() {
        for (id, pid) in unwatched.sorted(by: { $0.key < $1.key }) {
            // Our own child: nobody has its number until it is reaped.
            do throws(LinuxError) {
                let process = try PidFD(of: pid)
                unwatched[id] = nil
                watchChild(id, process)
            } catch  where error.errno == .noProcess {
                unwatched[id] = nil
                ended(id, .unknown)
            } catch {
                // Looked at again.
            }
        }
    }

    private func watchAdopted(_ id: LaunchID, _ process: consuming PidFD) throws(LinuxError) {
        watched[id] = try ProcessSource(loop, adopted: process) { [unowned self] exit in
            ended(id, exit)
        }
    }

    private func ended(_ id: LaunchID, _ exit: ProcessExit) {
        let usage = usage(of: id)
        peaks?.end(id)
        let event: Exit
        switch exit {
        case .exited(let status): event = .status(status)
        case .signalled(let signal):
            let end = signal == Signal.kill ? control.memoryEnd(of: id) : nil
            event = .signal(signal, outOfMemory: end == .limit)
            if end == .machine { report(id, .machineOutOfMemory) }
        case .unknown: event = .unknown
        }
        watched[id] = nil
        let spec = specs.removeValue(forKey: id)
        if event.mayPrecedeProgram, let failure = StartFailure(markers: markers, of: id, spec) {
            report(id, .notStarted(failure))
            return
        }
        // What it said last is bounded before its end is told.
        if let app = app(of: id) { logs.bound(app) }
        report(id, .exited(event, usage))
    }

    // MARK: Existing launches

    private func app(of id: LaunchID) -> AppID? { launches().first { $0.launch == id }?.app }

    func freeze(_ id: LaunchID) {
        peaks?.rest(id)
        ignoringGone { () throws(LinuxError) in try control.freeze(id) }
    }
    func thaw(_ id: LaunchID) {
        ignoringGone { () throws(LinuxError) in try control.thaw(id) }
        peaks?.goOn(id)
    }
    func terminate(_ id: LaunchID) {
        ignoringGone { () throws(LinuxError) in try control.signal(id, Signal.terminate) }
    }
    func kill(_ id: LaunchID) { ignoringGone { () throws(LinuxError) in try control.kill(id) } }
    func weigh(_ id: LaunchID, _ weight: Weight) {
        ignoringGone { () throws(LinuxError) in try control.weigh(id, weight) }
    }
    func limitMemory(_ id: LaunchID, _ bytes: Int64?) {
        ignoringGone { () throws(LinuxError) in try control.limitMemory(id, bytes) }
    }

    func setDeadline(_ id: LaunchID, _ deadline: AwakeTime?) {
        ignoringGone { () throws(LinuxError) in try markers.setDeadline(id, deadline) }
    }

    /// What was to be done to a process that has just ended has no object any more; its exit is
    /// on its way to the core.
    func ignoringGone(_ body: () throws(LinuxError) -> Void) {
        do throws(LinuxError) {
            try body()
        } catch
            where error.errno == .noEntry || error.errno == .noProcess
            || error.errno == .noDevice
        {
        } catch {
            DaemonLog.write("ignoring: \(error)")
        }
    }

    func measure(_ id: LaunchID) {
        guard let usage = control.usage(of: id) else { return }
        report(id, .measured(usage))
        peaks?.told(id, usage)
    }

    /// What it has used, as far as the kernel tells.
    func usage(of id: LaunchID) -> Usage? {
        guard let usage = control.usage(of: id) else { return nil }
        peaks?.recordUsage(id, usage)
        return usage
    }

    /// Locks on files outside the app's own directories: they would block others.
    func checkLocks(_ id: LaunchID) {
        let own = FrozenLocks.ownDirectories(
            names: FrozenLocks.names(of: app(of: id), main: markers.process(of: id)?.pid),
            home: paths.home,
            environment: CurrentProcess.environment
        )
        let paths = FrozenLocks.held(by: control.processes(of: id), outside: own)
        report(id, .locks(paths))
    }

    func release(_ id: LaunchID) {
        cancelProbe(id)
        watched[id] = nil
        unwatched[id] = nil
        attached[id] = nil
        let isGone = control.remove(id)
        if !isGone { dying.append(id) }
        if !isGone || orphans?.living().isEmpty == false {
            sweepWait = Self.firstSweep
            sweepLater()
        }
        do throws(LinuxError) {
            try markers.remove(id)
        } catch {
            DaemonLog.write("ignoring: \(error)")
        }
    }

    /// Orphans that say of no launch that they are of it.
    var strays: [ProcessStatus] {
        let tags = LaunchTags(markers)
        return (orphans?.living() ?? []).filter {
            tags.launch(of: $0.identity) == nil && (try? control.launch(of: $0.pid)) == .some(nil)
        }
    }

    /// Ends the strays of launches that are over; one that a living launch may have started stays
    /// as long as that.
    private func endStrays() {
        let strays = strays
        guard !strays.isEmpty else { return }
        let oldest = launches().compactMap { markers.process(of: $0.launch)?.startTime }.min()
        for stray in strays where oldest.map({ stray.startTime < $0 }) ?? true {
            DaemonLog.write("ending \(stray.name) (process \(stray.pid)), which left its launch")
            try? PidFD(of: stray.identity).send(Signal.kill)
        }
    }

    private func sweepLater() {
        let isIdle = dying.isEmpty && unwatched.isEmpty && strays.isEmpty
        try? sweep?.arm(at: isIdle ? nil : Clocks.boot() + sweepWait)
    }

    // MARK: The user's own command about failures

    func notifyFailures(_ app: AppID, count: Int64, reason: String, command: [String]) {
        let spec = ProcessSpec(app: app, arguments: command)
        let why = [
            EnvironmentVariable(name: "OFFSTAGE_FAILURES", value: "\(count)"),
            EnvironmentVariable(name: "OFFSTAGE_REASON", value: reason),
        ]
        do throws(LinuxError) {
            let log = try openLog(app)
            var program = try program(spec, LaunchTags.ofNone, with: why)
            program.output = log.number
            program.error = log.number
            let process = try program.start()
            let pid = process.pid
            others[pid] = try ProcessSource(loop, child: process) { [unowned self] _ in
                others[pid] = nil
            }
        } catch {
            DaemonLog.write("failure-command was not started: \(Self.explanation(error, spec))")
        }
    }

    // MARK: After a restart of the daemon

    /// What is left of the launches that the store knows, and of any others.
    func survivors() throws(LinuxError) -> [Survivor] {
        var ids = launches().map(\.launch)
        for id in control.discover() + markers.launches() where !ids.contains(id) {
            ids.append(id)
        }
        return try ids.map { (id) throws(LinuxError) in
            // Execve that failed late leaves an identity and a word of it.
            guard let identity = try markers.settle(id), markers.failure(of: id) == nil else {
                return Survivor(launch: id, process: nil, alive: false)
            }
            let isAlive = identity.isAlive && adopt(id, identity)
            return Survivor(
                launch: id,
                process: ProcessID(pid: identity.pid, startTime: identity.startTime),
                alive: isAlive
            )
        }
    }

    private func adopt(_ id: LaunchID, _ identity: ProcessIdentity) -> Bool {
        do throws(LinuxError) {
            try watchAdopted(id, try PidFD(of: identity))
            peaks?.goOn(id)
            return true
        } catch {
            return false
        }
    }
}
