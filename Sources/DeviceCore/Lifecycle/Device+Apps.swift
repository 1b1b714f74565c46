import Vocabulary

/// Apps that speak our protocol: work is offered, accepted, and done; background tasks hold the
/// app awake for a while; when nothing is left, it is suspended.
extension Device {
    // MARK: Deliveries

    mutating func deliver(_ request: Request, to index: Int, _ transition: inout Transition) {
        guard let id = launchForDelivery(index, &transition),
            let launchIndex = apps[index].index(of: id)
        else {
            drop(request, of: index, reason: "its manifest names no program to start", &transition)
            return
        }
        if apps[index].launches[launchIndex].wake == nil {
            let wasSuspended = apps[index].launches[launchIndex].presence == .suspended
            let resumed = apps[index].launches[launchIndex].launchingUntil == nil
            var wake = newWake(request, resumed: resumed, &transition)
            if apps[index].launches[launchIndex].presence == .foreground {
                wake.end = .distantFuture
            }
            apps[index].launches[launchIndex].wake = wake
            beganWake(apps[index].launches[launchIndex], of: index, &transition)
            if wasSuspended { thaw(index, launchIndex, &transition) }
        } else {
            join(request, index, launchIndex)
        }
        let delivery = Delivery(
            id: nextSerial(DeliveryKind.self),
            request: request.id,
            trigger: request.trigger,
            identifier: request.identifier,
            state: .waiting,
            end: deliveryEnd(request, apps[index].launches[launchIndex], transition.now)
        )
        apps[index].launches[launchIndex].deliveries.append(delivery)
        let end = max(apps[index].launches[launchIndex].wake?.end ?? delivery.end, delivery.end)
        apps[index].launches[launchIndex].wake?.end = end
        setState(.offered(id), of: request.id, in: index)
        save(app: index, launch: id)
        if apps[index].launches[launchIndex].isConnected {
            offer(delivery.id, index, launchIndex, &transition)
        }
        touch(index)
    }

    /// A run that processing joins is a processing run from then on: it counts, and is watched,
    /// as one.
    private mutating func join(_ request: Request, _ index: Int, _ launchIndex: Int) {
        guard request.trigger.grant == .processing,
            apps[index].launches[launchIndex].wake?.trigger.grant != .processing
        else { return }
        countWake(apps[index].launches[launchIndex], by: -1)
        apps[index].launches[launchIndex].wake?.trigger = request.trigger
        countWake(apps[index].launches[launchIndex], by: 1)
    }

    /// The grant is per launch: a refresh that joins refreshes ends with them. One that joins a
    /// longer run has the time of its own kind, within that run (C7).
    private func deliveryEnd(_ request: Request, _ launch: Launch, _ now: Moment) -> AwakeTime {
        guard launch.presence != .foreground else { return .distantFuture }
        switch request.trigger.grant {
        case .wake:
            guard let wake = launch.wake else { return now.awake + settings.wakeGrant }
            return min(max(wake.end, now.awake), now.awake + settings.wakeGrant)
        case .processing: return now.awake + grant(for: .processing)
        }
    }

    /// The running process, or a new one, started in the background.
    mutating func launchForDelivery(_ index: Int, _ transition: inout Transition) -> LaunchID? {
        if let running = apps[index].mainLaunch { return running.id }
        guard let manifest = apps[index].manifest, let exec = manifest.exec else { return nil }
        var launch = Launch(
            id: nextSerial(LaunchKind.self),
            role: .main,
            phase: .starting,
            presence: .background,
            lastForeground: transition.now.awake
        )
        launch.launchingUntil = transition.now.awake + settings.launchWatchdog
        launch.monitor = monitor(launch, at: transition.now)
        add(launch, to: index)
        transition.emit(
            .spawn(launch.id, spec(manifest.value, arguments: exec, weight: .background))
        )
        return launch.id
    }

