import DeviceCore
import Vocabulary

/// What programs do: plain commands, which run and exit, and linked apps, which talk.
extension World {
    func act(_ process: VirtualProcess) {
        for action in process.takeDue(at: clock.elapsed) {
            guard !process.isDead else { return }
            perform(action, process)
        }
        follow(process)
    }

    private func perform(_ action: Action, _ process: VirtualProcess) {
        let launch = process.launch
        func say(_ event: AppEvent) { send(.app(launch, event)) }
        switch action {
        case .exec: exec(process)
        case .exit(let exit): leave(process, exit)
        case .finishLaunching:
            process.link.hasFinishedLaunching = true
            let finished = AppEvent.finishedLaunching(registered: handlers(process.app))
            if daemonIsAlive {
                process.link.isConnected = true
                send(token { .app(launch, .connected(reply: $0)) })
                say(finished)
            } else {
                // It connects when there is a daemon again.
                process.link.unheard.append(finished)
            }
            greet(process)
        case .accept(let id): accept(id, process)
        case .decline(let id): decline(id, process)
        case .setHandler(let id): say(.expirationHandler(id, set: true))
        case .complete(let id, let result): complete(id, result, process)
        case .enteredBackground: say(.enteredBackground)
        case .beginTask(let name, let handler, let holder):
            guard process.link.isConnected else { return }
            send(
                token(
                    {
                        .app(
                            launch,
                            .taskBegan(
                                name: name,
                                hasHandler: handler,
                                by: holder,
                                reply: $0
                            )
                        )
                    },
                    isTask: true
                )
            )
        case .endTask(let number, let holder): say(.taskEnded(task: number, by: holder))
        case .extensionEnds(let holder): say(.extensionGone(holder))
        case .submit(let submission):
            send(token { .app(launch, .submit(submission, reply: $0)) })
        case .setInterval(let interval):
            send(token { .app(launch, .fetchInterval(interval, reply: $0)) })
        case .cancel: send(token { .app(launch, .cancel(identifier: nil, reply: $0)) })
        case .disconnect:
            guard process.link.isConnected else { return }
            process.link.isConnected = false
            say(.disconnected)
        case .reconnect: reconnect(process)
        case .connectAnew: connectAnew(process)
        case .greetAnew: greetAnew(process)
        case .becomeHog(let memory): process.memory = memory
        }
    }

    private func exec(_ process: VirtualProcess) {
        process.hasStarted = true
        watch.ran(process, self)
        send(.process(process.launch, .started(process.process)))
        guard !isQuiet else { return }
        if let trigger = process.command {
            runCommand(process, trigger)
        } else if plans[process.app].isLinked {
            launchApp(process)
        } else if plans[process.app].random.chance(1, in: 3) {
            let time = Interval.seconds(plans[process.app].random.within(1...1_200))
            process.add(.exit(.status(0)), after: time, at: clock.elapsed)
        }
    }

    // MARK: Plain commands

    private func runCommand(_ process: VirtualProcess, _ trigger: Trigger) {
        let index = process.app
        let mean = plans[index].work.nanoseconds * (trigger == .processing ? 20 : 1)
        var time = Interval(nanoseconds: plans[index].random.within(mean / 4...mean * 2))
        var exit = Exit.status(plans[index].random.below(10) < 7 ? 0 : 3)
        if strikes(.exitRetry, in: 50, app: index) { exit = .status(75) }
        if strikes(.exitFailed, in: 50, app: index) { exit = .status(1) }
        if strikes(.commandCrash, in: 100, app: index) {
            exit = .signal(11, outOfMemory: false)
        }
        if strikes(.neverEnds, in: 100, app: index) { time = .days(400) }
        process.ignoresTerm = strikes(.ignoresTerm, in: 20, app: index)
        if strikes(.cpuHog, in: 100, app: index) {
            process.share = 1000
            time = max(time, .minutes(4))
        }
        if strikes(.memoryHog, in: 100, app: index) {
            process.add(
                .becomeHog(memory: 900 << 20),
                after: .seconds(plans[index].random.within(1...20)),
                at: clock.elapsed
            )
            exit = .signal(9, outOfMemory: true)
        }
        process.holdsLock = strikes(.fileLock, in: 40, app: index)
        process.add(.exit(exit), after: time, at: clock.elapsed)
    }

