package import DeviceCore
package import Vocabulary

/// What stands between a virtual daemon and the world: the driver's store, and who performs what it
/// hands out.
package protocol SimulatedPort: DevicePort {
    mutating func perform(_ effect: Effect)
}

/// The world as the daemon sees it.
package struct VirtualPort: SimulatedPort {
    package let world: World

    package func commit(
        _ changes: [Change],
        _ durability: Durability
    ) throws(CommitError) {
        try world.commit(changes, durability)
    }
    package func commitAnew(
        _ records: [Record],
        with changes: [Change]
    ) throws(CommitError) {
        // Never without what it had: of the records, those of `changes` are the newest.
        try world.commit(changes, .powerLoss)
        if world.daemonIsAlive { world.store.replace(with: records) }
    }
    package func perform(_ effect: Effect) { world.perform(effect) }
    package func record(_ event: TimedEvent, _ decisions: [Effect]) {
        world.watch.recorded(event, decisions)
    }
    package func recordRollback(of count: Int) { world.watch.rolledBack(count) }
}

extension World {
    // MARK: Commits

    func commit(_ changes: [Change], _ durability: Durability) throws(CommitError) {
        guard daemonIsAlive else { return }
        switch killInjector.kills(before: .save, &swarm) {
        case .none: break
        case .before:
            killDaemon(.killBeforeCommit)
            return
        case .within(let landed):
            if landed {
                apply(changes, durability)
            }
            killDaemon(.killInCommit)
            return
        }
        if let storeTrouble {
            throw CommitError(
                storeTrouble == 1 ? .full : .failing,
                reason: "no space left on device"
            )
        }
        apply(changes, durability)
        if durability == .kill, strikes(.lostWrites, in: 300) {
            (losesPower, rebootIsDue) = (true, true)
        }
    }

    private func apply(_ changes: [Change], _ durability: Durability) {
        store.apply(changes, durability)
        watch.committed(changes)
        for case .append(let line) in changes {
            guard case .wake(let report) = line.entry else { continue }
            guard let process = process(report.launch) else { continue }
            process.talk.ends(report.identifier)
            endedWork.append(process)
        }
    }

    func answer(_ token: ReplyToken, _ reply: Reply) {
        guard daemonIsAlive, !isCut(before: .reply) else { return }
        watch.replied(token, reply, at: now)
        if case .transfers(let ids) = reply {
            network.promised = (network.promised + ids).suffix(20)
        }
        if let launch = askedBy.removeValue(forKey: token) {
            process(launch)?.talk.hears(reply, to: token)
        }
        replied(reply, to: token)
    }

    /// Kills the daemon here, if the kill injector says so.
    private func isCut(before kind: EffectKind) -> Bool {
        switch killInjector.kills(before: kind, &swarm) {
        case .none: return false
        case .before, .within:
            killDaemon(killInjector.last == .save ? .killAfterCommit : .killBetweenEffects)
            return true
        }
    }

    // MARK: Effects

    func perform(_ effect: Effect) {
        if case .reply(let token, let reply) = effect { return answer(token, reply) }
        guard daemonIsAlive, !isCut(before: EffectKind(effect)) else { return }
        watch.performed(effect, at: now, self)
        switch effect {
        case .save, .reply, .limitMemory, .notifyFailures, .watchUse, .announce: break
        case .transfer(let id, let action): perform(action, id)
        case .weigh(let launch, let weight): process(launch)?.weight = weight
        case .spawn(let launch, let spec): spawn(launch, spec)
        case .attach(let launch, _, let spec): spawn(launch, spec)
        case .probe(let launch, let step, _, let spec, _): probe(launch, step, spec)
        case .cancelProbe: break
        case .freeze(let launch): freeze(launch, true)
        case .thaw(let launch): freeze(launch, false)
        case .terminate(let launch): terminate(launch)
        case .kill(let launch):
            guard let process = process(launch) else { return }
            process.isToldToEnd = true
            die(process, .signal(9, outOfMemory: false))
        case .release(let launch):
            processes.removeAll { $0.launch == launch && $0.isDead }
        case .measure(let launch):
            guard let process = process(launch), !process.isDead else { return }
            send(.process(launch, .measured(process.usage(at: clock.elapsed))))
        case .checkLocks(let launch):
            guard let process = process(launch), process.isFrozen else { return }
            send(.process(launch, .locks(process.holdsLock ? ["/shared/lock"] : [])))
        case .tell(let launch, let message): tell(launch, message)
        case .holdAwake(let holds):
            isHeldAwake = holds
            planDoze()
        case .inhibitIdle(let inhibits): isIdleInhibited = inhibits
        case .sleepAgain: planDoze(after: .milliseconds(5))
        case .watchIdle(let watches): watchIdle(watches)
        case .setDeadline(let launch, let deadline): process(launch)?.deadline = deadline
        case .arm(let timers): arm(timers)
        }
    }

