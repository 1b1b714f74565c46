import Vocabulary

/// Runs of programs that know nothing of us: the exit status is the completion, SIGTERM the
/// expiration handler.
extension Device {
    mutating func startCommand(_ request: Request, of index: Int, _ transition: inout Transition) {
        if case .running(let launch) = request.state {
            resumeCommand(launch, request, of: index, &transition)
            return
        }
        let launch = Launch(
            id: nextSerial(LaunchKind.self),
            role: .command(request.id, request.trigger),
            phase: .starting,
            presence: .background,
            wake: newWake(request, resumed: false, &transition),
            lastForeground: transition.now.awake
        )
        setState(.offered(launch.id), of: request.id, in: index)
        add(launch, to: index)
        beganWake(launch, of: index, &transition)
        if needsProbeBefore(index) {
            probe(.before, launch.id, of: index, &transition)
        } else {
            spawnCommand(launch.id, of: index, &transition)
        }
    }

    private func needsProbeBefore(_ index: Int) -> Bool {
        switch apps[index].manifest?.newDataFrom ?? .exit {
        case .exit: false
        case .file, .command: true
        }
    }

    func newWake(_ request: Request, resumed: Bool, _ transition: inout Transition) -> Wake {
        Wake(
            trigger: request.trigger,
            identifier: request.identifier,
            resumed: resumed,
            mode: request.mode,
            began: transition.now,
            end: transition.now.awake + grant(for: request.trigger.grant),
            // Of a process that is there already it is asked for.
            cpuAtStart: resumed ? nil : .zero,
            decision: request.decision
        )
    }

    /// The length of a run, in awake time.
    func grant(for grant: Grant) -> Interval {
        switch grant {
        case .wake: settings.wakeGrant
        case .processing:
            conditions.externalPower && conditions.deviceIdle
                ? settings.processingGrantCharging : settings.processingGrant
        }
    }

    private mutating func spawnCommand(
        _ id: LaunchID,
        of index: Int,
        _ transition: inout Transition
    ) {
        guard let (_, launchIndex) = find(id), let manifest = apps[index].manifest,
            case .command(_, let trigger) = apps[index].launches[launchIndex].role
        else { return }
        guard !isStopping else {
            undo(apps[index].launches[launchIndex], of: index, &transition)
            return
        }
        apps[index].launches[launchIndex].phase = .starting
        save(app: index, launch: id)
        guard let arguments = manifest.value.command(for: trigger), !arguments.isEmpty else {
            endCommand(id, .notStarted, reason: "the manifest names no command", &transition)
            return
        }
        transition.emit(.spawn(id, spec(manifest.value, arguments: arguments, weight: .background)))
    }

    func spec(_ manifest: AppManifest, arguments: [String], weight: Weight) -> ProcessSpec {
        ProcessSpec(
            app: manifest.id,
            arguments: arguments,
            directory: manifest.directory,
            environment: manifest.environment,
            passEnvironment: manifest.passEnvironment,
            memoryLimit: weight == .background
                ? min(manifest.memoryLimit ?? .max, settings.memoryLimit) : nil,
            weight: weight
        )
    }

    /// The window in which it was interrupted is over; this is the next.
    private mutating func resumeCommand(
        _ id: LaunchID,
        _ request: Request,
        of index: Int,
        _ transition: inout Transition
    ) {
        guard let (_, launchIndex) = find(id) else { return }
        apps[index].launches[launchIndex].wake = newWake(request, resumed: true, &transition)
        apps[index].launches[launchIndex].presence = .background
        beganWake(apps[index].launches[launchIndex], of: index, &transition)
        thaw(index, launchIndex, &transition)
    }

    // MARK: Events

    mutating func commandStarted(_ index: Int, _ launchIndex: Int, _ transition: inout Transition) {
        let launch = apps[index].launches[launchIndex]
        // The receipt: launching is delivering.
        if let request = launch.request { setState(.running(launch.id), of: request, in: index) }
        guard launch.ending == nil, case .command(_, let trigger) = launch.role else { return }
        let end = transition.now.awake + grant(for: trigger.grant)
        apps[index].launches[launchIndex].wake?.end = end
        let monitor = monitor(apps[index].launches[launchIndex], at: transition.now)
        apps[index].launches[launchIndex].monitor = monitor
    }

