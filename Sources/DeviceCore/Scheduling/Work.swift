import Vocabulary

/// What a gate is asked about: something that would give an app time in the background, whatever
/// makes it.
package struct Work: Hashable, Sendable {
    package var trigger: Trigger
    var origin: Origin
    /// What the gates go by; not always what the run is marked as.
    var mode: RunMode
    var identifier: String
    var needs: Needs
    /// When it was asked for.
    var since: WallTime
    /// Never before it.
    var earliest: WallTime?
    /// Asked for again after each run, at least so long after it.
    var every: Interval?
    /// When its last run ended; kept of those that are asked for again after each run.
    var lastEnd: WallTime?
    /// Nil: it waits in no queue of requests.
    var request: RequestID?
    /// User-initiated, by a daemon that ended before the run began.
    var isLeftOver = false
    /// `earliest` is not its caller's date: its command asked for another run, or nobody saw how
    /// the last one ended.
    var isRetry = false
    /// Its moment was chosen by what was learned.
    var isChosen = false
    /// Nil: it is no transfer.
    var transfer: Shared<TransferWork>?

    package enum Origin: String, Hashable, Sendable, Codable {
        /// By `submit`; used up by one run.
        case submitted
        /// `RefreshCommand` or `ProcessingCommand`; comes back after each run.
        case command
        /// `setMinimumBackgroundFetchInterval`; comes back after each run.
        case fetch
        /// Something that happened; used up by one run.
        case event
        /// By whoever wants a file; done by the network process.
        case transfer

        /// There as long as the manifest, or a setting of the app, says so.
        var isStanding: Bool {
            switch self {
            case .command, .fetch: true
            case .submitted, .event, .transfer: false
            }
        }

        /// The app's handler is registered by the identifier; else it is the one of its kind.
        var hasOwnHandler: Bool { self == .submitted }
    }

    package enum RunMode: String, Hashable, Sendable, Codable, Defaulted {
        package static var defaultValue: RunMode { .normal }

        case normal
        /// `offstage run`: gates that only save are skipped.
        case userInitiated
        /// A developer's test: only the gates that keep the launch possible apply.
        case simulated
    }

    /// Data that must be readable for it.
    enum ProtectionClass: Hashable, Sendable {
        case none
        /// Readable only while the device is unlocked.
        case complete
    }

    /// What a context holds before it is asked.
    static let nothing = Work(
        trigger: .refresh,
        origin: .event,
        mode: .normal,
        identifier: "",
        needs: Needs(),
        since: .distantPast
    )

    var protection: ProtectionClass { needs.unlocked ? .complete : .none }

    /// Comes back after each run, by itself.
    var isPeriodic: Bool { origin.isStanding || every != nil }
}
