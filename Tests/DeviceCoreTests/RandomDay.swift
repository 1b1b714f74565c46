@testable import DeviceCore
import TestKit
import Testing
import Vocabulary

/// Random events that could happen, for one device; the same for the same seed.
struct RandomDay {
    /// An extension of whatever app it speaks for.
    private static let helper = ProcessID(pid: 7, startTime: 70)

    private(set) var bench: Bench
    private var random: SeededRandom
    /// What the last step was, for messages.
    private(set) var last: Event?
    /// Every effect so far, in order.
    private(set) var decisions: [Effect] = []
    /// Launches whose program has yet to start, and what the clock said when they were decided on:
    /// it may be set back before they start.
    private var decided: [LaunchID: WallTime] = [:]
    private var frozen: Set<LaunchID> = []
    private var spawned: Set<LaunchID> = []
    private var released: Set<LaunchID> = []
    private var isHeldAwake = false
    private var isIdleInhibited = false
    private var isIdleWatched = false
    private(set) var problems: [String] = []

    static let manifests: [AppManifest] = [
        .refreshing("news") { $0.newDataFrom = .file("/news") },
        .refreshing("mail") {
            $0.modes = [.fetch, .processing]
            $0.processingCommand = ["index"]
            $0.whenInterrupted = .freeze
        },
        .processing("backup") { $0.processingNeeds = Needs(power: true, network: true) },
        .processing("photos") {
            $0.whenInterrupted = .freeze; $0.failedFrom = ["check"]
        },
        .linked("feed", identifiers: ["feed.*"]),
        .linked("pod") { $0.useFrom = .exec("/usr/bin/pod") },
    ]

    init(seed: UInt64, settings: Settings = .calm) {
        random = SeededRandom(seed: seed)
        bench = Bench(settings: settings)
        bench.install(Self.manifests[0])
        watch()
    }

    mutating func step() {
        switch random.below(20) {
        case 0...3: advance(.milliseconds(random.within(0...30_000)))
        case 4: advance(.minutes(random.within(1...300)))
        case 5:
            bench.sleep(.minutes(random.within(1...600)))
            watch()
        case 6...7: send(condition())
        case 8: send(manifest())
        case 9...11: send(user())
        case 12: send(.used(anyApp()))
        case 13: send(clock())
        default:
            if let event = answer() { send(event) }
        }
    }

    /// In small steps, so that what happens on the way is seen in order.
    private mutating func advance(_ interval: Interval) {
        bench.advance(interval)
        watch()
    }

    private mutating func send(_ event: Event) {
        last = event
        // What has exited is frozen no more, and must not be thawed.
        if case .process(let launch, .exited) = event { frozen.remove(launch) }
        bench.send(event)
        watch()
    }

    private mutating func anyApp() -> AppID {
        AppID(
            random.pick(from: ["news", "mail", "backup", "photos", "feed", "pod", "command.a", "x"])
                ?? ""
        )
    }

    private mutating func condition() -> Event {
        let condition = random.pick(from: Condition.allCases.filter { $0 != .storage }) ?? .battery
        let source = random.pick(from: ConditionSource.allCases) ?? .kernel
        let highest: Int
        switch condition.row.scale {
        case .percent: highest = 100
        case .names(let names): highest = names.count - 1
        }
        switch random.below(8) {
        case 0: return .condition(condition, source, .lost)
        case 1: return .condition(condition, source, .silent)
        case 2: return .condition(condition, source, .noDevice)
        default: return .condition(condition, source, .value(random.below(highest + 1)))
        }
    }

    private mutating func manifest() -> Event {
        let manifest = random.pick(from: Self.manifests) ?? Self.manifests[0]
        switch random.below(6) {
        case 0: return .manifests([.removed(manifest.id)])
        case 1: return .manifests([.invalid(manifest.id, file: "/app.desktop", reason: "line 1")])
        case 2:
            var other = manifest
            other.refreshInterval = .hours(random.within(1...9))
            other.modes = [.fetch]
            return .manifests([.present(other)])
        default: return .manifests([.present(manifest)])
        }
    }