    mutating func commandExited(
        _ index: Int,
        _ launchIndex: Int,
        _ exit: Exit,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        if let ending = launch.ending {
            let wasKilled = ending.killAt == nil
            if case .status(let status) = exit, !wasKilled,
                apps[index].manifest?.value.isAnswer(status) == true
            {
                // Done in the time that it had: its exit status is the completion.
                apps[index].launches[launchIndex].ending = nil
                save(app: index, launch: launch.id)
                judge(launch.id, status: status, of: index, &transition)
                return
            }
            endCommand(
                launch.id,
                wasKilled ? .terminated(ending.reason) : .expired(ending.reason),
                reason: ending.reason.summary,
                &transition
            )
            return
        }
        switch exit {
        case .unknown:
            endCommand(
                launch.id,
                .unknown,
                reason: "it exited unobserved",
                &transition
            )
        case .signal(_, outOfMemory: true):
            endCommand(
                launch.id,
                .terminated(.memoryLimit),
                reason: StopReason.memoryLimit.summary,
                &transition
            )
        case .signal(let signal, outOfMemory: false):
            endCommand(
                launch.id,
                .crashed(signal: signal),
                reason: SignalName.text(signal),
                &transition
            )
        case .status(let status):
            judge(launch.id, status: status, of: index, &transition)
        }
    }

    /// What the exit status alone says, or what else must be asked.
    private mutating func judge(
        _ id: LaunchID,
        status: Int32,
        of index: Int,
        _ transition: inout Transition
    ) {
        guard let manifest = apps[index].manifest else {
            endCommand(id, .unknown, reason: "its manifest is gone", &transition)
            return
        }
        if manifest.noDataExit.contains(status) {
            endCommand(id, .noData, reason: "exit status \(status)", &transition)
        } else if manifest.retryExit.contains(status) {
            endCommand(id, .retry, reason: "exit status \(status)", &transition)
        } else if status != 0 {
            endCommand(id, .failed, reason: "exit status \(status)", &transition)
        } else if manifest.failedFrom != nil {
            probe(.failed, id, of: index, &transition)
        } else {
            readWhetherNew(id, of: index, &transition)
        }
    }

    private mutating func readWhetherNew(
        _ id: LaunchID,
        of index: Int,
        _ transition: inout Transition
    ) {
        guard let (_, launchIndex) = find(id),
            case .command(_, let trigger) = apps[index].launches[launchIndex].role
        else { return }
        if apps[index].launches[launchIndex].probe.before != nil, needsProbeBefore(index) {
            probe(.after, id, of: index, &transition)
        } else {
            endCommand(
                id,
                trigger == .refresh ? .newData : .succeeded,
                reason: "exit status 0",
                &transition
            )
        }
    }

    // MARK: Probes

    private mutating func probe(
        _ probeStep: ProbeStep,
        _ id: LaunchID,
        of index: Int,
        _ transition: inout Transition
    ) {
        guard let (_, launchIndex) = find(id), let manifest = apps[index].manifest else { return }
        let source: ResultSource
        switch probeStep {
        case .before, .after: source = manifest.newDataFrom
        case .failed: source = .command(manifest.failedFrom ?? [])
        }
        apps[index].launches[launchIndex].phase = probeStep == .before ? .probing : .judging
        apps[index].launches[launchIndex].probe.step = probeStep
        // The shell keeps the limit; this one is for a shell that cannot.
        apps[index].launches[launchIndex].probe.limit =
            transition.now.awake + settings.probeLimit + .seconds(5)
        save(app: index, launch: id)
        // The next daemon asks it.
        guard !isStopping else { return }
        let arguments: [String]
        switch source {
        case .exit, .file: arguments = []
        case .command(let command): arguments = command
        }
        transition.emit(
            .probe(
                id,
                probeStep,
                source,
                spec(manifest.value, arguments: arguments, weight: .background),
                limit: settings.probeLimit
            )
        )
    }

    mutating func probed(
        _ index: Int,
        _ launchIndex: Int,
        _ probeStep: ProbeStep,
        _ answer: ProbeAnswer,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard launch.probe.step == probeStep else { return }
        apps[index].launches[launchIndex].probe.step = nil
        apps[index].launches[launchIndex].probe.limit = nil
        save(app: index, launch: launch.id)
        if launch.phase == .probing, let ending = launch.ending {
            endCommand(
                launch.id,
                .expired(ending.reason),
                reason: ending.reason.summary,
                &transition
            )
            return
        }
        switch (probeStep, answer) {
        case (.before, .read(let fingerprint, _)):
            apps[index].launches[launchIndex].probe.before = .content(fingerprint)
            spawnCommand(launch.id, of: index, &transition)
        case (.before, .notAsked(let failure)):
            blockStarts(failure, &transition)
            undo(apps[index].launches[launchIndex], of: index, &transition)
        case (.failed, .notAsked(let failure)), (.after, .notAsked(let failure)):
            blockStarts(failure, &transition)
            endCommand(
                launch.id,
                .unknown,
                reason: "its result could not be read: \(failure.reason)",
                &transition
            )
        case (.before, .unreadable):
            apps[index].launches[launchIndex].probe.before = .nothing
            spawnCommand(launch.id, of: index, &transition)
        case (.failed, .read(_, let status)):
            if status == 0 {
                readWhetherNew(launch.id, of: index, &transition)
            } else {
                endCommand(
                    launch.id,
                    .failed,
                    reason: "FailedFrom exited with \(status)",
                    &transition
                )
            }
        case (.failed, .unreadable(let reason)):
            endCommand(launch.id, .failed, reason: "FailedFrom: \(reason)", &transition)
        case (.after, .read(let fingerprint, _)):
            let changed = launch.probe.before != .content(fingerprint)
            endCommand(
                launch.id,
                changed ? .newData : .noData,
                reason: changed ? "NewDataFrom changed" : "NewDataFrom did not change",
                &transition
            )
        case (.after, .unreadable(let reason)):
            // There was nothing before either: nothing is new.
            endCommand(
                launch.id,
                launch.probe.before == .nothing ? .noData : .failed,
                reason: "NewDataFrom: \(reason)",
                &transition
            )
        }
    }

