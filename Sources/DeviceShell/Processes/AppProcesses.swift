internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The processes of all launches: starts them as the core says, and tells it what became of them.
@safe
final class AppProcesses {
    private let loop: EventLoop
    private let control: any ProcessControl
    private let markers: LaunchMarkers
    /// The boot, while it could not be written down; markers mean nothing without it.
    private var unrecordedBoot: String?
    private let places: DaemonPlaces
    private let report: (LaunchID, ProcessEvent) -> Void
    private var watched: [LaunchID: ProcessSource] = [:]
    private var probes: [LaunchID: ResultProbe] = [:]
    /// Programs of the user's that are no launches (failure-command); reaped when they end.
    private var others: [Int32: ProcessSource] = [:]
    /// Limits of this process that are not for its children: what held when it began.
    private let limits: [ResourceLimit]
    private let session = SessionEnvironment()
    /// Launches that are over, with processes that still die.
    private var dying: [LaunchID] = []
    private var sweep: TimerSource?
    private var sweepWait = AppProcesses.firstSweep
    private static let firstSweep = Interval.milliseconds(200)
    private var logWatch: AppLogWatch?
    var logSize = AppLog.usualLimit
    /// Whose launches they are. Known here too: the core cannot be asked while it decides.
    private var owners: [LaunchID: AppID] = [:]
    /// Environments of those that were attached, until they are told.
    private var attached: [LaunchID: [String]] = [:]

    init(
        _ loop: EventLoop,
        control: any ProcessControl,
        places: DaemonPlaces,
        unrecordedBoot: String?,
        limits: [ResourceLimit],
        report: @escaping (LaunchID, ProcessEvent) -> Void
    ) throws(LinuxError) {
        (self.loop, self.control, self.places, self.report) = (loop, control, places, report)
        (self.unrecordedBoot, self.limits) = (unrecordedBoot, limits)
        markers = LaunchMarkers(places.launches)
        sweep = try TimerSource(loop) { [unowned self] in
            dying.removeAll { control.remove($0) }
            sweepWait = min(sweepWait * 2, .minutes(1))
            sweepLater()
        }
        renewWatches()
    }

    /// Why a log that grows is bounded only when its app is started and ends; nil: it is not.
    private(set) var logWatchProblem: LinuxError?

    func renewWatches() {
        guard logWatch == nil else { return }
        do throws(LinuxError) {
            logWatchProblem = nil
            logWatch = try AppLogWatch(loop, directory: places.logs) { [unowned self] names in
                for name in names ?? (try? Files.list(places.logs)) ?? []
                where name.hasSuffix(DaemonPlaces.logSuffix) {
                    boundLog(at: places.logs + "/" + name)
                }
            }
        } catch {
            logWatchProblem = error
        }
    }

    // MARK: Starting

    func spawn(_ id: LaunchID, _ spec: ProcessSpec) {
        owners[id] = spec.app
        do throws(LinuxError) {
            try recordBoot()
            let marker = try markers.create(id)
            let log = try AppLog(places.logPath(of: spec.app), limit: logSize).open()
            var program = try program(spec, id)
            program.output = log.number
            program.error = log.number
            program.marker = marker.number
            // The loop waits: an execve that takes longer is told by its exit.
            program.patienceMilliseconds = 500
            let process = try control.launch(
                id,
                program,
                LaunchLimits(memory: spec.memoryLimit, weight: spec.weight)
            )
            let identity = identity(of: process.pid)
            try watchChild(id, process)
            report(id, .started(identity))
        } catch {
            control.remove(id)
            report(id, .notStarted(reason: Self.words(error, spec)))
        }
    }

    private func recordBoot() throws(LinuxError) {
        guard let boot = unrecordedBoot else { return }
        try markers.open(bootID: boot)
        unrecordedBoot = nil
    }

    func attach(_ id: LaunchID, _ caller: ProcessID, _ spec: ProcessSpec) {
        owners[id] = spec.app
        let identity = ProcessIdentity(pid: caller.pid, startTime: caller.startTime)
        do throws(LinuxError) {
            try recordBoot()
            let process = try PidFD(of: identity)
            try control.adopt(
                id,
                pid: caller.pid,
                LaunchLimits(memory: spec.memoryLimit, weight: spec.weight)
            )
            try markers.mark(id, identity)
            try watchAdopted(id, process)
            attached[id] = environment(spec)
            report(id, .started(caller))
        } catch {
            control.remove(id)
            report(id, .notStarted(reason: error.description))
        }
    }

