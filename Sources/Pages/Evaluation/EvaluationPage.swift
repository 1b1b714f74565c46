package import Simulator
package import Vocabulary

/// What `evaluate --html` writes: one page that needs nothing else.
package struct EvaluationPage {
    let rows: [EvaluationRow]
    let users: Int
    /// Whose logs were too short.
    package var leftOut = 0
    package var timeline: UsageTimeline?

    package init(rows: [EvaluationRow], users: Int) { (self.rows, self.users) = (rows, users) }

    package var text: String {
        var body = (EvaluationResult(rows)?.markup ?? "") + introduction
        for scope in RefreshBudgetScope.allCases {
            let rows = rows.filter { $0.scope == scope && $0.isOfAll }.map(\.inTenths)
            guard !rows.isEmpty else { continue }
            body += "<h2>\(scope.title)</h2>\n<p class=\"faint\">\(scope.meaning)</p>\n"
            body += EvaluationCharts(rows: rows, hasBands: hasBands).markup + table(rows)
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

    // MARK: Figures

    private func interval(_ row: EvaluationRow) -> String {
        "\(row.pooledFrom.tenths) to \(row.pooledTo.tenths)"
    }

    private func table(_ rows: [EvaluationRow]) -> String {
        let hasPrices = rows.hasSeveralWakePrices
        let heads =
            ["budget"] + (hasPrices ? ["wake-price"] : []) + ["fresh %"]
            + (hasBands ? ["95 % interval", "mean of users %"] : []) + [
                "median age, min", "spent per app and day", "wasted %", "wakes a day", "from sleep",
            ]
        var text =
            "<details><summary>Figures</summary><div class=\"scroll\"><table><tr>"
            + "<th class=\"word\">policy</th>"
        text += heads.map { "<th>\($0)</th>" }.joined() + "</tr>\n"
        for row in rows {
            let cells =
                ["\(row.budget)"]
                + (hasPrices ? [row.wakePrice.map { "\($0)" } ?? ""] : []) + [row.pooled.tenths]
                + (hasBands ? [interval(row), row.userMean.tenths] : []) + [
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

extension EvaluationRow {
    /// As the table prints it, so that the charts can be drawn again from what is printed.
    fileprivate var inTenths: EvaluationRow {
        var row = self
        for path in [
            \EvaluationRow.pooled, \.pooledFrom, \.pooledTo, \.spentPerAppDay,
            \.wakesFromSleepPerDay,
        ] {
            row[keyPath: path] = (row[keyPath: path] * 10).rounded() / 10
        }
        return row
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
