import AppProtocol
import ClientCore
import DeviceCore
package import Vocabulary

/// Looks on while a simulation runs: keeps the turn together, asks the invariants, remembers the
/// last events.
package final class Watch {
    package private(set) var violation: Violation?
    private let invariants: [any Invariant]
    private let byEffect: [any EffectInvariant]
    private let byCommit: [any CommitInvariant]
    private let byCall: [any CallInvariant]
    private let byProcess: [any ProcessInvariant]
    private let byAnswer: [any AnswerInvariant]
    private let byClient: [any ClientInvariant]
    private let byQuestion: [any QuestionInvariant]
    let work = AskedWork()
    private(set) var turn: Turn
    /// The last events with their decisions, for a report.
    private var tail: [[Turn.Entry]] = []
    private let tailLength: Int
    /// The daemon's whole life, turn by turn, while it is to be replayed.
    private(set) var life: [[Turn.Entry]] = []
    var keepsLife = false
    package private(set) var figures = Figures()
    private var executed: Set<LaunchID> = []
    /// The start of the daemon waits for the store.
    private var startWaits = false

    package struct Figures {
        package var events = 0
        package var turns = 0
        package var commits = 0
        package var wakes = 0
        package var refreshes = 0
        package var refreshesAsleep = 0
        package var results: [Int] = Array(repeating: 0, count: RunResult.kindNames.count)
    }

    package init(invariants: [any Invariant], tailLength: Int = 60) {
        self.invariants = invariants
        byEffect = invariants.compactMap { $0 as? any EffectInvariant }
        byCommit = invariants.compactMap { $0 as? any CommitInvariant }
        byCall = invariants.compactMap { $0 as? any CallInvariant }
        byProcess = invariants.compactMap { $0 as? any ProcessInvariant }
        byAnswer = invariants.compactMap { $0 as? any AnswerInvariant }
        byClient = invariants.compactMap { $0 as? any ClientInvariant }
        byQuestion = invariants.compactMap { $0 as? any QuestionInvariant }
        self.tailLength = tailLength
        turn = Turn(
            at: Moment(
                boot: BootTime(nanoseconds: 0),
                awake: AwakeTime(nanoseconds: 0),
                wall: WallTime(nanoseconds: 0),
                utcOffset: 0
            )
        )
    }

    var names: [String] { invariants.map(\.name) + ["decisions are equal for equal logs"] }

    func fail(_ name: String, _ text: String) {
        guard violation == nil else { return }
        violation = Violation(invariant: name, text: text, tail: [])
    }

    // MARK: A turn

    func begin(at moment: Moment, isStart: Bool) {
        turn = Turn(at: moment)
        turn.isStart = isStart
    }

    func recorded(_ event: TimedEvent, _ decisions: [Effect]) {
        turn.recorded(Turn.Entry(timed: event, decisions: decisions))
        figures.events += 1
    }

    func rolledBack(_ count: Int) {
        turn.rolledBack(count)
    }

    func committed(_ changes: [Change]) {
        figures.commits += 1
        turn.committed(changes)
        turn.assigned += work.committed(changes)
        for change in changes {
            if case .append(let line) = change { figures.count(line) }
        }
        for invariant in byCommit {
            if let text = invariant.committed(changes) { fail(invariant.name, text) }
        }
    }

    func performed(_ effect: Effect, at now: Moment, _ world: World) {
        turn.performs(effect, world)
        let byEffect = byEffect
        let span = byEffect.span
        for index in span.indices {
            if let text = span[index].performed(effect, at: now, world) {
                fail(span[index].name, text)
            }
        }
    }

    func ran(_ process: VirtualProcess, _ world: World) {
        executed.insert(process.launch)
        if let request = work.request(of: process.launch) { work.settle(request) }
        for invariant in byProcess { invariant.ran(process, world) }
    }

    func took(_ event: ClientEvent, _ client: VirtualClient, _ world: World) {
        for invariant in byClient { invariant.took(event, client, world) }
    }

    func performed(_ effect: ClientEffect, _ client: VirtualClient, _ world: World) {
        for invariant in byClient {
            if let text = invariant.performed(effect, client, world) {
                fail(invariant.name, text)
            }
        }
    }

    func heard(_ event: Event) {
        for id in event.takenOver {
            if let request = work.request(of: id) { work.settle(request) }
        }
        for invariant in byProcess { invariant.heard(event) }
    }

    package func hasRun(_ launch: LaunchID) -> Bool { executed.contains(launch) }

    func asked(_ token: ReplyToken, _ event: Event, by app: VirtualProcess?, at now: Moment) {
        work.asked(token, event, by: app?.appID)
        for invariant in byCall { invariant.asked(token, event, at: now) }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        work.replied(token, reply)
        for invariant in byCall { invariant.replied(token, reply, at: now) }
    }

    func told(_ answer: AppReply, to process: VirtualProcess, _ world: World) {
        for invariant in byQuestion {
            if let text = invariant.told(answer, to: process, world) { fail(invariant.name, text) }
        }
    }

    func killed() { turn.wasKilled = true }

    /// The driver has done all it could in this turn.
    func end(_ world: World, isStarting: Bool) {
        figures.turns += 1
        if !turn.entries.isEmpty { tail.append(turn.entries) }
        if tail.count > 2 * tailLength { tail.removeFirst(tail.count - tailLength) }
        if keepsLife { life.append(turn.entries) }
        // It has not met the machine yet. The turn in which it does is its first one.
        if isStarting {
            startWaits = true
            return
        }
        if startWaits { (turn.isStart, startWaits) = (true, false) }
        // By a span: each would be retained to be asked.
        let (turn, invariants) = (turn, invariants)
        let span = invariants.span
        for index in span.indices {
            if let text = span[index].ended(turn, world) { fail(span[index].name, text) }
        }
        recordTail()
    }

    func restored(_ world: World) {
        life.removeAll(keepingCapacity: true)
        for invariant in invariants {
            if let text = invariant.restored(world) { fail(invariant.name, text) }
        }
    }

    func idled(_ world: World, _ explain: (AppID, Moment) -> [Explanation]) {
        for invariant in invariants {
            if let text = invariant.idled(world) { fail(invariant.name, text) }
        }
        for invariant in byAnswer {
            if let text = invariant.idled(world, explain) { fail(invariant.name, text) }
        }
        recordTail()
    }

    private func recordTail() {
        guard violation != nil, violation?.tail.isEmpty == true else { return }
        violation?.tail = tail.joined().suffix(tailLength).map { $0.description }
    }

    func rebooted() {
        for invariant in invariants { invariant.rebooted() }
    }
}

