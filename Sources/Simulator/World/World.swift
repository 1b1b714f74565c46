package import AppProtocol
package import ClientCore
package import DeviceCore
package import Vocabulary

/// A virtual machine with its user, its programs and its faults: everything that a daemon meets.
/// It decides nothing about the device; it performs effects and lets events happen.
package final class World {
    var clock: VirtualClock
    var agenda = Agenda()
    var store = VirtualStore()
    var processes: [VirtualProcess] = []
    package internal(set) var plans: [AppPlan]
    private var planIndices: [AppID: Int] = [:]
    var random: SeededRandom
    package var swarm: Swarm
    package var killInjector: KillInjector
    /// What the sensors say now; nil: never reported.
    var sensors: [Reading?]
    /// How the device can know each condition: some have no source, or nothing to be sensed.
    private var sensing: [Sensing]
    /// Counts the requests to know the load; an earlier one is over.
    var loadPlan = 0
    var settings: Settings
    package internal(set) var user: UserState
    /// Events that reached the daemon and wait for its turn.
    var inbox: [Event] = []
    /// Counts the daemons; a message to an earlier one is lost.
    var life = 0
    var daemonIsAlive = false
    var diedAt: Interval?
    package internal(set) var isHeldAwake = false
    /// The desktop is kept from locking the screen.
    package internal(set) var isIdleInhibited = false
    var armed = Timers()
    /// The daemon has been asked to end: its next turn is its last.
    var isStopping = false
    /// The next reboot is a loss of power.
    var losesPower = false
    /// 1 full, 2 failing.
    package var storeTrouble: Int?
    var bootNumber = 1
    var alarmPlan = 0
    var timerPlan = 0
    var retryIsPlanned = false
    var dozePlan = 0
    /// How it falls asleep and awakes.
    var sleepState = SleepState()
    var settingsDrawn: Int
    var nextPid: Int32 = 100
    var nextToken: UInt64 = 1
    var calls: [UInt64: PendingCall] = [:]
    /// What apps asked in this turn.
    var questions: [PendingCall] = []
    /// Apps often do what leads to rare messages: so each kind is seen in few days.
    package var isTalkative = false
    /// Processes whose work came to its end in this turn.
    var endedWork: [VirtualProcess] = []
    /// Of the daemon's calls to apps.
    var lastIncoming: UInt64 = 0
    /// A bug of the library's, planted by a test: what is done instead of an effect.
    package var clientBug: ((ClientEffect) -> [ClientEffect])?
    /// The same of what the daemon answers an app about itself.
    package var answerBug: ((AppReply) -> AppReply)?
    /// The same of what a user is told of why things wait.
    package var explanationBug: ((Explanation) -> Explanation)?
    var network: VirtualNetwork
    /// Which app waits to hear of a task.
    var askedBy: [ReplyToken: LaunchID] = [:]
    package private(set) var awakeSince = Interval.zero
    /// How long the machine stays awake after the last reason to.
    var stay = Interval.seconds(30)
    /// While nothing happens by itself: a test says what happens.
    package var isQuiet = false
    /// The kernel tells how a process ended also to those that are not its parent.
    private let tellsEnds: Bool
    /// How often an alarm got the machine out of its sleep.
    package private(set) var alarmWakes = 0
    let watch: Watch

    package init(plans: [AppPlan], swarm: Swarm, seed: UInt64, watch: Watch) {
        var random = SeededRandom(seed: seed)
        self.plans = plans
        self.swarm = swarm
        self.watch = watch
        clock = VirtualClock(
            wall: WallTime(nanoseconds: 0) + .days(20_500) + .hours(6 + random.below(8)),
            utcOffset: 3600 * Int32(random.within(-8...8))
        )
        network = VirtualNetwork(seed: seed)
        sensors = Array(repeating: nil, count: Condition.allCases.count)
        sensing = Self.drawSensing(seed)
        settings = Settings()
        user = UserState(random: random.split())
        killInjector = KillInjector(seed: random.next())
        self.random = random
        settingsDrawn = Int(seed % 4)
        tellsEnds = seed / 4 % 2 == 0
        for (index, plan) in plans.enumerated() { planIndices[plan.id] = index }
    }

    package var now: Moment { clock.moment }

    func plan(_ what: Occurrence, after delay: Interval) {
        agenda.add(what, at: clock.elapsed + delay)
    }

    /// The last plan stands for all commands that the user submits.
    func planIndex(_ app: AppID) -> Int { planIndices[app] ?? plans.count - 1 }

    func strikes(_ fault: Fault, in whole: Int) -> Bool {
        swarm.strikes(fault, in: whole, &random)
    }

    func strikes(_ fault: Fault, in whole: Int, app index: Int) -> Bool {
        let factor = plans[index].isClumsy ? 1 : 8
        return swarm.strikes(fault, in: whole * factor, &plans[index].random)
    }

    package func process(_ launch: LaunchID) -> VirtualProcess? {
        // By a span: each that is passed by would be retained.
        let processes = processes
        let span = processes.span
        for index in span.indices where span[index].launch == launch { return span[index] }
        return nil
    }

    package func isFrozen(_ launch: LaunchID) -> Bool { process(launch)?.isFrozen ?? false }

    // MARK: Time

    /// The alarm ended the last sleep, and the user has not come since.
    private(set) var wokeItself = false

    func userCame() { wokeItself = false }

    /// When something happens next.
    package var next: Interval? { agenda.next }

    /// Lets the next thing happen. What reaches the daemon waits in the inbox.
    func step() {
        guard let entry = agenda.popFirst() else { return }
        clock.advance(to: max(entry.at, clock.elapsed))
        if clock.isAsleep {
            guard entry.what.wakesDevice else {
                // Not before somebody wakes the machine.
                postponed.append(entry.what)
                return
            }
            if case .alarm(let plan) = entry.what, plan != alarmPlan { return }
            if case .alarm = entry.what { alarmWakes += 1 }
            wakeUp()
        }
        happen(entry.what)
    }

    private var postponed: [Occurrence] = []

    private func happen(_ what: Occurrence) {
        switch what {
        case .alarm(let plan):
            guard plan == alarmPlan, daemonIsAlive else { return }
            armed.alarm = nil
            inbox.append(.timer)
        case .load(let plan): readLoad(plan)
        case .timer(let plan):
            guard plan == timerPlan, daemonIsAlive else { return }
            armed.timer = nil
            inbox.append(.timer)
        case .process(let launch, let plan):
            guard let process = process(launch), process.plan == plan, !process.isDead else {
                return
            }
            act(process)
        case .message(let event, let life):
            if life == self.life, daemonIsAlive { inbox.append(event) } else { lost(event) }
        case .said(let said): arrived(said.word, said.client, said.connection)
        case .user(let step): userSteps(step)
        case .drift: drift()
        case .trouble(let fault): begin(fault)
        case .triggered(let trigger): happen(trigger)
        case .download: download()
        case .upload: upload()
        case .exchange(let id, let life): exchangeStep(id, life: life)
        case .troubleEnds(let fault): end(fault)
        case .restart: break
        case .keeper(let life):
            guard life == self.life, !daemonIsAlive else { return }
            for process in processes where process.isFrozen {
                process.isFrozen = false
                follow(process)
            }
        case .deadline(let launch, let life):
            guard life == self.life, !daemonIsAlive, let process = process(launch) else { return }
            if let deadline = process.deadline, deadline <= now.awake {
                die(process, .signal(9, outOfMemory: false))
            } else {
                planDeadline(of: process)
            }
        case .doze(let plan): doze(plan)
        case .sleep: sleepAsPrepared()
        case .networkReturns(let life): networkReturns(life)
        case .retry(let life):
            guard life == self.life, daemonIsAlive else { return }
            retryIsPlanned = false
            inbox.append(.timer)
        }
        if case .restart = what { restartIsDue = true }
    }

    /// The daemon will try the store again. Once planned it stands.
    func planRetry() {
        guard !retryIsPlanned else { return }
        retryIsPlanned = true
        plan(.retry(life: life), after: .seconds(1))
    }

    /// Nothing has disturbed the daemon for a while: it runs, and so do the machine and the store.
    var isSettled: Bool {
        daemonIsAlive && !clock.isAsleep && storeTrouble == nil
            && clock.elapsed - max(awakeSince, settledSince) > .seconds(15)
    }

    var settledSince = Interval.zero
    var restartIsDue = false
    var rebootIsDue = false

    /// Somebody wakes the machine.
    package func wakeUp() {
        guard clock.isAsleep else { return }
        clock.wakeUp()
        awakeSince = clock.elapsed
        // Who comes when the alarm is due but has not fired yet cannot be told from it, nor can
        // who comes in the second before.
        wokeItself = armed.alarm.map { $0 - now.boot <= Device.alarmAdvance } ?? false
        // logind tells of each return from sleep, whoever caused it.
        tellSleepEnded()
        for process in processes { follow(process) }
        for what in postponed { agenda.add(what, at: clock.elapsed) }
        postponed.removeAll(keepingCapacity: true)
        planDoze()
    }

    /// The machine falls asleep when nobody uses it and nothing holds it.
    func planDoze(after wait: Interval? = nil) {
        dozePlan += 1
        guard !clock.isAsleep, !isHeldAwake, !user.isActive, !isQuiet else { return }
        plan(.doze(plan: dozePlan), after: wait ?? stay)
    }

    package func fallAsleep() {
        for process in processes where process.isRunning {
            _ = process.run(false, at: clock.elapsed)
        }
        clock.fallAsleep()
    }

    // MARK: Processes

    /// Plans the next act of a process, or stops it.
    func follow(_ process: VirtualProcess) {
        let runs = !process.isDead && !process.isFrozen && !clock.isAsleep
        guard let next = process.run(runs, at: clock.elapsed) else { return }
        agenda.add(.process(process.launch, plan: process.plan), at: next)
    }

    func send(_ event: Event, after delay: Interval = .milliseconds(1)) {
        plan(.message(event, life: life), after: delay)
    }

    func token(_ make: (ReplyToken) -> Event) -> Event {
        defer { nextToken += 1 }
        return make(ReplyToken(nextToken))
    }

    /// The process is gone, at once.
    func die(_ process: VirtualProcess, _ exit: Exit) {
        guard !process.isDead else { return }
        process.exit = exit
        let usage = process.usage(at: clock.elapsed)
        let isTold = tellsEnds || !process.isAdopted
        die(process, telling: .exited(isTold ? exit : .unknown, usage))
    }

    /// What a daemon that starts finds. It voids the markers of children that have not yet executed
    /// their programs: those end without a word.
    func survivors() -> [Survivor] {
        for process in processes where !process.hasStarted && !process.isDead {
            die(process, telling: nil)
        }
        return processes.map {
            Survivor(
                launch: $0.launch,
                process: $0.hasStarted ? $0.process : nil,
                alive: !$0.isDead
            )
        }
    }

    func die(_ process: VirtualProcess, telling event: ProcessEvent?) {
        for client in process.clients { hangUp(client) }
        process.isDead = true
        process.diedAt = clock.elapsed
        process.isFrozen = false
        _ = process.run(false, at: clock.elapsed)
        if let event { send(.process(process.launch, event), after: .milliseconds(2)) }
    }

    /// This reaches the daemon.
    func hears(_ event: Event) {
        if !event.isOfSleep { sleepState.alarm = nil }
        if case .app(let launch, let said) = event {
            process(launch)?.talk.says(said, at: now.awake)
            switch said {
            case .taskBegan(_, _, _, _, let reply): askedBy[reply] = launch
            case .submit(_, let reply): watch.asked(reply, event, by: process(launch), at: now)
            case .connected, .finishedLaunching, .accepted, .declined, .expirationHandler,
                .completed, .taskEnded, .extensionGone, .enteredBackground, .fetchInterval,
                .cancel, .mistaken, .disconnected, .reconnected, .session, .acknowledged,
                .conditionsWatched, .idleTimer, .openedURLs:
                break
            }
        } else if case .user(_, let reply) = event {
            watch.asked(reply, event, by: nil, at: now)
        }
        watch.heard(event)
    }

    func beginTurn() {
        killInjector.beginTurn()
        for process in endedWork { process.talk.turnBegins() }
        endedWork.removeAll(keepingCapacity: true)
    }

    // MARK: Sensors

    /// One device in three lacks some of what can be asked for. From numbers of their own, so that
    /// the rest of a seed stays as it is.
    private static func drawSensing(_ seed: UInt64) -> [Sensing] {
        var random = SeededRandom(seed: seed ^ 0x5345_4E53_4500)
        var sensing = Condition.allCases.map { _ in Sensing.known }
        guard random.chance(1, in: 3) else { return sensing }
        for condition in [Condition.network, .metered, .locked, .idle]
        where random.chance(1, in: 3) {
            sensing[condition.index] = .unknown
        }
        let supplies: Sensing =
            random.chance(1, in: 3) ? .noDevice : random.chance(1, in: 2) ? .unknown : .known
        for condition in [Condition.battery, .power] { sensing[condition.index] = supplies }
        return sensing
    }

    /// The kernel has looked, and there is nothing of the kind: a test says what there is.
    package func senseNothing() {
        for condition in Condition.allCases where condition != .storage {
            sensing[condition.index] = .known
            sensors[condition.index] = .noDevice
        }
    }

    package func sensing(_ condition: Condition) -> Sensing {
        let sensing = sensing[condition.index]
        return sensing == .known && sensors[condition.index] == .lost ? .lost : sensing
    }

    /// What the device's source says when the daemon asks; nil: there is none.
    func reading(_ condition: Condition) -> Reading? {
        switch sensing[condition.index] {
        case .known, .lost: sensors[condition.index]
        case .noDevice: .noDevice
        case .unknown: nil
        }
    }

    func report(_ condition: Condition, _ reading: Reading) {
        guard sensors[condition.index] != reading else { return }
        sensors[condition.index] = reading
        guard daemonIsAlive, sensing[condition.index] == .known else { return }
        inbox.append(.condition(condition, .kernel, reading))
    }

    /// The daemon wants to know the load, or does not any more.
    func watchIdle(_ watches: Bool) {
        loadPlan += 1
        guard watches else { return send(.condition(.idle, .estimate, .silent)) }
        readLoad(loadPlan)
    }

    private func readLoad(_ plan: Int) {
        guard plan == loadPlan, daemonIsAlive else { return }
        send(.condition(.idle, .estimate, .value(user.isActive ? 0 : 1)))
        self.plan(.load(plan: plan), after: .minutes(1))
    }

    /// As a daemon can know it.
    package func value(_ condition: Condition) -> Int {
        guard sensing[condition.index] == .known else { return condition.harmless }
        switch sensors[condition.index] {
        case .none, .silent, .noDevice: return condition.harmless
        case .lost: return condition.cautious
        case .value(let value): return value
        }
    }
}
