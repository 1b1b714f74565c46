extension Report {
    /// What a virtual clock was moved on through.
    package struct Advance: ReportFields {
        package var from = Time(rawValue: "")
        package var now = Time(rawValue: "")
        /// Programs that were started.
        package var launches: Int64 = 0
        /// Background runs that ended.
        package var runs: Int64 = 0
        /// Background runs that go on.
        package var running: Int64 = 0
        /// When an alarm ended the sleep before its time; nil: none did.
        package var woken: Time?
        /// Whose work the alarm was for, if that is known.
        package var wokenFor: AppID?
        package init() {}
    }
}
