import Vocabulary

/// A program that knows nothing of us: the exit status is the completion, SIGTERM the expiration
/// handler.
extension Launch {
    mutating func spawnCommand(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        guard case .command(_, let trigger) = role else { return }
        guard !facts.isStopping else { return actions.append(.undo) }
        guard let manifest = facts.manifest else {
            return isOver(.unknown, reason: "its manifest is gone", facts, &actions)
        }
        phase = .starting
        actions.append(.save)
        guard var spec = facts.spec(manifest.command(for: trigger) ?? [], .background) else {
            return isOver(
                .notStarted,
                reason: "the manifest names no command",
                facts,
                &actions
            )
        }
        // Provisional, until the start is reported: the daemon may be killed before that.
        let end = facts.now.awake + facts.grant(for: trigger.grant)
        deadline = isFreezable(.timeout, facts.manifest) ? nil : end
        spec.deadline = deadline
        actions.append(.emit(.spawn(id, spec)))
    }

    /// The window in which it was interrupted is over; this is the next.
    mutating func resumed(
        _ request: Request,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        begin(Wake(request, resumed: true, facts), facts, &actions)
        presence = .background
        thaw(facts, &actions)
    }

    mutating func commandExited(
        _ exit: Exit,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        if let ending {
            let wasKilled = ending.killAt == nil
            if case .status(let status) = exit, !wasKilled,
                facts.manifest?.value.isAnswer(status) == true
            {
                // Done in the time that it had: its exit status is the completion.
                self.ending = nil
                actions.append(.save)
                judge(status, facts, &actions)
                return
            }
            isOver(
                wasKilled ? .terminated(ending.reason) : .expired(ending.reason),
                reason: summary(of: ending.reason, facts),
                facts,
                &actions
            )
            return
        }
        switch exit {
        case .unknown: isOver(.unknown, reason: "it exited unobserved", facts, &actions)
        case .signal(_, outOfMemory: true):
            let reason = StopReason.memoryLimit
            isOver(.terminated(reason), reason: summary(of: reason, facts), facts, &actions)
        case .signal(let signal, outOfMemory: false):
            let reason = SignalName.text(signal)
            isOver(.crashed(signal: signal), reason: reason, facts, &actions)
        case .status(let status): judge(status, facts, &actions)
        }
    }

    /// What the exit status alone says, or what else must be asked.
    private mutating func judge(
        _ status: Int32,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard let manifest = facts.manifest else {
            return isOver(.unknown, reason: "its manifest is gone", facts, &actions)
        }
        let reason = "exit status \(status)"
        if manifest.noDataExit.contains(status) {
            isOver(.noData, reason: reason, facts, &actions)
        } else if manifest.retryExit.contains(status) {
            isOver(.retry, reason: reason, facts, &actions)
        } else if status != 0 {
            isOver(.failed, reason: reason, facts, &actions)
        } else if manifest.failedFrom != nil {
            read(.failed, facts, &actions)
        } else {
            readWhetherNew(facts, &actions)
        }
    }

    private mutating func readWhetherNew(
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard case .command(_, let trigger) = role else { return }
        if probe.before != nil, facts.readsBefore {
            read(.after, facts, &actions)
        } else {
            let result: RunResult = trigger.row.fetches ? .newData : .succeeded
            isOver(result, reason: "exit status 0", facts, &actions)
        }
    }

    // MARK: Results

    mutating func read(
        _ step: ProbeStep,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard let manifest = facts.manifest else { return }
        let source: ResultSource
        switch step {
        case .before, .after: source = manifest.newDataFrom
        case .failed: source = .command(manifest.failedFrom ?? [])
        }
        phase = step == .before ? .probing : .judging
        probe.step = step
        // The shell keeps the limit; this one is for a shell that cannot.
        probe.limit = facts.now.awake + facts.settings.probeLimit + .seconds(5)
        actions.append(.save)
        // The next daemon asks it.
        guard !facts.isStopping else { return }
        let arguments: [String]
        switch source {
        case .exit, .file: arguments = []
        case .command(let command): arguments = command
        }
        let spec = facts.spec(of: manifest.value, arguments, .background)
        actions.append(.emit(.probe(id, step, source, spec, limit: facts.settings.probeLimit)))
    }