    // MARK: Interruption

    /// Stops a command's run: frozen, to go on in another window, or asked to end.
    mutating func stopCommand(
        _ id: LaunchID,
        _ reason: StopReason,
        _ transition: inout Transition
    ) {
        guard let (index, launchIndex) = find(id) else { return }
        let launch = apps[index].launches[launchIndex]
        guard launch.ending == nil else { return }
        if launch.phase == .running, launch.isFreezable(reason, apps[index].manifest) {
            interrupt(index, launchIndex, reason, &transition)
            return
        }
        switch launch.phase {
        case .judging:
            // The program has ended; what is left is to read how, and that has its own limit.
            return
        case .probing:
            transition.emit(.cancelProbe(id))
            endCommand(id, .expired(reason), reason: reason.summary, &transition)
            return
        case .starting, .running:
            break
        }
        if launch.isFrozen { thaw(index, launchIndex, &transition) }
        let grace = min(
            apps[index].manifest?.stopTimeout ?? settings.stopTimeout,
            settings.stopTimeout
        )
        let end = transition.now.awake + grace
        // Stopped early, it has the time to end in good order, but never more than its grant.
        let limit = reason == .timeout ? launch.wake?.end ?? end : min(end, launch.wake?.end ?? end)
        apps[index].launches[launchIndex].ending = Launch.Ending(
            reason: reason,
            killAt: max(limit, transition.now.awake + .milliseconds(1))
        )
        apps[index].launches[launchIndex].wake?.stop = reason
        save(app: index, launch: id)
        transition.emit(.terminate(id))
        touch(index)
    }

    private mutating func interrupt(
        _ index: Int,
        _ launchIndex: Int,
        _ reason: StopReason,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard launch.wake != nil else { return }
        if let request = launch.request, let item = apps[index].index(of: request) {
            if apps[index].requests[item].interruptedAt == nil {
                apps[index].requests[item].interruptedAt = transition.now.wall
            }
            // What the user asked for is done; a test stays one.
            if apps[index].requests[item].isUserInitiated {
                apps[index].requests[item].mode = .normal
            }
            save(app: index, request: request)
        }
        if launch.interruptedSince == nil {
            apps[index].launches[launchIndex].interruptedSince = transition.now.boot
        }
        freeze(index, launchIndex, &transition)
        endedWake(index, launchIndex, .interrupted(reason), reason: reason.summary, &transition)
    }

    // MARK: The end

    /// The launch is over, and so is its run: what becomes of the request.
    mutating func endCommand(
        _ id: LaunchID,
        _ result: RunResult,
        reason: String,
        _ transition: inout Transition
    ) {
        guard let (index, launchIndex) = find(id) else { return }
        let launch = apps[index].launches[launchIndex]
        if launch.wake != nil {
            endedWake(index, launchIndex, result, reason: reason, &transition)
        } else {
            appendHistory(.ended(result, reason: reason), app: index, &transition)
        }
        if let request = launch.request {
            settle(request, of: index, after: .command(result), &transition)
        }
        remove(id, from: index, &transition)
    }
}

extension AppManifest {
    /// Whether a command says by this exit status what came of its run, and not that it was
    /// disturbed.
    fileprivate func isAnswer(_ status: Int32) -> Bool {
        status == 0 || noDataExit.contains(status) || retryExit.contains(status)
    }
}

extension Launch {
    /// Whether being stopped for this reason means being frozen, to go on later.
    func isFreezable(_ reason: StopReason, _ manifest: Shared<AppManifest>?) -> Bool {
        guard case .command(_, let trigger) = role, trigger.grant == .processing,
            manifest?.whenInterrupted == .freeze
        else {
            return false
        }
        switch reason {
        case .timeout, .powerLost, .networkLost, .networkMetered, .deviceInUse, .dataLocked,
            .lowPowerMode, .thermal, .paused, .simulated:
            return true
        case .memoryPressure, .memoryLimit, .cpuMonitor, .fileLock, .launchWatchdog, .userClosed,
            .cancelled, .manifestRemoved, .interruptedTooLong, .neverCompleted:
            return false
        }
    }
}
