package import DeviceCore
import Glibc
package import Simulator
internal import Vocabulary

/// What `evaluate --html` writes: one page that needs nothing else.
package struct EvaluationPage {
    let rows: [EvaluationRow]
    let users: Int
    /// Whose logs were too short.
    package var leftOut = 0
    package var timeline: UsageTimeline?

    package init(rows: [EvaluationRow], users: Int) { (self.rows, self.users) = (rows, users) }

    package var text: String {
        var body = "<h1>How fresh apps are when they are opened</h1>\n" + introduction
        for scope in RefreshBudgetScope.allCases.reversed() {
            let rows = rows.filter { $0.scope == scope && $0.data == "all" }
            guard !rows.isEmpty else { continue }
            body += "<h2>\(scope.title)</h2>\n<p class=\"faint\">\(scope.meaning)</p>\n"
            body += charts(rows) + table(rows)
        }
        body += timeline?.markup ?? ""
        return Page(title: "Offstage: freshness", style: .evaluation, body: body).text
    }

    private var hasBands: Bool { users > 1 }
    private var hasOneBudget: Bool { rows.allSatisfy { $0.budget == rows[0].budget } }

    // MARK: Words

    private var introduction: String {
        var logs = users == 1 ? "The log of one user" : "The logs of \(users) users"
        if leftOut > 0 { logs += " (\(leftOut) more left out, with too little use)" }
        var text =
            "<p>\(logs): the first two thirds of the days are for learning, the last third is "
            + "scored. An open is <b>fresh</b> if the app's content is at most 30 minutes "
            + "old; opens within 30 minutes of the previous use do not count. The "
            + "<b>budget</b> is the number of refreshes per app and day. A <b>wake</b> is a "
            + "time at which refreshes begin although nobody has used the device for two "
            + "minutes."
        if hasBands {
            text +=
                (hasOneBudget ? " Thin lines" : " Shaded")
                + ": 95 % bootstrap interval over users."
        }
        return text + "</p>\n<dl>"
            + Self.meanings.map { name, meaning in
                "<dt class=\"\(name)\">\(name)</dt><dd>\(meaning)</dd>"
            }.joined() + "</dl>\n"
    }

    private static let meanings = [
        ("offstage", "the daemon's own code, fed with the logs: when an open is likely enough"),
        ("fixed", "every few hours, day and night, all apps at once"),
        ("waking", "spread evenly over the hours of use, all apps at once"),
        ("histogram", "at the times of day at which the app was opened most on earlier days"),
        ("oracle", "knows the future: just before each open, the best possible"),
    ]

    // MARK: Charts

    private func charts(_ rows: [EvaluationRow]) -> String {
        guard !hasOneBudget else {
            return "<div class=\"charts\">" + bars(rows).map(\.svg).joined() + "</div>\n"
        }
        return "<div class=\"charts\">" + byBudget(rows).svg + byWakes(rows).svg + "</div>\n"
            + "<p class=\"faint\">\(aboutWakes(rows))</p>\n"
    }

    private func tooltip(_ row: EvaluationRow) -> String {
        let range = hasBands ? " [\(row.pooledFrom.tenths), \(row.pooledTo.tenths)]" : ""
        return "\(row.policy), budget \(row.budget): \(row.pooled.tenths) % fresh\(range), "
            + "\(row.wakesFromSleepPerDay.tenths) wakes from sleep a day"
    }

    /// At one budget lines would be points.
    private func bars(_ rows: [EvaluationRow]) -> [BarChart] {
        let budget = rows[0].budget
        let fresh = rows.map { row in
            BarChart.Bar(
                name: row.policy,
                value: row.pooled,
                range: hasBands ? (row.pooledFrom, row.pooledTo) : nil,
                tooltip: tooltip(row)
            )
        }
        let wakes = rows.map { row in
            BarChart.Bar(
                name: row.policy,
                value: row.wakesFromSleepPerDay,
                tooltip: tooltip(row)
            )
        }
        return [
            BarChart(
                title: "Fresh opens at a budget of \(budget)",
                unit: "%",
                most: 100,
                bars: fresh
            ),
            BarChart(
                title: "Wakes from sleep a day",
                unit: "",
                most: wakes.map(\.value).max() ?? 1,
                bars: wakes
            ),
        ]
    }

    private func lines(
        _ rows: [EvaluationRow],
        hasNotes: Bool,
        x: (EvaluationRow) -> Double
    ) -> [Chart.Line] {
        Evaluation.policies.map { policy in
            let points = rows.filter { $0.policy == policy }.map { row in
                Chart.Point(
                    x: x(row),
                    y: row.pooled,
                    from: row.pooledFrom,
                    to: row.pooledTo,
                    tooltip: tooltip(row),
                    note: hasNotes ? "\(row.budget)" : ""
                )
            }
            return Chart.Line(name: policy, points: points.sorted { $0.x < $1.x })
        }
    }

    /// Budgets stand at their logarithms: twice as many is as far apart everywhere.
    private func byBudget(_ rows: [EvaluationRow]) -> Chart {
        let budgets = rows.map(\.budget).reduce(into: [Int]()) { budgets, budget in
            if !budgets.contains(budget) { budgets.append(budget) }
        }.sorted()
        return Chart(
            title: "Against the budget",
            xTitle: "budget: refreshes per app and day (logarithmic)",
            yTitle: "fresh opens, %",
            xTicks: budgets.map { (log2(Double($0)), "\($0)") },
            lines: lines(rows, hasNotes: false) { log2(Double($0.budget)) },
            hasBands: hasBands
        )
    }

    private func byWakes(_ rows: [EvaluationRow]) -> Chart {
        let most = rows.map(\.wakesFromSleepPerDay).max() ?? 1
        let step = [1, 2, 5, 10, 20, 50, 100].first { Double($0) * 6 >= most } ?? 200
        let count = Int((most / Double(step)).rounded(.up))
        return Chart(
            title: "Against wakes of a sleeping device",
            xTitle: "wakes from sleep a day; labels: the budget",
            yTitle: "fresh opens, %",
            xTicks: (0...max(1, count)).map { (Double($0 * step), "\($0 * step)") },
            lines: lines(rows, hasNotes: true, x: \.wakesFromSleepPerDay),
            hasBands: hasBands
        )
    }

    /// Why those that refresh everything at once look good by wakes.
    private func aboutWakes(_ rows: [EvaluationRow]) -> String {
        var text =
            "Labels give the budget: a policy with fewer wakes may have spent far more refreshes. "
            + "fixed and waking refresh all apps at the same times"
        let waking = rows.filter { $0.policy == "waking" }.max { $0.budget < $1.budget }
        guard let waking else { return text + "." }
        let own = rows.filter { $0.policy == "offstage" }
        let wakes = waking.wakesFromSleepPerDay
        let fewer = own.filter { $0.wakesFromSleepPerDay <= wakes }.map(\.budget).max()
        let more = own.filter { $0.wakesFromSleepPerDay > wakes }.map(\.budget).min()
        text +=
            ": with \(wakes.tenths) wakes a day waking spends \(waking.budget) refreshes "
            + "per app"
        switch (fewer, more) {
        case (let fewer?, let more?): text += ", offstage \(fewer) to \(more)"
        case (let fewer?, nil) where fewer < waking.budget: text += ", offstage \(fewer)"
        default: break
        }
        return text + "."
    }

    // MARK: Figures

    private func table(_ rows: [EvaluationRow]) -> String {
        let heads =
            ["budget", "fresh %"] + (hasBands ? ["mean of users %"] : []) + [
                "median age, min", "spent per app and day", "wasted %", "wakes a day", "from sleep",
            ]
        var text =
            "<details><summary>Figures</summary><div class=\"scroll\"><table><tr>"
            + "<th class=\"word\">policy</th>"
        text += heads.map { "<th>\($0)</th>" }.joined() + "</tr>\n"
        for row in rows {
            let cells =
                ["\(row.budget)", row.pooled.tenths] + (hasBands ? [row.userMean.tenths] : []) + [
                    row.medianAgeMinutes.tenths, row.spentPerAppDay.tenths,
                    row.wastedPercent.tenths, row.wakesPerDay.tenths,
                    row.wakesFromSleepPerDay.tenths,
                ]
            text +=
                "<tr><td class=\"word\">\(row.policy)</td>"
                + cells.map { "<td>\($0)</td>" }.joined() + "</tr>\n"
        }
        return text + "</table></div><p class=\"faint\">Age: of the content at an open. Wasted: "
            + "refreshes after which the app was not opened for two hours.</p></details>\n"
    }
}

extension RefreshBudgetScope {
    package var title: String {
        switch self {
        case .app: "A budget for each app"
        case .device: "One budget for the device"
        }
    }

    fileprivate var meaning: String {
        switch self {
        case .app: "Each app has its own budget; what it does not use is lost."
        case .device:
            "All apps share one total per day, the budget times their number: what one leaves, "
                + "another may use. fixed and waking do the same in both cases."
        }
    }
}