    /// What a process that was attached is to run with; told once.
    func takeEnvironment(of id: LaunchID) -> [String] { attached.removeValue(forKey: id) ?? [] }

    private func environment(_ spec: ProcessSpec) -> [String] {
        AppEnvironment.build(
            spec,
            from: session.entries(),
            extra: [
                EnvironmentVariable(name: "OFFSTAGE_APP", value: spec.app.name),
                EnvironmentVariable(name: "OFFSTAGE_SOCKET", value: places.socket),
            ]
        )
    }

    private func program(_ spec: ProcessSpec, _ id: LaunchID) throws(LinuxError) -> Program {
        let environment = environment(spec)
        let name = spec.arguments.first ?? ""
        let searchPath =
            environment.first { $0.hasPrefix("PATH=") }.map { String($0.dropFirst(5)) } ?? ""
        guard let path = Files.executable(name, searchPath: searchPath) else {
            throw LinuxError("execve", name, .noEntry)
        }
        var program = Program(path, arguments: spec.arguments, environment: environment)
        program.directory = spec.directory ?? places.home
        program.limits = limits
        return program
    }

    private static func words(_ error: LinuxError, _ spec: ProcessSpec) -> String {
        error.words(starting: spec.arguments.first, in: spec.directory)
    }

    private func identity(of pid: Int32) -> ProcessID {
        ProcessID(pid: pid, startTime: ProcessIdentity(of: pid)?.startTime ?? 0)
    }

    // MARK: Watching

    private func watchChild(_ id: LaunchID, _ process: consuming PidFD) throws(LinuxError) {
        watched[id] = try ProcessSource(loop, child: process) { [unowned self] exit in
            ended(id, exit)
        }
    }

    private func watchAdopted(_ id: LaunchID, _ process: consuming PidFD) throws(LinuxError) {
        watched[id] = try ProcessSource(loop, adopted: process) { [unowned self] exit in
            ended(id, exit)
        }
    }

    private func ended(_ id: LaunchID, _ exit: ProcessExit) {
        let usage = control.usage(of: id)
        let event: Exit
        switch exit {
        case .exited(let status): event = .status(status)
        case .signalled(let signal):
            event = .signal(
                signal,
                outOfMemory: signal == Signal.kill && control.ranOutOfMemory(id)
            )
        case .unknown: event = .unknown
        }
        watched[id] = nil
        // What it said last is bounded before its end is told.
        if let app = owners[id] { boundLog(at: places.logPath(of: app)) }
        report(id, .exited(event, usage))
    }

    /// An app writes as much as it likes; what is kept is bounded.
    private func boundLog(at path: String) {
        do throws(LinuxError) {
            try AppLog(path, limit: logSize).bound()
        } catch {
            DaemonLog.write("the log \(path) cannot be shortened: \(error)")
        }
    }

    // MARK: Existing launches

    func freeze(_ id: LaunchID) {
        ignoringGone { () throws(LinuxError) in try control.freeze(id) }
    }
    func thaw(_ id: LaunchID) { ignoringGone { () throws(LinuxError) in try control.thaw(id) } }
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

    /// What was to be done to a process that has just ended has no object any more; its exit is
    /// on its way to the core.
    private func ignoringGone(_ body: () throws(LinuxError) -> Void) {
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
        if let usage = control.usage(of: id) { report(id, .measured(usage)) }
    }

    /// Locks on files outside the app's own directories: they would block others.
    func checkLocks(_ id: LaunchID) {
        let own = FrozenLocks.ownDirectories(
            names: FrozenLocks.names(of: owners[id], main: markers.process(of: id)?.pid),
            home: places.home,
            environment: CurrentProcess.environment
        )
        let paths = FrozenLocks.held(by: control.processes(of: id), outside: own)
        report(id, .locks(paths))
    }

    func release(_ id: LaunchID) {
        cancelProbe(id)
        watched[id] = nil
        owners[id] = nil
        attached[id] = nil
        if !control.remove(id) {
            dying.append(id)
            sweepWait = Self.firstSweep
            sweepLater()
        }
        do throws(LinuxError) {
            try markers.remove(id)
        } catch {
            DaemonLog.write("ignoring: \(error)")
        }
    }

