package import Vocabulary

/// What the device knows of one app. Copies share it until one of them changes: the driver
/// keeps a copy of the device, and an app with its launches is large.
package struct AppState: Sendable {
    /// One element: an array is shared until it is changed, and cheap to look into.
    private var content: [Content]

    private struct Content: Hashable, Sendable, Codable {
        var record: AppRecord
        var manifest: Shared<AppManifest>?
        var problem: String?
        var problemFile: String?
        @OmittedIfDefault var lacksProgram = false
        var requests: [Request] = []
        var launches: [Launch] = []
        var toldHolds = GateSet()
        var refreshHeldBy = GateSet()
        var holdTimes: [HoldTime] = []
        var mistakes: [ReportedMistake] = []
        var joined: [JoinedSession] = []
        var logins: [SessionLogin] = []
        var watch: ConditionWatch?
        var idleTimerIsDisabledBy: LaunchID?
    }

    init(id: AppID) { content = [Content(record: AppRecord(id: id))] }

    package var record: AppRecord {
        get { content[0].record }
        _modify { yield &content[0].record }
    }
    /// Nil: unknown to us now (removed, or not yet seen since the start).
    package var manifest: Shared<AppManifest>? {
        get { content[0].manifest }
        _modify { yield &content[0].manifest }
    }
    /// Why the manifest cannot be used.
    package var problem: String? {
        get { content[0].problem }
        _modify { yield &content[0].problem }
    }
    /// The manifest with the problem.
    package var problemFile: String? {
        get { content[0].problemFile }
        _modify { yield &content[0].problemFile }
    }
    /// That is no mistake in it: the program that it is for is not installed.
    package var lacksProgram: Bool {
        get { content[0].lacksProgram }
        _modify { yield &content[0].lacksProgram }
    }
    /// Why the app does not run, in the middle of a sentence.
    var problemAside: String? {
        problem.map {
            (lacksProgram ? "it is not installed" : "its manifest is not valid") + " (\($0))"
        }
    }
    package var requests: [Request] {
        get { content[0].requests }
        _modify { yield &content[0].requests }
    }
    /// They change in `Device.take` only.
    package var launches: [Launch] { content[0].launches }
    /// Those of which the history has been told; not kept across restarts.
    var mistakes: [ReportedMistake] {
        get { content[0].mistakes }
        _modify { yield &content[0].mistakes }
    }
    /// Sessions that its process has joined.
    var joined: [JoinedSession] {
        get { content[0].joined }
        _modify { yield &content[0].joined }
    }
    /// What it has said to servers for all tasks of a session.
    var logins: [SessionLogin] {
        get { content[0].logins }
        _modify { yield &content[0].logins }
    }
    /// The device as its process was told of it; nil: it does not want to know.
    var watch: ConditionWatch? {
        get { content[0].watch }
        _modify { yield &content[0].watch }
    }
    /// The launch that keeps the screen on while it is in the foreground.
    var idleTimerIsDisabledBy: LaunchID? {
        get { content[0].idleTimerIsDisabledBy }
        _modify { yield &content[0].idleTimerIsDisabledBy }
    }
    // Asked often; the record, and what is in it, would be copied to be looked at.
    package var id: AppID { content[0].record.id }
    var use: AppUse { content[0].record.refresh.use }
    var gains: GainHistory { content[0].record.refresh.gains }
    var opens: UInt32 { content[0].record.refresh.opens }
    var refreshWorth: Double { content[0].record.refresh.worth }
    var lastUsed: WallTime? { content[0].record.lastUsed }
    var firstSeen: WallTime? { content[0].record.firstSeen }
    var goneSince: WallTime? { content[0].record.goneSince }
    func lastEnd(of trigger: Trigger) -> WallTime? { content[0].record.lastEnds.time(of: trigger) }
    /// Of what the refresh policy chooses the moments of.
    var lastRefreshEnd: WallTime? { content[0].record.lastEnds.lastOfRefreshes }
    func chance(_ context: PredictionContext, withPrior: Bool) -> Double {
        let content = content
        let span = content.span
        return withPrior
            ? context.chance(of: span[0].record.refresh.use)
            : context.habit(of: span[0].record.refresh.use)
    }
    var fetchInterval: FetchInterval { content[0].record.fetchInterval }
    var paces: [Pace] { content[0].record.paces }
    var failedUntil: WallTime? { content[0].record.failures.until }
    func spentRefreshes(on day: Int64) -> Int64 { content[0].record.refresh.spent(on: day) }
    /// Of refreshes that were chosen for a moment and have not begun by then.
    func promisedRefreshes(at time: WallTime) -> Int64 {
        var count: Int64 = 0
        let requests = requests.span
        for requestIndex in requests.indices
        where requests[requestIndex].state == .pending && requests[requestIndex].isChosen(at: time)
        {
            count += 1
        }
        return count
    }
    /// What was learned of it is enough to go by.
    var isLearned: Bool {
        opens >= RefreshPolicy.enoughOpens && isKnownForLong
    }
    var isKnownForLong: Bool { gains.days >= RefreshPolicy.enoughDays }
    /// Something tells of its use, and it asks for refreshes: their moments are chosen by what is
    /// learned.
    var isPlanned: Bool {
        guard !isTransient, let manifest, manifest.useFrom != nil || isLinked else { return false }
        let requests = requests.span
        for requestIndex in requests.indices
        where requests[requestIndex].trigger.spendsRefreshBudget {
            return true
        }
        return false
    }
    /// Transient: made by `offstage submit`, its manifest lives in the store.
    package var isTransient: Bool { content[0].record.transient != nil }

    /// The gates that hold any of its requests and are told, now and afterwards.
    var toldHolds: GateSet { content[0].toldHolds }
    /// Those that hold any of its refreshes.
    var refreshHeldBy: GateSet {
        get { content[0].refreshHeldBy }
        set { if newValue != refreshHeldBy { content[0].refreshHeldBy = newValue } }
    }
    /// Nothing holds its refreshes but what the choice of a moment knows.
    var mayWait: Bool { refreshHeldBy.bits & ~GateSet.ofMoments.bits == 0 }
    /// Since when they do, and the last ones that did; the newest last.
    package var holdTimes: [HoldTime] { content[0].holdTimes }

    mutating func add(_ launch: Launch) { content[0].launches.append(launch) }
    mutating func removeLaunch(_ id: LaunchID) { content[0].launches.removeAll { $0.id == id } }
    mutating func changeLaunch(at launchIndex: Int, _ body: (inout Launch) -> Void) {
        body(&content[0].launches[launchIndex])
    }

    /// What was chosen for a moment is to be chosen anew.
    mutating func dropDecisions() {
        for requestIndex in requests.indices where requests[requestIndex].state == .pending {
            requests[requestIndex].decision = nil
        }
    }

    mutating func tellHolds(_ told: GateSet, at now: WallTime) {
        guard told != toldHolds else { return }
        content[0].holdTimes.change(from: toldHolds, to: told, at: now)
        content[0].toldHolds = told
    }
}

