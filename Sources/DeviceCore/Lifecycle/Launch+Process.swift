import Vocabulary

/// The process of a launch: it is started, measured, frozen, thawed, and ends.
extension Launch {
    mutating func made(
        _ attach: ProcessID?,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard role == .main else {
            guard let request = facts.request(request) else { return }
            begin(Wake(request, resumed: false, facts), facts, &actions)
            if facts.readsBefore {
                read(.before, facts, &actions)
            } else {
                spawnCommand(facts, &actions)
            }
            return
        }
        let isForeground = presence == .foreground
        let weight: Weight = isForeground ? .foreground : .background
        guard let spec = facts.spec(facts.manifest?.exec ?? [], weight) else { return }
        monitor = newMonitor(facts)
        actions.append(.emit(attach.map { .attach(id, $0, spec) } ?? .spawn(id, spec)))
    }

    mutating func process(
        _ event: ProcessEvent,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        switch event {
        case .started(let process): started(process, facts, &actions)
        case .notStarted(let failure): notStarted(failure, facts, &actions)
        case .exited(let exit, let usage): exited(exit, usage, facts, &actions)
        case .measured(let usage): measured(usage, facts, &actions)
        case .seen(let memory): seen(memory, &actions)
        case .machineOutOfMemory: machineOutOfMemory(&actions)
        case .probed(let step, let answer): probed(step, answer, facts, &actions)
        case .locks(let paths):
            guard isFrozen, let first = paths.first else { return }
            end(.fileLock, detail: first, facts, &actions)
        }
    }

    mutating func started(
        _ process: ProcessID,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard self.process == nil else { return }
        self.process = process
        phase = .running
        actions += [.save, .started]
        guard case .command(let request, let trigger) = role else { return }
        // The receipt: launching is delivering.
        actions.append(.claim(request, .running(id)))
        guard ending == nil else { return }
        wake?.end = facts.now.awake + facts.grant(for: trigger.grant)
        monitor = newMonitor(facts)
    }

    private mutating func notStarted(
        _ failure: StartFailure,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        actions.append(.refuseOpeners(failure))
        guard ending == nil else {
            // We have ended it ourselves, which tells nothing of program or machine.
            return exited(.unknown, nil, facts, &actions)
        }
        switch failure.cause {
        case .program: isOver(.notStarted, reason: failure.reason, facts, &actions)
        case .storage, .processes, .groups:
            actions.append(.blockStarts(failure))
            if presence == .foreground {
                // The user has been told.
                isOver(.unknown, reason: failure.reason, facts, &actions)
            } else {
                actions.append(.undo)
            }
        }
    }

    mutating func exited(
        _ exit: Exit,
        _ usage: Usage?,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard self.exit == nil else { return }
        self.exit = exit
        if let usage { recordUsage(usage) }
        (isFrozen, lockCheckAt, monitor) = (false, nil, nil)
        actions.append(.save)
        if isCommand {
            commandExited(exit, facts, &actions)
        } else {
            appExited(exit, facts, &actions)
        }
    }

    /// Ends it at once; what it was doing is settled when its exit is confirmed.
    mutating func end(
        _ reason: StopReason,
        detail: String = "",
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        if let ending, ending.killAt == nil { return }
        if phase == .probing || phase == .judging {
            actions.append(.emit(.cancelProbe(id)))
            isOver(.terminated(reason), reason: reason.summary, facts, &actions)
            return
        }
        ending = Ending(reason: ending?.reason ?? reason, killAt: nil)
        wake?.stop = reason
        if !detail.isEmpty { actions.append(.append(.note("\(reason.summary): \(detail)"))) }
        actions += [.save, .emit(.kill(id))]
    }

    /// Nothing of it runs any more.
    mutating func isOver(
        _ result: RunResult,
        reason: String,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        if isCommand {
            commandIsOver(result, reason: reason, facts, &actions)
        } else {
            appIsOver(result, reason: reason, facts, &actions)
        }
    }

    // MARK: Freezing

    mutating func freeze(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        presence = .suspended
        (graceEnd, enteringUntil, finishUp, monitor) = (nil, nil, nil, nil)
        isFrozen = true
        lockCheckAt = facts.now.boot + facts.settings.lockCheckDelay
        actions += [.froze, .save, .emit(.freeze(id))]
    }

    mutating func thaw(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        let wasFrozen = isFrozen
        lockCheckAt = nil
        isFrozen = false
        if presence == .suspended { presence = .background }
        monitor = newMonitor(facts)
        actions.append(.save)
        if wasFrozen { actions.append(.emit(.thaw(id))) }
        tellRefresh(facts, &actions)
        tellConditions(facts, &actions)
    }

    // MARK: Measuring

