import Vocabulary

/// Time that an app, or an extension of it, holds the app awake for: `beginBackgroundTask`, and an
/// extension's expiring activity. Both are the same to the device, but that an activity belongs to
/// the process of its extension.
extension Device {
    /// Answered with the task's number, 0 when there is no time to be had, and its deadline.
    mutating func begin(
        _ task: BackgroundTask,
        _ index: Int,
        _ launchIndex: Int,
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        // Asked again by an app that had no answer, since the daemon died.
        if let token = task.token,
            let known = launch.tasks.first(where: {
                $0.token == token && $0.holder == task.holder
            })
        {
            transition.reply(reply, .begun(answer(known, launch)))
            tellExpiry(known.number, launch, &transition)
            return
        }
        let hasTime: Bool
        switch launch.presence {
        case .foreground: hasTime = true
        case .background:
            hasTime =
                launch.wake != nil
                || launch.finishUp.map { $0.end > transition.now.awake && !$0.warned } ?? false
        case .suspended: hasTime = false
        }
        // A command has the time of its run, and no more.
        guard hasTime, !launch.isCommand, launch.ending == nil, launch.tasks.count < 256 else {
            transition.reply(reply, .begun(BegunTask(task: 0)))
            return
        }
        var task = task
        task.inWake = launch.presence == .background && launch.wake != nil
        apps[index].launches[launchIndex].lastTask = task.number
        apps[index].launches[launchIndex].tasks.append(task)
        save(app: index, launch: launch.id)
        transition.reply(reply, .begun(answer(task, launch)))
    }

    private func answer(_ task: BackgroundTask, _ launch: Launch) -> BegunTask {
        let end = task.inWake ? launch.wake.map { $0.end + settings.taskBeyondWake } : nil
        let deadline = (end ?? launch.finishUp?.end)?.monotonicSeconds
        return BegunTask(
            task: task.number,
            deadline: launch.presence == .background ? deadline : nil
        )
    }

    mutating func taskEnded(
        _ number: Int64,
        by holder: ProcessID?,
        _ index: Int,
        _ launchIndex: Int,
        _ reply: ReplyToken?,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard launch.tasks.contains(where: { $0.number == number && $0.holder == holder }) else {
            appendHistory(
                .note("ended an unknown background task: \(number)"),
                app: index,
                &transition
            )
            let refusal = Refusal(
                .notFound,
                reason: "no such background task is open: it was ended, or never begun",
                value: "\(number)",
                fix: "end each task once, by the number that it was begun with"
            )
            answer(reply, refusal, &transition)
            return
        }
        answer(reply, nil, &transition)
        release(index, launchIndex, &transition) { $0.number == number }
    }

    /// An extension's process has ended, or hung up: what it held is held no more.
    mutating func extensionGone(
        _ process: ProcessID,
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        guard apps[index].launches[launchIndex].tasks.contains(where: { $0.holder == process })
        else {
            return
        }
        release(index, launchIndex, &transition) { $0.holder == process }
    }

    private mutating func release(
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition,
        where isMeant: (BackgroundTask) -> Bool
    ) {
        let id = apps[index].launches[launchIndex].id
        apps[index].launches[launchIndex].tasks.removeAll(where: isMeant)
        // Given back as soon as the last one ends, without the debounce; but never in the middle of
        // entering the background.
        if apps[index].launches[launchIndex].tasks.isEmpty {
            apps[index].launches[launchIndex].graceEnd =
                apps[index].launches[launchIndex].enteringUntil
        }
        save(app: index, launch: id)
        suspendIfDone(id, &transition)
    }

    /// The run is over; tasks that were opened during it get a little more.
    mutating func beginTasksBeyondWake(
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard launch.presence == .background else { return }
        // One of an earlier wake keeps the end that it had.
        for (slot, task) in launch.tasks.enumerated() where task.inWake && task.end == nil {
            apps[index].launches[launchIndex].tasks[slot].end =
                transition.now.awake + settings.taskBeyondWake
            warn(task, index, launchIndex, &transition)
        }
    }

    private mutating func warn(
        _ task: BackgroundTask,
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard !task.warned, let slot = launch.tasks.firstIndex(where: { $0.number == task.number })
        else { return }
        apps[index].launches[launchIndex].tasks[slot].warned = true
        tellExpiry(task.number, apps[index].launches[launchIndex], &transition)
    }

    /// Calls the handler of a task whose time is nearly over, if somebody listens. Told again to
    /// whoever connects anew: it may have come while nobody did.
    private func tellExpiry(_ number: Int64, _ launch: Launch, _ transition: inout Transition) {
        guard let task = launch.tasks.first(where: { $0.number == number }),
            task.warned, task.hasHandler, launch.presence == .background, launch.ending == nil,
            // An extension has a connection of its own.
            launch.isConnected || task.holder != nil
        else { return }
        let end = task.end ?? launch.finishUp?.end ?? launch.wake?.end ?? .distantFuture
        let message = AppMessage.expireTask(
            task: task.number,
            to: task.holder,
            .timeout,
            until: end
        )
        transition.emit(.tell(launch.id, message))
    }

    /// The app listens again.
    mutating func tellExpiriesAgain(_ id: LaunchID, _ index: Int, _ transition: inout Transition) {
        guard let launchIndex = apps[index].index(of: id) else { return }
        let launch = apps[index].launches[launchIndex]
        for task in launch.tasks where task.holder == nil {
            tellExpiry(task.number, launch, &transition)
        }
    }

    mutating func advanceTasks(_ id: LaunchID, _ transition: inout Transition) {
        guard let (index, launchIndex) = find(id) else { return }
        let launch = apps[index].launches[launchIndex]
        guard launch.ending == nil else { return }
        if launch.tasks.contains(where: { $0.end.map { $0 <= transition.now.awake } ?? false }) {
            self.end(id, .neverCompleted, &transition)
            return
        }
        guard let finishUp = launch.finishUp, launch.tasks.contains(where: { !$0.inWake }) else {
            return
        }
        if finishUp.end <= transition.now.awake {
            end(id, .neverCompleted, &transition)
        } else if !finishUp.warned, finishUp.end - settings.expiryWarning <= transition.now.awake {
            apps[index].launches[launchIndex].finishUp?.warned = true
            for task in launch.tasks where !task.inWake {
                warn(task, index, launchIndex, &transition)
            }
            save(app: index, launch: id)
        }
    }
}