    private func sweepLater() {
        try? sweep?.arm(at: dying.isEmpty ? nil : Clocks.boot() + sweepWait)
    }

    // MARK: Results

    func probe(
        _ id: LaunchID,
        _ step: ProbeStep,
        _ source: ResultSource,
        _ spec: ProcessSpec,
        limit: Interval
    ) {
        switch source {
        case .exit:
            report(id, .probed(step, .unreadable(reason: "nothing to read")))
        case .file(let path):
            report(id, .probed(step, ResultFile.read(path)))
        case .command:
            do throws(LinuxError) {
                try startProbe(id, step, spec, limit: limit)
            } catch {
                report(id, .probed(step, .unreadable(reason: Self.words(error, spec))))
            }
        }
    }

    private func startProbe(
        _ id: LaunchID,
        _ step: ProbeStep,
        _ spec: ProcessSpec,
        limit: Interval
    ) throws(LinuxError) {
        var pipe = try Pipe()
        let log = try AppLog(places.logPath(of: spec.app), limit: logSize).open()
        var program = try program(spec, id)
        program.output = pipe.writing?.number
        program.error = log.number
        let process = try control.join(id, program)
        let pid = process.pid
        let child = try ProcessSource(loop, child: process) { [unowned self] exit in
            finishProbe(id, pid: pid, exit)
        }
        pipe.writing = nil
        guard let output = pipe.reading.take() else { return }
        probes[id] = try ResultProbe(loop, step, child, output: output, limit: limit) {
            [unowned self] reason in
            cancelProbe(id)
            report(id, .probed(step, .unreadable(reason: reason)))
        }
    }

    private func finishProbe(_ id: LaunchID, pid: Int32, _ exit: ProcessExit) {
        guard probes[id]?.process.process.pid == pid, let probe = probes.removeValue(forKey: id)
        else {
            // One that was cancelled.
            others[pid] = nil
            return
        }
        switch exit {
        case .exited(let status):
            let answer = probe.finish().map { ProbeAnswer.read($0, status: status) }
            report(id, .probed(probe.step, answer ?? .unreadable(reason: "it printed too much")))
        case .signalled(let signal):
            report(
                id,
                .probed(probe.step, .unreadable(reason: "it was ended by \(Signal.name(signal))"))
            )
        case .unknown:
            report(id, .probed(probe.step, .unreadable(reason: "nobody saw how it ended")))
        }
    }

    func cancelProbe(_ id: LaunchID) {
        guard let process = probes.removeValue(forKey: id)?.process else { return }
        // With whatever it has started: while a result is read nothing else runs in a launch.
        ignoringGone { () throws(LinuxError) in try control.kill(id) }
        // It dies soon; until then its source must live, which reaps it.
        others[process.process.pid] = process
    }

    // MARK: The user's own command about failures

    func notifyFailures(_ app: AppID, count: Int64, reason: String, command: [String]) {
        let spec = ProcessSpec(
            app: app,
            arguments: command,
            environment: [
                EnvironmentVariable(name: "OFFSTAGE_FAILURES", value: "\(count)"),
                EnvironmentVariable(name: "OFFSTAGE_REASON", value: reason),
            ]
        )
        do throws(LinuxError) {
            let log = try AppLog(places.logPath(of: app), limit: logSize).open()
            var program = try program(spec, LaunchID(0))
            program.output = log.number
            program.error = log.number
            let process = try program.start()
            let pid = process.pid
            others[pid] = try ProcessSource(loop, child: process) { [unowned self] _ in
                others[pid] = nil
            }
        } catch {
            DaemonLog.write("failure-command was not started: \(Self.words(error, spec))")
        }
    }

    // MARK: After a restart of the daemon

    /// What is left of the launches that the store knows, and of any others.
    func survivors(known: [(launch: LaunchID, app: AppID)]) -> [Survivor] {
        for (launch, app) in known { owners[launch] = app }
        var ids = known.map(\.launch)
        for id in control.discover() + markers.launches() where !ids.contains(id) {
            ids.append(id)
        }
        return ids.map { id in
            // Execve that failed late leaves an identity and a word of it.
            guard let identity = markers.process(of: id), markers.failure(of: id) == nil else {
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
            return true
        } catch {
            return false
        }
    }
}