    private mutating func user() -> Event {
        let app = anyApp()
        let request: UserRequest
        switch random.below(12) {
        case 0...1: request = .open(app, attach: nil)
        case 2...3: request = .leave(app)
        case 4: request = .close(app)
        case 5: request = .pause(random.chance(1, in: 2) ? nil : .minutes(random.within(1...90)))
        case 6: request = .continue
        case 7: request = .run(app, identifier: nil)
        case 8: request = .cancel(app, identifier: nil)
        case 9:
            request = .simulate(
                random.pick(from: Simulation.allCases) ?? .launch,
                app,
                identifier: nil
            )
        default:
            request = .submit(
                Submission(
                    identifier: random.pick(from: ["a", "b"]),
                    kind: random.pick(from: TaskKind.allCases) ?? .refresh,
                    after: random.chance(1, in: 2) ? .minutes(random.within(0...200)) : nil,
                    every: random.chance(1, in: 4) ? .hours(random.within(0...9)) : nil,
                    needs: Needs(power: random.chance(1, in: 4)),
                    token: random.chance(1, in: 4) ? "\(random.below(9))" : nil,
                    command: ["work"]
                )
            )
        }
        return .user(request, reply: bench.nextReply())
    }

    private mutating func clock() -> Event {
        guard random.chance(1, in: 4) else { return .timer }
        bench.now.wall = bench.now.wall + .minutes(random.within(-3000...3000))
        bench.now.utcOffset = Int32(random.within(-12...14)) * 3600
        return .clockChanged
    }

    /// Something a live launch, or one that is gone, could say.
    private mutating func answer() -> Event? {
        let live = bench.launches
        guard let launch = random.pick(from: live) else { return nil }
        let usage = Usage(
            cpu: .seconds(random.within(0...90)),
            memory: random.within(0...300) << 20
        )
        if let step = launch.probe.step, random.chance(2, in: 3) {
            return .process(
                launch.id,
                .probed(
                    step,
                    random.chance(1, in: 4)
                        ? .unreadable(reason: "gone")
                        : .read(
                            Fingerprint(of: "\(random.below(3))"),
                            status: Int32(random.below(2))
                        )
                )
            )
        }
        if launch.process == nil {
            guard launch.phase == .starting else { return nil }
            return random.chance(1, in: 8)
                ? .process(launch.id, .notStarted(StartFailure(.program, reason: "no such file")))
                : .process(
                    launch.id,
                    .started(ProcessID(pid: Int32(launch.id.number), startTime: launch.id.number))
                )
        }
        // An app that has a connection is to have the time for a talk.
        if launch.ending != nil || random.chance(1, in: launch.role == .main ? 15 : 5) {
            let exit: Exit =
                random.pick(from: [
                    .status(0), .status(1), .status(75), .signal(9, outOfMemory: false),
                    .signal(9, outOfMemory: true), .unknown,
                ]) ?? .unknown
            return .process(launch.id, .exited(exit, random.chance(1, in: 2) ? usage : nil))
        }
        if launch.role != .main || random.chance(1, in: 8) {
            return .process(launch.id, .measured(usage))
        }
        if launch.isFrozen {
            return .process(launch.id, .locks(random.chance(1, in: 5) ? ["/x"] : []))
        }
        return .app(launch.id, say(launch))
    }