    mutating func probed(
        _ step: ProbeStep,
        _ answer: ProbeAnswer,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard probe.step == step else { return }
        (probe.step, probe.limit) = (nil, nil)
        actions.append(.save)
        if phase == .probing, let ending {
            let reason = ending.reason
            return isOver(.expired(reason), reason: reason.summary, facts, &actions)
        }
        switch (step, answer) {
        case (.before, .read(let fingerprint, _)):
            probe.before = .content(fingerprint)
            spawnCommand(facts, &actions)
        case (.before, .unreadable):
            probe.before = .nothing
            spawnCommand(facts, &actions)
        case (.before, .notAsked(let failure)):
            actions += [.blockStarts(failure), .undo]
        case (.failed, .notAsked(let failure)), (.after, .notAsked(let failure)):
            actions.append(.blockStarts(failure))
            let reason = "its result could not be read: \(failure.reason)"
            isOver(.unknown, reason: reason, facts, &actions)
        case (.failed, .read(_, status: 0)): readWhetherNew(facts, &actions)
        case (.failed, .read(_, let status)):
            isOver(.failed, reason: "FailedFrom exited with \(status)", facts, &actions)
        case (.failed, .unreadable(let reason)):
            isOver(.failed, reason: "FailedFrom: \(reason)", facts, &actions)
        case (.after, .read(let fingerprint, _)):
            if probe.before == .content(fingerprint) {
                isOver(.noData, reason: "NewDataFrom did not change", facts, &actions)
            } else {
                isOver(.newData, reason: "NewDataFrom changed", facts, &actions)
            }
        case (.after, .unreadable(let reason)):
            // There was nothing before either: nothing is new.
            let result: RunResult = probe.before == .nothing ? .noData : .failed
            isOver(result, reason: "NewDataFrom: \(reason)", facts, &actions)
        }
    }

    // MARK: Interruption

    /// Stops a command's run: frozen, to go on in another window, or asked to end.
    mutating func stopCommand(
        _ reason: StopReason,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard ending == nil else { return }
        if phase == .running, isFreezable(reason, facts.manifest) {
            interrupt(reason, facts, &actions)
            return
        }
        switch phase {
        case .judging:
            // The program has ended; what is left is to read how, and that has its own limit.
            return
        case .probing:
            actions.append(.emit(.cancelProbe(id)))
            return isOver(.expired(reason), reason: reason.summary, facts, &actions)
        case .starting, .running: break
        }
        if isFrozen { thaw(facts, &actions) }
        let now = facts.now.awake
        let longest = facts.settings.stopTimeout
        let end = now + min(facts.manifest?.stopTimeout ?? longest, longest)
        // Stopped early, it has the time to end in good order, but never more than its grant.
        let limit = reason == .timeout ? wake?.end ?? end : min(end, wake?.end ?? end)
        ending = Ending(reason: reason, killAt: max(limit, now + .milliseconds(1)))
        wake?.stop = reason
        actions += [.save, .emit(.terminate(id))]
    }

    private mutating func interrupt(
        _ reason: StopReason,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard let wake else { return }
        if let request { actions.append(.interrupted(request)) }
        if interruptedSince == nil { interruptedSince = facts.now.boot }
        freeze(facts, &actions)
        let result = RunResult.interrupted(reason)
        actions.append(.report(report(wake, result, reason: reason.summary, facts.now)))
        closeRun(facts, &actions)
    }

    // MARK: The end

    mutating func commandIsOver(
        _ result: RunResult,
        reason: String,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        if let wake {
            actions.append(.report(report(wake, result, reason: reason, facts.now)))
            closeRun(facts, &actions)
        } else {
            actions.append(.append(.ended(result, reason: reason)))
        }
        if let request { actions.append(.settle(request, .command(result))) }
        actions.append(.remove)
    }

    /// Whether it is in a run that can be interrupted now.
    func isInterruptible(_ manifest: Shared<AppManifest>?) -> Bool {
        wake != nil && phase == .running && ending == nil && isFreezable(.timeout, manifest)
    }

    /// Whether being stopped for this reason means being frozen, to go on later.
    func isFreezable(_ reason: StopReason, _ manifest: Shared<AppManifest>?) -> Bool {
        guard case .command(_, let trigger) = role, trigger.grant.isFreezable,
            manifest?.whenInterrupted == .freeze
        else { return false }
        switch reason {
        case .timeout, .powerLost, .networkLost, .networkMetered, .lowDataMode, .deviceInUse,
            .dataLocked, .lowPowerMode, .thermal, .paused, .simulated:
            return true
        case .memoryPressure, .memoryLimit, .cpuMonitor, .fileLock, .launchWatchdog, .userClosed,
            .cancelled, .manifestRemoved, .interruptedTooLong, .neverCompleted:
            return false
        }
    }
}

extension AppManifest {
    /// Whether a command says by this exit status what came of its run, and not that it was
    /// disturbed.
    fileprivate func isAnswer(_ status: Int32) -> Bool {
        status == 0 || noDataExit.contains(status) || retryExit.contains(status)
    }
}