    private func arm(_ timers: Timers) {
        if timers.alarm != armed.alarm {
            alarmPlan += 1
            if let time = timers.alarm { agenda.add(.alarm(plan: alarmPlan), at: firing(time)) }
        }
        if timers.timer != armed.timer {
            timerPlan += 1
            if let time = timers.timer { agenda.add(.timer(plan: timerPlan), at: firing(time)) }
        }
        armed = timers
        guard timers != Timers() else { return }
        if strikes(.spuriousTimer, in: 500), daemonIsAlive {
            send(.timer, after: .milliseconds(random.within(0...50)))
        }
    }

    /// A timer of a real machine is never early, and a little late.
    private func firing(_ time: BootTime) -> Interval {
        var at = max(clock.elapsed(at: time), clock.elapsed)
        at += Interval(nanoseconds: random.within(0...200_000))
        if strikes(.lateTimer, in: 200) { at += .milliseconds(random.within(1...3_000)) }
        return at
    }

    private func freeze(_ launch: LaunchID, _ isFrozen: Bool) {
        guard let process = process(launch), !process.isDead, process.isFrozen != isFrozen else {
            return
        }
        process.isFrozen = isFrozen
        follow(process)
    }

    private func terminate(_ launch: LaunchID) {
        guard let process = process(launch), !process.isDead else { return }
        process.isToldToEnd = true
        guard !process.ignoresTerm else { return }
        let delay = Interval.milliseconds(plans[process.app].random.within(5...900))
        process.add(.exit(.signal(15, outOfMemory: false)), after: delay, at: clock.elapsed)
        follow(process)
    }

    private func spawn(_ launch: LaunchID, _ spec: ProcessSpec) {
        let index = planIndex(spec.app)
        if strikes(.notStarted, in: 100, app: index) {
            send(.process(launch, .notStarted(StartFailure(.program, reason: "no such program"))))
            return
        }
        if let failure = noRoom() {
            send(.process(launch, .notStarted(failure)))
            return
        }
        nextPid += 1
        let process = VirtualProcess(
            launch: launch,
            app: index,
            spec,
            runs: plans[index].command(spec.arguments),
            process: ProcessID(
                pid: nextPid,
                startTime: UInt64(clock.elapsed.nanoseconds / 10_000_000)
            )
        )
        processes.append(process)
        if process.command == nil, plans[index].isLinked {
            process.clients = [VirtualClient(process)]
        }
        process.add(
            .exec,
            after: .milliseconds(plans[index].random.within(1...40)),
            at: clock.elapsed
        )
        process.link.isForeground = spec.weight == .foreground
        follow(process)
    }

    /// The machine is short of something that a start takes.
    private func noRoom() -> StartFailure? {
        if strikes(.noRoomForFile, in: 300) {
            return StartFailure(.storage, reason: "no space left on device")
        }
        if strikes(.noRoomForProcess, in: 300) {
            return StartFailure(.processes, reason: "clone3: resource temporarily unavailable")
        }
        return nil
    }

