import DeviceCore
package import Simulator
import Vocabulary

/// One person's scored days: what was used, what was refreshed, and why; once for each scope and
/// budget that was asked for.
package struct UsageTimeline {
    let record: UsageRecord
    private let lives: [TimelineLife]

    package init(_ record: UsageRecord, _ plan: Evaluation.Plan) {
        self.record = record
        var learned = DeviceReplay(record, hasPrior: plan.hasPrior)
        learned.warmUp()
        let scopes = RefreshBudgetScope.allCases.filter { plan.scopes.contains($0) }
        lives = scopes.flatMap { scope in
            plan.budgets.map { budget in
                var replay = learned
                replay.score(budget: budget, scope: scope, wakePrice: plan.wakePrices[0])
                return TimelineLife(record, replay.moments, budget: budget, scope: scope)
            }
        }
    }

    var markup: String {
        guard let days = lives.first?.days, let first = days.first, let last = days.last else {
            return ""
        }
        let name = record.user.markup
        let count = days.count == 1 ? "1 day" : "\(days.count) days"
        var text =
            "<section><h2>The days of \(name) with offstage: the last third of the log</h2>\n"
            + "<p class=\"faint\">\(count) with use, \(Self.date(first, record)) to "
            + "\(Self.date(last, record)), on which nothing was fitted: the days before are for "
            + "learning and not drawn. Times are those of the log; after its end nothing is "
            + "drawn, though the figures above count the last day whole. Each app that was used "
            + "or refreshed on a day has its own line. Point at a refresh, or open the table "
            + "below a day, to read why it began: <i>chance</i>, the app was likely enough to "
            + "be opened; <i>device awake</i> or <i>shared wake</i>, a smaller chance was enough, "
            + "because nothing had to be woken; <i>its turn</i>, the app had got no refresh for "
            + "a long time; <i>spread</i>, evenly over the day, because too little was known.</p>\n"
        text += Self.key
        for (index, life) in lives.enumerated() {
            let unit = life.budget == 1 ? "refresh" : "refreshes"
            let title = "\(life.budget) \(unit) per app and day, \(life.scope.label)"
            if index == 0 {
                text += "<p><b>\(title)</b>: \(life.summary)</p>\n" + life.markup
            } else {
                text +=
                    "<details class=\"budget\"><summary>\(title): \(life.summary)</summary>\n"
                    + life.markup + "</details>\n"
            }
        }
        return text + "</section>\n"
    }

    /// `Sat, 22 Feb 2014`.
    static func date(_ day: Int, _ record: UsageRecord) -> String {
        let local = LocalTime(day: Int64(record.midnight / 86_400) + Int64(day), timeOfDay: .zero)
        let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let (year, month, day) = local.date
        return "\(weekdays[local.weekday]), \(day) \(months[Int(month) - 1]) \(year)"
    }

    /// What is drawn means this; drawn by the same rules of the style sheet.
    private static let key: String = {
        let rows = [
            ("<path class=\"use\" stroke-width=\"5\" d=\"M1 8h14\"/>", "device in use"),
            ("<path class=\"use\" stroke-width=\"3\" d=\"M1 8h14\"/>", "app in use"),
            ("<path class=\"good\" d=\"M8 2v12\"/>", "opened, fresh"),
            ("<path class=\"open\" d=\"M8 8v6\"/>", "opened, not fresh"),
            (circle("run"), "refresh, opened within 30 min"),
            (circle("slow"), "refresh, opened within 2 h"),
            (circle("lost"), "refresh, not opened within 2 h"),
            (
                "<path class=\"wake\" d=\"M8 4l4 6h-8z\"/><path class=\"tie\" d=\"M8 10v6\"/>",
                "wake from sleep, for all refreshes on its line"
            ),
            (
                "<rect class=\"night\" x=\"2\" y=\"2\" width=\"12\" height=\"12\"/>",
                "night, folded: hours in which the device is hardly used are narrower"
            ),
        ]
        return DayChart.key(rows)
    }()

    private static func circle(_ style: String) -> String {
        "<circle class=\"\(style)\" cx=\"8\" cy=\"8\" r=\"3.4\"/>"
    }
}

extension RefreshBudgetScope {
    fileprivate var label: String {
        switch self {
        case .app: "each app its own"
        case .device: "one budget"
        }
    }
}
