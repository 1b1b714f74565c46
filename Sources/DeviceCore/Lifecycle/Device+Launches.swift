import Vocabulary

/// Events reach launches, and what these want done is done: here alone a launch changes.
extension Device {
    // MARK: Events

    /// Hands an event to a launch that may be over by now.
    mutating func take(
        _ event: LaunchEvent,
        _ id: LaunchID,
        _ transition: inout Transition
    ) {
        guard let (index, launchIndex) = find(id) else { return }
        let facts = facts(of: index, id, at: transition.now)
        var actions: [LaunchAction] = []
        var mayChange = event.mayChangeAnswers
        apps[index].changeLaunch(at: launchIndex) { launch in
            let sample = launch.monitor?.next
            launch.take(event, facts, into: &actions)
            mayChange = mayChange || sample != launch.monitor?.next || actions.contains(.save)
        }
        updateClaims(of: index, launchIndex)
        if mayChange { touch(index) }
        for action in actions { perform(action, id, of: index, &transition) }
    }

    mutating func updateClaims(of index: Int, _ launchIndex: Int) {
        let launches = apps[index].launches
        let span = launches.span
        let id = span[launchIndex].id
        let wantsScreen = apps[index].idleTimerIsDisabledBy == id
        let claims = LaunchClaims(of: span[launchIndex], wantsScreen: wantsScreen)
        liveLaunches.change(id, to: claims)
    }

    /// `launch`: if it is to be told anything.
    func facts(of index: Int, _ launch: LaunchID? = nil, at now: Moment) -> LaunchFacts {
        LaunchFacts(
            now: now,
            app: apps[index].id,
            settings: settings,
            manifest: apps[index].manifest,
            requests: apps[index].requests,
            onExternalPower: conditions.externalPower,
            processingGrant: processingGrant,
            refreshStatus: refreshStatus(of: apps[index].id),
            changedConditions: launch.flatMap { changedConditions(of: index, $0) },
            isStopping: isStopping
        )
    }

    /// The length of a processing run that begins now, in awake time.
    var processingGrant: Interval {
        conditions.externalPower && conditions.deviceIdle
            ? settings.processingGrantCharging : settings.processingGrant
    }

    mutating func appSaid(_ id: LaunchID, _ event: AppEvent, _ transition: inout Transition) {
        guard let (index, _) = find(id) else {
            refuseGone(event, &transition)
            return
        }
        touch(index)
        take(.app(event), id, &transition)
        switch event {
        case .fetchInterval(let interval, let reply):
            apps[index].record.fetchInterval = interval
            save(app: index)
            reconcileStandingRequests(of: index, &transition)
            transition.reply(reply, .done)
        case .submit(var submission, let reply):
            submission.app = apps[index].id
            submit(submission, reply, &transition)
        case .cancel(let identifier, let reply):
            cancelPending(of: index, identifier: identifier, &transition)
            transition.reply(reply, .done)
        case .mistaken(let mistake, let subject, let reply):
            recordMistake(mistake, subject, app: index, &transition)
            if let reply { transition.reply(reply, .done) }
        case .session(let session, let request, let reply):
            self.session(session, request, of: index, id, reply, &transition)
        case .acknowledged(let transfer): acknowledged(transfer, of: index, &transition)
        // It joins its sessions, watches the device and keeps the screen on again.
        case .connected, .disconnected, .reconnected: forgetLink(of: id, index)
        case .conditionsWatched(let reply):
            watchConditions(of: index, id, reply, &transition)
        case .idleTimer(let isDisabled, let reply):
            setIdleTimer(isDisabled: isDisabled, index, id)
            transition.reply(reply, .done)
        case .finishedLaunching, .accepted, .declined, .expirationHandler, .completed, .taskBegan,
            .taskEnded, .extensionGone, .enteredBackground, .openedURLs:
            break
        }
    }

    private mutating func refuseGone(_ event: AppEvent, _ transition: inout Transition) {
        guard let reply = event.reply else { return }
        let refusal = Refusal(.notFound, reason: "the app's launch is over", fix: "connect again")
        transition.reply(reply, .refused(refusal))
    }

    // MARK: Actions

