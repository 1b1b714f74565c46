extension Report {
    /// A line of the history. What it has beside the first three depends on `what`.
    package struct HistoryLine: ReportFields {
        package var at = Time(rawValue: "")
        package var app = AppID("")
        package var what = ""
        /// Of the line; nil in one that is told as it is added.
        package var id: Int64?
        package var launch: LaunchID?
        package var trigger: String?
        package var task: String?
        package var resumed: Bool?
        package var simulated: Bool?
        package var outcome: String?
        package var result: String?
        package var reason: String?
        package var seconds: Double?
        package var cpuSeconds: Double?
        /// Bytes.
        package var memory: Int64?
        package var decision: Decision?
        package init() {}
    }
}
