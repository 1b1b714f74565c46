import Vocabulary

/// Time that an app, or an extension of it, holds the app awake for: `beginBackgroundTask`, and an
/// extension's expiring activity. Both are the same to the device, but that an activity belongs to
/// the process of its extension.
extension Launch {
    static let mostTasks = 256

    /// Answered with the task's number, 0 when there is no time to be had, and its deadline.
    mutating func begin(
        _ task: BackgroundTask,
        _ reply: ReplyToken,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        // Asked again by an app that had no answer, since the daemon died.
        if let token = task.token,
            let known = tasks.first(where: { $0.token == token && $0.holder == task.holder })
        {
            actions.append(.answer(reply, .begun(answer(known, facts))))
            tellExpiry(known, &actions)
            return
        }
        let hasTime: Bool
        switch presence {
        case .foreground: hasTime = true
        case .background:
            hasTime =
                isCommand
                ? wake != nil && phase == .running
                : wake != nil || finishUp.map { $0.end > facts.now.awake && !$0.warned } ?? false
        case .suspended: hasTime = false
        }
        guard hasTime, ending == nil else {
            return actions.append(.answer(reply, .begun(BegunTask(task: 0))))
        }
        guard tasks.count < Self.mostTasks else {
            let refusal = Refusal(
                .invalid,
                reason: "the app has \(Self.mostTasks) background tasks open, and can have no more",
                value: task.name,
                fix: "end those that are done"
            )
            return actions.answer(reply, refusal)
        }
        var task = task
        task.number = lastTask + 1
        task.inWake = presence == .background && wake != nil
        lastTask = task.number
        tasks.append(task)
        actions += [.save, .answer(reply, .begun(answer(task, facts)))]
    }

    private func answer(_ task: BackgroundTask, _ facts: LaunchFacts) -> BegunTask {
        // A command has the time of its run, and no more: it is over when the command ends.
        let beyond = isCommand ? .zero : facts.settings.taskBeyondWake
        let end = task.inWake ? wake.map { $0.end + beyond } : nil
        let deadline = (end ?? finishUp?.end)?.monotonicSeconds
        return BegunTask(
            task: task.number,
            deadline: presence == .background ? deadline : nil
        )
    }

    mutating func taskEnded(
        _ number: Int64,
        by holder: ProcessID?,
        _ reply: ReplyToken?,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard tasks.contains(where: { $0.number == number && $0.holder == holder }) else {
            actions.append(.append(.note("ended an unknown background task: \(number)")))
            let refusal = Refusal(
                .notFound,
                reason: "no such background task is open: it was ended, or never begun",
                value: "\(number)",
                fix: "end each task once, by the number that it was begun with"
            )
            return actions.answer(reply, refusal)
        }
        actions.answer(reply)
        release(facts, &actions) { $0.number == number }
    }

    /// An extension's process has ended, or hung up: what it held is held no more.
    mutating func extensionGone(
        _ process: ProcessID,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        guard tasks.contains(where: { $0.holder == process }) else { return }
        release(facts, &actions) { $0.holder == process }
    }

    private mutating func release(
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction],
        where isMeant: (BackgroundTask) -> Bool
    ) {
        tasks.removeAll(where: isMeant)
        // Given back as soon as the last one ends, without the debounce; but never in the middle of
        // entering the background.
        if tasks.isEmpty { graceEnd = enteringUntil }
        actions.append(.save)
        suspendIfDone(facts, &actions)
    }

    /// The run is over; tasks that were opened during it get a little more.
    mutating func beginTasksBeyondRun(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        guard presence == .background else { return }
        // One of an earlier wake keeps the end that it had.
        for slot in tasks.indices where tasks[slot].inWake && tasks[slot].end == nil {
            tasks[slot].end = facts.now.awake + facts.settings.taskBeyondWake
            warn(slot, &actions)
        }
    }

    /// The time that the tasks share after the user has left is nearly over.
    mutating func warnFinishUp(_ actions: inout [LaunchAction]) {
        finishUp?.warned = true
        for slot in tasks.indices where !tasks[slot].inWake { warn(slot, &actions) }
        actions.append(.save)
    }

    private mutating func warn(_ slot: Int, _ actions: inout [LaunchAction]) {
        guard !tasks[slot].warned else { return }
        tasks[slot].warned = true
        tellExpiry(tasks[slot], &actions)
    }

    /// Calls the handler of a task whose time is nearly over, if somebody listens. Told again to
    /// whoever connects anew: it may have come while nobody did.
    private func tellExpiry(_ task: BackgroundTask, _ actions: inout [LaunchAction]) {
        guard task.warned, task.hasHandler, presence == .background, ending == nil,
            // An extension has a connection of its own.
            isConnected || task.holder != nil
        else { return }
        let end = task.end ?? finishUp?.end ?? wake?.end ?? .distantFuture
        tell(.expireTask(task: task.number, to: task.holder, .timeout, until: end), &actions)
    }

    /// The app listens again.
    func tellExpiriesAgain(_ actions: inout [LaunchAction]) {
        for task in tasks where task.holder == nil { tellExpiry(task, &actions) }
    }
}

extension [LaunchAction] {
    /// Answers whoever waits for it, after the commit.
    mutating func answer(_ reply: ReplyToken?, _ refusal: Refusal? = nil) {
        guard let reply else { return }
        append(.answer(reply, refusal.map { .refused($0) } ?? .done))
    }
}
