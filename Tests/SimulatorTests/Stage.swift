import DeviceCore
import Simulator
import Testing
import Vocabulary

/// One quiet device in virtual time, in which only happens what the test says.
final class Stage {
    final class Notes {
        var effects: [Effect] = []
        var replies: [(token: ReplyToken, reply: Reply)] = []
        var lines: [HistoryLine] = []
        var rollbacks = 0
    }

    /// Writes down what the driver has done.
    struct Recorder: SimulatedPort {
        var inner: VirtualPort
        let notes: Notes

        func commit(_ changes: [Change], _ durability: Durability) throws(CommitError) {
            try inner.commit(changes, durability)
            for case .append(let line) in changes { notes.lines.append(line) }
        }
        func commitAnew(
            _ records: [Record],
            with changes: [Change]
        ) throws(CommitError) {
            try inner.commitAnew(records, with: changes)
            for case .append(let line) in changes { notes.lines.append(line) }
        }
        func perform(_ effect: Effect) {
            if case .reply(let token, let reply) = effect {
                notes.replies.append((token, reply))
            } else {
                notes.effects.append(effect)
            }
            inner.perform(effect)
        }
        func record(_ event: TimedEvent, _ decisions: [Effect]) {
            inner.record(event, decisions)
        }
        func recordRollback(of count: Int) {
            notes.rollbacks += 1
            inner.recordRollback(of: count)
        }
    }

    let notes = Notes()
    var simulated: Simulated<Recorder>
    private var token: UInt64 = 1_000_000

    init(_ manifests: [AppManifest]) {
        let watch = Watch(invariants: Invariants.all())
        let plans = manifests.map { AppPlan(manifest: $0, isLinked: true, seed: 1) }
        let rest = AppPlan(
            manifest: AppManifest(id: AppID("command"), name: ""),
            isLinked: false,
            seed: 1
        )
        let world = World(plans: plans + [rest], swarm: Swarm(), seed: 1, watch: watch)
        world.isQuiet = true
        world.senseNothing()
        let notes = notes
        simulated = Simulated(world: world, watch: watch, seed: 1) {
            Recorder(inner: $0, notes: notes)
        }
        // Past the pauses after boot and start.
        pass(.minutes(2))
    }

    /// An app that speaks with us, and may do everything.
    static func app(_ name: String = "app") -> AppManifest {
        var manifest = AppManifest(id: AppID(name), name: name)
        manifest.exec = [name]
        manifest.modes = [.fetch, .processing]
        manifest.permittedTaskIdentifiers = ["refresh", "clean"]
        return manifest
    }

    var world: World { simulated.world }
    var device: Device { simulated.driver.device }
    var now: Moment { world.now }
    var violation: Violation? { simulated.watch.violation }

    func pass(_ time: Interval) { simulated.pass(time) }

    func report(_ condition: Condition, _ value: Int) {
        simulated.feed([.condition(condition, .hand, .value(value))])
    }

    @discardableResult
    func ask(_ request: UserRequest) -> Reply? {
        token += 1
        let mine = ReplyToken(token)
        simulated.feed([.user(request, reply: mine)])
        return notes.replies.last { $0.token == mine }?.reply
    }

    func say(_ launch: LaunchID, _ event: AppEvent) { simulated.feed([.app(launch, event)]) }

    @discardableResult
    func beginTask(_ launch: LaunchID, handler: Bool = true, by holder: ProcessID? = nil) -> Int64 {
        token += 1
        let mine = ReplyToken(token)
        say(
            launch,
            .taskBegan(
                name: "task",
                hasHandler: handler,
                by: holder,
                reply: mine
            )
        )
        guard
            case .begun(let task) = notes.replies.last(where: { $0.token == mine })?.reply
        else { return -1 }
        return task.task
    }

    func submit(
        _ identifier: String,
        _ kind: TaskKind,
        after delay: Interval? = nil,
        from launch: LaunchID
    ) {
        token += 1
        let submission = Submission(identifier: identifier, kind: kind, after: delay)
        say(launch, .submit(submission, reply: ReplyToken(token)))
    }

    /// Opens an app and lets it finish launching.
    func open(_ name: String = "app") -> LaunchID {
        ask(.open(AppID(name), attach: nil))
        pass(.seconds(1))
        return finishLaunching(name)
    }

    @discardableResult
    func finishLaunching(_ name: String = "app") -> LaunchID {
        guard let launch = launch(name)?.id else {
            Issue.record("\(name) is not running")
            return LaunchID(0)
        }
        say(launch, .finishedLaunching(registered: ["refresh", "clean"]))
        return launch
    }

    func launch(_ name: String = "app") -> Launch? {
        guard let index = device.apps.index(of: AppID(name)) else { return nil }
        return device.apps[index].launches.first
    }

    /// It runs, and nobody ends it.
    var isAlive: Bool { launch().map { $0.ending == nil } ?? false }

    func leave(_ name: String = "app") { ask(.leave(AppID(name))) }

    /// The delivery that was offered last.
    var offered: DeliveryID? {
        for case .tell(_, .offer(let id, _)) in notes.effects.reversed() { return id }
        return nil
    }

    /// Accepts what was offered last; returns it, running.
    @discardableResult
    func accept(_ launch: LaunchID, handler: Bool = true) -> DeliveryID {
        guard let id = offered else {
            Issue.record("nothing was offered")
            return DeliveryID(0)
        }
        say(launch, .accepted(id))
        if handler { say(launch, .expirationHandler(id, set: true)) }
        return id
    }

    func count(_ isMeant: (Effect) -> Bool) -> Int { notes.effects.count(where: isMeant) }
    func has(_ effect: Effect) -> Bool { notes.effects.contains(effect) }
    func told(_ launch: LaunchID) -> [AppMessage] {
        notes.effects.compactMap { if case .tell(launch, let said) = $0 { said } else { nil } }
    }
    func hasExpired(_ delivery: DeliveryID, _ reason: StopReason) -> Bool {
        notes.effects.contains {
            if case .expire(delivery, reason, _) = $0.message { true } else { false }
        }
    }
    func hasExpired(task: Int64, _ holder: ProcessID?) -> Bool {
        notes.effects.contains {
            if case .expireTask(task, holder, .timeout, _) = $0.message { true } else { false }
        }
    }
    var isFrozen: Bool { launch().map { world.isFrozen($0.id) } ?? false }

    /// Results of runs, oldest first.
    var results: [RunResult] {
        notes.lines.compactMap {
            switch $0.entry {
            case .wake(let report): report.result
            case .ended(let result, _): result
            case .dropped, .note, .use, .transferred: nil
            }
        }
    }
}
