import Vocabulary

/// What all launches share: they begin with a commit, are frozen and thawed, have deadlines, and
/// end on a confirmed exit only.
extension Device {
    mutating func start(_ request: Request, of index: Int, _ transition: inout Transition) {
        let work = request.work(at: transition.now.wall)
        if request.mode == .normal, request.state == .pending, work.hasPace(in: apps[index]) {
            apps[index].record.began(work, at: transition.now.wall, settings.value)
            save(app: index)
        }
        if request.mode != .simulated { spend(request.trigger, of: index, &transition) }
        if apps[index].runsCommand(for: request) {
            startCommand(request, of: index, &transition)
        } else {
            deliver(request, to: index, &transition)
        }
    }

    mutating func add(_ launch: Launch, to index: Int) {
        apps[index].launches.append(launch)
        owners.append(Owner(launch: launch.id, app: index))
        save(app: index, launch: launch.id)
        touch(index)
    }

    mutating func remove(_ id: LaunchID, from index: Int, _ transition: inout Transition) {
        if let launchIndex = apps[index].index(of: id),
            apps[index].launches[launchIndex].wake != nil
        {
            countWake(apps[index].launches[launchIndex], by: -1)
        }
        apps[index].launches.removeAll { $0.id == id }
        owners.removeAll { $0.launch == id }
        forget(launch: id)
        answerOpening(
            id,
            index,
            failure: StartFailure(.program, reason: "it has ended"),
            &transition
        )
        transition.emit(.release(id))
        touch(index)
        wakeWaiting()
    }

    mutating func setState(_ state: Request.State, of id: RequestID, in index: Int) {
        guard let requestIndex = apps[index].index(of: id) else { return }
        apps[index].requests[requestIndex].state = state
        apps[index].requests[requestIndex].readySince = nil
        save(app: index, request: id)
    }

    /// Those that only wait for a free slot get another look.
    mutating func wakeWaiting() {
        touch(heldBy: .runSlots)
    }

    // MARK: Freezing

    mutating func freeze(_ index: Int, _ launchIndex: Int, _ transition: inout Transition) {
        let id = apps[index].launches[launchIndex].id
        apps[index].launches[launchIndex].presence = .suspended
        apps[index].launches[launchIndex].graceEnd = nil
        apps[index].launches[launchIndex].enteringUntil = nil
        apps[index].launches[launchIndex].finishUp = nil
        apps[index].launches[launchIndex].monitor = nil
        apps[index].launches[launchIndex].isFrozen = true
        apps[index].launches[launchIndex].lockCheckAt =
            transition.now.boot + settings.lockCheckDelay
        if conditions.memory >= 2, memoryCheckAt == nil {
            memoryCheckAt = transition.now.awake + .seconds(2)
        }
        save(app: index, launch: id)
        transition.emit(.freeze(id))
        touch(index)
    }

    mutating func thaw(_ index: Int, _ launchIndex: Int, _ transition: inout Transition) {
        let launch = apps[index].launches[launchIndex]
        apps[index].launches[launchIndex].lockCheckAt = nil
        apps[index].launches[launchIndex].isFrozen = false
        if launch.presence == .suspended {
            apps[index].launches[launchIndex].presence = .background
        }
        let monitor = monitor(apps[index].launches[launchIndex], at: transition.now)
        apps[index].launches[launchIndex].monitor = monitor
        save(app: index, launch: launch.id)
        if launch.isFrozen { transition.emit(.thaw(launch.id)) }
        tellRefresh(index, launchIndex, &transition)
        touch(index)
    }

    // MARK: Runs

    mutating func beganWake(_ launch: Launch, of index: Int, _ transition: inout Transition) {
        guard let wake = launch.wake else { return }
        countWake(launch, by: 1)
        save(app: index, launch: launch.id)
        if wake.cpuAtStart == nil { transition.emit(.measure(launch.id)) }
        guard wake.mode != .simulated else { return }
        let (day, onBattery) = (transition.now.local.day, !conditions.externalPower)
        apps[index].record.ledger.wakeBegan(on: day, onBattery: onBattery)
        ledger.wakeBegan(on: day, onBattery: onBattery)
        if let launchIndex = apps[index].index(of: launch.id) {
            apps[index].launches[launchIndex].wake?.wasOnBattery = onBattery
        }
        save(app: index)
        save(.device)
    }

