import AppProtocol
import ClientCore
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
        switch action {
        case .exec: exec(process)
        case .exit(let exit): leave(process, exit)
        case .greet: sayHello(process)
        case .finishLaunching: finishLaunching(process)
        case .read(let client): read(client)
        case .tick(let client): if !process.link.stoppedReading { feed(.tick, client) }
        case .look(let client):
            guard client.connection == nil, !process.link.stoppedReading else { return }
            client.search.sign()
            feed(.look, client)
        case .search(let client):
            if client.connection == nil, !process.link.stoppedReading { feed(.look, client) }
        case .done(let number, let client): feed(.done(number), client)
        case .answer(let question, let client): answer(question, client)
        case .setHandler(let id): setHandler(id, process)
        case .complete(let id, let result): complete(id, result, process)
        case .completeAgain(let identifier):
            ask(
                .mistaken(
                    App1.Mistaken { ($0.mistake, $0.subject) = (.completedAgain, identifier) }
                ),
                process
            )
        case .beginTask(let handler, let byHelper): beginTask(handler, byHelper, process)
        case .endTask(let task, let client): endTask(task, client)
        case .helperEnds(let client): leave(client)
        case .submit(let submission): submit(submission, process)
        case .setInterval(let seconds):
            let call = App1.SetMinimumFetchInterval { $0.seconds = seconds }
            ask(.setMinimumFetchInterval(call), process, .kept)
        case .cancel: ask(.cancel(App1.Cancel()), process, .kept)
        case .setIdleTimer(let isDisabled): setIdleTimer(isDisabled, process)
        case .disconnect: disconnect(process)
        case .reconnect: reconnect(process)
        case .connectAnew: connectAnew(process)
        case .becomeHog(let memory): process.memory = memory
        }
    }

    /// Its main program asks the daemon for something.
    private func ask(
        _ call: App1,
        _ process: VirtualProcess,
        _ persistence: Persistence = .now,
        _ what: Asked = .nothing
    ) {
        guard let client = process.clients.first, !process.link.isHung else { return }
        feed(.call(call, persistence, client.token(for: what)), client)
    }

    private func exec(_ process: VirtualProcess) {
        if process.weight != .foreground, strikes(.notStarted, in: 200, app: process.app) {
            return failToExecute(process)
        }
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

    /// Nobody waits for the execve of a program in the background: it fails after it was told.
    private func failToExecute(_ process: VirtualProcess) {
        let failure = StartFailure(.program, reason: "exec format error")
        send(.process(process.launch, .started(process.process)))
        die(process, telling: .notStarted(failure))
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
        process.add(
            .greet,
            after: .milliseconds(plans[index].random.within(1...30)),
            at: clock.elapsed
        )
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
        if isOccasion(index, in: 7) {
            // Below the limit, and near it.
            let memory = Settings().memoryLimit / 10 * 9
            process.add(.becomeHog(memory: memory), after: time, at: clock.elapsed)
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

    func crash(_ process: VirtualProcess, within milliseconds: Int64) {
        process.add(
            .exit(.signal(11, outOfMemory: false)),
            after: .milliseconds(plans[process.app].random.within(1...milliseconds)),
            at: clock.elapsed
        )
    }

    private func sayHello(_ process: VirtualProcess) {
        guard let client = process.clients.first else { return }
        process.link.isGreeting = true
        feed(.greet(client.token(for: .greeting)), client)
    }

    private func finishLaunching(_ process: VirtualProcess) {
        guard let client = process.clients.first, !process.link.hasFinishedLaunching else { return }
        process.link.waitsForGreeting = process.link.isGreeting
        guard !process.link.isGreeting else { return }
        process.link.hasFinishedLaunching = true
        feed(.finishedLaunching(registered: handlers(process.app)), client)
        greet(process)
    }

    /// What an app does once it is up and in front of its user.
    func greet(_ process: VirtualProcess) {
        let index = process.app
        guard process.link.isForeground else { return }
        let now = clock.elapsed
        func soon() -> Interval { .milliseconds(plans[index].random.within(100...20_000)) }
        if plans[index].usesFetch, plans[index].random.chance(1, in: 4) {
            let intervals = [0.0, 3600, 300, -1, 0]
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
        if isOccasion(index, in: 9), let identifier = handlers(index).first {
            process.add(.completeAgain(identifier), after: soon(), at: now)
        }
        if plans[index].random.chance(1, in: 20) { process.add(.cancel, after: soon(), at: now) }
        if plans[index].random.chance(1, in: 3) {
            process.add(.setIdleTimer(disabled: true), after: soon(), at: now)
            if plans[index].random.chance(1, in: 2) {
                process.add(.setIdleTimer(disabled: false), after: .seconds(20) + soon(), at: now)
            }
        }
        useSession(process)
        beginTasks(process, chance: 2)
    }

    func beginTasks(_ process: VirtualProcess, chance: Int) {
        let index = process.app
        guard plans[index].random.chance(1, in: chance) else { return }
        for _ in 0..<(1 + plans[index].random.below(2)) {
            process.add(
                .beginTask(
                    handler: plans[index].random.chance(1, in: 2),
                    byHelper: plans[index].random.chance(1, in: 5)
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
            unmetered: plans[index].random.chance(1, in: 6),
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
}
