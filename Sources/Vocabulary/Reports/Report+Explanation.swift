/// Whether work runs, or what keeps it from that.
package enum WorkState: String, Hashable, Sendable, Codable {
    case running, interrupted, waiting, ready, nothingToDo, unknown
}

extension Report {
    /// Why a task does or does not run.
    package struct Explanation: ReportFields {
        package var app = AppID("")
        package var name = ""
        /// Nil: the app as a whole.
        package var task: String?
        package var state = Word<WorkState>(text: "")
        package var sentence = ""
        package var next: Time?
        package var holds: [Hold] = []
        package var lastRun: LastRun?
        package var held: [HoldTime] = []
        package var forecast: Forecast?
        package init() {}
    }

    package struct Hold: ReportFields {
        package var gate = ""
        package var title = ""
        package var value = ""
        package var needed = ""
        package var since: Time?
        package var next: Time?
        package var fix: String?
        package init() {}
    }

    package struct HoldTime: ReportFields {
        package var gate = ""
        package var title = ""
        package var since: Time?
        package var until: Time?
        package init() {}
    }

    /// What the refreshes of an app go by.
    package struct Forecast: ReportFields {
        package var chance = 0.0
        package var price = 0.0
        package var left: Int64 = 0
        package var budget: Int64 = 0
        package var scope = Word<RefreshBudgetScope>(text: "")
        package var likelyAt: Time?
        package var likelyChance = 0.0
        package var blocker: Word<RefreshBlocker>?
        package var expectedAt: Time?
        package init() {}
    }

    /// Why a refresh began when it did.
    package struct Decision: ReportFields {
        package var chance = 0.0
        package var price = 0.0
        package var left: Int64 = 0
        package var budget: Int64?
        package var together: Int64 = 0
        package var scope = Word<RefreshBudgetScope>(text: "")
        package var because: Word<RefreshReason>?
        package init() {}
    }
}