    private mutating func perform(
        _ action: LaunchAction,
        _ id: LaunchID,
        of index: Int,
        _ transition: inout Transition
    ) {
        switch action {
        case .save: save(app: index, launch: id)
        case .emit(let effect): transition.emit(effect)
        case .answer(let token, let reply): transition.reply(token, reply)
        case .toldConditions(let conditions): toldConditions(conditions, index, id)
        case .started:
            unblockStarts()
            answerOpeners(id, index, &transition)
        case .claim(let request, let state): setState(state, of: request, in: index)
        case .interrupted(let request): interrupted(request, of: index, transition.now.wall)
        case .began(let onBattery): began(index, onBattery: onBattery, transition.now)
        case .report(let report): self.report(report, of: index, &transition)
        case .append(let entry): appendHistory(entry, app: index, &transition)
        case .countFailure(let reason): countFailure(reason: reason, of: index, &transition)
        case .settle(let request, let end): settle(request, of: index, after: end, &transition)
        case .closed(let cost):
            if let cost { book(cost, index, transition.now) }
            touch(heldBy: .runSlots)
        case .book(let cpu):
            book(RunCost(runTime: .zero, cpu: cpu), index, transition.now)
        case .blockStarts(let failure): blockStarts(failure, &transition)
        case .refuseOpeners(let failure):
            answerOpeners(id, index, failure: failure, &transition)
        case .leftForeground:
            // What never started was not used.
            if apps[index].launches.contains(where: { $0.id == id && $0.process != nil }) {
                apps[index].record.lastUsed = transition.now.wall
            }
            save(app: index)
            useEnded(of: index, &transition)
        case .froze:
            if conditions.isMemoryShort, memoryCheckAt == nil {
                memoryCheckAt = transition.now.awake + .seconds(2)
            }
        case .reopen: reopen(id, index, &transition)
        case .undo: undo(id, of: index, &transition)
        case .remove: remove(id, from: index, &transition)
        }
    }

    mutating func setState(_ state: Request.State, of id: RequestID, in index: Int) {
        guard let requestIndex = apps[index].index(of: id) else { return }
        apps[index].requests[requestIndex].state = state
        apps[index].requests[requestIndex].readySince = nil
        save(app: index, request: id)
    }

    private mutating func interrupted(_ id: RequestID, of index: Int, _ now: WallTime) {
        guard let requestIndex = apps[index].index(of: id) else { return }
        if apps[index].requests[requestIndex].interruptedAt == nil {
            apps[index].requests[requestIndex].interruptedAt = now
        }
        // What the user asked for is done; a test stays one.
        if apps[index].requests[requestIndex].isUserInitiated {
            apps[index].requests[requestIndex].mode = .normal
        }
        save(app: index, request: id)
    }

    // MARK: Beginning

    mutating func start(_ request: Request, of index: Int, _ transition: inout Transition) {
        let work = request.work(at: transition.now.wall)
        if request.mode == .normal, request.state == .pending, work.hasPace(in: apps[index]) {
            apps[index].record.began(work, at: transition.now.wall, settings.value)
            save(app: index)
        }
        if request.mode != .simulated { spend(request.trigger, of: index) }
        guard apps[index].runsCommand(for: request) else {
            return deliver(request, to: index, &transition)
        }
        if case .running(let launch) = request.state {
            return take(.resumed(request), launch, &transition)
        }
        let launch = Launch.command(nextSerial(LaunchKind.self), for: request)
        setState(.offered(launch.id), of: request.id, in: index)
        add(launch, to: index, &transition)
    }

    private mutating func deliver(
        _ request: Request,
        to index: Int,
        _ transition: inout Transition
    ) {
        let isRunning = apps[index].mainLaunch != nil
        guard isRunning || request.trigger.row.launches else {
            let reason = "its app does not run, and a \(request.trigger.label) does not start it"
            return drop(request, of: index, reason: reason, &transition)
        }
        guard let id = launchForDelivery(index, &transition) else {
            let reason = "its manifest names no program to start"
            return drop(request, of: index, reason: reason, &transition)
        }
        take(.delivered(nextSerial(DeliveryKind.self), request), id, &transition)
    }

    /// The running process, or a new one, started in the background.
    mutating func launchForDelivery(_ index: Int, _ transition: inout Transition) -> LaunchID? {
        if let running = apps[index].mainLaunch { return running.id }
        guard apps[index].manifest?.exec != nil else { return nil }
        let end = transition.now.awake + settings.launchWatchdog
        let launch = Launch.inBackground(nextSerial(LaunchKind.self), launchingUntil: end)
        add(launch, to: index, &transition)
        return launch.id
    }

    mutating func add(
        _ launch: Launch,
        to index: Int,
        attach: ProcessID? = nil,
        _ transition: inout Transition
    ) {
        apps[index].add(launch)
        liveLaunches.append(
            launch.id,
            app: index,
            LaunchClaims(of: launch, wantsScreen: false)
        )
        save(app: index, launch: launch.id)
        touch(index)
        take(.made(attach: attach), launch.id, &transition)
    }

