/// What is done about what has failed.
package enum FailureRetry: String, Hashable, Sendable {
    /// It is being tried again.
    case running
    /// It will be.
    case waiting
}

extension Report {
    package struct Status: ReportFields {
        package var now = Time(rawValue: "")
        /// Nil: background work is not paused.
        package var paused: Pause?
        /// Nil: an older daemon, which does not say.
        package var invalid: [InvalidFile]?
        package var failing: [FailingApp] = []
        package var running: [Launch] = []
        package var waiting: [Request] = []
        package var conditions: [Condition] = []
        package var apps: Int64 = 0
        package var requests: Int64 = 0
        package var today = Spent()
        /// Nil: all have ended and none has failed, or an older daemon, which does not say.
        package var transfers: TransferCounts?
        /// How many rows of the lists were left out; nil: none.
        package var moreFailing: Int64?
        package var moreRunning: Int64?
        package var moreWaiting: Int64?
        package init() {}
    }

    /// A manifest that cannot be used, or not even read: its app is not run. Or a settings file:
    /// those that were valid last are in force.
    package struct InvalidFile: ReportFields {
        /// Nil: it is a settings file.
        package var app: AppID?
        package var file: String?
        package var problem = ""
        package init() {}
    }

    package struct Pause: ReportFields {
        package var since: Time?
        package var until: Time?
        package init() {}
    }

    /// Of transfers that have not ended, or have failed and are listed still.
    package struct TransferCounts: ReportFields {
        package var running: Int64 = 0
        package var waiting: Int64 = 0
        package var paused: Int64 = 0
        /// Nil: an older daemon, which does not say.
        package var failed: Int64?
        package init() {}
    }

    package struct FailingApp: ReportFields {
        package var app = AppID("")
        package var name = ""
        package var failures = Failures()
        /// Of its tasks, the next that may run; nil: none, or not at a time that is known.
        package var next: Time?
        /// Nil: it is not tried again.
        package var again: Word<FailureRetry>?
        package init() {}
    }

    package struct Launch: ReportFields {
        package var app = AppID("")
        package var name = ""
        package var launch = LaunchID(0)
        package var state = ""
        package var pid: Int64?
        package var frozen = false
        /// Of its run, as the next three are.
        package var trigger: String?
        package var task: String?
        package var since: Time?
        package var seconds: Double?
        package var secondsLeft: Double?
        package var backgroundTasks: [String]?
        package var ending: String?
        package init() {}
    }
}
