import AppProtocol
import ClientCore
import DeviceCore
import Simulator
import Vocabulary

/// Stands between the driver and the world and lies, as a bug in the core would.
struct Saboteur: SimulatedPort {
    var inner: VirtualPort
    /// What is done instead of an effect, at a moment.
    var effect: (Effect, Moment) -> [Effect] = { effect, _ in [effect] }
    var changes: ([Change]) -> [Change] = { $0 }
    var decisions: ([Effect]) -> [Effect] = { $0 }

    func commit(_ changes: [Change], _ durability: Durability) throws(CommitError) {
        try inner.commit(self.changes(changes), durability)
    }
    func commitAnew(
        _ records: [Record],
        with changes: [Change]
    ) throws(CommitError) {
        try inner.commitAnew(records, with: self.changes(changes))
    }
    func perform(_ effect: Effect) {
        if case .reply = effect { return inner.perform(effect) }
        for effect in self.effect(effect, inner.world.now) { inner.perform(effect) }
    }
    func record(_ event: TimedEvent, _ decisions: [Effect]) {
        inner.record(event, self.decisions(decisions))
    }
    func recordRollback(of count: Int) { inner.recordRollback(of: count) }
}

/// A bug, planted from outside of the core.
struct PlantedBug: Sendable, CustomStringConvertible {
    var description: String
    /// The rule that must notice.
    var rule: String
    /// Part of what it must say.
    var notices = ""
    /// How long it takes to show.
    var days: Int64 = 2
    /// Where the search for a seed that shows it begins: few may show it.
    var seed: UInt64 = 1
    var effect: @Sendable (Effect, Moment) -> [Effect] = { effect, _ in [effect] }
    var changes: @Sendable ([Change]) -> [Change] = { $0 }
    var decisions: @Sendable ([Effect]) -> [Effect] = { $0 }
    var event: @Sendable (Event) -> [Event] = { [$0] }
    /// In the library of each app.
    var client: (@Sendable (ClientEffect) -> [ClientEffect])?
    /// When an app asks about itself.
    var answer: (@Sendable (AppReply) -> AppReply)?
    /// When a user asks why something waits.
    var explanation: (@Sendable (Explanation) -> Explanation)?

    /// An app is told something wrong of how it is treated.
    static func lie(
        _ description: String,
        _ notices: String,
        _ change: @escaping @Sendable (inout Limits) -> Void
    ) -> PlantedBug {
        PlantedBug(description, "an app is told what waits and what it uses").with {
            $0.notices = notices
            $0.answer = { answer in
                guard case .limits(var limits) = answer else { return answer }
                change(&limits)
                return .limits(limits)
            }
        }
    }

    init(_ description: String, _ rule: String) {
        (self.description, self.rule) = (description, rule)
    }

    func with(_ change: (inout PlantedBug) -> Void) -> PlantedBug {
        var bug = self
        change(&bug)
        return bug
    }

