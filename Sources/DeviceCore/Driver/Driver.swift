import Vocabulary

/// Where a driver stores what a device has decided. The daemon's shell and the simulator's virtual
/// world both conform; neither decides anything.
package protocol DevicePort {
    /// Makes the changes durable, all or none, after all that were committed before. Throws when
    /// the store did not take them.
    mutating func commit(_ changes: [Change], _ durability: Durability) throws(CommitError)
    /// The same after one that failed as `gone`: makes durable these records and no others, and
    /// the lines of `changes` beside those of the history that can still be had.
    mutating func commitAnew(
        _ records: [Record],
        with changes: [Change]
    ) throws(CommitError)
    /// What will be performed once the commit that follows has worked. The port may begin what
    /// nobody sees and what leaves nothing behind: `recordRollback` undoes it, or the next daemon.
    /// It may take away what nobody needs any more, as a boot would.
    mutating func prepare(_ effects: [Effect])
    /// One event with its decisions, for the event log. Need not be durable.
    mutating func record(_ event: TimedEvent, _ decisions: [Effect])
    /// The last turn's events did not take place: their commit failed.
    mutating func recordRollback(of count: Int)
}

extension DevicePort {
    package mutating func prepare(_ effects: [Effect]) {}
}

/// What a commit must survive, once it has returned.
package enum Durability: Hashable, Sendable {
    /// The end of this process; a loss of power may take it.
    case kill
    case powerLoss
}

/// The store did not take a commit; the operation's own words are in `reason`.
package struct CommitError: Error, Hashable, Sendable {
    package var cause: Cause
    package var reason: String

    package enum Cause: Hashable, Sendable {
        case full, failing
        /// What was stored is no longer where a daemon that starts would look for it.
        case gone

        fileprivate var reading: Reading {
            switch self {
            case .full: .value(1)
            case .failing: .value(2)
            case .gone: .value(Conditions.storageGone)
            }
        }
    }

    package init(_ cause: Cause, reason: String) { (self.cause, self.reason) = (cause, reason) }
}

