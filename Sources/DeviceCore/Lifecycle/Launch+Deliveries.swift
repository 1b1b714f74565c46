import Vocabulary

/// Work is offered to an app that speaks our protocol, accepted, and done.
extension Launch {
    mutating func delivered(
        _ delivery: DeliveryID,
        _ request: Request,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        if wake == nil {
            let wasSuspended = presence == .suspended
            var wake = Wake(request, resumed: launchingUntil == nil, facts)
            if presence == .foreground { wake.end = .distantFuture }
            begin(wake, facts, &actions)
            if wasSuspended { thaw(facts, &actions) }
        } else if request.trigger.grant.isHeavy, wake?.trigger.grant.isHeavy != true {
            // It counts, and is watched, as such from then on.
            wake?.trigger = request.trigger
        }
        let end = deliveryEnd(request.trigger.grant, facts)
        deliveries.append(
            Delivery(
                id: delivery,
                request: request.id,
                trigger: request.trigger,
                identifier: request.identifier,
                state: .waiting,
                began: wake?.began == facts.now ? nil : facts.now,
                end: end
            )
        )
        if let own = wake?.end { wake?.end = max(own, end) }
        actions += [.claim(request.id, .offered(id)), .save]
        if isConnected { offer(delivery, facts, &actions) }
    }

    /// The grant is per launch: a refresh that joins refreshes ends with them. One that joins a
    /// longer run has the time of its own kind, within that run (C7).
    private func deliveryEnd(_ grant: Grant, _ facts: LaunchFacts) -> AwakeTime {
        guard presence != .foreground else { return .distantFuture }
        let own = facts.now.awake + facts.grant(for: grant)
        switch grant {
        case .wake: return wake.map { min(max($0.end, facts.now.awake), own) } ?? own
        case .processing, .nothing: return own
        }
    }

    // MARK: Offers

    mutating func offer(
        _ delivery: DeliveryID,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard let slot = slot(of: delivery) else { return }
        let (trigger, identifier) = (deliveries[slot].trigger, deliveries[slot].identifier)
        let request = facts.request(deliveries[slot].request)
        // Nobody knows before the launch whether a handler is there: it is a result.
        guard request?.origin.hasOwnHandler == false || hasHandler(for: identifier) else {
            let reason = AppMistake.noHandler.summary + identifier
            return finish(delivery, .failed, reason: reason, facts, &actions)
        }
        deliveries[slot].state = .offered
        actions.append(.save)
        let offer = Offer(
            kind: request?.origin == .fetch ? .fetch : .trigger(trigger),
            identifier: identifier,
            payload: request?.payload(for: trigger) ?? ValueMap()
        )
        tell(.offer(delivery, offer), &actions)
    }

    private func hasHandler(for identifier: String) -> Bool {
        registered.contains { name in
            name.hasSuffix("*") ? identifier.hasPrefix(name.dropLast()) : identifier == name
        }
    }

    mutating func offerWaiting(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        // An offer may have died with the daemon that made it; the app knows what it has had.
        for delivery in deliveries where delivery.state != .running {
            offer(delivery.id, facts, &actions)
        }
    }

    mutating func accepted(
        _ delivery: DeliveryID,
        _ actions: inout [LaunchAction]
    ) {
        guard let slot = slot(of: delivery), deliveries[slot].state == .offered else { return }
        deliveries[slot].state = .running
        if let request = deliveries[slot].request {
            actions.append(.claim(request, .running(id)))
        }
        actions.append(.save)
        go(slot, &actions)
        tellExpiry(of: delivery, &actions)
    }

    func go(_ slot: Int, _ actions: inout [LaunchAction]) {
        tell(.go(deliveries[slot].id, until: deliveries[slot].end), &actions)
    }

    mutating func declined(
        _ delivery: DeliveryID,
        _ reason: String,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard let slot = slot(of: delivery), deliveries[slot].state == .offered else { return }
        finish(delivery, .failed, reason: "the app declined it: \(reason)", facts, &actions)
        suspendIfDone(facts, &actions)
    }

    // MARK: Ends

    mutating func completed(
        _ delivery: DeliveryID,
        _ result: TaskResult,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard let slot = slot(of: delivery), deliveries[slot].state == .running else {
            let text = AppMistake.completedTwice.summary + "\(delivery)"
            return actions.append(.append(.note(text)))
        }
        let stop = deliveries[slot].warned ? deliveries[slot].stop ?? .timeout : nil
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
        finish(delivery, outcome, reason: "reported by the app", facts, &actions)
        suspendIfDone(facts, &actions)
    }