    // MARK: The end

    private mutating func remove(
        _ id: LaunchID,
        from index: Int,
        _ transition: inout Transition
    ) {
        guard apps[index].index(of: id) != nil else { return }
        forgetLink(of: id, index)
        apps[index].removeLaunch(id)
        answerOpeners(
            id,
            index,
            failure: StartFailure(.program, reason: "it has ended"),
            &transition
        )
        let claims = liveLaunches.remove(id)
        forget(launch: id)
        transition.emit(.release(id))
        touch(index)
        if claims.contains(.run) { touch(heldBy: .runSlots) }
    }

    /// Nothing of a launch has run, and its app is not why: what it was for waits again, and it
    /// counts for nothing.
    private mutating func undo(_ id: LaunchID, of index: Int, _ transition: inout Transition) {
        guard let launchIndex = apps[index].index(of: id) else { return }
        let launch = apps[index].launches[launchIndex]
        let day = launch.wake?.began.local.day
        if let day, let onBattery = launch.wake?.wasOnBattery {
            apps[index].record.ledger.wakeWasNone(on: day, onBattery: onBattery)
            ledger.wakeWasNone(on: day, onBattery: onBattery)
            save(app: index)
            save(.device)
        }
        for id in launch.deliveries.compactMap(\.request) + [launch.request].compactMap(\.self) {
            if let requestIndex = apps[index].index(of: id), day == transition.now.local.day,
                apps[index].requests[requestIndex].mode != .simulated
            {
                refund(apps[index].requests[requestIndex].trigger, of: index)
            }
            settle(id, of: index, after: .undone, &transition)
        }
        remove(id, from: index, &transition)
        // The manifest may have changed since the launch was decided.
        reconcileStandingRequests(of: index, &transition)
    }

    // MARK: Runs

    private mutating func began(_ index: Int, onBattery: Bool, _ now: Moment) {
        apps[index].record.ledger.wakeBegan(on: now.local.day, onBattery: onBattery)
        ledger.wakeBegan(on: now.local.day, onBattery: onBattery)
        save(app: index)
        save(.device)
    }

    private mutating func book(_ cost: RunCost, _ index: Int, _ now: Moment) {
        let (day, onBattery) = (now.local.day, !conditions.externalPower)
        apps[index].record.ledger.wakeEnded(
            on: day,
            runTime: cost.runTime,
            cpu: cost.cpu,
            onBattery: onBattery
        )
        ledger.wakeEnded(on: day, runTime: cost.runTime, cpu: cost.cpu, onBattery: onBattery)
        save(app: index)
        save(.device)
    }

    private mutating func report(
        _ report: WakeReport,
        of index: Int,
        _ transition: inout Transition
    ) {
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
        if report.trigger.spendsRefreshBudget {
            apps[index].record.refresh.ended(report.result, after: report.runTime, report.cpu)
        }
        if report.result.isSuccess {
            apps[index].record.failures = Failures()
        } else if report.result.isFailure {
            let reason = report.result.failure(because: report.reason)
            countFailure(reason: reason, of: index, &transition)
        }
    }
}

extension LaunchEvent {
    /// Whether a gate or a deadline may see something new. Measurements are many, and most say
    /// nothing.
    fileprivate var mayChangeAnswers: Bool {
        switch self {
        case .process(.measured), .process(.seen), .process(.locks), .woke, .conditionsChanged:
            false
        case .process, .made, .app, .delivered, .resumed, .stopped, .ended, .grantChanged,
            .refreshChanged, .opened, .left, .reopened, .recovered, .rebooted:
            true
        }
    }
}

extension AppEvent {
    /// Who waits for an answer.
    fileprivate var reply: ReplyToken? {
        switch self {
        case .connected(let reply), .taskBegan(_, _, _, _, let reply), .fetchInterval(_, let reply),
            .submit(_, let reply), .cancel(_, let reply), .session(_, _, let reply),
            .conditionsWatched(let reply), .idleTimer(_, let reply):
            reply
        case .finishedLaunching(_, let reply), .expirationHandler(_, _, let reply),
            .completed(_, _, _, let reply), .taskEnded(_, _, let reply),
            .mistaken(_, _, let reply), .reconnected(_, _, _, let reply):
            reply
        case .accepted, .declined, .extensionGone, .enteredBackground, .openedURLs,
            .disconnected, .acknowledged:
            nil
        }
    }
}