    mutating func offer(
        _ id: DeliveryID,
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        guard
            let slot = apps[index].launches[launchIndex].deliveries.firstIndex(where: {
                $0.id == id
            })
        else { return }
        let launch = apps[index].launches[launchIndex]
        let delivery = launch.deliveries[slot]
        // Nobody knows before the launch whether a handler is there: it is a result.
        let origin = requestOrigin(delivery, index)
        if origin?.hasOwnHandler ?? true,
            !launch.registered.contains(where: { matches(delivery.identifier, $0) })
        {
            finish(
                id,
                index,
                .failed,
                reason: AppMistake.noHandler.summary + delivery.identifier,
                &transition
            )
            return
        }
        apps[index].launches[launchIndex].deliveries[slot].state = .offered
        save(app: index, launch: launch.id)
        let offer = Offer(
            kind: origin == .fetch ? Offer.fetch : delivery.trigger.rawValue,
            identifier: delivery.identifier,
            payload: payload(of: delivery, index)
        )
        transition.emit(.tell(launch.id, .offer(id, offer)))
    }

    private func matches(_ identifier: String, _ registered: String) -> Bool {
        guard registered.hasSuffix("*") else { return identifier == registered }
        return identifier.hasPrefix(registered.dropLast())
    }

    private func requestOrigin(_ delivery: Delivery, _ index: Int) -> Work.Origin? {
        guard let id = delivery.request, let requestIndex = apps[index].index(of: id) else {
            return nil
        }
        return apps[index].requests[requestIndex].origin
    }

    /// What the app may know of what happened (I5).
    private func payload(of delivery: Delivery, _ index: Int) -> ValueMap {
        guard let id = delivery.request, let requestIndex = apps[index].index(of: id),
            let payload = apps[index].requests[requestIndex].payload
        else { return ValueMap() }
        let message = delivery.trigger.row.message
        return ValueMap(
            payload.entries.lazy.filter { message.contains($0.key) }.map { ($0.key, $0.value) }
        )
    }

    private func mode(of delivery: Delivery, _ index: Int) -> Work.RunMode? {
        guard let id = delivery.request, let requestIndex = apps[index].index(of: id) else {
            return nil
        }
        return apps[index].requests[requestIndex].mode
    }

