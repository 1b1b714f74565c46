import Vocabulary

/// Foreground, background, suspended; and the time that an app may use in between.
extension Launch {
    mutating func opened(
        _ urls: [String],
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        if !urls.isEmpty {
            open(urls)
            actions.append(.save)
        }
        guard presence != .foreground else {
            if !urls.isEmpty { tellOpenings(after: lastOpening - 1, &actions) }
            return
        }
        if isFrozen { thaw(facts, &actions) }
        presence = .foreground
        (graceEnd, enteringUntil, finishUp, monitor, launchingUntil) = (nil, nil, nil, nil, nil)
        // Tasks of a run are tasks of the foreground from now on.
        for slot in tasks.indices {
            tasks[slot].inWake = false
            tasks[slot].end = nil
            // Their time is not over: who connects again is not told so, when it counts anew.
            tasks[slot].warned = false
        }
        // What it was given in the background goes on without an end. A handler that was called
        // has been: it is called once.
        wake?.end = .distantFuture
        wake?.stop = nil
        for slot in deliveries.indices {
            deliveries[slot].end = .distantFuture
            deliveries[slot].warned = false
            deliveries[slot].stop = nil
        }
        actions += [.save, .emit(.weigh(id, .foreground)), .emit(.limitMemory(id, nil))]
        if isConnected {
            if !urls.isEmpty { tellOpenings(after: lastOpening - 1, &actions) }
            tell(.willEnterForeground, &actions)
            tell(.didBecomeActive, &actions)
        }
    }

    // MARK: What it is opened for

    /// As many URLs wait at most for an app that does not take them.
    static let mostUnopened = 256

    func mayOpen(_ urls: [String]) -> Bool {
        openings.reduce(urls.count) { $0 + $1.urls.count } <= Self.mostUnopened
    }

    mutating func open(_ urls: [String]) {
        guard !urls.isEmpty else { return }
        lastOpening += 1
        openings.append(Opening(number: lastOpening, urls: urls))
    }

    /// Those with higher numbers, to an app that can be told.
    func tellOpenings(after number: Int64, _ actions: inout [LaunchAction]) {
        guard isConnected else { return }
        for opening in openings where opening.number > number {
            tell(.openURLs(opening), &actions)
        }
    }

    mutating func openedURLs(_ number: Int64, _ actions: inout [LaunchAction]) {
        openings.removeAll { $0.number == number }
        actions.append(.save)
    }

    /// While it ends. What it was opened for before goes with it.
    mutating func reopened(
        _ wanted: Bool,
        _ urls: [String],
        _ actions: inout [LaunchAction]
    ) {
        if !wanted || !reopen { openings = [] }
        reopen = wanted
        open(urls)
        actions.append(.save)
    }

    // MARK: Leaving

    mutating func left(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        let now = facts.now.awake
        presence = .background
        // Work begun in the foreground uses none of it until now; begun later, what is left.
        let end = now + facts.settings.finishUp
        finishUp = FinishUp(end: end)
        let settings = facts.settings
        graceEnd = now + (isConnected ? settings.enteringBackground : settings.suspendDelay)
        enteringUntil = isConnected ? graceEnd : nil
        var last = now + settings.wakeGrant
        for slot in deliveries.indices {
            let own = now + facts.grant(for: deliveries[slot].trigger.grant)
            deliveries[slot].end = own
            last = max(last, own)
        }
        wake?.end = last
        monitor = newMonitor(facts)
        actions += [.save, .emit(.weigh(id, .background))]
        guard isConnected else { return }
        // Of the tasks that it holds, or begins now.
        let work = deliveries.filter { $0.state == .running }.map { DeliveryEnd($0.id, $0.end) }
        tell(.didEnterBackground(until: end, work: work), &actions)
    }

    /// Nothing is left to do: frozen. A program with a window that nobody watches stays.
    mutating func suspendIfDone(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        if isDone(facts) { freeze(facts, &actions) }
    }

    /// Nothing is left to do for an app that may be frozen.
    func isDone(_ facts: LaunchFacts) -> Bool {
        let hasNothing =
            deliveries.isEmpty && tasks.isEmpty && graceEnd == nil && launchingUntil == nil
        return role == .main && presence == .background && ending == nil && phase == .running
            && hasNothing && mayFreeze(facts.manifest)
    }

    private func mayFreeze(_ manifest: Shared<AppManifest>?) -> Bool {
        guard let manifest else { return false }
        return isConnected || manifest.terminal || manifest.noDisplay
    }

    // MARK: The end of the app's process

    mutating func appExited(
        _ exit: Exit,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        let result: RunResult
        switch (ending, exit) {
        case (.some(let ending), _): result = .terminated(ending.reason)
        case (.none, .unknown): result = .unknown
        case (.none, .signal(_, outOfMemory: true)): result = .terminated(.memoryLimit)
        case (.none, .signal(let signal, outOfMemory: false)): result = .crashed(signal: signal)
        case (.none, .status(let status)): result = .exited(status: status)
        }
        var reason = result.summary
        if result.stop == .memoryLimit { reason = summary(of: .memoryLimit, facts) }
        appIsOver(result, reason: reason, facts, &actions)
    }

    mutating func appIsOver(
        _ result: RunResult,
        reason: String,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        isConnected = false
        if presence == .foreground { actions.append(.leftForeground) }
        if deliveries.isEmpty {
            actions.append(.append(.ended(result, reason: reason)))
        } else {
            for delivery in deliveries {
                finish(delivery.id, result, reason: reason, facts, &actions)
            }
        }
        if reopen { actions.append(.reopen) }
        actions.append(.remove)
    }
}