    /// The end that a program chose, or that its fate chose for it.
    private func leave(_ process: VirtualProcess, _ exit: Exit) {
        if process.command != nil, exit == .status(0),
            plans[process.app].random.below(10) < plans[process.app].newDataOfTen
        {
            plans[process.app].fingerprint += 1
        }
        die(process, exit)
    }

    // MARK: Linked apps

    func handlers(_ index: Int) -> [String] {
        plans[index].identifiers + plans[index].processingIdentifiers
    }

    private func launchApp(_ process: VirtualProcess) {
        let index = process.app
        if strikes(.appCrash, in: 100, app: index) {
            crash(process, within: 3_000)
        }
        if strikes(.launchNever, in: 40, app: index) { return }
        var time = Interval.milliseconds(plans[index].random.within(50...2_500))
        if strikes(.launchLate, in: 60, app: index) { time = .seconds(15 + time.wholeSeconds * 6) }
        process.add(.finishLaunching, after: time, at: clock.elapsed)
        process.holdsLock = strikes(.fileLock, in: 60, app: index)
        if strikes(.cpuHog, in: 60, app: index) { process.share = 1000 }
        if strikes(.memoryHog, in: 60, app: index) {
            process.add(
                .becomeHog(memory: 400 << 20),
                after: .seconds(plans[index].random.within(1...60)),
                at: clock.elapsed
            )
        }
        if strikes(.disconnect, in: 40, app: index) {
            process.add(
                .disconnect,
                after: time + .milliseconds(plans[index].random.within(10...40_000)),
                at: clock.elapsed
            )
            process.add(
                .reconnect,
                after: time + .milliseconds(plans[index].random.within(40_000...80_000)),
                at: clock.elapsed
            )
        }
        if strikes(.stopsReading, in: 80, app: index) { process.link.stoppedReading = true }
    }

    private func crash(_ process: VirtualProcess, within milliseconds: Int64) {
        process.add(
            .exit(.signal(11, outOfMemory: false)),
            after: .milliseconds(plans[process.app].random.within(1...milliseconds)),
            at: clock.elapsed
        )
    }

    /// What an app does once it is up and in front of its user.
    private func greet(_ process: VirtualProcess) {
        let index = process.app
        guard process.link.isForeground else { return }
        let now = clock.elapsed
        func soon() -> Interval { .milliseconds(plans[index].random.within(100...20_000)) }
        if plans[index].usesFetch, plans[index].random.chance(1, in: 4) {
            let intervals: [FetchInterval] = [
                .minimum, .every(.hours(1)), .every(.minutes(5)), .never, .minimum,
            ]
            process.add(
                .setInterval(intervals[plans[index].random.below(intervals.count)]),
                after: soon(),
                at: now
            )
        }
        for identifier in plans[index].identifiers where plans[index].random.chance(2, in: 3) {
            process.add(.submit(submission(identifier, .refresh, index)), after: soon(), at: now)
        }
        for identifier in plans[index].processingIdentifiers
        where plans[index].random.chance(1, in: 3) {
            process.add(
                .submit(submission(identifier, .processing, index)),
                after: soon(),
                at: now
            )
        }
        beginTasks(process, chance: 2)
    }

    /// A helper program, in the same cgroup; who it is, is all that matters of it.
    private func startExtension() -> ProcessID {
        nextPid += 1
        return ProcessID(
            pid: nextPid,
            startTime: UInt64(clock.elapsed.nanoseconds / 10_000_000)
        )
    }