    static let effects: [PlantedBug] = [
        PlantedBug("a spawn is done twice", "a request is handed over once").with {
            $0.effect = { effect, _ in
                if case .spawn = effect { [effect, effect] } else { [effect] }
            }
        },
        PlantedBug("a launch is given up at SIGTERM", "launches end on a confirmed exit only")
            .with {
                $0.effect = { effect, _ in
                    if case .terminate(let launch) = effect {
                        [effect, .release(launch)]
                    } else {
                        [effect]
                    }
                }
            },
        PlantedBug("nothing is ever stopped", "no grant exceeds its length").with {
            $0.effect = { effect, _ in
                switch effect {
                case .freeze, .terminate, .kill: []
                case let other: [other]
                }
            }
        },
        PlantedBug("apps are offered other work", "what runs is what was asked for").with {
            $0.effect = { effect, _ in
                guard case .tell(let launch, .offer(let id, var offer)) = effect else {
                    return [effect]
                }
                offer.identifier += ".other"
                return [.tell(launch, .offer(id, offer))]
            }
        },
        PlantedBug("the timer is never armed", "what does not run has a reason").with {
            $0.effect = { effect, _ in
                if case .arm = effect { [] } else { [effect] }
            }
        },
        PlantedBug(
            "nothing is frozen",
            "suspended apps use nothing and are sent nothing"
        ).with {
            $0.effect = { effect, _ in
                if case .freeze = effect { [] } else { [effect] }
            }
        },
        PlantedBug("the device is never let go", "the device is held awake only for runs").with {
            $0.effect = { effect, _ in
                effect == .holdAwake(false) ? [] : [effect]
            }
        },
        PlantedBug(
            "the device is sent to sleep after each run",
            "the device wakes and sleeps as it may"
        ).with {
            $0.effect = { effect, _ in
                effect == .holdAwake(false) ? [effect, .sleepAgain] : [effect]
            }
        },
        PlantedBug("apps are not told of the device", "apps know the device").with {
            $0.effect = { effect, _ in
                if case .tell(_, .conditionsChanged) = effect { [] } else { [effect] }
            }
            $0.notices = "and there is"
        },
        PlantedBug("apps are told of the device twice", "apps know the device").with {
            $0.effect = { effect, _ in
                if case .tell(_, .conditionsChanged) = effect {
                    [effect, effect]
                } else {
                    [effect]
                }
            }
            $0.notices = "what it knows"
        },
        PlantedBug("the screen stays on", "the screen stays on only in the foreground").with {
            $0.effect = { effect, _ in effect == .inhibitIdle(false) ? [] : [effect] }
            $0.notices = "no app is in the foreground"
        },
        PlantedBug("the screen goes off", "the screen stays on only in the foreground").with {
            $0.effect = { effect, _ in effect == .inhibitIdle(true) ? [] : [effect] }
            $0.notices = "it may go off"
        },
        PlantedBug("all timers wake the device", "the device wakes and sleeps as it may").with {
            $0.effect = { effect, _ in
                guard case .arm(let timers) = effect else { return [effect] }
                return [.arm(Timers(alarm: timers.first))]
            }
            $0.notices = "does not want"
        },
        PlantedBug(
            "the network that goes down for a sleep is gone",
            "the device wakes and sleeps as it may"
        ).with {
            $0.event = { $0 == .sleep(.begins) ? [] : [$0] }
            $0.notices = "is not woken"
        },
        PlantedBug("the timer is armed for the past", "the timer does not spin").with {
            $0.effect = { effect, _ in
                guard case .arm(let timers) = effect, let time = timers.first else {
                    return [effect]
                }
                return [.arm(Timers(timer: time - .days(1)))]
            }
        },
        PlantedBug("the timer spins", "the timer does not spin").with {
            $0.effect = { effect, now in
                guard case .arm(let timers) = effect, timers.first != nil else { return [effect] }
                return [.arm(Timers(timer: now.boot + .milliseconds(10)))]
            }
        },
        PlantedBug(
            "the expiration handler is called twice",
            "expiration handlers are called once, before the end"
        ).with {
            $0.effect = { effect, _ in
                if case .tell(_, .expire) = effect { [effect, effect] } else { [effect] }
            }
        },
        PlantedBug(
            "apps are ended that nobody chose",
            "memory is taken from the longest unused first"
        ).with {
            $0.effect = { effect, _ in
                guard case .kill(let launch) = effect else { return [effect] }
                return [.kill(LaunchID(launch.number - 1)), .kill(LaunchID(launch.number - 2))]
            }
        },
    ]