    func newMonitor(_ facts: LaunchFacts) -> CPUMonitor? {
        guard presence == .background, phase == .running || phase == .starting else { return nil }
        return CPUMonitor(
            since: facts.now.awake,
            // Nobody measures an app in the foreground: what was known is out of date.
            cpu: phase == .starting || isCommand ? usage?.cpu ?? .zero : nil,
            next: facts.now.awake + facts.sampleInterval
        )
    }

    private mutating func measured(
        _ usage: Usage,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        bookUsage(usage, &actions)
        guard presence == .background, ending == nil else { return }
        let limit = facts.memoryLimit
        guard usage.memory <= limit else { return end(.memoryLimit, facts, &actions) }
        if role == .main, monitor != nil, monitor?.cpu == nil {
            // It came from the foreground and had the time until now to get below: from here on
            // the kernel keeps it there.
            actions.append(.emit(.limitMemory(id, limit)))
        }
        if usage.memory > limit / 5 * 4, isConnected {
            tell(.memoryWarning(memory: usage.memory, limit: limit), &actions)
        }
        guard let monitor else { return }
        // While it does not apply it averages over nothing: its window begins when it does.
        guard !isUnmonitored(facts), let before = monitor.cpu else {
            self.monitor?.cpu = usage.cpu
            self.monitor?.since = facts.now.awake
            return
        }
        let elapsed = facts.now.awake - monitor.since
        guard elapsed >= facts.settings.cpuWindow else { return }
        let percent = (usage.cpu - before).nanoseconds / max(1, elapsed.nanoseconds / 100)
        if percent >= facts.settings.cpuLimit {
            end(.cpuMonitor, facts, &actions)
        } else {
            self.monitor = CPUMonitor(
                since: facts.now.awake,
                cpu: usage.cpu,
                next: facts.now.awake + facts.sampleInterval
            )
        }
    }

    /// What it has used by now: booked, and nothing concluded from it.
    mutating func bookUsage(_ usage: Usage, _ actions: inout [LaunchAction]) {
        recordUsage(usage)
        if let before = bookedUntil {
            bookedUntil = nil
            let rest = max(.zero, usage.cpu - before)
            if rest > .zero { actions.append(.book(cpu: rest)) }
        }
        if wake != nil, wake?.cpuAtStart == nil { wake?.cpuAtStart = usage.cpu }
    }

    private mutating func recordUsage(_ new: Usage) {
        var new = new
        // Who samples does not know what was seen before the daemon was started again.
        if let old = usage, let peak = old.peak, peak > new.peak ?? 0 {
            (new.peak, new.isPeakSampled) = (peak, old.isPeakSampled || new.isPeakSampled)
        }
        usage = new
        guard let wake else { return }
        if wake.peakAtStart == nil { self.wake?.peakAtStart = new.peak }
        self.wake?.memorySeen = max(wake.memorySeen ?? 0, new.memory)
    }

    /// It comes when it has grown by much, and is kept: nothing tells of it after a restart.
    private mutating func seen(_ memory: Int64, _ actions: inout [LaunchAction]) {
        guard let wake, memory > wake.memorySeen ?? 0 else { return }
        self.wake?.memorySeen = memory
        actions.append(.save)
    }

    /// The same as if the device had ended it while memory was low: not the fault of its app.
    private mutating func machineOutOfMemory(_ actions: inout [LaunchAction]) {
        guard exit == nil, phase == .running || phase == .starting else { return }
        if let ending, ending.killAt == nil { return }
        let reason = ending?.reason ?? .memoryPressure
        ending = Ending(reason: reason, killAt: nil)
        wake?.stop = reason
        let note = "the machine had no memory left, so the kernel ended it"
        actions += [.append(.note(note)), .save]
    }

    /// The most memory that a run had, and whether it may have been more. The kernel counts from
    /// the beginning of the launch: what it counts is of this run only if it has grown in it.
    private func memory(of wake: Wake) -> (bytes: Int64, isSampled: Bool)? {
        let seen = wake.memorySeen ?? 0
        if let usage, let peak = usage.peak, let start = wake.peakAtStart, peak > start {
            return (max(peak, seen), usage.isPeakSampled)
        }
        return seen > 0 ? (seen, true) : nil
    }

    /// Why it was stopped: of memory also how much it had, and what allows no more.
    func summary(of stop: StopReason, _ facts: LaunchFacts) -> String {
        guard stop == .memoryLimit else { return stop.summary }
        let had = max(usage?.peak ?? 0, usage?.memory ?? 0)
        let limit = facts.memoryLimit
        let isOwn = facts.manifest?.memoryLimit.map { $0 < facts.settings.memoryLimit } ?? false
        let setting = isOwn ? "MemoryLimit in its manifest" : "the setting memory-limit"
        guard had > 0 else {
            return "it asked for more memory than \(setting) allows, \(ByteSize.text(limit))"
        }
        return "it had \(ByteSize.text(had))" + (had > limit ? "" : " and asked for more")
            + "; \(setting) allows \(ByteSize.text(limit))"
    }