    private func beginTasks(_ process: VirtualProcess, chance: Int) {
        let index = process.app
        guard plans[index].random.chance(1, in: chance) else { return }
        for _ in 0..<(1 + plans[index].random.below(2)) {
            process.add(
                .beginTask(
                    name: "task",
                    handler: plans[index].random.chance(1, in: 2),
                    by: plans[index].random.chance(1, in: 5) ? startExtension() : nil
                ),
                after: .milliseconds(plans[index].random.within(10...5_000)),
                at: clock.elapsed
            )
        }
    }

    func submission(_ identifier: String, _ kind: TaskKind, _ index: Int) -> Submission {
        plans[index].submissions += 1
        let needs = Needs(
            power: kind == .processing && plans[index].random.chance(1, in: 3),
            network: plans[index].random.chance(1, in: 3),
            unlocked: plans[index].random.chance(1, in: 8)
        )
        return Submission(
            app: plans[index].id,
            identifier: identifier,
            kind: kind,
            after: .minutes(plans[index].random.within(0...600)),
            needs: needs,
            token: "\(plans[index].id)-\(plans[index].submissions)"
        )
    }

    private func accept(_ id: DeliveryID, _ process: VirtualProcess) {
        guard process.link.isConnected,
            let index = process.link.offered.firstIndex(where: { $0.id == id })
        else { return }
        process.link.offered.remove(at: index)
        process.link.running.append(id)
        send(.app(process.launch, .accepted(id)))
    }

    private func decline(_ id: DeliveryID, _ process: VirtualProcess) {
        guard process.link.isConnected,
            let index = process.link.offered.firstIndex(where: { $0.id == id })
        else { return }
        process.link.offered.remove(at: index)
        process.link.declined.append(id)
        send(.app(process.launch, .declined(id, reason: "not now")))
    }

    private func complete(_ id: DeliveryID, _ result: TaskResult, _ process: VirtualProcess) {
        let wasRunning = process.link.running.contains(id)
        process.link.running.removeAll { $0 == id }
        if process.link.isConnected {
            let usage = process.usage(at: clock.elapsed)
            send(.app(process.launch, .completed(id, result, usage: usage)))
        } else if wasRunning {
            process.link.finished.append(FinishedDelivery(delivery: id, result: result))
        }
    }

    // MARK: What the daemon says

    func hear(_ process: VirtualProcess, _ message: AppMessage) {
        guard process.link.isConnected else { return }
        if process.link.stoppedReading {
            process.link.unread += 1
            guard process.link.unread >= 2 else { return }
            process.link.isConnected = false
            send(.app(process.launch, .disconnected))
            return
        }
        guard !isQuiet else { return }
        switch message {
        case .offer(let id, let offer): offered(id, offer.identifier, process)
        case .go(let id, _): begin(id, process)
        case .expire(let id, _, _): expire(id, process)
        case .expireTask(let number, let holder, _, _):
            let isStubborn = strikes(.taskNeverEnded, in: 20, app: process.app)
            process.forget {
                if case .endTask(number, _) = $0 { isStubborn } else { false }
            }
            if !isStubborn {
                process.add(
                    .endTask(number, by: holder),
                    after: .milliseconds(200),
                    at: clock.elapsed
                )
            }
        case .didEnterBackground:
            process.link.isForeground = false
            beginTasks(process, chance: 4)
            process.add(
                .enteredBackground,
                after: .milliseconds(plans[process.app].random.within(10...7_000)),
                at: clock.elapsed
            )
        case .willEnterForeground: process.link.isForeground = true
        case .didBecomeActive: greet(process)
        case .memoryWarning: process.memory = min(process.memory, 150 << 20)
        case .refreshChanged: break
        }
        follow(process)
    }

