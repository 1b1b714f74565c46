import Vocabulary

/// What time alone does to launches. A deadline is checked when it is looked at, so a timer that
/// comes late, twice or for nothing is harmless.
extension Device {
    mutating func advanceLaunches(of index: Int, _ transition: inout Transition) {
        guard !apps[index].launches.isEmpty else { return }
        for id in apps[index].launches.map(\.id) {
            guard let launchIndex = apps[index].index(of: id) else { continue }
            let launch = apps[index].launches[launchIndex]
            if let killAt = launch.ending?.killAt, killAt <= transition.now.awake {
                apps[index].launches[launchIndex].ending?.killAt = nil
                save(app: index, launch: id)
                transition.emit(.kill(id))
            }
            tellDeadline(index, launchIndex, &transition)
            if let limit = launch.probe.limit, let probeStep = launch.probe.step,
                limit <= transition.now.awake
            {
                transition.emit(.cancelProbe(id))
                probed(
                    index,
                    launchIndex,
                    probeStep,
                    .unreadable(reason: "no answer in time"),
                    &transition
                )
                continue
            }
            sample(index, launchIndex, &transition)
            if launch.isCommand {
                advanceCommand(launch, of: index, &transition)
            } else {
                advanceApp(launch, of: index, &transition)
            }
        }
    }

    /// A command's end, for the time in which no daemon lives. What an app does it says to a
    /// daemon, and what would be frozen goes on: neither is ended by time alone then.
    private mutating func tellDeadline(
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard launch.isCommand, launch.process != nil, launch.exit == nil else { return }
        var deadline = launch.deadline
        if let ending = launch.ending {
            deadline = ending.killAt ?? deadline
        } else if launch.isFrozen || launch.isFreezable(.timeout, apps[index].manifest) {
            deadline = nil
        } else {
            deadline = launch.wake?.end
        }
        guard deadline != launch.deadline else { return }
        apps[index].launches[launchIndex].deadline = deadline
        save(app: index, launch: launch.id)
        transition.emit(.setDeadline(launch.id, deadline))
    }

    private mutating func sample(_ index: Int, _ launchIndex: Int, _ transition: inout Transition) {
        let launch = apps[index].launches[launchIndex]
        if let next = launch.monitor?.next, next <= transition.now.awake {
            let following = transition.now.awake + sampleInterval
            apps[index].launches[launchIndex].monitor?.next = following
            transition.emit(.measure(launch.id))
        }
        if let check = launch.lockCheckAt, check <= transition.now.boot {
            apps[index].launches[launchIndex].lockCheckAt = nil
            transition.emit(.checkLocks(launch.id))
        }
    }

    private mutating func advanceCommand(
        _ launch: Launch,
        of index: Int,
        _ transition: inout Transition
    ) {
        guard launch.ending == nil else { return }
        if let wake = launch.wake {
            guard launch.phase == .running else { return }
            let isFreezable = launch.isFreezable(.timeout, apps[index].manifest)
            let stopAt = isFreezable ? wake.end : warning(before: wake.end, wake.began.awake)
            if stopAt <= transition.now.awake { stopCommand(launch.id, .timeout, &transition) }
        } else if let since = launch.interruptedSince,
            since + settings.interruptedLimit <= transition.now.boot
        {
            stopCommand(launch.id, .interruptedTooLong, &transition)
        }
    }

    private mutating func advanceApp(
        _ launch: Launch,
        of index: Int,
        _ transition: inout Transition
    ) {
        guard launch.ending == nil, launch.presence == .background else { return }
        if let limit = launch.launchingUntil, limit <= transition.now.awake {
            end(launch.id, .launchWatchdog, &transition)
            return
        }
        advanceDeliveries(launch.id, &transition)
        advanceTasks(launch.id, &transition)
        guard let (index, launchIndex) = find(launch.id) else { return }
        if let grace = apps[index].launches[launchIndex].graceEnd, grace <= transition.now.awake {
            apps[index].launches[launchIndex].graceEnd = nil
            apps[index].launches[launchIndex].enteringUntil = nil
        }
        suspendIfDone(launch.id, &transition)
    }

    /// When the expiration handler is called: shortly before the end, never before the beginning.
    func warning(before end: AwakeTime, _ began: AwakeTime) -> AwakeTime {
        end == .distantFuture ? end : max(began, end - settings.expiryWarning)
    }

    /// The next deadline of any launch of an app.
    func nextDeadline(of app: AppState, at now: Moment) -> BootTime {
        var next = AwakeTime.distantFuture
        var nextBoot = BootTime.distantFuture
        for launch in app.launches {
            next = min(next, awakeDeadline(of: launch, app))
            if let check = launch.lockCheckAt { nextBoot = min(nextBoot, check) }
            if launch.wake == nil, launch.ending == nil, let since = launch.interruptedSince {
                nextBoot = min(nextBoot, since + settings.interruptedLimit)
            }
        }
        if next != .distantFuture { nextBoot = min(nextBoot, now.boot(of: next)) }
        nextBoot = min(nextBoot, now.boot(of: nextDrop(of: app)))
        if let end = app.forgottenAt(now) { nextBoot = min(nextBoot, now.boot(of: end)) }
        return nextBoot
    }

    /// When the first request is too old to be kept; distant future: none will be.
    private func nextDrop(of app: AppState) -> WallTime {
        guard app.requests.contains(where: \.isDroppable) else { return .distantFuture }
        let times = dropTimes(of: app)
        return min(times.gone, times.unused)
    }

    private func awakeDeadline(of launch: Launch, _ app: AppState) -> AwakeTime {
        var next = AwakeTime.distantFuture
        func consider(_ time: AwakeTime?) { if let time { next = min(next, time) } }
        consider(launch.probe.limit)
        consider(launch.monitor?.next)
        if let ending = launch.ending {
            consider(ending.killAt)
            return next
        }
        if launch.isCommand {
            if let wake = launch.wake, launch.phase == .running {
                consider(
                    launch.isFreezable(.timeout, app.manifest)
                        ? wake.end : warning(before: wake.end, wake.began.awake)
                )
            }
            return next
        }
        guard launch.presence == .background else { return next }
        consider(launch.launchingUntil)
        consider(launch.graceEnd)
        for task in launch.tasks { consider(task.end) }
        if let finishUp = launch.finishUp, launch.tasks.contains(where: { !$0.inWake }) {
            consider(finishUp.warned ? finishUp.end : finishUp.end - settings.expiryWarning)
        }
        for delivery in launch.deliveries {
            let began = launch.wake?.began.awake ?? .distantPast
            consider(delivery.warned ? delivery.end : warning(before: delivery.end, began))
        }
        return next
    }
}
