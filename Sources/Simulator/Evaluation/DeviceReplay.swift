package import DeviceCore
package import Vocabulary

/// One refresh with what decided it.
package struct RefreshMoment: Sendable {
    /// By position among the eligible apps.
    package var app: Int
    /// Seconds since the first midnight.
    package var time: Double
    /// Nil: nothing that was learned.
    package var decision: RefreshDecision?

    package init(app: Int, time: Double, decision: RefreshDecision? = nil) {
        (self.app, self.time, self.decision) = (app, time, decision)
    }
}

/// A device that lives through a person's log: the daemon's own core, fed with what the daemon
/// would be told (opens, exits, use of the device, timers). A refresh is a command that takes ten
/// seconds and always brings something new.
package struct DeviceReplay: Sendable {
    private let record: UsageRecord
    private let script: [Step]
    private let names: [AppID]
    private let hasPrior: Bool
    private var device = Device()
    private var index = 0
    private var timer: BootTime?
    /// Refreshes in progress: when they end, the next one first.
    private var ending: [(at: Moment, launch: LaunchID)] = []
    /// By app of the record: its live process.
    private var mains: [LaunchID?]
    private var launching: Int?
    private var effects: [Effect] = []
    package private(set) var refreshes: Refreshes
    package private(set) var moments: [RefreshMoment] = []
    /// Every event with the decisions about it, if somebody wants them.
    package private(set) var log: [Entry]?

    package struct Entry: Sendable {
        package var event: Event
        package var moment: Moment
        package var decisions: [Effect]
    }

    /// What the log says that the daemon is told, at this many nanoseconds after midnight.
    private struct Step {
        var at: Int64
        var what: What
        /// Of an end: it began at the same instant.
        var isInstant = false

        var rank: Int {
            switch what {
            case .exited: isInstant ? 3 : 0
            case .inUse: 1
            case .opened: 2
            case .idle: 4
            }
        }

        enum What {
            case opened(Int), exited(Int), inUse, idle
        }
    }

    package init(_ record: UsageRecord, hasPrior: Bool = true, logged: Bool = false) {
        self.hasPrior = hasPrior
        self.record = record
        script = Self.script(record)
        names = record.apps.indices.map { AppID("app\($0)") }
        mains = Array(repeating: nil, count: record.apps.count)
        refreshes = Refreshes(of: record)
        log = logged ? [] : nil
        feed(
            .started(
                Start(
                    bootID: "evaluation",
                    seed: 1,
                    settings: Self.settings(record, hasPrior: hasPrior),
                    manifests: names.indices.map { .present(manifest($0)) }
                )
            ),
            at: moment(0)
        )
        // What most devices of these logs were: a charger makes refreshes cheaper.
        feed(.condition(.power, .kernel, .value(0)), at: moment(0))
        feed(.condition(.idle, .kernel, .value(1)), at: moment(0))
    }

    /// What happens by the log, in the order of time. At one instant a use of an app ends before
    /// another begins, but after its own beginning, and then that of the device.
    private static func script(_ record: UsageRecord) -> [Step] {
        var steps: [Step] = []
        func add(_ first: Step.What, _ last: Step.What, _ start: Double, _ end: Double) {
            let (from, to) = ((start * 1e9).rounded(), (max(start, end) * 1e9).rounded())
            steps.append(Step(at: Int64(from), what: first))
            steps.append(Step(at: Int64(to), what: last, isInstant: from == to))
        }
        for (app, sessions) in record.apps.enumerated() {
            for (start, end) in zip(sessions.starts, sessions.ends) {
                add(.opened(app), .exited(app), start, end)
            }
        }
        for (start, end) in record.inUse { add(.inUse, .idle, start, end) }
        return steps.enumerated().sorted {
            let (left, right) = ($0.element, $1.element)
            return (left.at, left.rank, $0.offset) < (right.at, right.rank, $1.offset)
        }.map(\.element)
    }

    private static func settings(_ record: UsageRecord, hasPrior: Bool) -> Settings {
        // The rest is as it ships.
        var settings = Settings()
        // The protocol starts all of a moment's refreshes at that moment.
        settings.runSlots = Int64(record.eligible.count)
        settings.backgroundRefresh = false
        settings.prior = hasPrior
        return settings
    }

    private func manifest(_ app: Int) -> AppManifest {
        var manifest = AppManifest(id: names[app], name: names[app].name)
        manifest.exec = [names[app].name]
        manifest.useFrom = .exec(names[app].name)
        guard record.eligible.contains(app) else { return manifest }
        manifest.modes = [.fetch]
        manifest.refreshCommand = ["refresh"]
        return manifest
    }

    private func moment(_ nanoseconds: Int64) -> Moment {
        // The device was booted an hour before, so that no pause is left.
        Moment(
            boot: BootTime(nanoseconds: nanoseconds) + .hours(1),
            awake: AwakeTime(nanoseconds: nanoseconds) + .hours(1),
            wall: WallTime(nanoseconds: Int64(record.midnight) * 1_000_000_000 + nanoseconds),
            utcOffset: 0
        )
    }

    // MARK: Time

    /// Learns from the days before those that are scored, and refreshes nothing.
    package mutating func warmUp() { run(until: Int64(record.splitDay) * Self.day) }

    /// Lives through the scored days with so many refreshes.
    package mutating func score(
        budget: Int,
        scope: RefreshBudgetScope,
        wakePrice: Int64 = Settings().wakePrice
    ) {
        var settings = Self.settings(record, hasPrior: hasPrior)
        settings.backgroundRefresh = true
        settings.refreshesPerDay = Int64(budget)
        settings.sharedBudget = scope == .device
        settings.wakePrice = wakePrice
        feed(.settings(settings), at: moment(Int64(record.splitDay) * Self.day))
        run(until: Int64(record.days) * Self.day)
    }

    private static let day: Int64 = 86_400_000_000_000

    private mutating func run(until end: Int64) {
        let last = moment(end - 1)
        while true {
            let next = index < script.count ? moment(script[index].at) : moment(.max / 2)
            if let done = ending.first, done.at <= next, done.at <= last {
                ending.removeFirst()
                feed(.process(done.launch, .exited(.status(0), nil)), at: done.at)
            } else if let timer, timer <= next.boot, timer <= last.boot,
                ending.first.map({ timer < $0.at.boot }) ?? true
            {
                self.timer = nil
                feed(.timer, at: moment(timer.nanoseconds - Interval.hours(1).nanoseconds))
            } else if next <= last {
                index += 1
                happen(script[index - 1].what, at: next)
            } else {
                return
            }
        }
    }

    private mutating func happen(_ what: Step.What, at now: Moment) {
        switch what {
        case .opened(let app):
            launching = app
            feed(.user(.open(names[app], attach: nil), reply: ReplyToken(0)), at: now)
            launching = nil
            guard let launch = mains[app] else { return }
            let process = ProcessID(pid: Int32(app) + 1, startTime: launch.number)
            feed(.process(launch, .started(process)), at: now)
        case .exited(let app):
            guard let launch = mains[app] else { return }
            mains[app] = nil
            feed(.process(launch, .exited(.status(0), nil)), at: now)
        case .inUse: feed(.condition(.idle, .kernel, .value(0)), at: now)
        case .idle: feed(.condition(.idle, .kernel, .value(1)), at: now)
        }
    }

    private mutating func feed(_ event: Event, at now: Moment) {
        effects.removeAll(keepingCapacity: true)
        device.handle(event, at: now, into: &effects)
        log?.append(Entry(event: event, moment: now, decisions: effects))
        var begun: [LaunchID] = []
        for effect in effects {
            switch effect {
            case .arm(let timers): timer = timers.first
            case .spawn(let launch, let spec):
                if spec.weight == .background {
                    refreshed(spec.app, launch, at: now)
                    begun.append(launch)
                } else if let launching {
                    mains[launching] = launch
                }
            case .save, .attach, .probe, .cancelProbe, .freeze, .thaw, .terminate, .kill,
                .release, .measure, .checkLocks, .weigh, .limitMemory, .transfer, .setDeadline,
                .tell,
                .holdAwake,
                .inhibitIdle, .sleepAgain, .watchIdle,
                .notifyFailures, .watchUse, .reply, .announce:
                break
            }
        }
        let end = Moment(
            boot: now.boot + .seconds(10),
            awake: now.awake + .seconds(10),
            wall: now.wall + .seconds(10),
            utcOffset: now.utcOffset
        )
        for launch in begun {
            ending.append((end, launch))
            let process = ProcessID(pid: 1, startTime: launch.number)
            feed(.process(launch, .started(process)), at: now)
        }
    }

    private mutating func refreshed(_ app: AppID, _ launch: LaunchID, at now: Moment) {
        guard let index = names.firstIndex(of: app),
            let position = record.eligible.firstIndex(of: index)
        else { return }
        let nanoseconds = now.wall.nanoseconds - Int64(record.midnight) * 1_000_000_000
        refreshes.times[position].append(Double(nanoseconds) / 1e9)
        let decision = device.launch(launch)?.launch.wake?.decision
        moments.append(
            RefreshMoment(app: position, time: Double(nanoseconds) / 1e9, decision: decision)
        )
    }
}

extension Moment {
    fileprivate static func <= (left: Moment, right: Moment) -> Bool { left.boot <= right.boot }
}
