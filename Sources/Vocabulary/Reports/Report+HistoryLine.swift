/// What a line of the history tells.
package enum HistoryKind: String, CaseIterable, Sendable {
    /// A background run, when it ended.
    case run
    /// The process ended outside of a run.
    case ended
    /// A request was dropped without a run.
    case dropped
    /// Something worth knowing that changed nothing.
    case note
    /// A transfer ended.
    case transfer
    /// What the user did with the app.
    case opened, left, closed, seen
}

/// How a run, a launch or a transfer ended.
package enum HistoryOutcome: String, CaseIterable, Hashable, Sendable {
    case newData = "new-data"
    case noData = "no-data"
    case failed
    case completed, unsuccessful, expired, interrupted, terminated, crashed, exited
    case notStarted = "not-started"
    case retry, unknown
    /// Of transfers only.
    case finished, cancelled

    package init(_ outcome: TransferOutcome) {
        self =
            switch outcome {
            case .finished: .finished
            case .failed: .failed
            case .cancelled: .cancelled
            }
    }
}

extension Report {
    /// A line of the history. What it has beside the first three depends on `what`.
    package struct HistoryLine: ReportFields {
        package var at = Time(rawValue: "")
        package var app = AppID("")
        package var what = Word(HistoryKind.note)
        /// Of the line; nil in one that is told as it is added.
        package var id: Int64?
        package var launch: LaunchID?
        package var trigger: String?
        package var task: String?
        package var resumed: Bool?
        package var simulated: Bool?
        package var outcome: Word<HistoryOutcome>?
        package var result: String?
        /// Why it was stopped, if it was.
        package var stop: Word<StopReason>?
        package var reason: String?
        /// What the app did wrong, if it did.
        package var mistake: Word<AppMistake>?
        /// What the mistake is about.
        package var subject: String?
        package var seconds: Double?
        package var cpuSeconds: Double?
        /// Bytes: the most at a time.
        package var memory: Int64?
        /// It is the most that was seen: there may have been more.
        package var memorySampled: Bool?
        package var decision: Decision?
        package var transfer: TransferID?
        package var url: String?
        package init() {}
    }
}