extension AppState: Hashable, Codable {
    package static func == (left: AppState, right: AppState) -> Bool {
        left.content == right.content
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(content[0]) }

    package init(from decoder: any Decoder) throws {
        content = [try Content(from: decoder)]
    }

    package func encode(to encoder: any Encoder) throws { try content[0].encode(to: encoder) }
}

extension AppState {
    /// Speaks our protocol, as far as its manifest tells: it has a program, and no command that
    /// would be run in its place.
    var isLinked: Bool {
        manifest.map {
            $0.exec != nil && $0.refreshCommand == nil && $0.processingCommand == nil
        } ?? false
    }

    /// Pending, or frozen in mid-run.
    func isWaiting(_ request: Request) -> Bool {
        switch request.state {
        case .pending: return true
        case .offered: return false
        case .running(let id):
            guard request.interruptedAt != nil, let launchIndex = index(of: id) else {
                return false
            }
            let launches = launches
            return launches.span[launchIndex].isInterrupted
        }
    }

    // By spans: an array's elements would be copied to be looked at.
    func index(of launch: LaunchID) -> Int? {
        let launches = launches
        let span = launches.span
        for index in span.indices where span[index].id == launch { return index }
        return nil
    }
    func index(of request: RequestID) -> Int? {
        let requests = requests
        let span = requests.span
        for index in span.indices where span[index].id == request { return index }
        return nil
    }

    /// A command of the user's that has nothing left to do is remembered for a week; nil: not
    /// forgotten by time alone.
    func forgottenAt(_ now: Moment) -> WallTime? {
        guard isTransient, requests.isEmpty, launches.isEmpty else { return nil }
        return (record.lastRun?.at ?? record.firstSeen ?? now.wall) + .days(7)
    }

    /// A command of the user's that was cancelled before it ever ran: it can be asked about by name
    /// until it is forgotten.
    var isLeftOver: Bool {
        isTransient && requests.isEmpty && launches.isEmpty && record.lastRun == nil
    }

    /// Another has taken the place of this request, which does not come back then.
    func hasSuccessor(of request: Request) -> Bool {
        requests.contains { $0.id != request.id && $0.isReplaced(by: request) }
    }

    /// Served by a command of the manifest's, not by the app's own process.
    func runsCommand(for work: Work) -> Bool {
        runsCommand(for: work.trigger, work.origin)
    }
    func runsCommand(for request: Request) -> Bool {
        runsCommand(for: request.trigger, request.origin)
    }
    private func runsCommand(for trigger: Trigger, _ origin: Work.Origin) -> Bool {
        switch origin {
        case .submitted, .command: manifest?.command(for: trigger) != nil
        case .fetch, .event, .transfer: false
        }
    }

