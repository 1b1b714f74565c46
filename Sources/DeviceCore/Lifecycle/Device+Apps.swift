import Vocabulary

/// Apps that speak our protocol: work is offered, accepted, and done; background tasks hold the
/// app awake for a while; when nothing is left, it is suspended.
extension Device {
    // MARK: Deliveries

    mutating func deliver(_ request: Request, to index: Int, _ step: inout Step) {
        guard let id = launchForDelivery(index, &step), let place = apps[index].index(of: id)
        else {
            drop(request, of: index, reason: "its manifest names no program to start", &step)
            return
        }
        if apps[index].launches[place].wake == nil {
            let wasSuspended = apps[index].launches[place].presence == .suspended
            let resumed = apps[index].launches[place].launchingUntil == nil
            var wake = newWake(request, resumed: resumed, &step)
            if apps[index].launches[place].presence == .foreground { wake.end = .distantFuture }
            apps[index].launches[place].wake = wake
            beganWake(apps[index].launches[place], of: index, &step)
            if wasSuspended { thaw(index, place, &step) }
        } else {
            join(request, index, place)
        }
        let delivery = Delivery(
            id: nextSerial(DeliveryKind.self),
            request: request.id,
            trigger: request.trigger,
            identifier: request.identifier,
            state: .waiting,
            end: deliveryEnd(request, apps[index].launches[place], step.now)
        )
        apps[index].launches[place].deliveries.append(delivery)
        let end = max(apps[index].launches[place].wake?.end ?? delivery.end, delivery.end)
        apps[index].launches[place].wake?.end = end
        setState(.offered(id), of: request.id, in: index)
        save(app: index, launch: id)
        if apps[index].launches[place].isConnected { offer(delivery.id, index, place, &step) }
        touch(index)
    }

    /// A run that processing joins is a processing run from then on: it counts, and is watched,
    /// as one.
    private mutating func join(_ request: Request, _ index: Int, _ place: Int) {
        guard request.kind == .processing,
            apps[index].launches[place].wake?.trigger != .processing
        else { return }
        countWake(apps[index].launches[place], by: -1)
        apps[index].launches[place].wake?.trigger = .processing
        countWake(apps[index].launches[place], by: 1)
    }

    /// The grant is per launch: a refresh that joins refreshes ends with them. One that joins a
    /// longer run has the time of its own kind, within that run (C7).
    private func deliveryEnd(_ request: Request, _ launch: Launch, _ now: Moment) -> AwakeTime {
        guard launch.presence != .foreground else { return .distantFuture }
        switch request.kind {
        case .refresh:
            guard let wake = launch.wake else { return now.awake + settings.wakeGrant }
            return min(max(wake.end, now.awake), now.awake + settings.wakeGrant)
        case .processing: return now.awake + grant(for: .processing)
        }
    }

    /// The running process, or a new one, started in the background.
    mutating func launchForDelivery(_ index: Int, _ step: inout Step) -> LaunchID? {
        if let running = apps[index].mainLaunch { return running.id }
        guard let manifest = apps[index].manifest, let exec = manifest.exec else { return nil }
        var launch = Launch(
            id: nextSerial(LaunchKind.self),
            role: .main,
            phase: .starting,
            presence: .background,
            lastForeground: step.now.awake
        )
        launch.launchingUntil = step.now.awake + settings.launchWatchdog
        launch.monitor = monitor(launch, at: step.now)
        add(launch, to: index)
        step.emit(.spawn(launch.id, spec(manifest.value, arguments: exec, weight: .background)))
        return launch.id
    }

    mutating func offer(
        _ id: DeliveryID,
        _ index: Int,
        _ place: Int,
        _ step: inout Step
    ) {
        guard
            let slot = apps[index].launches[place].deliveries.firstIndex(where: { $0.id == id })
        else { return }
        let launch = apps[index].launches[place]
        let delivery = launch.deliveries[slot]
        // Nobody knows before the launch whether a handler is there: it is a result.
        if delivery.trigger != .refresh || requestOrigin(delivery, index) != .fetch,
            !launch.registered.contains(where: { matches(delivery.identifier, $0) })
        {
            finish(
                id,
                index,
                .failed,
                reason: AppMistake.noHandler.words + delivery.identifier,
                &step
            )
            return
        }
        apps[index].launches[place].deliveries[slot].state = .offered
        save(app: index, launch: launch.id)
        let work: OfferedWork =
            switch delivery.trigger {
            case .processing: .processing
            case .refresh where requestOrigin(delivery, index) == .fetch: .fetch
            case .refresh, .continued, .push, .voip, .discretionaryTransfer, .transfer,
                .transferEvents, .location, .mode, .notificationAction, .finishUp:
                .refresh
            }
        step.emit(.tell(launch.id, .offer(id, work, identifier: delivery.identifier)))
    }

