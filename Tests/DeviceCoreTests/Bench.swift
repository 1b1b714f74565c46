import DeviceCore
import Vocabulary

/// A device with time in the test's hands. It feeds events, collects what must be done about them,
/// keeps the records a store would keep, and answers for the world only when told to.
struct Bench {
    var device: Device
    var now: Moment
    /// What the last call that feeds events has led to, in order.
    private(set) var effects: [Effect] = []
    private(set) var history: [HistoryLine] = []
    /// As the store has it.
    var records: [RecordKey: Value] = [:]
    private(set) var timers = Timers()
    /// The next instant that is asked for, on a device that is awake.
    var armed: BootTime? { timers.first }
    private let isSensed: Bool
    private var lastReply: UInt64 = 0
    private var lastPid: Int32 = 100

    /// A Monday, at noon unless said otherwise, in UTC.
    static let day: Int64 = 20_513

    /// `isCalm`: nothing that only chooses a better moment holds anything back, so that what is
    /// due runs at once: no shared wake, no waking hours, no pause after the start. `isSensed`:
    /// every condition has a source.
    init(
        at timeOfDay: Interval = .hours(12),
        sinceBoot: Interval = .hours(1),
        seed: Int64 = 1,
        isCalm: Bool = true,
        isSensed: Bool = true,
        settings: Settings? = nil
    ) {
        self.isSensed = isSensed
        device = Device()
        now = Moment(
            boot: BootTime(nanoseconds: 0) + sinceBoot,
            awake: AwakeTime(nanoseconds: 0) + sinceBoot,
            wall: LocalTime(day: Self.day, timeOfDay: timeOfDay).wall(utcOffset: 0),
            utcOffset: 0
        )
        send(.settings(settings ?? (isCalm ? .calm : Settings())))
        send(.started(Start(bootID: "boot-1", seed: seed)))
        look()
    }

    /// The kernel has looked, and there is nothing of the kind: holds nothing back.
    private mutating func look() {
        guard isSensed else { return }
        for condition in Condition.allCases where condition != .storage {
            feed(.condition(condition, .kernel, .noDevice))
        }
    }

    // MARK: Events

    @discardableResult
    mutating func send(_ event: Event) -> [Effect] {
        effects.removeAll()
        feed(event)
        return effects
    }

    private mutating func feed(_ event: Event) {
        let first = effects.count
        device.handle(event, at: now, into: &effects)
        for effect in effects[first...] {
            switch effect {
            case .save(let changes): apply(changes)
            case .arm(let timers): self.timers = timers
            case .spawn, .attach, .probe, .cancelProbe, .freeze, .thaw, .terminate, .kill,
                .release, .measure, .checkLocks, .weigh, .limitMemory, .transfer, .setDeadline,
                .tell,
                .holdAwake,
                .inhibitIdle, .sleepAgain, .watchIdle,
                .notifyFailures,
                .watchUse, .reply, .announce:
                break
            }
        }
    }

    private mutating func apply(_ changes: [Change]) {
        for change in changes {
            switch change {
            case .put(let record): records[record.key] = record.value
            case .delete(let key): records[key] = nil
            case .append(let line): history.append(line)
            }
        }
    }

    /// The records as a starting daemon reads them.
    func loaded() throws -> [Record] {
        try records.sorted { $0.key < $1.key }.map { try Record($0.key, $0.value) }
    }

    /// Asks as the user, and returns the answer.
    @discardableResult
    mutating func ask(_ request: UserRequest) -> Reply? {
        send(.user(request, reply: nextReply()))
        return reply
    }

    mutating func nextReply() -> ReplyToken {
        lastReply += 1
        return ReplyToken(lastReply)
    }

    /// The last answer among the effects.
    var reply: Reply? {
        for case .reply(_, let reply) in effects.reversed() { return reply }
        return nil
    }

    var refusal: Refusal? {
        guard case .refused(let refusal) = reply else { return nil }
        return refusal
    }

    // MARK: Time