    /// Whether the CPU monitor is off: for processing that asked for external power, and has it.
    func isUnmonitored(_ facts: LaunchFacts) -> Bool {
        guard facts.onExternalPower, wake?.trigger.grant.isUnmonitoredOnPower == true
        else { return false }
        let served =
            [request] + deliveries.filter { $0.trigger.grant.isUnmonitoredOnPower }.map(\.request)
        return facts.requests.contains { $0.needs.power && served.contains($0.id) }
    }

    // MARK: Runs

    mutating func begin(_ wake: Wake, _ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        self.wake = wake
        if wake.mode != .simulated { self.wake?.wasOnBattery = !facts.onExternalPower }
        actions.append(.save)
        if wake.cpuAtStart == nil { actions.append(.emit(.measure(id))) }
        if wake.mode != .simulated {
            actions.append(.began(onBattery: !facts.onExternalPower))
        }
    }

    /// The run is over: its slot is free, its cost is booked.
    mutating func closeRun(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        guard let wake else { return }
        self.wake = nil
        actions.append(.save)
        guard wake.mode != .simulated else { return actions.append(.closed(cost: nil)) }
        let cpu = cost(of: wake) ?? .zero
        if process != nil, exit == nil, let start = wake.cpuAtStart {
            bookedUntil = start + cpu
            actions.append(.emit(.measure(id)))
        }
        let runTime = runTime(from: wake.began, until: wake.end, facts.now)
        actions.append(.closed(cost: RunCost(runTime: runTime, cpu: cpu)))
    }

    /// How long it ran: until now. Where nobody saw when its program ended, `end` was the last
    /// moment for that: a daemon may have been away for hours.
    private func runTime(from began: Moment, until end: AwakeTime, _ now: Moment) -> Interval {
        let isSeen = exit != .unknown && phase != .judging
        return max(.zero, (isSeen ? now.awake : min(now.awake, end)) - began.awake)
    }

    /// The processor time of a run, as far as it was measured; nil: not since it began.
    private func cost(of wake: Wake) -> Interval? {
        guard let usage, let start = wake.cpuAtStart, usage.cpu > start || isCommand else {
            return nil
        }
        return max(.zero, usage.cpu - start)
    }

    /// The line of its run, or of one delivery of it.
    func report(
        _ wake: Wake,
        of delivery: Delivery? = nil,
        isTest: Bool? = nil,
        _ result: RunResult,
        reason: String,
        _ now: Moment
    ) -> WakeReport {
        let identifier = delivery?.identifier ?? wake.identifier
        let memory = memory(of: wake)
        return WakeReport(
            launch: id,
            trigger: delivery?.trigger ?? wake.trigger,
            identifier: identifier,
            resumed: wake.resumed,
            simulated: isTest ?? (wake.mode == .simulated),
            result: result,
            reason: reason,
            runTime: runTime(
                from: delivery?.began ?? wake.began,
                until: delivery?.end ?? wake.end,
                now
            ),
            cpu: cost(of: wake),
            memory: memory?.bytes,
            isPeak: memory?.isSampled == false,
            decision: identifier == wake.identifier ? wake.decision : nil
        )
    }
}

extension Wake {
    /// The run that a request begins.
    init(_ request: Request, resumed: Bool, _ facts: LaunchFacts) {
        self.init(
            trigger: request.trigger,
            identifier: request.identifier,
            resumed: resumed,
            mode: request.mode,
            began: facts.now,
            end: facts.now.awake + facts.grant(for: request.trigger.grant),
            // Of a process that is there already it is asked for.
            cpuAtStart: resumed ? nil : .zero,
            peakAtStart: resumed ? nil : 0,
            decision: request.decision
        )
    }
}

extension LaunchFacts {
    /// How a program of the app is started; nil: there is none, or no manifest.
    func spec(_ arguments: [String], _ weight: Weight) -> ProcessSpec? {
        guard let manifest, !arguments.isEmpty else { return nil }
        return spec(of: manifest.value, arguments, weight)
    }

    func spec(
        of manifest: AppManifest,
        _ arguments: [String],
        _ weight: Weight
    ) -> ProcessSpec {
        ProcessSpec(
            app: app,
            arguments: arguments,
            directory: manifest.directory,
            environment: manifest.environment,
            passEnvironment: manifest.passEnvironment,
            memoryLimit: weight == .background ? memoryLimit : nil,
            weight: weight
        )
    }
}