    private func offered(_ id: DeliveryID, _ identifier: String, _ process: VirtualProcess) {
        let index = process.app
        if process.link.running.contains(id) {
            send(.app(process.launch, .accepted(id)))
            return
        }
        guard !process.link.begun.contains(id),
            !process.link.offered.contains(where: { $0.id == id })
        else { return }
        process.link.offered.append((id, identifier))
        if strikes(.crashBeforeReceipt, in: 100, app: index) {
            crash(process, within: 10)
            return
        }
        if strikes(.neverAccepts, in: 100, app: index) { return }
        if strikes(.declines, in: 100, app: index) {
            process.add(
                .decline(id),
                after: .milliseconds(plans[index].random.within(1...300)),
                at: clock.elapsed
            )
            return
        }
        process.add(
            .accept(id),
            after: .milliseconds(plans[index].random.within(1...300)),
            at: clock.elapsed
        )
    }

    /// The handler runs.
    private func begin(_ id: DeliveryID, _ process: VirtualProcess) {
        let index = process.app
        guard !process.link.begun.contains(id) else { return }
        process.link.begun.append(id)
        let now = clock.elapsed
        if plans[index].random.chance(2, in: 3) {
            process.add(.setHandler(id), after: .milliseconds(1), at: now)
        }
        if strikes(.appCrash, in: 100, app: index) { crash(process, within: 20_000) }
        if strikes(.connectsTwice, in: 60, app: index) {
            process.add(
                .connectAnew,
                after: .milliseconds(plans[index].random.within(1...20_000)),
                at: now
            )
        }
        beginTasks(process, chance: 4)
        for identifier in plans[index].identifiers where plans[index].random.chance(4, in: 5) {
            process.add(
                .submit(submission(identifier, .refresh, index)),
                after: .milliseconds(50),
                at: now
            )
        }
        if strikes(.neverCompletes, in: 60, app: index) {
            process.link.stubborn.append(id)
            return
        }
        let mean = plans[index].work.nanoseconds
        var time = Interval(nanoseconds: plans[index].random.within(mean / 4...mean * 2))
        if strikes(.outlivesGrant, in: 60, app: index) { time = .minutes(40) }
        let isNew = plans[index].random.below(10) < plans[index].newDataOfTen
        let result: TaskResult =
            plans[index].usesFetch ? (isNew ? .newData : .noData) : .succeeded
        process.add(.complete(id, result), after: time, at: now)
        if strikes(.completesTwice, in: 60, app: index) {
            process.add(.complete(id, .failed), after: time + .milliseconds(3), at: now)
        }
    }

    private func expire(_ id: DeliveryID, _ process: VirtualProcess) {
        guard !process.link.stubborn.contains(id) else { return }
        process.forget {
            if case .complete(id, _) = $0 { true } else { false }
        }
        process.add(
            .complete(id, plans[process.app].usesFetch ? .failed : .unsuccessful),
            after: .milliseconds(plans[process.app].random.within(1...1_000)),
            at: clock.elapsed
        )
    }

    func answered(_ call: Call, _ reply: Reply) {
        guard call.task, case .app(let launch, .taskBegan(_, _, let holder, _, _)) = call.event,
            case .begun(let task) = reply, task.task > 0,
            let process = process(launch), !process.isDead, !isQuiet
        else { return }
        if strikes(.taskNeverEnded, in: 40, app: process.app) { return }
        let time = Interval.milliseconds(plans[process.app].random.within(100...60_000))
        if let holder { useTime(of: holder, for: time, process) }
        process.add(.endTask(task.task, by: holder), after: time, at: clock.elapsed)
        follow(process)
    }

    /// An extension asks for work of its app's, and may be gone before it has said that it is done.
    private func useTime(of holder: ProcessID, for time: Interval, _ process: VirtualProcess) {
        let index = process.app
        if let identifier = plans[index].processingIdentifiers.first,
            plans[index].random.chance(1, in: 2)
        {
            let submission = submission(identifier, .processing, index)
            process.add(.submit(submission), after: time / 2, at: clock.elapsed)
        }
        if plans[index].random.chance(1, in: 2) {
            process.forget {
                if case .endTask(_, holder) = $0 { true } else { false }
            }
            process.add(.extensionEnds(holder), after: time / 4 * 3, at: clock.elapsed)
        }
    }
}
