package import Vocabulary

/// Work that waits to be run: submitted by an app or a user, or standing, because the manifest
/// names a command or the app set a fetch interval.
package struct Request: Hashable, Sendable, Codable {
    package var id: RequestID
    package var identifier: String
    package var trigger: Trigger
    package var origin: Work.Origin
    /// Never before it.
    package var earliest: WallTime?
    /// How long after it was asked for that date lies, which a clock that is set moves; nil: it is
    /// a date of the caller's.
    package var span: Interval?
    @OmittedIfDefault package var needs: Needs
    /// Asked for again after each run, at least so long after it.
    package var every: Interval?
    /// When its last run ended; kept of those that are asked for again after each run.
    package var lastEnd: WallTime?
    package var submittedAt: WallTime
    /// Set by `offstage run` and `offstage simulate`.
    @OmittedIfDefault package var mode = Work.RunMode.normal
    /// Since when all gates but the run slots are open; the longest wait goes first.
    package var readySince: BootTime?
    /// Set while a command is frozen in mid-run: when it was first interrupted.
    package var interruptedAt: WallTime?
    @OmittedIfDefault package var state = State.pending
    /// While a launch has it: cancelled, or replaced by another. It does not come back, however the
    /// run ends.
    @OmittedIfDefault package var isCancelled = false
    /// Of a refresh: its moment has come; nil: not yet, or it goes by no prediction.
    package var decision: RefreshDecision?
    /// What happened, of work that `Event.triggered` made.
    package var payload: ValueMap?

    @inline(__always)
    func isChosen(at now: WallTime) -> Bool { decision.map { !$0.isOver(at: now) } ?? false }

    package enum State: Hashable, Sendable, Codable, Defaulted {
        package static var defaultValue: State { .pending }

        case pending
        /// Handed to a launch, which has not acknowledged it.
        case offered(LaunchID)
        /// Received: it is the launch's now.
        case running(LaunchID)
    }

    func work(at now: WallTime) -> Work {
        Work(
            trigger: trigger,
            origin: origin,
            // A simulated run that was interrupted goes on like any other: in its next window.
            mode: mode == .simulated && interruptedAt != nil ? .normal : mode,
            identifier: identifier,
            needs: needs,
            since: submittedAt,
            earliest: earliest,
            every: every,
            lastEnd: lastEnd,
            request: id,
            // A user-initiated run begins at once, or is refused: one that waits was begun by a
            // daemon that is gone.
            isLeftOver: isUserInitiated && readySince == nil,
            isRetry: isRetry,
            isChosen: isChosen(at: now)
        )
    }

    /// Its date is that of another run, which its command asked for or which is due since nobody
    /// saw the last one end, and not of its caller: a caller's span begins when it is asked for,
    /// this one when a run ends.
    var isRetry: Bool {
        guard let earliest, let span else { return false }
        return origin != .submitted || earliest - span > submittedAt
    }

    /// A run of it is such another one, and none has been done since that wait began.
    func isAnother(since done: WallTime?) -> Bool {
        guard isRetry, let earliest, let span else { return false }
        return done.map { earliest - span > $0 } ?? true
    }

    /// Begun by `offstage run`.
    var isUserInitiated: Bool { mode == .userInitiated }

    /// Not before so long from now.
    mutating func wait(_ span: Interval, from now: WallTime) {
        earliest = now + span
        self.span = span
    }

    package var launch: LaunchID? {
        switch state {
        case .pending: nil
        case .offered(let launch), .running(let launch): launch
        }
    }

    /// A request submitted with the same identifier takes the place of what has no receipt yet.
    func isReplaced(by identifier: String) -> Bool {
        self.identifier == identifier && origin == .submitted && isPending && mode != .simulated
    }

    /// Likewise; and what happens again, of what happened before.
    func isReplaced(by other: Request) -> Bool {
        switch other.origin {
        case .submitted: isReplaced(by: other.identifier)
        case .event: identifier == other.identifier && isPendingEvent(of: other.trigger)
        case .command, .fetch, .transfer: false
        }
    }

    /// Made of an event of that trigger; nobody has a receipt for it.
    func isPendingEvent(of trigger: Trigger) -> Bool {
        origin == .event && self.trigger == trigger && isPending && mode != .simulated
    }

    /// Given up when its app was not used, or gone, for a month.
    var isDroppable: Bool { !origin.isStanding && state == .pending }

    /// Counts against the caps, and is shown as pending: nobody has a receipt for it.
    package var isPending: Bool {
        switch state {
        case .pending: true
        case .offered: !isCancelled
        case .running: false
        }
    }

    /// It has a run before it, perhaps after one that has begun.
    var isToCome: Bool { isPending || every != nil && !isCancelled }
}