    static let records: [PlantedBug] = [
        PlantedBug("runs leave two lines", "each run leaves exactly one line").with {
            $0.changes = {
                $0.flatMap { change in
                    if case .append(let line) = change, case .wake = line.entry {
                        [change, change]
                    } else {
                        [change]
                    }
                }
            }
        },
        PlantedBug("whatever happened is told as new data", "the history tells what happened")
            .with {
                $0.changes = {
                    $0.map {
                        guard case .append(var line) = $0, case .wake(var report) = line.entry
                        else { return $0 }
                        report.result = .newData
                        line.entry = .wake(report)
                        return .append(line)
                    }
                }
            },
        PlantedBug(
            "why a refresh was chosen is forgotten, now and then",
            "the refresh budget is kept"
        ).with {
            $0.changes = {
                $0.map {
                    guard case .put(.request(let record)) = $0,
                        record.request.id.number.isMultiple(of: 2)
                    else { return $0 }
                    var request = record.request
                    request.decision = nil
                    return .put(.request(RequestRecord(record.app, request)))
                }
            }
            ($0.days, $0.notices) = (12, "was not chosen for its moment")
        },
        PlantedBug("closing is not stored", "closed apps do not run").with {
            $0.changes = {
                $0.map { $0.without("closedAt", in: .app) }
            }
            $0.days = 4
        },
        PlantedBug("a pause is not stored", "paused work does not run").with {
            $0.changes = {
                $0.map { $0.without("pausedAt", in: .device) }
            }
            $0.days = 4
        },
        PlantedBug("requests are not stored", "nothing acknowledged is lost").with {
            $0.changes = {
                $0.filter {
                    if case .put(.request) = $0 { false } else { true }
                }
            }
        },
        PlantedBug("runs leave no line", "each run leaves exactly one line").with {
            $0.changes = {
                $0.filter {
                    if case .append = $0 { false } else { true }
                }
            }
        },
        PlantedBug(
            "use is not stored: the wrong app is ended first",
            "memory is taken from the longest unused first"
        ).with {
            $0.changes = {
                $0.map {
                    guard case .put(.app(var record)) = $0 else { return $0 }
                    record.lastUsed = nil
                    return .put(.app(record))
                }
            }
            $0.notices = "is ended before"
        },
        PlantedBug("what is spent is not stored", "the refresh budget is kept").with {
            $0.changes = { $0.map(\.withoutSpending) }
            ($0.days, $0.seed) = (8, 11)
        },
        PlantedBug("a decision differs", "decisions are equal for equal logs").with {
            $0.decisions = { $0.filter { $0 != .holdAwake(true) } }
        },
    ]

    /// Each with the fault that shows it, which nothing else does.
    static let faults: [(fault: Fault, bug: PlantedBug)] = [
        (.lowData, .missesLowData("transfers run when they may", "in low-data mode")),
        (.lowData, .missesLowData("what work asks for is there", "low-data is not there")),
        (
            .lowData,
            PlantedBug("what runs is not stopped", "transfers run when they may").with {
                $0.effect = { effect, _ in
                    if case .transfer(_, .stop) = effect { [] } else { [effect] }
                }
                ($0.notices, $0.days) = ("goes on in low-data mode", 10)
            }
        ),
        (
            .declines,
            PlantedBug("what is declined is taken", "a request is handed over once").with {
                $0.event = {
                    if case .app(let launch, .declined(let id, _)) = $0 {
                        [.app(launch, .accepted(id))]
                    } else {
                        [$0]
                    }
                }
                $0.notices = "declined"
            }
        ),
        (
            .connectsTwice,
            PlantedBug(
                "a second connection counts as closed with the first",
                "what does not run has a reason"
            ).with {
                $0.event = {
                    if case .app(_, .reconnected) = $0 { [] } else { [$0] }
                }
                $0.notices = "which is connected"
            }
        ),
    ]

