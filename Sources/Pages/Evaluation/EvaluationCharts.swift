import DeviceCore
import Glibc
import Simulator
internal import Vocabulary

/// The charts of one scope of the budget.
struct EvaluationCharts {
    /// Of all people together.
    let rows: [EvaluationRow]
    /// Whether there are samples.
    let hasBands: Bool

    private var hasOneBudget: Bool { rows.allSatisfy { $0.budget == rows[0].budget } }

    var markup: String {
        if hasOneBudget, !rows.hasSeveralWakePrices {
            return "<div class=\"charts\">" + bars.map(\.svg).joined() + "</div>\n"
        }
        let first = hasOneBudget ? bars[0].svg : byBudget.svg
        return "<div class=\"charts\">" + first + byWakes.svg + "</div>\n"
            + "<p class=\"faint\">\(aboutWakes)</p>\n"
    }

    private func tooltip(_ row: EvaluationRow) -> String {
        let range = hasBands ? " [\(row.pooledFrom.tenths), \(row.pooledTo.tenths)]" : ""
        let price = row.wakePrice.map { ", wake-price \($0)" } ?? ""
        return "\(row.policy), budget \(row.budget)\(price): \(row.pooled.tenths) % fresh\(range), "
            + "\(row.wakesFromSleepPerDay.tenths) wakes from sleep a day"
    }

    /// At one budget lines would be points.
    private var bars: [BarChart] {
        let rows = rows.atFirstWakePrice
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
                better: .right,
                bars: fresh
            ),
            BarChart(
                title: "Wakes from sleep a day",
                unit: "",
                most: wakes.map(\.value).max() ?? 1,
                better: .left,
                bars: wakes
            ),
        ]
    }

    private func points(
        _ rows: [EvaluationRow],
        hasNotes: Bool,
        x: (EvaluationRow) -> Double
    ) -> [Chart.Point] {
        let points = rows.map { row in
            Chart.Point(
                x: x(row),
                y: row.pooled,
                from: row.pooledFrom,
                to: row.pooledTo,
                tooltip: tooltip(row),
                note: hasNotes ? "\(row.budget)" : ""
            )
        }
        return points.sorted { $0.x < $1.x }
    }

    /// Budgets stand at their logarithms: twice as many is as far apart everywhere.
    private var byBudget: Chart {
        let rows = rows.atFirstWakePrice
        let budgets = rows.map(\.budget).reduce(into: [Int]()) { budgets, budget in
            if !budgets.contains(budget) { budgets.append(budget) }
        }.sorted()
        return Chart(
            title: "Against the budget",
            xTitle: "budget: refreshes per app and day",
            yTitle: "fresh opens, %",
            xTicks: budgets.map { (log2(Double($0)), "\($0)") },
            better: .up,
            lines: Evaluation.policies.map { policy in
                let own = rows.filter { $0.policy == policy }
                return Chart.Line(
                    name: policy,
                    points: points(own, hasNotes: false) { log2(Double($0.budget)) }
                )
            },
            hasBands: hasBands
        )
    }

    private var byWakes: Chart {
        let most = rows.map(\.wakesFromSleepPerDay).max() ?? 1
        let step = [1, 2, 5, 10, 20, 50, 100].first { Double($0) * 6 >= most } ?? 200
        let count = Int((most / Double(step)).rounded(.up))
        return Chart(
            title: "Against wakes of a sleeping device",
            xTitle: "wakes from sleep a day; labels: the budget",
            yTitle: "fresh opens, %",
            xTicks: (0...max(1, count)).map { (Double($0 * step), "\($0 * step)") },
            better: .upAndLeft,
            lines: Evaluation.policies.map(lineByWakes),
            hasBands: hasBands
        )
    }

    /// Of several prices of a wake the best for each number of wakes; the first one's as rings.
    private func lineByWakes(_ policy: String) -> Chart.Line {
        let all = rows.filter { $0.policy == policy }
        func points(_ rows: [EvaluationRow], hasNotes: Bool) -> [Chart.Point] {
            self.points(rows, hasNotes: hasNotes, x: \.wakesFromSleepPerDay)
        }
        guard all.hasSeveralWakePrices else {
            return Chart.Line(name: policy, points: points(all, hasNotes: true))
        }
        return Chart.Line(
            name: policy,
            points: points(all.frontier, hasNotes: false),
            rings: points(all.atFirstWakePrice, hasNotes: true)
        )
    }

    /// Why those that refresh everything at once look good by wakes.
    private var aboutWakes: String {
        let own = rows.filter { $0.policy == Evaluation.own }
        var text =
            "Labels give the budget: a policy with fewer wakes may have spent far more refreshes. "
            + "fixed and waking refresh all apps at the same times."
        if own.hasSeveralWakePrices, let price = own.first?.wakePrice {
            let prices = own.wakePrices.map { "\($0)" }.joined(separator: ", ")
            text +=
                " The line of offstage is the best of all budgets and all values of "
                + "<code>wake-price</code>, \(prices); rings: <code>wake-price</code> \(price)."
        }
        let waking = rows.filter { $0.policy == Baseline.waking.rawValue }
            .max { $0.budget < $1.budget }
        guard let waking else { return text }
        let wakes = waking.wakesFromSleepPerDay
        text +=
            " With \(wakes.tenths) wakes a day waking has \(waking.pooled.tenths) % fresh and "
            + "spends \(waking.spentPerAppDay.tenths) refreshes per app"
        guard let best = own.best(wakes: wakes), let price = best.wakePrice else {
            return text + "; offstage was not tried with so few."
        }
        let setting = own.hasSeveralWakePrices ? ", at <code>wake-price</code> \(price)" : ""
        return text + "; with \(best.wakesFromSleepPerDay.tenths) wakes offstage has "
            + "\(best.pooled.tenths) % fresh and spends \(best.spentPerAppDay.tenths)\(setting)."
    }
}