/// A rule that was broken.
package struct Violation: Hashable, Sendable {
    package var invariant: String
    package var text: String
    /// The last events with their decisions, oldest first.
    package var tail: [String]
}

extension Turn.Entry: CustomStringConvertible {
    /// One line: when, what, and what was decided.
    package var description: String {
        func text(_ time: BootTime?) -> String {
            time.map { ($0 - moment.boot).description } ?? "none"
        }
        let all = decisions.map { effect -> String in
            switch effect {
            case .save(let changes): "save(\(changes.count))"
            case .spawn(let launch, let spec):
                "spawn(\(launch), \(spec.arguments.joined(separator: " ")))"
            case .announce(let line): "announce(\(line.entry))"
            case .reply(let token, let reply): "reply(\(token), \(reply))"
            case .arm(let timers):
                "arm(alarm \(text(timers.alarm)), timer \(text(timers.timer)))"
            case .attach, .probe, .cancelProbe, .freeze, .thaw, .terminate, .kill, .release,
                .measure, .checkLocks, .weigh, .limitMemory, .transfer, .setDeadline, .tell,
                .holdAwake,
                .inhibitIdle,
                .sleepAgain,
                .watchIdle,
                .notifyFailures,
                .watchUse:
                "\(effect)"
            }
        }
        let awake = Interval(nanoseconds: moment.awake.nanoseconds)
        return "\(moment.local) awake \(awake): \(event) → " + all.joined(separator: ", ")
    }
}

extension Watch.Figures {
    mutating func count(_ line: HistoryLine) {
        guard case .wake(let report) = line.entry else { return }
        wakes += 1
        if report.trigger == .refresh {
            refreshes += 1
            let hour = LocalTime(line.at, utcOffset: line.utcOffset).hour
            if hour < 5 { refreshesAsleep += 1 }
        }
        results[report.result.kindIndex] += 1
    }
}

extension RunResult {
    static let kindNames = [
        "newData", "noData", "failed", "succeeded", "unsuccessful", "expired", "interrupted",
        "terminated", "crashed", "exited", "notStarted", "retry", "unknown",
    ]

    var kindIndex: Int {
        switch self {
        case .newData: 0
        case .noData: 1
        case .failed: 2
        case .succeeded: 3
        case .unsuccessful: 4
        case .expired: 5
        case .interrupted: 6
        case .terminated: 7
        case .crashed: 8
        case .exited: 9
        case .notStarted: 10
        case .retry: 11
        case .unknown: 12
        }
    }
}