    private func matches(_ identifier: String, _ registered: String) -> Bool {
        guard registered.hasSuffix("*") else { return identifier == registered }
        return identifier.hasPrefix(registered.dropLast())
    }

    private func requestOrigin(_ delivery: Delivery, _ index: Int) -> Request.Origin? {
        guard let id = delivery.request, let place = apps[index].index(of: id) else { return nil }
        return apps[index].requests[place].origin
    }

    private func mode(of delivery: Delivery, _ index: Int) -> Request.RunMode? {
        guard let id = delivery.request, let place = apps[index].index(of: id) else { return nil }
        return apps[index].requests[place].mode
    }

    /// Ends one delivery: its line, its request, and the run with the last of them.
    mutating func finish(
        _ id: DeliveryID,
        _ index: Int,
        _ result: RunResult,
        reason: String,
        _ step: inout Step
    ) {
        guard
            let place = apps[index].launches.firstIndex(where: {
                $0.deliveries.contains { $0.id == id }
            }),
            let slot = apps[index].launches[place].deliveries.firstIndex(where: { $0.id == id })
        else { return }
        let launch = apps[index].launches[place]
        let delivery = launch.deliveries[slot]
        apps[index].launches[place].deliveries.remove(at: slot)
        // A test may run beside what counts.
        let isTest = mode(of: delivery, index) == .simulated
        if let wake = launch.wake {
            report(
                line(
                    of: launch,
                    wake,
                    trigger: delivery.trigger,
                    identifier: delivery.identifier,
                    isTest: isTest,
                    result,
                    reason: reason,
                    step.now
                ),
                of: index,
                &step
            )
        }
        if case .exited(status: 0) = result, launch.presence != .foreground, launch.wake != nil,
            !isTest
        {
            // It went without a word of what it was woken for, and would again, and again.
            countFailure(reason: reason, of: index, &step)
        }
        settleDelivered(delivery, of: index, result, &step)
        save(app: index, launch: launch.id)
        touch(index)
        guard apps[index].launches[place].deliveries.isEmpty else { return }
        closeWake(index, place, &step)
        beginTasksBeyondWake(index, place, &step)
    }

    /// A delivery without a receipt goes back to pending; a received one is used up, or, when it
    /// is a standing one, due again.
    private mutating func settleDelivered(
        _ delivery: Delivery,
        of index: Int,
        _ result: RunResult,
        _ step: inout Step
    ) {
        guard let id = delivery.request, let place = apps[index].index(of: id) else { return }
        let request = apps[index].requests[place]
        if request.mode != .simulated {
            switch request.kind {
            case .refresh:
                apps[index].record.lastRefreshEnd = step.now.wall
                planner.isStale = true
            case .processing: apps[index].record.lastProcessingEnd = step.now.wall
            }
        }
        let noReceipt: Bool
        switch (delivery.state, result) {
        // It has no handler, or will not take it: it would say so again.
        case (.waiting, .failed), (.offered, .failed): noReceipt = false
        case (.waiting, _), (.offered, _): noReceipt = true
        case (.running, _): noReceipt = false
        }
        let isStanding = request.origin != .submitted
        if request.mode != .simulated && (noReceipt || isStanding) {
            apps[index].requests[place].mode = .normal
            // The next run is chosen anew.
            apps[index].requests[place].decision = nil
            setState(.pending, of: id, in: index)
        } else {
            apps[index].requests.remove(at: place)
            forget(request: id)
        }
        // The manifest, or the fetch interval, may have changed since it was offered.
        standRequests(of: index, &step)
    }

    // MARK: What the app says