    package var mainLaunch: Launch? { mainLaunchIndex.map { launches[$0] } }
    /// The run of its own process.
    var mainWake: Wake? { mainLaunchIndex.flatMap { launches[$0].wake } }
    private var mainLaunchIndex: Int? {
        let launches = launches
        let span = launches.span
        for index in span.indices where span[index].role == .main && span[index].ending == nil {
            return index
        }
        return nil
    }
    var isForeground: Bool {
        let launches = launches
        let span = launches.span
        for index in span.indices where span[index].isForeground { return true }
        return false
    }
}

/// When an app last had done what a trigger is for.
package struct TriggerEnd: Hashable, Sendable, Codable {
    package let trigger: Trigger
    package internal(set) var at: WallTime
}

extension [TriggerEnd] {
    fileprivate func time(of trigger: Trigger) -> WallTime? {
        for end in self where end.trigger == trigger { return end.at }
        return nil
    }

    fileprivate var lastOfRefreshes: WallTime? {
        var last: WallTime?
        for end in self where end.trigger.spendsRefreshBudget {
            last = Swift.max(end.at, last ?? end.at)
        }
        return last
    }
}

/// What is kept of an app across restarts.
package struct AppRecord: Hashable, Sendable, Codable {
    package var id: AppID
    /// The manifest of a transient app.
    package var transient: Shared<AppManifest>?
    package var firstSeen: WallTime?
    package var lastUsed: WallTime?
    /// Since when there is no usable manifest; nil: there is one.
    package var goneSince: WallTime?
    /// Swiped away then, and not opened since.
    package var closedAt: WallTime?
    /// Held then because it was not used for a week, which stands in the history.
    package var unusedSince: WallTime?
    @OmittedIfDefault package var fetchInterval = FetchInterval.never
    @OmittedIfDefault package var failures = Failures()
    package var lastRun: LastRun?
    @OmittedIfDefault package var lastEnds: [TriggerEnd] = []
    @OmittedIfDefault package var ledger = Ledger()
    @OmittedIfDefault package var refresh = RefreshMemory()
    /// Of tasks that the app itself asked for; the last begun last.
    @OmittedIfDefault package var paces: [Pace] = []
    /// What its identifiers were submitted as, the newest last.
    @OmittedIfDefault package var kinds: [SubmittedKind] = []
    /// Tokens of submissions already answered, newest last; at most 32.
    @OmittedIfDefault package var tokens: [AnsweredToken] = []
    /// The same of transfers.
    @OmittedIfDefault var transferTokens: [AnsweredTransfers] = []
    @OmittedIfDefault var sessions: [TransferSession] = []

    package init(id: AppID) { self.id = id }

    /// When it last had done what a trigger is for; nil: never.
    package func lastEnd(of trigger: Trigger) -> WallTime? { lastEnds.time(of: trigger) }

    /// The last run, if it was one of that task.
    func lastRun(of identifier: String) -> LastRun? {
        lastRun?.identifier == identifier ? lastRun : nil
    }

    mutating func rememberKind(of request: Request) {
        guard let kind = request.trigger.taskKind else { return }
        let new = SubmittedKind(identifier: request.identifier, kind: kind)
        guard kinds.last != new else { return }
        kinds.removeAll { $0.identifier == new.identifier }
        kinds.append(new, limit: SubmittedKind.limit)
    }

    /// Nil: it was not submitted, or long ago.
    func kind(of identifier: String) -> TaskKind? {
        kinds.last { $0.identifier == identifier }?.kind
    }

    mutating func setLastEnd(of trigger: Trigger, _ time: WallTime) {
        lastEnds.removeAll { $0.trigger == trigger }
        lastEnds.append(TriggerEnd(trigger: trigger, at: time))
    }

    var isValid: Bool {
        failures.count.isCount && ledger.isValid && refresh.isValid
            && paces.allSatisfy(\.close.isCount)
            && transferTokens.allSatisfy { (0...Device.mostTransfers).contains($0.count) }
            && sessions.allSatisfy { $0.announced <= 1 << 60 }
    }
}

/// The last run's end, for `status` and `explain`.
package struct LastRun: Hashable, Sendable, Codable {
    package var at: WallTime
    package var identifier: String
    package var result: RunResult
    package var reason: String
    /// Why it began when it did; nil: not by what was learned.
    package var decision: RefreshDecision?
}

/// What an identifier was submitted as the last time.
package struct SubmittedKind: Hashable, Sendable, Codable {
    /// As many as an app has identifiers, and more.
    static let limit = 64

    package var identifier: String
    package var kind: TaskKind
}

package struct AnsweredToken: Hashable, Sendable, Codable {
    package var token: String
    package var request: RequestID
    package var identifier: String
}

/// Failures in a row, and the wait after them.
package struct Failures: Hashable, Sendable, Codable, Defaulted {
    package static let defaultValue = Failures()

    package var count: Int64 = 0
    package var since: WallTime?
    package var reason = ""
    package var until: WallTime?
    @OmittedIfDefault package var commandRan = false
}