    /// Ends one delivery: its line, its request, and the run with the last of them.
    mutating func finish(
        _ id: DeliveryID,
        _ index: Int,
        _ result: RunResult,
        reason: String,
        _ transition: inout Transition
    ) {
        guard
            let launchIndex = apps[index].launches.firstIndex(where: {
                $0.deliveries.contains { $0.id == id }
            }),
            let slot = apps[index].launches[launchIndex].deliveries.firstIndex(where: {
                $0.id == id
            })
        else { return }
        let launch = apps[index].launches[launchIndex]
        let delivery = launch.deliveries[slot]
        apps[index].launches[launchIndex].deliveries.remove(at: slot)
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
                    transition.now
                ),
                of: index,
                &transition
            )
        }
        if case .exited(status: 0) = result, launch.presence != .foreground, launch.wake != nil,
            !isTest
        {
            // It went without a word of what it was woken for, and would again, and again.
            countFailure(reason: reason, of: index, &transition)
        }
        if let request = delivery.request {
            let end = RunEnd.delivery(result, wasReceived: delivery.wasReceived(result))
            settle(request, of: index, after: end, &transition)
        }
        save(app: index, launch: launch.id)
        touch(index)
        guard apps[index].launches[launchIndex].deliveries.isEmpty else { return }
        closeWake(index, launchIndex, &transition)
        beginTasksBeyondWake(index, launchIndex, &transition)
    }

    // MARK: What the app says

    mutating func appSaid(_ id: LaunchID, _ event: AppEvent, _ transition: inout Transition) {
        guard let (index, launchIndex) = find(id) else {
            refuseGone(event, &transition)
            return
        }
        touch(index)
        switch event {
        case .connected(let reply):
            transition.reply(reply, .greeted(greeting(index, launchIndex)))
        case .finishedLaunching(let registered, let reply):
            finishedLaunching(registered, index, launchIndex, reply, &transition)
        case .accepted(let delivery): accepted(delivery, index, launchIndex, &transition)
        case .declined(let delivery, let reason):
            declined(delivery, reason, index, launchIndex, &transition)
        case .expirationHandler(let delivery, let isSet, let reply):
            answer(reply, checkGiven(delivery, index, launchIndex), &transition)
            withDelivery(delivery, index, launchIndex) { $0.hasHandler = isSet }
            save(app: index, launch: id)
        case .completed(let delivery, let result, let usage, let reply):
            answer(reply, checkGiven(delivery, index, launchIndex), &transition)
            if let usage { recordUsage(usage, index, launchIndex, &transition) }
            completed(delivery, result, index, launchIndex, &transition)
        case .taskBegan(let name, let hasHandler, let holder, let token, let reply):
            let task = BackgroundTask(
                number: apps[index].launches[launchIndex].lastTask + 1,
                name: name,
                hasHandler: hasHandler,
                holder: holder,
                token: token
            )
            begin(task, index, launchIndex, reply, &transition)
        case .taskEnded(let number, let holder, let reply):
            taskEnded(number, by: holder, index, launchIndex, reply, &transition)
        case .extensionGone(let process): extensionGone(process, index, launchIndex, &transition)
        case .enteredBackground:
            apps[index].launches[launchIndex].enteringUntil = nil
            if !apps[index].launches[launchIndex].tasks.isEmpty {
                apps[index].launches[launchIndex].graceEnd = nil
            }
            save(app: index, launch: id)
        case .fetchInterval(let interval, let reply):
            apps[index].record.fetchInterval = interval
            save(app: index)
            reconcileStandingRequests(of: index, &transition)
            transition.reply(reply, .done)
        case .submit(let submission, let reply):
            var submission = submission
            submission.app = apps[index].id
            submit(submission, reply, &transition)
        case .cancel(let identifier, let reply):
            cancelPending(of: index, identifier: identifier, &transition)
            transition.reply(reply, .done)
        case .mistaken(let mistake, let subject, let reply):
            recordMistake(mistake, subject, app: index, &transition)
            answer(reply, nil, &transition)
        case .disconnected:
            apps[index].launches[launchIndex].isConnected = false
            save(app: index, launch: id)
        case .reconnected(let running, let finished, let registered, let reply):
            if let reply { transition.reply(reply, .greeted(greeting(index, launchIndex))) }
            if let registered { apps[index].launches[launchIndex].registered = registered }
            reconnected(id, index, running, finished, &transition)
        }
    }

    private mutating func refuseGone(_ event: AppEvent, _ transition: inout Transition) {
        let refusal = Refusal(.notFound, reason: "the app's launch is over", fix: "connect again")
        switch event {
        case .connected(let reply), .taskBegan(_, _, _, _, let reply), .fetchInterval(_, let reply),
            .submit(_, let reply), .cancel(_, let reply):
            transition.reply(reply, .refused(refusal))
        case .finishedLaunching(_, let reply), .expirationHandler(_, _, let reply),
            .completed(_, _, _, let reply), .taskEnded(_, _, let reply),
            .mistaken(_, _, let reply), .reconnected(_, _, _, let reply):
            answer(reply, refusal, &transition)
        case .accepted, .declined, .extensionGone, .enteredBackground, .disconnected:
            break
        }
    }

    mutating func offerWaiting(_ index: Int, _ launch: LaunchID, _ transition: inout Transition) {
        guard let launchIndex = apps[index].index(of: launch) else { return }
        // An offer may have died with the daemon that made it; the app knows what it has had.
        for delivery in apps[index].launches[launchIndex].deliveries
        where delivery.state == .waiting || delivery.state == .offered {
            guard let launchIndex = apps[index].index(of: launch) else { return }
            offer(delivery.id, index, launchIndex, &transition)
        }
    }

    mutating func withDelivery(
        _ id: DeliveryID,
        _ index: Int,
        _ launchIndex: Int,
        _ change: (inout Delivery) -> Void
    ) {
        guard
            let slot = apps[index].launches[launchIndex].deliveries.firstIndex(where: {
                $0.id == id
            })
        else { return }
        change(&apps[index].launches[launchIndex].deliveries[slot])
    }

    mutating func accepted(
        _ id: DeliveryID,
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard let delivery = launch.deliveries.first(where: { $0.id == id }),
            delivery.state == .offered
        else { return }
        withDelivery(id, index, launchIndex) { $0.state = .running }
        if let request = delivery.request { setState(.running(launch.id), of: request, in: index) }
        save(app: index, launch: launch.id)
        transition.emit(.tell(launch.id, .go(id, until: delivery.end)))
        tellExpiry(id, index, launchIndex, &transition)
    }

    private mutating func declined(
        _ id: DeliveryID,
        _ reason: String,
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex].id
        guard
            apps[index].launches[launchIndex].deliveries
                .contains(where: { $0.id == id && $0.state == .offered })
        else { return }
        finish(id, index, .failed, reason: "the app declined it: \(reason)", &transition)
        suspendIfDone(launch, &transition)
    }

    /// Nil: the delivery has been accepted and not yet completed.
    private func checkGiven(_ id: DeliveryID, _ index: Int, _ launchIndex: Int) -> Refusal? {
        let deliveries = apps[index].launches[launchIndex].deliveries
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
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard let delivery = launch.deliveries.first(where: { $0.id == id }),
            delivery.state == .running
        else {
            appendHistory(
                .note(AppMistake.completedTwice.summary + "\(id)"),
                app: index,
                &transition
            )
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
        finish(id, index, outcome, reason: "reported by the app", &transition)
        if let launchIndex = apps[index].index(of: launch.id) {
            suspendIfDone(apps[index].launches[launchIndex].id, &transition)
        }
    }

    // MARK: Expiry

    mutating func advanceDeliveries(_ id: LaunchID, _ transition: inout Transition) {
        guard let (index, launchIndex) = find(id) else { return }
        let began = apps[index].launches[launchIndex].wake?.began.awake ?? .distantPast
        for delivery in apps[index].launches[launchIndex].deliveries {
            if delivery.end <= transition.now.awake {
                expire(delivery, id, &transition)
            } else if !delivery.warned, warning(before: delivery.end, began) <= transition.now.awake
            {
                warn(delivery.id, id, .timeout, &transition)
            }
        }
    }

    /// Calls the expiration handler, once.
    mutating func warn(
        _ delivery: DeliveryID,
        _ id: LaunchID,
        _ reason: StopReason,
        _ transition: inout Transition
    ) {
        guard let (index, launchIndex) = find(id) else { return }
        withDelivery(delivery, index, launchIndex) { $0.warned = true }
        if apps[index].launches[launchIndex].wake?.stop == nil {
            apps[index].launches[launchIndex].wake?.stop = reason
        }
        tellExpiry(delivery, index, launchIndex, &transition)
        save(app: index, launch: id)
        touch(index)
    }

    /// The time is over. Without a handler it counts as completed without success; with one that
    /// did not complete, and for a fetch, the app is ended.
    private mutating func expire(
        _ delivery: Delivery,
        _ id: LaunchID,
        _ transition: inout Transition
    ) {
        guard let (index, launchIndex) = find(id), apps[index].launches[launchIndex].ending == nil,
            apps[index].launches[launchIndex].deliveries.contains(where: { $0.id == delivery.id })
        else { return }
        let mustComplete = delivery.hasHandler || requestOrigin(delivery, index) == .fetch
        if mustComplete || delivery.state != .running {
            end(id, .neverCompleted, &transition)
        } else {
            finish(
                delivery.id,
                index,
                .unsuccessful,
                reason: AppMistake.noExpirationHandler.summary,
                &transition
            )
        }
    }
}