    mutating func appSaid(_ id: LaunchID, _ event: AppEvent, _ step: inout Step) {
        guard let (index, place) = find(id) else {
            refuseGone(event, &step)
            return
        }
        touch(index)
        switch event {
        case .connected(let reply):
            step.reply(reply, .value(greeting(index, place)))
        case .finishedLaunching(let registered, let reply):
            finishedLaunching(registered, index, place, reply, &step)
        case .accepted(let delivery): accepted(delivery, index, place, &step)
        case .declined(let delivery, let reason):
            declined(delivery, reason, index, place, &step)
        case .expirationHandler(let delivery, let isSet, let reply):
            answer(reply, checkGiven(delivery, index, place), &step)
            withDelivery(delivery, index, place) { $0.hasHandler = isSet }
            save(app: index, launch: id)
        case .completed(let delivery, let result, let usage, let reply):
            answer(reply, checkGiven(delivery, index, place), &step)
            if let usage { note(usage, index, place, &step) }
            completed(delivery, result, index, place, &step)
        case .taskBegan(let name, let hasHandler, let holder, let token, let reply):
            let task = BackgroundTask(
                number: apps[index].launches[place].lastTask + 1,
                name: name,
                hasHandler: hasHandler,
                holder: holder,
                token: token
            )
            begin(task, index, place, reply, &step)
        case .taskEnded(let number, let holder, let reply):
            taskEnded(number, by: holder, index, place, reply, &step)
        case .extensionGone(let process): extensionGone(process, index, place, &step)
        case .enteredBackground:
            apps[index].launches[place].enteringUntil = nil
            if !apps[index].launches[place].tasks.isEmpty {
                apps[index].launches[place].graceEnd = nil
            }
            save(app: index, launch: id)
        case .fetchInterval(let interval, let reply):
            apps[index].record.fetchInterval = interval
            save(app: index)
            standRequests(of: index, &step)
            step.reply(reply, .done)
        case .submit(let submission, let reply):
            var submission = submission
            submission.app = apps[index].id
            submit(submission, reply, &step)
        case .cancel(let identifier, let reply):
            cancelPending(of: index, identifier: identifier, &step)
            step.reply(reply, .done)
        case .mistaken(let mistake, let subject, let reply):
            note(mistake, subject, app: index, &step)
            answer(reply, nil, &step)
        case .disconnected:
            apps[index].launches[place].isConnected = false
            save(app: index, launch: id)
        case .reconnected(let running, let finished, let registered, let reply):
            if let reply { step.reply(reply, .value(greeting(index, place))) }
            if let registered { apps[index].launches[place].registered = registered }
            reconnected(id, index, running, finished, &step)
        }
    }

    private mutating func refuseGone(_ event: AppEvent, _ step: inout Step) {
        let refusal = Refusal(.notFound, reason: "the app's launch is over", fix: "connect again")
        switch event {
        case .connected(let reply), .taskBegan(_, _, _, _, let reply), .fetchInterval(_, let reply),
            .submit(_, let reply), .cancel(_, let reply):
            step.reply(reply, .refused(refusal))
        case .finishedLaunching(_, let reply), .expirationHandler(_, _, let reply),
            .completed(_, _, _, let reply), .taskEnded(_, _, let reply),
            .mistaken(_, _, let reply), .reconnected(_, _, _, let reply):
            answer(reply, refusal, &step)
        case .accepted, .declined, .extensionGone, .enteredBackground, .disconnected:
            break
        }
    }

    mutating func offerWaiting(_ index: Int, _ launch: LaunchID, _ step: inout Step) {
        guard let place = apps[index].index(of: launch) else { return }
        // An offer may have died with the daemon that made it; the app knows what it has had.
        for delivery in apps[index].launches[place].deliveries
        where delivery.state == .waiting || delivery.state == .offered {
            guard let place = apps[index].index(of: launch) else { return }
            offer(delivery.id, index, place, &step)
        }
    }

    mutating func withDelivery(
        _ id: DeliveryID,
        _ index: Int,
        _ place: Int,
        _ change: (inout Delivery) -> Void
    ) {
        guard
            let slot = apps[index].launches[place].deliveries.firstIndex(where: { $0.id == id })
        else { return }
        change(&apps[index].launches[place].deliveries[slot])
    }

    mutating func accepted(
        _ id: DeliveryID,
        _ index: Int,
        _ place: Int,
        _ step: inout Step
    ) {
        let launch = apps[index].launches[place]
        guard let delivery = launch.deliveries.first(where: { $0.id == id }),
            delivery.state == .offered
        else { return }
        withDelivery(id, index, place) { $0.state = .running }
        if let request = delivery.request { setState(.running(launch.id), of: request, in: index) }
        save(app: index, launch: launch.id)
        step.emit(.tell(launch.id, .go(id, until: delivery.end)))
        tellExpiry(id, index, place, &step)
    }

