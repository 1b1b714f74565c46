import DeviceCore
import DeviceShell
import TestKit
import Vocabulary

/// What stands between a device and a world that answers by itself: programs run for a while, apps
/// take what they are offered. The store is a real one.
struct VirtualWorld {
    /// What becomes of one run.
    enum Outcome {
        case exit(Int32)
        case crash(Int32)
        /// It does not end until it is made to.
        case stays
        case notStarted(String)
    }

    private struct Due {
        var at: BootTime
        var event: Event
    }

    private var driver: Driver<StorePort>
    private var timers = Timers()
    private(set) var now: Moment
    /// What comes by itself, the soonest first.
    private var due: [Due] = []
    /// Of launches that stand still.
    private var stopped: [LaunchID: [Event]] = [:]
    private var apps: [LaunchID: AppID] = [:]
    private var runs: [AppID: Int] = [:]
    private var replies: UInt64 = 0
    private var pids: Int32 = 1000
    /// What a program that ran for an app has printed since; another text is new data.
    private var editions: [AppID: Int] = [:]
    /// Apps that speak our protocol, with the identifiers that they register.
    var linked: [AppID: [String]] = [:]
    var usually: (AppID) -> Outcome = { _ in .exit(0) }
    /// What becomes of the next runs of an app, in order.
    var next: [AppID: [Outcome]] = [:]
    /// How long a run takes.
    var runTime: (_ app: AppID) -> Interval = { _ in .seconds(6) }
    /// What was asked for and refused, in words.
    private(set) var refusals: [String] = []
    /// What was begun, with the arguments.
    private(set) var begun: [(at: WallTime, app: AppID, arguments: [String])] = []

    var device: Device { driver.device }

    init(_ store: Store, restoring records: [Record] = [], at now: Moment) {
        self.now = now
        driver = Driver(device: Device(restoring: records), port: StorePort(store))
    }

    // MARK: Events

    mutating func feed(_ event: Event) {
        let effects = driver.turn([TimedEvent(event, at: now)])
        // The device's own turn is over before the world answers with others.
        for case .arm(let timers) in effects { self.timers = timers }
        for effect in effects { react(to: effect) }
    }

    mutating func ask(_ request: UserRequest) { feed(.user(request, reply: nextReply())) }

    /// As the one live process of a linked app.
    mutating func say(_ app: AppID, _ event: (ReplyToken) -> AppEvent) {
        guard let launch = launch(of: app) else { return }
        feed(.app(launch, event(nextReply())))
    }

    func launch(of app: AppID) -> LaunchID? {
        device.launchIDs.last { device.app(of: $0) == app }
    }

    private mutating func nextReply() -> ReplyToken {
        replies += 1
        return ReplyToken(replies)
    }

    // MARK: Time

    mutating func live(until end: WallTime) {
        while now.wall < end {
            let left = end - now.wall
            let timer = timers.first.map { max(.zero, $0 - now.boot) } ?? left
            let next = due.first.map { max(.zero, $0.at - now.boot) } ?? left
            move(min(left, min(timer, next)))
            if let first = due.first, first.at <= now.boot {
                due.removeFirst()
                feed(first.event)
            } else if timer <= left {
                feed(.timer)
            }
        }
    }

    mutating func live(for span: Interval) { live(until: now.wall + span) }

    private mutating func move(_ step: Interval) {
        now.boot = now.boot + step
        now.awake = now.awake + step
        now.wall = now.wall + step
    }

    /// Another boot: what was to come does not.
    mutating func reboot(after off: Interval) {
        (due, stopped, apps) = ([], [:], [:])
        now.wall = now.wall + off
        now.boot = BootTime(nanoseconds: 0) + .seconds(20)
        now.awake = AwakeTime(nanoseconds: 0) + .seconds(20)
    }

    // MARK: What the world does

    private mutating func later(_ span: Interval, _ event: Event) {
        let at = now.boot + span
        let place = due.firstIndex { $0.at > at } ?? due.count
        due.insert(Due(at: at, event: event), at: place)
    }

    private mutating func react(to effect: Effect) {
        switch effect {
        case .spawn(let launch, let spec): spawn(launch, spec)
        case .probe(let launch, let step, _, let spec, _):
            if step == .after, (runs[spec.app] ?? 0) % 3 != 0 {
                editions[spec.app, default: 0] += 1
            }
            let text = "\(spec.app) \(editions[spec.app] ?? 0)"
            later(
                .milliseconds(100),
                .process(launch, .probed(step, .read(Fingerprint(of: text), status: 0)))
            )
        case .freeze(let launch): freeze(launch)
        case .thaw(let launch):
            for event in stopped.removeValue(forKey: launch) ?? [] { later(.minutes(9), event) }
        case .terminate(let launch):
            end(launch, .signal(15, outOfMemory: false), after: .seconds(1))
        case .kill(let launch):
            end(launch, .signal(9, outOfMemory: false), after: .milliseconds(10))
        case .measure(let launch):
            later(.milliseconds(1), .process(launch, .measured(usage(of: launch))))
        case .checkLocks(let launch): later(.milliseconds(1), .process(launch, .locks([])))
        case .tell(let launch, let message): tell(launch, message)
        case .transfer(let id, let action): fetch(id, action)
        case .reply(_, .refused(let refusal)): refusals.append(refusal.text)
        case .save, .attach, .cancelProbe, .release, .weigh, .limitMemory, .setDeadline,
            .holdAwake,
            .inhibitIdle,
            .sleepAgain,
            .watchIdle, .notifyFailures, .watchUse, .reply, .arm, .announce:
            break
        }
    }