    private mutating func say(_ launch: Launch) -> AppEvent {
        if !launch.isConnected && random.chance(3, in: 4) {
            return .finishedLaunching(registered: ["feed.*"])
        }
        // Else an offer is seldom taken in its time.
        if let offered = launch.deliveries.first(where: { $0.state == .offered }),
            random.chance(1, in: 2)
        {
            return .accepted(offered.id)
        }
        let delivery = random.pick(from: launch.deliveries)?.id ?? DeliveryID(0)
        let task = random.pick(from: launch.tasks)?.number ?? 0
        switch random.below(13) {
        case 0...2: return .accepted(delivery)
        case 3: return .expirationHandler(delivery, set: random.chance(3, in: 4))
        case 4...5: return .completed(delivery, random.pick(from: TaskResult.allCases) ?? .failed)
        case 6:
            return .taskBegan(
                name: "t",
                hasHandler: random.chance(1, in: 2),
                by: random.chance(1, in: 3) ? Self.helper : nil,
                reply: bench.nextReply()
            )
        case 7:
            return random.chance(1, in: 4)
                ? .extensionGone(Self.helper)
                : .taskEnded(task: task, by: random.chance(1, in: 3) ? Self.helper : nil)
        case 8: return .enteredBackground
        case 9:
            return .fetchInterval(
                random.pick(from: [.never, .minimum, .every(.hours(2))]) ?? .never,
                reply: bench.nextReply()
            )
        case 10:
            return .submit(
                Submission(
                    identifier: "feed.\(random.below(4))",
                    kind: random.pick(from: TaskKind.allCases) ?? .refresh,
                    after: random.chance(1, in: 2) ? .minutes(random.within(0...60)) : nil
                ),
                reply: bench.nextReply()
            )
        case 11: return .cancel(identifier: nil, reply: bench.nextReply())
        default:
            return random.chance(1, in: 2)
                ? .disconnected
                : .reconnected(
                    running: launch.deliveries.map(\.id).filter { _ in random.chance(1, in: 2) },
                    finished: []
                )
        }
    }

    mutating func replaceDevice(by device: Device) { bench.device = device }

    // MARK: What has come about

    /// In words: what was done in the world, said to apps, and noted in the history.
    var reached: Set<String> {
        var words = Set(bench.lines.map(Self.word(of:)))
        for effect in decisions {
            guard case .tell(_, let message) = effect else {
                words.insert(Self.name(of: effect))
                continue
            }
            words.insert("tell \(Self.name(of: message))")
        }
        return words
    }

    /// Of a case of an enum.
    private static func name<Case>(of value: Case) -> String {
        Mirror(reflecting: value).children.first?.label ?? "\(value)"
    }

    private static func word(of entry: HistoryLine.Entry) -> String {
        switch entry {
        case .wake(let run): "run \(run.result.word)"
        case .ended: "ended"
        case .dropped: "dropped"
        case .note: "note"
        case .transferred: "transfer"
        case .use(let kind): kind.rawValue
        }
    }

    // MARK: Invariants

    /// What is counted and listed as things change is what a look at all of them tells.
    private mutating func checkDerived(_ launches: [Launch]) {
        let device = bench.device
        let foreground = launches.count { $0.role == .main && $0.presence == .foreground }
        let counted = device.liveLaunches.count(.foreground)
        check(counted == foreground, "\(foreground) are in the foreground, counted \(counted)")
        let apps = device.apps
        let screens = launches.count { launch in
            launch.role == .main && launch.presence == .foreground && launch.ending == nil
                && device.find(launch.id).map { apps[$0.app].idleTimerIsDisabledBy } == launch.id
        }
        check(device.liveLaunches.count(.screen) == screens, "\(screens) keep the screen on")
        for index in 0..<apps.endIndex where apps.isUsed(index) {
            check(
                device.refreshPolicy.members.contains(index) == apps[index].isPlanned,
                "\(apps[index].id) takes part in refreshes or not, which is not known"
            )
        }
    }