    private mutating func declined(
        _ id: DeliveryID,
        _ reason: String,
        _ index: Int,
        _ place: Int,
        _ step: inout Step
    ) {
        let launch = apps[index].launches[place].id
        guard
            apps[index].launches[place].deliveries
                .contains(where: { $0.id == id && $0.state == .offered })
        else { return }
        finish(id, index, .failed, reason: "the app declined it: \(reason)", &step)
        suspendIfDone(launch, &step)
    }

    /// Nil: the delivery has been accepted and not yet completed.
    private func checkGiven(_ id: DeliveryID, _ index: Int, _ place: Int) -> Refusal? {
        let deliveries = apps[index].launches[place].deliveries
        guard !deliveries.contains(where: { $0.id == id && $0.state == .running }) else {
            return nil
        }
        return Refusal(
            .notFound,
            reason: "no such delivery is running: it was completed, has expired, or was never "
                + "given to this launch",
            value: "\(id)",
            fix: "complete each delivery once, after Go"
        )
    }

    mutating func completed(
        _ id: DeliveryID,
        _ result: TaskResult,
        _ index: Int,
        _ place: Int,
        _ step: inout Step
    ) {
        let launch = apps[index].launches[place]
        guard let delivery = launch.deliveries.first(where: { $0.id == id }),
            delivery.state == .running
        else {
            note(.note(AppMistake.completedTwice.words + "\(id)"), app: index, &step)
            return
        }
        let stop = delivery.warned ? launch.wake?.stop ?? .timeout : nil
        let outcome: RunResult
        switch (stop, result) {
        case (.some(let reason), .failed), (.some(let reason), .unsuccessful):
            outcome = .expired(reason)
        case (_, .newData): outcome = .newData
        case (_, .noData): outcome = .noData
        case (.none, .failed): outcome = .failed
        case (_, .succeeded): outcome = .succeeded
        case (.none, .unsuccessful): outcome = .unsuccessful
        }
        finish(id, index, outcome, reason: "reported by the app", &step)
        if let place = apps[index].index(of: launch.id) {
            suspendIfDone(apps[index].launches[place].id, &step)
        }
    }

    // MARK: Expiry

    mutating func advanceDeliveries(_ id: LaunchID, _ step: inout Step) {
        guard let (index, place) = find(id) else { return }
        let began = apps[index].launches[place].wake?.began.awake ?? .distantPast
        for delivery in apps[index].launches[place].deliveries {
            if delivery.end <= step.now.awake {
                expire(delivery, id, &step)
            } else if !delivery.warned, warning(before: delivery.end, began) <= step.now.awake {
                warn(delivery.id, id, .timeout, &step)
            }
        }
    }

    /// Calls the expiration handler, once.
    mutating func warn(
        _ delivery: DeliveryID,
        _ id: LaunchID,
        _ reason: StopReason,
        _ step: inout Step
    ) {
        guard let (index, place) = find(id) else { return }
        withDelivery(delivery, index, place) { $0.warned = true }
        if apps[index].launches[place].wake?.stop == nil {
            apps[index].launches[place].wake?.stop = reason
        }
        tellExpiry(delivery, index, place, &step)
        save(app: index, launch: id)
        touch(index)
    }

    /// Once, as soon as the handler runs and somebody listens.
    mutating func tellExpiry(
        _ id: DeliveryID,
        _ index: Int,
        _ place: Int,
        _ step: inout Step
    ) {
        let launch = apps[index].launches[place]
        guard launch.isConnected, launch.ending == nil,
            let delivery = launch.deliveries.first(where: { $0.id == id }),
            delivery.warned, !delivery.isTold, delivery.state == .running
        else { return }
        withDelivery(id, index, place) { $0.isTold = true }
        save(app: index, launch: launch.id)
        step.emit(
            .tell(launch.id, .expire(id, launch.wake?.stop ?? .timeout, until: delivery.end))
        )
    }

    /// The time is over. Without a handler it counts as completed without success; with one that
    /// did not complete, and for a fetch, the app is ended.
    private mutating func expire(_ delivery: Delivery, _ id: LaunchID, _ step: inout Step) {
        guard let (index, place) = find(id), apps[index].launches[place].ending == nil,
            apps[index].launches[place].deliveries.contains(where: { $0.id == delivery.id })
        else { return }
        let mustComplete = delivery.hasHandler || requestOrigin(delivery, index) == .fetch
        if mustComplete || delivery.state != .running {
            end(id, .neverCompleted, &step)
        } else {
            finish(
                delivery.id,
                index,
                .unsuccessful,
                reason: AppMistake.noExpirationHandler.words,
                &step
            )
        }
    }
}