    /// Time goes by on an awake device; the timers fire on the way.
    mutating func advance(_ interval: Interval, file: StaticString = #file, line: UInt = #line) {
        effects.removeAll()
        let end = now.boot + interval
        var steps = 0
        while let next = armed, next <= end {
            steps += 1
            precondition(steps < 100_000, "the timer never rests", file: file, line: line)
            move(max(.zero, next - now.boot))
            fired()
            feed(.timer)
        }
        move(end - now.boot)
    }

    /// The device sleeps; the timers that came due fire at the end.
    mutating func sleep(_ interval: Interval) {
        effects.removeAll()
        now.boot = now.boot + interval
        now.wall = now.wall + interval
        fired()
        feed(.timer)
    }

    /// The device sleeps until its alarm, or for so long if none comes before.
    mutating func sleepUntilAlarm(atMost limit: Interval) -> Interval {
        let span = min(limit, (timers.alarm ?? .distantFuture) - now.boot)
        self.sleep(span)
        return span
    }

    private mutating func fired() {
        if let alarm = timers.alarm, alarm <= now.boot { timers.alarm = nil }
        if let timer = timers.timer, timer <= now.boot { timers.timer = nil }
    }

    /// Time goes by and nobody notices: the next event comes late.
    mutating func move(_ interval: Interval) {
        now.boot = now.boot + interval
        now.awake = now.awake + interval
        now.wall = now.wall + interval
    }

    // MARK: What was done

    func contains(_ effect: Effect) -> Bool { effects.contains(effect) }

    /// The launches that were started, in order.
    var spawned: [(launch: LaunchID, spec: ProcessSpec)] {
        effects.compactMap {
            if case .spawn(let launch, let spec) = $0 { (launch, spec) } else { nil }
        }
    }

    func spawn(of app: String) -> LaunchID? { spawned.last { $0.spec.app.name == app }?.launch }

    struct Probe {
        var launch: LaunchID
        var step: ProbeStep
        var source: ResultSource
        var spec: ProcessSpec
        var limit: Interval
    }

    var probes: [Probe] {
        effects.compactMap {
            if case .probe(let launch, let step, let source, let spec, let limit) = $0 {
                Probe(launch: launch, step: step, source: source, spec: spec, limit: limit)
            } else {
                nil
            }
        }
    }

    /// What linked apps were told, without the ends of their time.
    func told(_ launch: LaunchID) -> [AppMessage] { toldInFull(launch).map(\.undated) }

    func toldInFull(_ launch: LaunchID) -> [AppMessage] {
        effects.compactMap {
            if case .tell(launch, let message) = $0 { message } else { nil }
        }
    }

    var lines: [HistoryLine.Entry] { history.map(\.entry) }

    /// The runs that ended, in order.
    var runs: [WakeReport] {
        lines.compactMap { if case .wake(let report) = $0 { report } else { nil } }
    }

    var results: [RunResult] { runs.map(\.result) }

    var dropped: [String] {
        lines.compactMap { if case .dropped(_, let reason) = $0 { reason } else { nil } }
    }

    func app(_ name: String) -> AppState? {
        device.apps.index(of: AppID(name)).flatMap { device.apps.at($0) }
    }

    func requests(_ name: String) -> [Request] { app(name)?.requests ?? [] }

    func launch(_ id: LaunchID) -> Launch? {
        (0..<device.apps.endIndex).lazy.compactMap { device.apps.at($0) }
            .flatMap(\.launches).first { $0.id == id }
    }

    /// All launches, app by app.
    var launches: [Launch] {
        (0..<device.apps.endIndex).compactMap { device.apps.at($0) }.flatMap(\.launches)
    }

    var allRequests: [Request] {
        (0..<device.apps.endIndex).compactMap { device.apps.at($0) }.flatMap(\.requests)
    }

    /// The names of the gates that hold an app's requests.
    func gates(_ name: String, _ identifier: String? = nil) -> [String] {
        device.explain(AppID(name), identifier: identifier, at: now)
            .flatMap { $0.holds.map(\.gate) }
    }

    func sentence(_ name: String) -> String {
        device.explain(AppID(name), at: now).map(\.sentence).joined(separator: " ")
    }

    // MARK: The world's answers

    mutating func started(_ launch: LaunchID) {
        lastPid += 1
        let process = ProcessID(pid: lastPid, startTime: UInt64(lastPid) * 10)
        send(.process(launch, .started(process)))
    }