    /// Writes the line of a run, counts what it cost and what it says of the app.
    mutating func endedWake(
        _ index: Int,
        _ launchIndex: Int,
        _ result: RunResult,
        reason: String,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard let wake = launch.wake else { return }
        report(
            line(of: launch, wake, result, reason: reason, transition.now),
            of: index,
            &transition
        )
        closeWake(index, launchIndex, &transition)
    }

    func line(
        of launch: Launch,
        _ wake: Wake,
        trigger: Trigger? = nil,
        identifier: String? = nil,
        isTest: Bool? = nil,
        _ result: RunResult,
        reason: String,
        _ now: Moment
    ) -> WakeReport {
        WakeReport(
            launch: launch.id,
            trigger: trigger ?? wake.trigger,
            identifier: identifier ?? wake.identifier,
            resumed: wake.resumed,
            simulated: isTest ?? (wake.mode == .simulated),
            result: result,
            reason: reason,
            runTime: max(.zero, now.awake - wake.began.awake),
            cpu: launch.cost(of: wake),
            memory: launch.usage?.memory,
            decision: identifier == nil || identifier == wake.identifier ? wake.decision : nil
        )
    }

    /// The run is over: its slot is free, its cost is booked.
    mutating func closeWake(_ index: Int, _ launchIndex: Int, _ transition: inout Transition) {
        let launch = apps[index].launches[launchIndex]
        guard let wake = launch.wake else { return }
        countWake(launch, by: -1)
        apps[index].launches[launchIndex].wake = nil
        save(app: index, launch: launch.id)
        if wake.mode != .simulated {
            let runTime = max(.zero, transition.now.awake - wake.began.awake)
            let cpu = launch.cost(of: wake) ?? .zero
            if launch.process != nil, launch.exit == nil, let start = wake.cpuAtStart {
                apps[index].launches[launchIndex].bookedUntil = start + cpu
                transition.emit(.measure(launch.id))
            }
            let (day, onBattery) = (transition.now.local.day, !conditions.externalPower)
            apps[index].record.ledger.wakeEnded(
                on: day,
                runTime: runTime,
                cpu: cpu,
                onBattery: onBattery
            )
            ledger.wakeEnded(on: day, runTime: runTime, cpu: cpu, onBattery: onBattery)
            save(app: index)
            save(.device)
        }
        wakeWaiting()
        touch(index)
    }

    mutating func report(_ report: WakeReport, of index: Int, _ transition: inout Transition) {
        appendHistory(.wake(report), app: index, &transition)
        apps[index].record.lastRun = LastRun(
            at: transition.now.wall,
            identifier: report.identifier,
            result: report.result,
            reason: report.reason,
            decision: report.decision
        )
        save(app: index)
        guard !report.simulated else { return }
        if report.trigger == .refresh {
            apps[index].record.refresh.ended(report.result, after: report.runTime, report.cpu)
        }
        if report.result.isSuccess {
            apps[index].record.failures = Failures()
        } else if report.result.isFailure {
            countFailure(reason: report.reason, of: index, &transition)
        }
    }

    mutating func countFailure(reason: String, of index: Int, _ transition: inout Transition) {
        var failures = apps[index].record.failures
        failures.count += 1
        failures.since = failures.since ?? transition.now.wall
        failures.reason = reason
        failures.until =
            transition.now.wall + settings.value.wait(settings.backOff, doubled: failures.count - 1)
        if failures.count >= settings.failuresBeforeCommand, !failures.commandRan,
            !settings.failureCommand.isEmpty, !isStopping
        {
            failures.commandRan = true
            transition.emit(
                .notifyFailures(
                    apps[index].id,
                    count: failures.count,
                    reason: reason,
                    command: settings.failureCommand
                )
            )
        }
        apps[index].record.failures = failures
    }

    // MARK: What the machine says