/// Feeds events to a device, a turn at a time: it handles all of them, commits once, then hands out
/// the effects. Its owner performs them, and may ask the device meanwhile. The driver decides only
/// what to do when the store fails.
package struct Driver<Port: DevicePort> {
    package private(set) var device: Device
    /// A copy of the device, and the events since. If a commit fails, replaying them rebuilds the
    /// device as it was before the turn. With a copy before each turn, each change would copy what
    /// it changes.
    private var earlier: Device
    private var eventsSince: [TimedEvent] = []
    /// Replaying so many takes a millisecond or so.
    private static var replayLimit: Int { 64 }
    package var port: Port
    /// Events that must not be lost, of turns whose commit failed.
    package private(set) var unsettled: [TimedEvent] = []
    private var effects: [Effect] = []
    /// To be performed when this turn is over.
    private var performable: [Effect] = []
    private var changes: [Change] = []
    private var storage = Reading.value(0)
    /// What the device changed because the store fails; the first commit that works takes it too.
    private var owed: [Change] = []
    /// The store has lost what it had: the next commit that works takes all that the device knows.
    private var isGone = false

    package init(device: Device, port: Port) {
        (self.device, self.port) = (device, port)
        earlier = device
    }

    /// One turn. After a failed commit the device is as it was before: callers are told, and what
    /// the world will not say twice (exits, receipts) is kept for the next turn. The end of a run
    /// or task is answered only when it is stored: if the daemon dies first, the app says it again
    /// to the next one.
    ///
    /// `looksAtStore`: also where nothing is to be stored, since it may have gone.
    ///
    /// Returns the effects in the order in which they must be performed. All that they depend on is
    /// durable by then.
    package mutating func turn(_ events: [TimedEvent], looksAtStore: Bool = false) -> [Effect] {
        decide(events, looksAtStore)
        defer {
            performable = []
            // What thousands of changes took is not kept for the next turn, which has few.
            effects.removeAll(keepingCapacity: effects.count <= Self.replayLimit)
            changes.removeAll(keepingCapacity: changes.count <= Self.replayLimit)
        }
        return performable
    }

    private mutating func decide(_ events: [TimedEvent], _ looksAtStore: Bool) {
        // A start that had to wait is one of now: what it decides begins now.
        if isStarting, let now = events.first?.moment {
            for index in unsettled.indices { unsettled[index].moment = now }
        }
        var all = unsettled.isEmpty ? events : unsettled + events
        if !unsettled.isEmpty, let stop = all.firstIndex(where: { $0.event == .stopping }) {
            // What had to wait begins nothing any more either.
            all.insert(all.remove(at: stop), at: 0)
        }
        for index in all.indices { all[index].othersFollow = index < all.count - 1 }
        guard commit(all, looksAtStore) else { return }
        unsettled.removeAll()
        handOut()
        if storage != .value(0), let last = all.last {
            storage = .value(0)
            decide([TimedEvent(.storageRecovered, at: last.moment)], false)
        }
    }

    /// Whether a turn with `.timer` is due although nothing happened: something waits for the
    /// store.
    package var mustRetry: Bool { storage != .value(0) }

    /// The device does not yet go by what was last read of the manifests or the settings: that
    /// waits for the store.
    package var isBehind: Bool {
        unsettled.contains {
            switch $0.event {
            case .started, .manifests, .settings: true
            case .process, .timer, .clockChanged, .sleep, .condition, .app, .used, .triggered,
                .user, .storageRecovered, .stopping, .transfer:
                false
            }
        }
    }

    /// The start waits for the store: the device has not met the machine yet, and decides nothing.
    package var isStarting: Bool { unsettled.contains { $0.event.isStart } }

    private mutating func commit(
        _ events: [TimedEvent],
        _ looksAtStore: Bool
    ) -> Bool {
        effects.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        for timed in events {
            let first = effects.count
            device.handle(timed, into: &effects)
            port.record(timed, Array(effects[first...]))
        }
        changes.append(contentsOf: owed)
        for effect in effects {
            if case .save(let more) = effect { changes.append(contentsOf: more) }
        }
        // While the store fails, an empty commit tells whether it works again.
        if changes.isEmpty && storage == .value(0) && !looksAtStore && !promises(events) {
            remember(events)
            return true
        }
        do throws(CommitError) {
            if isGone {
                try port.commitAnew(device.records, with: changes)
            } else {
                port.prepare(effects)
                try port.commit(changes, canWait(events) ? .kill : .powerLoss)
            }
            isGone = false
            owed.removeAll()
            remember(events)
            return true
        } catch {
            rebuild()
            port.recordRollback(of: events.count)
            fail(error, events)
            return false
        }
    }

    /// The turn is over: these would be replayed.
    private mutating func remember(_ events: [TimedEvent]) {
        eventsSince.append(contentsOf: events)
        // A start changes every app: an older copy would share nothing with the device. Nor would
        // it with one to which thousands of transfers were added, and the event that asks for them
        // is as large as they are.
        let isStart = events.contains { if case .started = $0.event { true } else { false } }
        let isLarge = changes.count > Self.replayLimit
        if isStart || isLarge || eventsSince.count >= Self.replayLimit { copyDevice() }
    }

    private mutating func rebuild() {
        device = earlier
        var ignored: [Effect] = []
        for timed in eventsSince {
            ignored.removeAll(keepingCapacity: true)
            device.handle(timed, into: &ignored)
        }
        // While the store fails, each turn ends here.
        copyDevice()
    }

    private mutating func copyDevice() {
        earlier = device
        earlier.forgetSearch()
        eventsSince.removeAll(keepingCapacity: true)
    }

    /// A submit that is heard again is answered by what was stored then.
    private func promises(_ events: [TimedEvent]) -> Bool {
        events.contains { $0.event.isSubmit }
            && effects.contains(where: \.isPromise)
    }

    /// Receipts that say nothing new: the launch's marker says it as well, and after a loss of
    /// power its process is gone with it. Saves a third of the disk's work for each run.
    private func canWait(_ events: [TimedEvent]) -> Bool {
        storage == .value(0) && owed.isEmpty && events.allSatisfy { $0.event.isFoundAgain }
            && effects.allSatisfy { $0.demandsNothing }
    }

    private mutating func fail(_ error: CommitError, _ events: [TimedEvent]) {
        if error.cause == .gone { isGone = true }
        unsettled = UnsettledEvents(events).events
        let isStart = events.contains { $0.event.isStart }
        let questions = isStart ? [] : events.filter { $0.event.question != nil }
        let refusal = Refusal(
            .storage,
            reason: "the state directory cannot be written: \(error.reason)",
            fix: error.cause == .gone
                ? "\(Conditions.goneFix), then try again" : "free some space, then try again"
        )
        answer(events, besides: Set(questions.compactMap(\.event.question)), refusal)
        guard let now = events.last?.moment else { return }
        let reading = error.cause.reading
        if storage != reading {
            storage = reading
            // Else it would decide by what the machine was before (`isStarting`).
            if isStart { return }
            // Known to the device at once, so that it starts nothing and says why. What it changes
            // by that (a grant may be over at this moment) waits for the store.
            hear(.condition(.storage, .daemon, reading), at: now)
        }
        for question in questions { answer(question.event, at: now, else: refusal) }
    }

    /// Tells the callers that nothing was stored. `others` are told later.
    private mutating func answer(
        _ events: [TimedEvent],
        besides others: Set<ReplyToken>,
        _ refusal: Refusal
    ) {
        var stored: [ReplyToken: RequestedTask] = [:]
        if !isGone {
            // What was submitted before is in the store, and will run.
            for timed in events {
                if let (token, answer) = device.answered(timed.event) { stored[token] = answer }
            }
        }
        // Who opened an app hears what became of it when that is stored: `unsettled` has it.
        let waiting = others.union(unsettled.compactMap { $0.event.endReply })
            .union(device.liveLaunches.flatMap(\.openers).map(\.reply))
        for effect in effects {
            guard case .reply(let token, _) = effect, !waiting.contains(token) else { continue }
            let answer = stored[token].map { Reply.requested($0) }
            performable.append(.reply(token, answer ?? .refused(refusal)))
        }
    }

    /// What is only asked needs no store, unless something is due at this moment that does.
    private mutating func answer(_ question: Event, at now: Moment, else refusal: Refusal) {
        effects.removeAll(keepingCapacity: true)
        var trial = device
        trial.handle(question, at: now, into: &effects)
        let isFree = !effects.contains { if case .save = $0 { true } else { false } }
        if isFree { return hear(question, at: now) }
        if let token = question.question { performable.append(.reply(token, .refused(refusal))) }
    }

    /// After a commit that failed.
    private mutating func hear(_ event: Event, at now: Moment) {
        effects.removeAll(keepingCapacity: true)
        let timed = TimedEvent(event, at: now)
        device.handle(timed, into: &effects)
        remember([timed])
        port.record(timed, effects)
        for effect in effects {
            if case .save(let more) = effect { owed.append(contentsOf: more) }
            if effect.isPerformed { performable.append(effect) }
        }
    }

    private mutating func handOut() {
        // In the order of the decisions: what a caller is answered comes before what follows from
        // it.
        for effect in effects where effect.isPerformed { performable.append(effect) }
    }
}