    mutating func exited(_ launch: LaunchID, status: Int32 = 0) {
        send(.process(launch, .exited(.status(status), nil)))
    }

    mutating func killed(_ launch: LaunchID, signal: Int32 = 9, outOfMemory: Bool = false) {
        send(.process(launch, .exited(.signal(signal, outOfMemory: outOfMemory), nil)))
    }

    mutating func say(_ launch: LaunchID, _ event: AppEvent) { send(.app(launch, event)) }

    /// By the source that has the word here, unless said otherwise.
    mutating func set(_ condition: Condition, _ value: Int, by source: ConditionSource? = nil) {
        let source = source ?? (condition == .storage ? .daemon : .kernel)
        send(.condition(condition, source, .value(value)))
    }

    mutating func install(_ manifests: AppManifest...) {
        send(.manifests(manifests.map { .present($0) }))
    }

    mutating func configure(_ change: (inout Settings) -> Void) {
        var settings = device.settings.value
        change(&settings)
        send(.settings(settings))
    }

    // MARK: Restart

    /// The daemon dies and comes back: what the store has is all that is left.
    mutating func restart(
        survivors: [Survivor] = [],
        bootID: String = "boot-1",
        manifests: [AppManifest] = []
    ) throws {
        var settings = device.settings.value
        // What is pending again is seen before it runs.
        settings.pauseAfterStart = .seconds(5)
        device = try Device(restoring: loaded())
        timers = Timers()
        if bootID != "boot-1" {
            now.boot = BootTime(nanoseconds: 0) + .minutes(5)
            now.awake = AwakeTime(nanoseconds: 0) + .minutes(5)
        }
        effects.removeAll()
        let start = Start(
            bootID: bootID,
            survivors: survivors,
            seed: 1,
            settings: settings,
            manifests: manifests.map { .present($0) }
        )
        feed(.started(start))
        look()
    }
}

extension AppMessage {
    /// The same, as if there were no end.
    var undated: AppMessage {
        switch self {
        case .go(let id, _): .go(id)
        case .expire(let id, let reason, _): .expire(id, reason)
        case .expireTask(let task, let holder, let reason, _):
            .expireTask(task: task, to: holder, reason)
        case .didEnterBackground: .didEnterBackground()
        case .offer, .willEnterForeground, .didBecomeActive, .memoryWarning, .refreshChanged,
            .conditionsChanged, .taskEnded, .taskProgress, .taskAsked, .openURLs:
            self
        }
    }
}

extension Settings {
    /// What is due runs at once.
    static var calm: Settings {
        var settings = Settings()
        settings.sharedWake = .zero
        settings.wakingFrom = .zero
        settings.wakingUntil = .zero
        settings.refreshesPerDay = 96
        settings.pauseAfterBoot = .zero
        settings.pauseAfterStart = .zero
        settings.pauseAfterResume = .zero
        settings.settleTime = .zero
        return settings
    }
}

extension AppManifest {
    /// A program that knows nothing of us.
    static func refreshing(
        _ name: String,
        _ change: (inout AppManifest) -> Void = { _ in }
    ) -> AppManifest {
        var manifest = AppManifest(id: AppID(name), name: name)
        manifest.modes = [.fetch]
        manifest.refreshCommand = ["reload", name]
        change(&manifest)
        return manifest
    }

    static func processing(
        _ name: String,
        _ change: (inout AppManifest) -> Void = { _ in }
    ) -> AppManifest {
        var manifest = AppManifest(id: AppID(name), name: name)
        manifest.modes = [.processing]
        manifest.processingCommand = ["tidy", name]
        change(&manifest)
        return manifest
    }

    /// An app that speaks our protocol.
    static func linked(
        _ name: String,
        identifiers: [String] = [],
        _ change: (inout AppManifest) -> Void = { _ in }
    ) -> AppManifest {
        var manifest = AppManifest(id: AppID(name), name: name)
        manifest.exec = [name]
        manifest.modes = [.fetch, .processing]
        manifest.permittedTaskIdentifiers = identifiers
        change(&manifest)
        return manifest
    }
}