    static let events: [PlantedBug] = [
        PlantedBug("the earliest date is not heard", "never before the earliest date").with {
            $0.event = { [$0.changingSubmission { ($0.after, $0.earliest) = (nil, nil) }] }
        },
        PlantedBug("power is taken for external", "quotas are kept").with {
            $0.event = {
                if case .condition(.power, let source, _) = $0 {
                    [.condition(.power, source, .value(1))]
                } else {
                    [$0]
                }
            }
        },
        PlantedBug("caps are not known", "no app has more pending than it may").with {
            $0.event = {
                [$0.changingSettings { ($0.pendingRefreshes, $0.pendingProcessing) = (99, 99) }]
            }
        },
        PlantedBug("slots are not known", "run slots are kept").with {
            $0.event = { [$0.changingSettings { $0.runSlots = 99 }] }
        },
        PlantedBug("ends of programs are not heard", "what does not run has a reason").with {
            $0.event = {
                if case .process(_, .exited) = $0 { [] } else { [$0] }
            }
            $0.notices = "its last run has not ended"
            $0.days = 16
        },
        PlantedBug("closing is not heard", "closed apps do not run").with {
            $0.event = {
                if case .user(.close, let reply) = $0 {
                    [.user(.continue, reply: reply)]
                } else {
                    [$0]
                }
            }
        },
        PlantedBug("a pause is not heard", "paused work does not run").with {
            $0.event = {
                if case .user(.pause, let reply) = $0 {
                    [.user(.continue, reply: reply)]
                } else {
                    [$0]
                }
            }
            $0.days = 4
        },
        PlantedBug("low power is seen where there is none", "what does not run has a reason").with {
            $0.event = { event in
                guard case .started = event else { return [event] }
                return [event, .condition(.lowPower, .upower, .value(1))]
            }
            $0.notices = "low-power"
        },
        PlantedBug("the lock is not seen", "nothing runs before the first unlock").with {
            $0.event = {
                switch $0 {
                case .condition(.locked, _, _): return []
                case .started(var start):
                    start.conditions.removeAll { $0.condition == .locked }
                    return [.started(start)]
                case let other: return [other]
                }
            }
        },
        PlantedBug("the stop is not heard", "a daemon that stops begins nothing").with {
            $0.event = { $0 == .stopping ? [] : [$0] }
            $0.days = 20
        },
        PlantedBug(
            "the user is not seen",
            "processing stops when the user comes back or its power goes"
        ).with {
            $0.event = {
                if case .condition(.idle, let source, _) = $0 {
                    [.condition(.idle, source, .value(1))]
                } else {
                    [$0]
                }
            }
        },
        PlantedBug("a missing sensor is called good", "what work asks for is there").with {
            $0.event = { event in
                guard case .started = event else { return [event] }
                let good = [Condition.power, .network, .metered, .locked].map {
                    Event.condition($0, .upower, .value($0.row.harmless))
                }
                return [event] + good
            }
        },
    ]
}

extension Change {
    fileprivate func without(_ field: String, in section: RecordKey.Section) -> Change {
        guard case .put(let record) = self, record.key.section == section,
            var fields = record.value.mapValue
        else { return self }
        fields[field] = nil
        return (try? .put(Record(record.key, .map(fields)))) ?? self
    }

    /// As of a version that knew no scopes.
    fileprivate var withoutSpending: Change {
        guard case .put(let record) = self, var fields = record.value.mapValue else { return self }
        fields["refreshBudget"] = nil
        if var refresh = fields["refresh"]?.mapValue {
            (refresh["day"], refresh["spent"]) = (nil, nil)
            fields["refresh"] = .map(refresh)
        }
        return (try? .put(Record(record.key, .map(fields)))) ?? self
    }
}

extension Event {
    func changingSubmission(_ change: (inout Submission) -> Void) -> Event {
        switch self {
        case .user(.submit(var submission), let reply):
            change(&submission)
            return .user(.submit(submission), reply: reply)
        case .app(let launch, .submit(var submission, let reply)):
            change(&submission)
            return .app(launch, .submit(submission, reply: reply))
        case .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition, .process,
            .app, .used, .triggered, .transfer, .user, .storageRecovered, .stopping:
            return self
        }
    }

    func changingSettings(_ change: (inout Settings) -> Void) -> Event {
        switch self {
        case .started(var start):
            var settings = start.settings ?? Settings()
            change(&settings)
            start.settings = settings
            return .started(start)
        case .settings(var settings):
            change(&settings)
            return .settings(settings)
        case .timer, .clockChanged, .sleep, .manifests, .condition, .process, .app, .used,
            .triggered, .transfer, .user, .storageRecovered, .stopping:
            return self
        }
    }
}