    /// Ends one delivery: its line, its request, and the run with the last of them.
    mutating func finish(
        _ delivery: DeliveryID,
        _ result: RunResult,
        reason: String,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard let slot = slot(of: delivery) else { return }
        let delivery = deliveries.remove(at: slot)
        // A test may run beside what counts.
        let isTest = facts.request(delivery.request)?.mode == .simulated
        if let wake {
            let line = report(
                wake,
                of: delivery,
                isTest: isTest,
                result,
                reason: reason,
                facts.now
            )
            actions.append(.report(line))
        }
        if case .exited(status: 0) = result, presence != .foreground, wake != nil, !isTest {
            // It went without a word of what it was woken for, and would again, and again.
            actions.append(.countFailure(reason: reason))
        }
        if let request = delivery.request {
            let end = RunEnd.delivery(result, wasReceived: delivery.wasReceived(result))
            actions.append(.settle(request, end))
        }
        actions.append(.save)
        guard deliveries.isEmpty else { return }
        closeRun(facts, &actions)
        beginTasksBeyondRun(facts, &actions)
    }

    // MARK: Expiry

    /// The expiration handler now, the end after the warning time, never later than planned.
    mutating func stop(
        _ reason: StopReason,
        _ only: [DeliveryID]?,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard !isCommand else { return stopCommand(reason, facts, &actions) }
        let soon = facts.now.awake + facts.settings.expiryWarning
        for delivery in deliveries where only?.contains(delivery.id) ?? true {
            if delivery.state == .waiting {
                // The app does not know of it.
                finish(delivery.id, .expired(reason), reason: reason.summary, facts, &actions)
            } else if let slot = slot(of: delivery.id) {
                deliveries[slot].end = min(delivery.end, soon)
                warn(delivery.id, reason, &actions)
            }
        }
        suspendIfDone(facts, &actions)
    }

    /// Calls the expiration handler, once.
    mutating func warn(
        _ delivery: DeliveryID,
        _ reason: StopReason,
        _ actions: inout [LaunchAction]
    ) {
        guard let slot = slot(of: delivery) else { return }
        deliveries[slot].warned = true
        deliveries[slot].stop = deliveries[slot].stop ?? reason
        if wake?.stop == nil { wake?.stop = reason }
        tellExpiry(of: delivery, &actions)
        actions.append(.save)
    }

    /// Tells an app that the time of a delivery is over: once, as soon as the handler runs and
    /// somebody listens.
    mutating func tellExpiry(of delivery: DeliveryID, _ actions: inout [LaunchAction]) {
        guard isConnected, ending == nil, let slot = slot(of: delivery),
            deliveries[slot].warned, !deliveries[slot].isTold, deliveries[slot].state == .running
        else { return }
        deliveries[slot].isTold = true
        actions.append(.save)
        let reason = deliveries[slot].stop ?? .timeout
        tell(.expire(delivery, reason, until: deliveries[slot].end), &actions)
    }

    /// The time is over. Without a handler it counts as completed without success; with one that
    /// did not complete, and for a fetch, the app is ended.
    mutating func expire(
        _ delivery: DeliveryID,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard ending == nil, let slot = slot(of: delivery) else { return }
        if deliveries[slot].state == .offered, let reason = deliveries[slot].stop,
            reason != .timeout
        {
            // It had an offer for these few seconds only.
            finish(delivery, .expired(reason), reason: reason.summary, facts, &actions)
            return suspendIfDone(facts, &actions)
        }
        let hasOwnHandler = facts.request(deliveries[slot].request)?.origin.hasOwnHandler ?? true
        if deliveries[slot].hasHandler || !hasOwnHandler || deliveries[slot].state != .running {
            end(.neverCompleted, facts, &actions)
        } else {
            let reason = AppMistake.noExpirationHandler.summary
            finish(delivery, .unsuccessful, reason: reason, facts, &actions)
        }
    }

    /// Processing has longer while the device is idle and charging: what runs has more from now on,
    /// or less, but always the time of a warning.
    mutating func moveEnds(
        by shift: Interval,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard let wake, wake.trigger.grant.isLongerOnPower, ending == nil,
            presence != .foreground
        else { return }
        let soonest = facts.now.awake + facts.settings.expiryWarning
        if isCommand {
            self.wake?.end = max(wake.end + shift, soonest)
        } else {
            for slot in deliveries.indices
            where deliveries[slot].trigger.grant.isLongerOnPower && !deliveries[slot].warned {
                deliveries[slot].end = max(deliveries[slot].end + shift, soonest)
            }
            let end = deliveries.map(\.end).max() ?? wake.end
            self.wake?.end = end
        }
        actions.append(.save)
    }

    // MARK: Finding

    func slot(of delivery: DeliveryID) -> Int? { deliveries.firstIndex { $0.id == delivery } }

    func tell(_ message: AppMessage, _ actions: inout [LaunchAction]) {
        actions.append(.emit(.tell(id, message)))
    }
}

extension Request {
    /// What an app may know of what happened (I5).
    fileprivate func payload(for trigger: Trigger) -> ValueMap? {
        payload.map { payload in
            let fields = payload.entries.filter { trigger.message.contains($0.key) }
            return ValueMap(fields.map { ($0.key, $0.value) })
        }
    }
}
