import Vocabulary

/// What an app says, and its connection: it comes up, is lost, comes again.
extension Launch {
    mutating func said(
        _ event: AppEvent,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        switch event {
        case .connected(let reply): greet(reply, facts, &actions)
        case .finishedLaunching(let registered, let reply):
            finishedLaunching(registered, reply, facts, &actions)
        case .accepted(let delivery): accepted(delivery, &actions)
        case .declined(let delivery, let reason): declined(delivery, reason, facts, &actions)
        case .expirationHandler(let delivery, let isSet, let reply):
            actions.answer(reply, refusal(of: delivery))
            if let slot = slot(of: delivery) { deliveries[slot].hasHandler = isSet }
            actions.append(.save)
        case .completed(let delivery, let result, let usage, let reply):
            actions.answer(reply, refusal(of: delivery))
            if let usage { bookUsage(usage, &actions) }
            completed(delivery, result, facts, &actions)
        case .taskBegan(let name, let hasHandler, let holder, let token, let reply):
            let task = BackgroundTask(
                number: 0,
                name: name,
                hasHandler: hasHandler,
                holder: holder,
                token: token
            )
            begin(task, reply, facts, &actions)
        case .taskEnded(let number, let holder, let reply):
            taskEnded(number, by: holder, reply, facts, &actions)
        case .extensionGone(let process): extensionGone(process, facts, &actions)
        case .enteredBackground:
            enteringUntil = nil
            if !tasks.isEmpty { graceEnd = nil }
            actions.append(.save)
        case .openedURLs(let number): openedURLs(number, &actions)
        case .disconnected:
            isConnected = false
            actions.append(.save)
        case .reconnected(let running, let finished, let registered, let reply):
            if let reply { greet(reply, facts, &actions) }
            if let registered { self.registered = registered }
            reconnected(running, finished, facts, &actions)
        // The app's, whichever launch says it.
        case .fetchInterval, .submit, .cancel, .mistaken, .session, .acknowledged,
            .conditionsWatched, .idleTimer:
            break
        }
    }

    /// What an app learns of itself when it connects.
    private mutating func greet(
        _ reply: ReplyToken,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        toldRefresh = facts.refreshStatus
        var greeting = Greeting(
            app: facts.app,
            launch: id,
            state: presence == .foreground ? .foreground : .background,
            backgroundRefresh: facts.refreshStatus
        )
        if !openings.isEmpty {
            (greeting.urls, greeting.opening) = (openings.flatMap(\.urls), lastOpening)
        }
        actions.append(.answer(reply, .greeted(greeting)))
    }

    /// Nil: the delivery has been accepted and not yet completed.
    private func refusal(of delivery: DeliveryID) -> Refusal? {
        if let slot = slot(of: delivery), deliveries[slot].state == .running { return nil }
        return Refusal(
            .notFound,
            reason: "no such delivery is running: it was completed, has expired, or was never "
                + "given to this launch",
            value: "\(delivery)",
            fix: "complete each delivery once, after Go"
        )
    }

    private mutating func finishedLaunching(
        _ registered: [String],
        _ reply: ReplyToken?,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard !isConnected else {
            actions.append(.append(.note(AppMistake.finishedTwice.summary)))
            let refusal = Refusal(
                .invalid,
                reason: "launching is over, and with it the time to register handlers",
                value: registered.joined(separator: ", "),
                fix: "register them before FinishedLaunching"
            )
            return actions.answer(reply, refusal)
        }
        actions.answer(reply)
        launchingUntil = nil
        isConnected = true
        self.registered = registered
        actions.append(.save)
        tellOpenings(after: 0, &actions)
        // By this an app tells a launch by its user from one in the background.
        if presence == .foreground { tell(.didBecomeActive, &actions) }
        // Its user left while it was launching.
        if presence == .background, let finishUp {
            graceEnd = facts.now.awake + facts.settings.enteringBackground
            enteringUntil = graceEnd
            tell(.didEnterBackground(until: finishUp.end), &actions)
        }
        tellRefresh(facts, &actions)
        tellConditions(facts, &actions)
        let before = deliveries
        offerWaiting(facts, &actions)
        // One that lost its connection, and says nothing of what it had accepted.
        for delivery in before where delivery.state == .running {
            goAgain(delivery.id, &actions)
        }
        tellExpiriesAgain(&actions)
    }

    private mutating func goAgain(_ delivery: DeliveryID, _ actions: inout [LaunchAction]) {
        guard let slot = slot(of: delivery) else { return }
        go(slot, &actions)
        deliveries[slot].isTold = false
        tellExpiry(of: delivery, &actions)
    }

    private mutating func reconnected(
        _ running: [DeliveryID],
        _ finished: [FinishedDelivery],
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        isConnected = true
        launchingUntil = nil
        actions.append(.save)
        tellRefresh(facts, &actions)
        tellOpenings(after: 0, &actions)
        for delivery in deliveries {
            let knows = running.contains(delivery.id)
            let end = finished.first { $0.delivery == delivery.id }
            // Its time may have come while nobody listened, or the word of it been lost.
            if let slot = slot(of: delivery.id) { deliveries[slot].isTold = false }
            if knows || end != nil { accepted(delivery.id, &actions) }
            if let end {
                completed(delivery.id, end.result, facts, &actions)
            } else {
                switch delivery.state {
                // Its receipt has just been taken, with go as the answer.
                case .offered where knows: break
                case .waiting, .offered: offer(delivery.id, facts, &actions)
                // Also to one that works on it: the go that it has accepted for may be lost.
                case .running: if let slot = slot(of: delivery.id) { go(slot, &actions) }
                }
            }
            tellExpiry(of: delivery.id, &actions)
        }
        tellExpiriesAgain(&actions)
    }

    /// Tells an app whether background refresh is on, once for each change; one that is frozen
    /// learns of it when it goes on.
    mutating func tellRefresh(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        let status = facts.refreshStatus
        guard isListening, (toldRefresh ?? .available) != status else { return }
        toldRefresh = status
        actions.append(.save)
        tell(.refreshChanged(status), &actions)
    }

    /// Tells an app that watches the device what has changed, in the same way. It is not kept:
    /// whoever connects again asks again.
    mutating func tellConditions(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        guard let conditions = facts.changedConditions, isListening else { return }
        actions.append(.toldConditions(conditions))
        tell(.conditionsChanged(conditions), &actions)
    }
}