extension Effect {
    /// Done in the world; the others are the driver's own.
    fileprivate var isPerformed: Bool {
        switch self {
        case .save: false
        case .reply, .spawn, .attach, .probe, .cancelProbe, .freeze, .thaw, .terminate, .kill,
            .release, .measure, .checkLocks, .weigh, .limitMemory, .setDeadline, .tell, .holdAwake,
            .inhibitIdle, .sleepAgain, .watchIdle, .notifyFailures, .watchUse, .arm, .announce,
            .transfer:
            true
        }
    }

    /// Tells a caller what is stored.
    fileprivate var isPromise: Bool {
        if case .reply(_, .requested) = self { return true }
        if case .reply(_, .transfers) = self { return true }
        return false
    }

    /// Does nothing in the world that a commit must precede.
    fileprivate var demandsNothing: Bool {
        switch self {
        case .save, .measure, .setDeadline, .holdAwake, .inhibitIdle, .sleepAgain, .watchIdle, .arm:
            true
        case .spawn, .attach, .probe, .cancelProbe, .freeze, .thaw, .terminate, .kill, .release,
            .checkLocks, .weigh, .limitMemory, .tell, .notifyFailures, .watchUse, .reply, .announce,
            .transfer:
            false
        }
    }
}

extension Event {
    /// A daemon that starts finds this out by itself.
    fileprivate var isFoundAgain: Bool {
        switch self {
        case .process(_, .started): true
        case .process, .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition,
            .app, .transfer, .used, .triggered, .user, .storageRecovered, .stopping:
            false
        }
    }

    fileprivate var isSubmit: Bool {
        switch self {
        case .user(.submit, _), .user(.transfer(.enqueue), _), .app(_, .submit): true
        case .process, .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition,
            .app, .transfer, .used, .triggered, .user, .storageRecovered, .stopping:
            false
        }
    }

    fileprivate var isStart: Bool { if case .started = self { true } else { false } }
}

extension Event {
    /// Who waits for the answer to the end of a run or of a background task.
    fileprivate var endReply: ReplyToken? {
        switch self {
        case .app(_, .completed(_, _, _, let reply)), .app(_, .taskEnded(_, _, let reply)),
            .app(_, .reconnected(_, _, _, let reply)):
            reply
        case .process, .started, .timer, .clockChanged, .sleep, .manifests, .settings, .condition,
            .app, .transfer, .used, .triggered, .user, .storageRecovered, .stopping:
            nil
        }
    }

    /// Who waits for the answer to what is only asked: nothing durable changes by it.
    fileprivate var question: ReplyToken? {
        if case .app(_, .conditionsWatched(let reply)) = self { reply } else { nil }
    }
}