    /// From a server that has what is asked for.
    private mutating func fetch(_ id: TransferID, _ action: TransferAction) {
        switch action {
        case .begin(let order, _):
            let answer = ExchangeAnswer(status: 200, url: order.url, total: 4096)
            later(.milliseconds(40), .transfer(id, .answered(answer)))
            let end = ExchangeEnd.complete(size: 4096)
            later(.milliseconds(90), .transfer(id, .ended(end, durable: 4096)))
        case .upload(let order, _):
            let made = UploadResource(url: order.url + "/made", interop: order.interop)
            later(.milliseconds(20), .transfer(id, .resource(made)))
            let digest = [UInt8](repeating: 7, count: SentPart.digestBytes)
            let part = SentPart(count: 512, sha256: Bytes(digest))
            later(.milliseconds(30), .transfer(id, .sent(part)))
            // The rest is sent another day.
            let end = ExchangeEnd.Interruption(.busy, retryAfter: .hours(24))
            later(.milliseconds(90), .transfer(id, .ended(.interrupted(end), durable: 512)))
        case .place(let placement):
            later(.milliseconds(1), .transfer(id, .placed(name: placement.name)))
        case .proceed, .stop, .discard, .remove, .look, .notify, .forget: break
        }
    }

    private func usage(of launch: LaunchID) -> Usage {
        Usage(cpu: .milliseconds(140 + Int64(launch.number % 7) * 10), memory: 24 << 20)
    }

    private mutating func spawn(_ launch: LaunchID, _ spec: ProcessSpec) {
        runs[spec.app, default: 0] += 1
        apps[launch] = spec.app
        begun.append((now.wall, spec.app, spec.arguments))
        guard linked[spec.app] == nil else { return startLinked(launch, spec.app) }
        let outcome = outcome(of: spec.app)
        if case .notStarted(let reason) = outcome {
            let failure = StartFailure(.program, reason: reason)
            later(.milliseconds(20), .process(launch, .notStarted(failure)))
            return
        }
        isStarted(launch)
        let time = runTime(spec.app)
        switch outcome {
        case .exit(let status):
            later(time, .process(launch, .exited(.status(status), usage(of: launch))))
        case .crash(let signal):
            let exit = Exit.signal(signal, outOfMemory: false)
            later(time, .process(launch, .exited(exit, usage(of: launch))))
        case .stays, .notStarted: break
        }
    }

    private mutating func isStarted(_ launch: LaunchID) {
        pids += 1
        let process = ProcessID(pid: pids, startTime: UInt64(pids) * 100)
        later(.milliseconds(20), .process(launch, .started(process)))
    }

    private mutating func startLinked(_ launch: LaunchID, _ app: AppID) {
        isStarted(launch)
        let identifiers = linked[app] ?? []
        later(.milliseconds(60), .app(launch, .connected(reply: nextReply())))
        later(.milliseconds(90), .app(launch, .finishedLaunching(registered: identifiers)))
    }

    private mutating func outcome(of app: AppID) -> Outcome {
        guard var coming = next[app], !coming.isEmpty else { return usually(app) }
        let first = coming.removeFirst()
        next[app] = coming
        return first
    }

    private mutating func take(_ launch: LaunchID) -> [Event] {
        let mine = due.map(\.event).filter {
            switch $0 {
            case .process(launch, _), .app(launch, _): true
            default: false
            }
        }
        due.removeAll { mine.contains($0.event) }
        return mine
    }

    private mutating func freeze(_ launch: LaunchID) {
        stopped[launch, default: []] += take(launch)
    }

    private mutating func end(_ launch: LaunchID, _ exit: Exit, after span: Interval) {
        _ = take(launch)
        stopped[launch] = nil
        let exit = linked[apps[launch] ?? AppID("")] == nil ? exit : .status(0)
        later(span, .process(launch, .exited(exit, usage(of: launch))))
    }

    private mutating func tell(_ launch: LaunchID, _ message: AppMessage) {
        let app = apps[launch] ?? AppID("")
        switch message {
        case .offer(let delivery, _): later(.milliseconds(50), .app(launch, .accepted(delivery)))
        case .go(let delivery, _):
            later(.milliseconds(60), .app(launch, .expirationHandler(delivery, set: true)))
            let result: TaskResult
            switch outcome(of: app) {
            case .exit(0): result = .newData
            case .exit(let status): result = status == 3 ? .noData : .failed
            case .crash(let signal):
                let exit = Exit.signal(signal, outOfMemory: false)
                later(.seconds(2), .process(launch, .exited(exit, usage(of: launch))))
                return
            case .stays, .notStarted: return
            }
            let usage = usage(of: launch)
            later(runTime(app), .app(launch, .completed(delivery, result, usage: usage)))
        case .expire(let delivery, _, _):
            later(.milliseconds(200), .app(launch, .completed(delivery, .unsuccessful)))
        case .expireTask(let task, let holder, _, _):
            later(.milliseconds(200), .app(launch, .taskEnded(task: task, by: holder)))
        case .didEnterBackground: later(.milliseconds(300), .app(launch, .enteredBackground))
        case .taskEnded(let id, _, _): later(.milliseconds(100), .app(launch, .acknowledged(id)))
        case .openURLs(let opening):
            later(.milliseconds(100), .app(launch, .openedURLs(opening.number)))
        case .willEnterForeground, .didBecomeActive, .memoryWarning, .refreshChanged,
            .conditionsChanged, .taskProgress, .taskAsked:
            break
        }
    }
}