    mutating func process(_ id: LaunchID, _ event: ProcessEvent, _ transition: inout Transition) {
        // About a launch that is over: an answer that crossed its end.
        guard let (index, launchIndex) = find(id) else { return }
        if event.mayChangeAnswers { touch(index) }
        switch event {
        case .started(let process):
            guard apps[index].launches[launchIndex].process == nil else { return }
            apps[index].launches[launchIndex].process = process
            apps[index].launches[launchIndex].phase = .running
            save(app: index, launch: id)
            unblockStarts()
            if apps[index].launches[launchIndex].isCommand {
                commandStarted(index, launchIndex, &transition)
            }
            answerOpening(id, index, &transition)
        case .notStarted(let failure):
            notStarted(apps[index].launches[launchIndex], failure, of: index, &transition)
        case .exited(let exit, let usage):
            exited(id, index, launchIndex, exit, usage, &transition)
        case .measured(let usage):
            measured(index, launchIndex, usage, &transition)
        case .probed(let probeStep, let answer):
            probed(index, launchIndex, probeStep, answer, &transition)
        case .locks(let paths):
            guard apps[index].launches[launchIndex].isFrozen, let first = paths.first else {
                return
            }
            end(id, .fileLock, detail: first, &transition)
        }
    }

    mutating func exited(
        _ id: LaunchID,
        _ index: Int,
        _ launchIndex: Int,
        _ exit: Exit,
        _ usage: Usage?,
        _ transition: inout Transition
    ) {
        guard apps[index].launches[launchIndex].exit == nil else { return }
        apps[index].launches[launchIndex].exit = exit
        if let usage { apps[index].launches[launchIndex].usage = usage }
        apps[index].launches[launchIndex].isFrozen = false
        apps[index].launches[launchIndex].lockCheckAt = nil
        apps[index].launches[launchIndex].monitor = nil
        save(app: index, launch: id)
        if apps[index].launches[launchIndex].isCommand {
            commandExited(index, launchIndex, exit, &transition)
        } else {
            appExited(index, launchIndex, exit, &transition)
        }
    }

    // MARK: Limits

    func monitor(_ launch: Launch, at now: Moment) -> CPUMonitor? {
        guard launch.presence == .background, launch.phase == .running || launch.phase == .starting
        else { return nil }
        return CPUMonitor(
            since: now.awake,
            // Nobody measures an app in the foreground: what was known is out of date.
            cpu: launch.phase == .starting || launch.isCommand ? launch.usage?.cpu ?? .zero : nil,
            next: now.awake + sampleInterval
        )
    }

    var sampleInterval: Interval { max(.seconds(1), settings.cpuWindow / 4) }

    /// Bytes, in the background.
    func memoryLimit(of app: borrowing AppState) -> Int64 {
        min(app.manifest?.memoryLimit ?? .max, settings.memoryLimit)
    }

    private mutating func measured(
        _ index: Int,
        _ launchIndex: Int,
        _ usage: Usage,
        _ transition: inout Transition
    ) {
        recordUsage(usage, index, launchIndex, &transition)
        let launch = apps[index].launches[launchIndex]
        guard launch.presence == .background, launch.ending == nil else { return }
        let limit = memoryLimit(of: apps[index])
        if usage.memory > limit {
            end(launch.id, .memoryLimit, &transition)
            return
        }
        if launch.role == .main, launch.monitor != nil, launch.monitor?.cpu == nil {
            // It came from the foreground and had the time until now to get below: from here on
            // the kernel keeps it there.
            transition.emit(.limitMemory(launch.id, limit))
        }
        if usage.memory > limit / 5 * 4, launch.isConnected {
            transition.emit(.tell(launch.id, .memoryWarning(memory: usage.memory, limit: limit)))
        }
        guard let monitor = launch.monitor else { return }
        // While it does not apply it averages over nothing: its window begins when it does.
        guard !isUnmonitored(launch, of: apps[index]), let before = monitor.cpu else {
            apps[index].launches[launchIndex].monitor?.cpu = usage.cpu
            apps[index].launches[launchIndex].monitor?.since = transition.now.awake
            return
        }
        let elapsed = transition.now.awake - monitor.since
        guard elapsed >= settings.cpuWindow else { return }
        let percent = (usage.cpu - before).nanoseconds / max(1, elapsed.nanoseconds / 100)
        if percent >= settings.cpuLimit {
            end(launch.id, .cpuMonitor, &transition)
        } else {
            apps[index].launches[launchIndex].monitor = CPUMonitor(
                since: transition.now.awake,
                cpu: usage.cpu,
                next: transition.now.awake + sampleInterval
            )
            touch(index)
        }
    }

