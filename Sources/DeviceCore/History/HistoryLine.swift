package import Vocabulary

/// One line of the history: what ran, what did not, and why.
package struct HistoryLine: Hashable, Sendable, Codable {
    package var at: WallTime
    package var utcOffset: Int32
    package var app: AppID
    package var entry: Entry

    package init(at: WallTime, utcOffset: Int32, app: AppID, entry: Entry) {
        (self.at, self.utcOffset, self.app, self.entry) = (at, utcOffset, app, entry)
    }

    package enum Entry: Hashable, Sendable, Codable {
        /// A background run, when it ended.
        case wake(WakeReport)
        /// The process ended outside of a run.
        case ended(RunResult, reason: String)
        /// A request was dropped without a run.
        case dropped(identifier: String, reason: String)
        /// Something worth knowing that changed nothing.
        case note(String)
        /// A transfer ended.
        case transferred(TransferID, url: String, TransferEnd)
        /// The user opened, left or closed it.
        case use(UseKind)
    }

    package enum UseKind: String, Hashable, Sendable, Codable { case opened, left, closed, seen }
}

extension HistoryLine.Entry {
    var kind: HistoryKind {
        switch self {
        case .wake: .run
        case .ended: .ended
        case .dropped: .dropped
        case .note: .note
        case .transferred: .transfer
        case .use(.opened): .opened
        case .use(.left): .left
        case .use(.closed): .closed
        case .use(.seen): .seen
        }
    }
}

/// Requirement C14: trigger, launched or resumed, result, cost.
package struct WakeReport: Hashable, Sendable, Codable {
    package var launch: LaunchID
    package var trigger: Trigger
    package var identifier: String
    package var resumed: Bool
    package var simulated: Bool
    package var result: RunResult
    package var reason: String
    /// Awake time.
    package var runTime: Interval
    /// Nil: not measurable here.
    package var cpu: Interval?
    /// Bytes: the most at a time that was measured; nil: none was.
    package var memory: Int64?
    /// The kernel counted it; else it may have been more.
    @OmittedIfDefault package var isPeak = false
    /// Why a refresh was begun at that moment; nil: not by what was learned.
    package var decision: RefreshDecision?
}

/// How a run, or a launch, ended. Each ends in exactly one of these.
package enum RunResult: Hashable, Sendable, Codable {
    case newData, noData, failed
    case succeeded, unsuccessful
    /// Stopped before it was done, in good order.
    case expired(StopReason)
    /// Frozen in mid-run; it goes on in another window.
    case interrupted(StopReason)
    case terminated(StopReason)
    case crashed(signal: Int32)
    case exited(status: Int32)
    case notStarted
    /// It asked to be run again later.
    case retry
    /// Ended while nobody could see how.
    case unknown

    package var summary: String {
        switch self {
        case .newData: "new data"
        case .noData: "no data"
        case .failed: "failed"
        case .succeeded: "completed"
        case .unsuccessful: "completed without success"
        case .expired(let reason): "expired: \(reason.summary)"
        case .interrupted(let reason): "interrupted: \(reason.summary)"
        case .terminated(let reason): "terminated: \(reason.summary)"
        case .crashed(let signal): "ended by \(SignalName.text(signal))"
        case .exited(let status): "exited with status \(status)"
        case .notStarted: "could not be started"
        case .retry: "asked to be run again"
        case .unknown: "unknown"
        }
    }

    /// Why it was stopped; nil: it was not.
    var stop: StopReason? {
        switch self {
        case .expired(let reason), .interrupted(let reason), .terminated(let reason): reason
        case .newData, .noData, .failed, .succeeded, .unsuccessful, .crashed, .exited, .notStarted,
            .retry, .unknown:
            nil
        }
    }

    /// For programs.
    package var outcome: HistoryOutcome {
        switch self {
        case .newData: .newData
        case .noData: .noData
        case .failed: .failed
        case .succeeded: .completed
        case .unsuccessful: .unsuccessful
        case .expired: .expired
        case .interrupted: .interrupted
        case .terminated: .terminated
        case .crashed: .crashed
        case .exited: .exited
        case .notStarted: .notStarted
        case .retry: .retry
        case .unknown: .unknown
        }
    }

    package var word: String { outcome.rawValue }

    /// Counts as a failure in a row.
    var isFailure: Bool {
        switch self {
        case .failed, .unsuccessful, .crashed, .notStarted: true
        case .expired(let reason), .terminated(let reason): reason.isAppsFault
        case .exited(let status): status != 0
        case .newData, .noData, .succeeded, .interrupted, .retry, .unknown: false
        }
    }

    /// What is told of the failure: an app may say of itself that it failed after its time was
    /// over, and that is why.
    func failure(because reason: String) -> String {
        switch self {
        case .expired, .terminated:
            reason.isEmpty || summary.contains(reason) ? summary : "\(summary): \(reason)"
        case .failed, .unsuccessful, .crashed, .notStarted, .exited, .newData, .noData, .succeeded,
            .interrupted, .retry, .unknown:
            reason
        }
    }

    /// Ends a row of failures.
    var isSuccess: Bool {
        switch self {
        case .newData, .noData, .succeeded: true
        case .failed, .unsuccessful, .crashed, .notStarted, .expired, .terminated, .exited,
            .interrupted, .retry, .unknown:
            false
        }
    }
}

extension StopReason {
    package var summary: String {
        switch self {
        case .timeout: "its time was over"
        case .powerLost: "external power is gone"
        case .networkLost: "the network is gone"
        case .networkMetered: "the network is metered now"
        case .lowDataMode: "low-data mode is on"
        case .deviceInUse: "the device is in use"
        case .dataLocked: "the data that it needs is locked now"
        case .lowPowerMode: "low-power mode"
        case .thermal: "the device is too warm"
        case .memoryPressure: "memory is low"
        case .memoryLimit: "it used more memory than a background app may"
        case .cpuMonitor: "it used more processor time than a background app may"
        case .fileLock: "it held a file lock while suspended"
        case .launchWatchdog: "it did not finish launching in time"
        case .userClosed: "the user closed it"
        case .cancelled: "it was cancelled"
        case .paused: "background work was paused"
        case .simulated: "a simulated expiry"
        case .manifestRemoved: "its manifest is gone or no longer allows it"
        case .interruptedTooLong: "it was interrupted for too long"
        case .neverCompleted: "it never reported completion"
        }
    }

    /// The app could have done better; the others are the device's or the user's doing.
    var isAppsFault: Bool {
        switch self {
        case .timeout, .memoryLimit, .cpuMonitor, .fileLock, .launchWatchdog, .neverCompleted: true
        case .powerLost, .networkLost, .networkMetered, .lowDataMode, .deviceInUse, .dataLocked,
            .lowPowerMode, .thermal, .memoryPressure, .userClosed, .cancelled, .paused,
            .simulated, .manifestRemoved, .interruptedTooLong:
            false
        }
    }
}
