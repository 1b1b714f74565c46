import Vocabulary

/// What time alone does to a launch.
enum LaunchDeadline: Hashable, Sendable {
    /// It was asked to end, and has not.
    case kill
    /// A result source has not answered.
    case answer(ProbeStep)
    /// Another look at what it uses.
    case sample
    /// A look at the file locks that it holds while frozen.
    case locks
    /// A command's grant is nearly over.
    case grant
    /// A command has been frozen for too long.
    case interruption
    /// An app has not finished launching.
    case watchdog
    case warn(DeliveryID), expire(DeliveryID)
    /// A task beyond its run.
    case task
    case warnFinishUp, finishUp
    /// The time after leaving, or after launching, that needs no reason.
    case grace
}

/// A deadline is checked when it is looked at, so a timer that comes late, twice or for nothing is
/// harmless.
extension Launch {
    /// Whether time has anything to do to it.
    func isDue(_ facts: LaunchFacts) -> Bool {
        firstDue(facts) != nil || newDeadline(facts) != deadline || isDone(facts)
    }

    /// Does all that is due.
    mutating func woke(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        while actions.last != .remove, let due = firstDue(facts) { meet(due, facts, &actions) }
        guard actions.last != .remove else { return }
        tellDeadline(facts, &actions)
        suspendIfDone(facts, &actions)
    }

    /// When time does something to it next; distant future: never by itself.
    func nextDeadline(_ facts: LaunchFacts) -> BootTime {
        var next = Interval.forever
        forEachDeadline(facts) { _, left in next = min(next, left) }
        return next == .forever ? .distantFuture : facts.now.boot + max(.zero, next)
    }

    private func firstDue(_ facts: LaunchFacts) -> LaunchDeadline? {
        var due: LaunchDeadline?
        forEachDeadline(facts) { deadline, left in
            if due == nil, left <= .zero { due = deadline }
        }
        return due
    }

    /// Each deadline that it has, with the time that is left until then: the one list of them.
    func forEachDeadline(
        _ facts: LaunchFacts,
        _ body: (LaunchDeadline, Interval) -> Void
    ) {
        func at(_ time: AwakeTime?, _ deadline: LaunchDeadline) {
            guard let time, time != .distantFuture else { return }
            body(deadline, time - facts.now.awake)
        }
        func at(_ time: BootTime?, _ deadline: LaunchDeadline) {
            if let time { body(deadline, time - facts.now.boot) }
        }
        at(ending?.killAt, .kill)
        if let step = probe.step { at(probe.limit, .answer(step)) }
        at(monitor?.next, .sample)
        at(lockCheckAt, .locks)
        guard ending == nil else { return }
        if isCommand {
            if let wake {
                guard phase == .running else { return }
                let isFreezable = isFreezable(.timeout, facts.manifest)
                let warning = facts.warning(before: wake.end, wake.began.awake)
                at(isFreezable ? wake.end : warning, .grant)
            } else {
                at(interruptedSince.map { $0 + facts.settings.interruptedLimit }, .interruption)
            }
            return
        }
        guard presence == .background else { return }
        at(launchingUntil, .watchdog)
        let began = wake?.began.awake ?? .distantPast
        for delivery in deliveries {
            if delivery.warned || delivery.end <= facts.now.awake {
                at(delivery.end, .expire(delivery.id))
            } else {
                at(facts.warning(before: delivery.end, began), .warn(delivery.id))
            }
        }
        for task in tasks { at(task.end, .task) }
        if let finishUp, tasks.contains(where: { !$0.inWake }) {
            if finishUp.warned || finishUp.end <= facts.now.awake {
                at(finishUp.end, .finishUp)
            } else {
                at(finishUp.end - facts.settings.expiryWarning, .warnFinishUp)
            }
        }
        at(graceEnd, .grace)
    }

    private mutating func meet(
        _ deadline: LaunchDeadline,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        switch deadline {
        case .kill:
            ending?.killAt = nil
            actions += [.save, .emit(.kill(id))]
        case .answer(let step):
            actions.append(.emit(.cancelProbe(id)))
            probed(step, .unreadable(reason: "no answer in time"), facts, &actions)
        case .sample:
            monitor?.next = facts.now.awake + facts.sampleInterval
            actions.append(.emit(.measure(id)))
        case .locks:
            lockCheckAt = nil
            actions.append(.emit(.checkLocks(id)))
        case .grant: stopCommand(.timeout, facts, &actions)
        case .interruption: stopCommand(.interruptedTooLong, facts, &actions)
        case .watchdog: end(.launchWatchdog, facts, &actions)
        case .warn(let delivery): warn(delivery, .timeout, &actions)
        case .expire(let delivery): expire(delivery, facts, &actions)
        case .task, .finishUp: end(.neverCompleted, facts, &actions)
        case .warnFinishUp: warnFinishUp(&actions)
        case .grace:
            (graceEnd, enteringUntil) = (nil, nil)
            actions.append(.save)
        }
    }

    /// A command's end, for the time in which no daemon lives. What an app does it says to a
    /// daemon, and what would be frozen goes on: neither is ended by time alone then.
    private mutating func tellDeadline(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        let new = newDeadline(facts)
        guard new != deadline else { return }
        deadline = new
        actions += [.save, .emit(.setDeadline(id, new))]
    }

    private func newDeadline(_ facts: LaunchFacts) -> AwakeTime? {
        guard isCommand, process != nil, exit == nil else { return deadline }
        if let ending { return ending.killAt ?? deadline }
        return isFrozen || isFreezable(.timeout, facts.manifest) ? nil : wake?.end
    }
}
