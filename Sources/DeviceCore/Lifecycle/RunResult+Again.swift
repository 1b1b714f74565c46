import Vocabulary

/// How long what is not done waits before it runs again; zero: for its next time.
struct AgainWaits: Hashable, Sendable {
    /// After a failure.
    var failed: Interval
    /// After an end that nobody saw.
    var unseen: Interval
}

extension RunResult {
    /// The work is not done, so the rest before its next time does not begin: it may be run again,
    /// or waits for no more than the wait after failures. Of what failed, or whose end nobody saw,
    /// only processing is; a refresh has had its turn.
    func isUndone(for trigger: Trigger, _ waits: AgainWaits) -> Bool {
        isAgain(for: trigger) || isUnseen(for: trigger, waits)
            || isFailure && !trigger.spendsRefreshBudget && waits.failed > .zero
    }

    /// Perhaps done, perhaps not: what comes back anyway waits for no more than the back-off. What
    /// was asked for once is never run twice for it.
    func isUnseen(for trigger: Trigger, _ waits: AgainWaits) -> Bool {
        self == .unknown && !trigger.spendsRefreshBudget && waits.unseen > .zero
    }

    /// The work is not done and the command may be run again from the start: it said so, or the
    /// device stopped it. Of what runs out of time only processing is; a refresh has had its turn.
    func isAgain(for trigger: Trigger) -> Bool {
        switch self {
        case .retry: true
        case .expired(let reason), .terminated(let reason):
            switch reason {
            case .powerLost, .networkLost, .networkMetered, .lowDataMode, .deviceInUse,
                .dataLocked, .lowPowerMode, .thermal, .memoryPressure, .paused, .userClosed,
                .manifestRemoved, .interruptedTooLong:
                true
            case .timeout: trigger.grant.isAgainAfterTimeout
            case .memoryLimit, .cpuMonitor, .fileLock, .launchWatchdog, .cancelled, .simulated,
                .neverCompleted:
                false
            }
        case .newData, .noData, .failed, .succeeded, .unsuccessful, .interrupted, .crashed,
            .exited, .notStarted, .unknown:
            false
        }
    }
}