    private mutating func watch() {
        for effect in bench.effects { watch(effect) }
        decisions.append(contentsOf: bench.effects)
        let launches = bench.launches
        let running = launches.count { $0.wake != nil }
        check(bench.device.running.all == running, "running counts \(running) runs")
        check(running <= Int(bench.device.settings.runSlots), "more run than may")
        check(bench.device.running.processing <= 1, "two process at once")
        checkDerived(launches)
        let granted = launches.contains { $0.wake.map { $0.end != .distantFuture } ?? false }
        check(isHeldAwake == granted, "held awake with \(running) runs")
        check(frozen == Set(launches.filter(\.isFrozen).map(\.id)), "frozen is not what was said")
        if let armed = bench.armed { check(armed > bench.now.boot, "armed for the past") }
        for launch in launches {
            if let wake = launch.wake, launch.phase == .running, launch.ending == nil {
                check(wake.end >= bench.now.awake, "\(launch.id) runs past its grant")
            }
            if let killAt = launch.ending?.killAt {
                check(killAt >= bench.now.awake, "\(launch.id) should be killed")
            }
        }
        watchRequests()
        for launch in bench.launches where decided[launch.id] == nil {
            decided[launch.id] = bench.now.wall
        }
    }

    private mutating func watchRequests() {
        for index in 0..<bench.device.apps.endIndex {
            guard let app = bench.device.apps.at(index) else { continue }
            for request in app.requests {
                if let launch = request.launch {
                    check(app.launches.contains { $0.id == launch }, "\(request.id) runs nowhere")
                }
            }
            for explanation in bench.device.explain(app.id, at: bench.now) {
                check(!explanation.sentence.isEmpty, "no sentence for \(app.id)")
                check(explanation.state != .ready, "\(app.id) may run and does not")
                let waits = explanation.state == .waiting || explanation.state == .interrupted
                check(!waits || !explanation.holds.isEmpty, "\(app.id) waits for nothing")
            }
            let pending = app.requests.filter {
                $0.origin == .submitted && $0.isPending && $0.mode != .simulated
            }
            check(
                Set(pending.map(\.identifier)).count == pending.count,
                "\(app.id) has two requests of one identifier"
            )
        }
    }

    private mutating func watch(_ effect: Effect) {
        switch effect {
        case .spawn(let launch, _), .attach(let launch, _, _):
            check(spawned.insert(launch).inserted, "\(launch) is started twice")
            if let launch = bench.launch(launch) { watchBegin(launch) }
        case .freeze(let launch):
            check(frozen.insert(launch).inserted, "\(launch) is frozen twice")
        case .thaw(let launch):
            check(frozen.remove(launch) != nil, "\(launch) is thawed, but was not frozen")
        case .tell(let launch, _):
            check(!frozen.contains(launch), "\(launch) is told something while frozen")
            check(!released.contains(launch), "\(launch) is told something after its end")
        case .release(let launch):
            frozen.remove(launch)
            check(released.insert(launch).inserted, "\(launch) is released twice")
        case .holdAwake(let hold):
            check(hold != isHeldAwake, "held awake twice")
            isHeldAwake = hold
        case .inhibitIdle(let inhibits):
            check(inhibits != isIdleInhibited, "the screen is kept on twice")
            isIdleInhibited = inhibits
        case .sleepAgain: check(!isHeldAwake, "sent to sleep while work runs")
        case .watchIdle(let watches):
            check(watches != isIdleWatched, "watched twice")
            isIdleWatched = watches
        case .kill(let launch), .terminate(let launch), .measure(let launch),
            .checkLocks(let launch), .weigh(let launch, _), .limitMemory(let launch, _),
            .setDeadline(let launch, _):
            check(!released.contains(launch), "\(launch) is acted upon after its end")
        case .save, .probe, .cancelProbe, .notifyFailures, .watchUse, .reply, .arm, .announce,
            .transfer:
            break
        }
    }

    private mutating func watchBegin(_ launch: Launch) {
        let request = bench.allRequests.first { $0.id == launch.requestID }
        // A user who runs it does not wait for what is only tried again.
        let isAsked = request.map { $0.isUserInitiated && $0.isRetry } ?? false
        if let request, let earliest = request.earliest, request.mode != .simulated, !isAsked {
            let latest = max(decided[launch.id] ?? .distantPast, bench.now.wall)
            check(earliest <= latest, "\(request.id) starts before \(earliest) at \(latest)")
        }
    }

    private mutating func check(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { problems.append(what()) }
    }
}