    private func probe(_ launch: LaunchID, _ step: ProbeStep, _ spec: ProcessSpec) {
        let index = planIndex(spec.app)
        if let failure = noRoom() {
            send(.process(launch, .probed(step, .notAsked(failure))))
            return
        }
        if strikes(.probeSilent, in: 20, app: index) { return }
        let delay = Interval.milliseconds(plans[index].random.within(5...400))
        let answer: ProbeAnswer
        switch step {
        case .before, .after:
            answer = .read(Fingerprint(of: "\(plans[index].fingerprint)"), status: 0)
        case .failed:
            let failed = plans[index].random.chance(1, in: 10)
            answer = .read(Fingerprint(), status: failed ? 1 : 0)
        }
        send(.process(launch, .probed(step, answer)), after: delay)
    }

    // MARK: The daemon's end

    /// Kills the daemon; nil: the machine takes it along.
    package func killDaemon(_ fault: Fault?, for outage: Interval? = nil) {
        guard daemonIsAlive else { return }
        if let fault { swarm.count(fault) }
        (daemonIsAlive, isStopping) = (false, false)
        diedAt = clock.elapsed
        life += 1
        (isHeldAwake, isIdleInhibited) = (false, false)
        network.daemonEnded()
        alarmPlan += 1
        timerPlan += 1
        armed = Timers()
        planDoze()
        for process in processes {
            process.talk.disconnect()
            process.isAdopted = true
            for client in process.clients {
                client.loseDaemon()
                if let connection = client.connection { post(.hangUp, client, connection) }
            }
        }
        calls.removeAll(keepingCapacity: true)
        questions.removeAll()
        var delay = Interval.milliseconds(random.within(50...4_000))
        if strikes(.longOutage, in: 10) { delay = .seconds(random.within(8...300)) }
        if let outage { delay = outage }
        plan(.keeper(life: life), after: .seconds(10))
        for process in processes { planDeadline(of: process) }
        plan(.restart, after: delay)
        watch.killed()
        for event in inbox { lost(event) }
        inbox.removeAll()
    }

    /// The keeper ends what a daemon would have ended.
    func planDeadline(of process: VirtualProcess) {
        guard let deadline = process.deadline, !process.isDead else { return }
        let left = max(.zero, deadline - now.awake)
        plan(.deadline(process.launch, life: life), after: left)
    }

    /// Apps look for the new daemon.
    func daemonStarted() {
        retryIsPlanned = false
        settledSince = clock.elapsed
        for process in processes where !process.isDead {
            for client in process.clients where client.connection == nil {
                let delay = Interval.milliseconds(plans[process.app].random.within(20...3_000))
                process.add(.look(client), after: delay, at: clock.elapsed)
            }
            if !process.clients.isEmpty { follow(process) }
            // It looks for helpers by their processes.
            for holder in process.talk.holders
            where !process.clients.contains(where: { $0.holder == holder }) {
                send(.app(process.launch, .extensionGone(holder)))
            }
        }
    }

    /// Power off and on again: no process survives, the boot clock begins anew.
    func reboot() {
        processes.removeAll()
        storeTrouble = nil
        if losesPower { store.losePower() }
        // Whatever the store keeps of it: a machine that goes down may take unsynced bytes along.
        network.losePower()
        losesPower = false
        clock.boot()
        bootNumber += 1
        user.openApp = nil
        (isHeldAwake, isIdleInhibited) = (false, false)
        sensors[Condition.locked.index] = .value(user.isActive ? 0 : 2)
        restartIsDue = true
        planDoze()
    }

    /// An event that the dead daemon never handled, or whose answer was not heard: what its sender
    /// does about that.
    func lost(_ event: Event) {
        switch event {
        case .user(.submit(let submission), _):
            guard submission.token != nil else { return }
            swarm.count(.retriedToken)
            plan(.user(.again(submission)), after: .seconds(5))
        // What an app has said its library says again, when it sees that its connection is lost.
        case .app, .user: break
        case .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition, .process,
            .used, .triggered, .transfer, .storageRecovered, .stopping:
            break
        }
    }
}