    /// The answer at the end of a run, or at the beginning of one.
    /// What a launch has used by now: booked, and nothing concluded from it.
    mutating func recordUsage(
        _ usage: Usage,
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        apps[index].launches[launchIndex].usage = usage
        if let before = launch.bookedUntil {
            apps[index].launches[launchIndex].bookedUntil = nil
            let rest = max(.zero, usage.cpu - before)
            if rest > .zero {
                let (day, onBattery) = (transition.now.local.day, !conditions.externalPower)
                apps[index].record.ledger.wakeEnded(
                    on: day,
                    runTime: .zero,
                    cpu: rest,
                    onBattery: onBattery
                )
                ledger.wakeEnded(on: day, runTime: .zero, cpu: rest, onBattery: onBattery)
                save(app: index)
                save(.device)
            }
        }
        if launch.wake != nil, launch.wake?.cpuAtStart == nil {
            apps[index].launches[launchIndex].wake?.cpuAtStart = usage.cpu
        }
    }

    /// Whether the CPU monitor is off: for processing that asked for external power, and has it.
    func isUnmonitored(_ launch: Launch, of app: AppState) -> Bool {
        guard conditions.externalPower, launch.wake?.trigger.grant == .processing else {
            return false
        }
        let served =
            [launch.request]
            + launch.deliveries.filter { $0.trigger.grant == .processing }.map(\.request)
        return app.requests.contains { $0.needs.power && served.contains($0.id) }
    }

    /// Suspended apps end in order of last use while memory is short (A10), one at a time; what was
    /// never used, or nobody knows of, goes first.
    mutating func relieveMemory(_ transition: inout Transition) {
        memoryCheckAt = nil
        guard conditions.memory >= 2 else { return }
        var oldest: (launch: LaunchID, used: WallTime)?
        for index in usedIndices {
            let used = apps[index].record.lastUsed ?? .distantPast
            for launch in apps[index].launches
            where launch.presence == .suspended && launch.ending == nil {
                if oldest.map({ (used, launch.id) < ($0.used, $0.launch) }) ?? true {
                    oldest = (launch.id, used)
                }
            }
        }
        guard let oldest else { return }
        end(oldest.launch, .memoryPressure, &transition)
        memoryCheckAt = transition.now.awake + .seconds(2)
    }

    // MARK: Ending

    /// Ends a launch at once; what it was doing is settled when its exit is confirmed.
    mutating func end(
        _ id: LaunchID,
        _ reason: StopReason,
        detail: String = "",
        _ transition: inout Transition
    ) {
        guard let (index, launchIndex) = find(id) else { return }
        let launch = apps[index].launches[launchIndex]
        if let ending = launch.ending, ending.killAt == nil { return }
        if launch.phase == .probing || launch.phase == .judging {
            transition.emit(.cancelProbe(id))
            endCommand(id, .terminated(reason), reason: reason.summary, &transition)
            return
        }
        apps[index].launches[launchIndex].ending = Launch.Ending(
            reason: launch.ending?.reason ?? reason,
            killAt: nil
        )
        apps[index].launches[launchIndex].wake?.stop = reason
        if !detail.isEmpty {
            appendHistory(.note("\(reason.summary): \(detail)"), app: index, &transition)
        }
        save(app: index, launch: id)
        transition.emit(.kill(id))
        touch(index)
    }
}

extension ProcessEvent {
    /// Whether a gate or a deadline may see something new. Measurements are many, and most say
    /// nothing; what comes of the others touches the app itself.
    fileprivate var mayChangeAnswers: Bool {
        switch self {
        case .started, .notStarted, .exited, .probed: true
        case .measured, .locks: false
        }
    }
}

extension Launch {
    /// The processor time of a run, as far as it was measured; nil: not since it began.
    func cost(of wake: Wake) -> Interval? {
        guard let usage, let start = wake.cpuAtStart, usage.cpu > start || isCommand else {
            return nil
        }
        return max(.zero, usage.cpu - start)
    }
}
