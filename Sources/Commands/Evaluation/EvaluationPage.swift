import CommandTable
import DeviceCore
import Simulator

/// What `evaluate --html` writes: one page that needs nothing else.
struct EvaluationPage {
    let rows: [EvaluationRow]
    let users: Int
    var timeline: UsageTimeline?

    var text: String {
        var body = "<h1>How fresh apps are when they are opened</h1>\n"
        let people = users == 1 ? "one person" : "\(users) people"
        body +=
            "<p>Logs of \(people), the last third of each scored. Fresh: content at most 30 "
            + "minutes old at an open that comes more than 30 minutes "
            + "after the use before. Shaded: where "
            + "95 % of samples of the people lie. Budget: refreshes per app and day.</p>\n"
        for purse in RefreshPurse.allCases.reversed() {
            let rows = rows.filter { $0.purse == purse && $0.data == "all" }
            guard !rows.isEmpty else { continue }
            body += "<h2>\(purse.title)</h2>\n<div class=\"charts\">"
            body += byBudget(rows).svg + byWakes(rows).svg + "</div>\n" + table(rows)
        }
        body += timeline?.markup ?? ""
        return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            + "<meta name=\"viewport\" content=\"width=device-width\">"
            + "<title>Offstage: freshness</title>\n<style>\(Self.style)</style></head>\n<body>\n"
            + body + "</body></html>\n"
    }

    private func lines(
        _ rows: [EvaluationRow],
        x: (EvaluationRow) -> Double
    ) -> [Chart.Line] {
        Evaluation.policies.map { policy in
            let points = rows.filter { $0.policy == policy }.map { row in
                Chart.Point(
                    x: x(row),
                    y: row.pooled,
                    from: row.pooledFrom,
                    to: row.pooledTo,
                    words: "\(policy) at \(row.budget): \(row.pooled.tenths) % "
                        + "[\(row.pooledFrom.tenths), \(row.pooledTo.tenths)], "
                        + "\(row.wakesFromSleepPerDay.tenths) wakes from sleep a day"
                )
            }
            return Chart.Line(name: policy, points: points.sorted { $0.x < $1.x })
        }
    }

    /// Budgets stand evenly apart: each is a multiple of the one before.
    private func byBudget(_ rows: [EvaluationRow]) -> Chart {
        let budgets = rows.map(\.budget).reduce(into: [Int]()) { budgets, budget in
            if !budgets.contains(budget) { budgets.append(budget) }
        }.sorted()
        return Chart(
            title: "Against the budget",
            xTitle: "refreshes per app and day",
            yTitle: "fresh opens, %",
            xTicks: budgets.enumerated().map { (Double($0.offset), "\($0.element)") },
            lines: lines(rows) { row in Double(budgets.firstIndex(of: row.budget) ?? 0) }
        )
    }

    private func byWakes(_ rows: [EvaluationRow]) -> Chart {
        let most = rows.map(\.wakesFromSleepPerDay).max() ?? 1
        let step = [1, 2, 5, 10, 20, 50, 100].first { Double($0) * 6 >= most } ?? 200
        let count = Int((most / Double(step)).rounded(.up))
        return Chart(
            title: "Against wakes of a sleeping device",
            xTitle: "wakes from sleep a day",
            yTitle: "fresh opens, %",
            xTicks: (0...max(1, count)).map { (Double($0 * step), "\($0 * step)") },
            lines: lines(rows, x: \.wakesFromSleepPerDay)
        )
    }

    private func table(_ rows: [EvaluationRow]) -> String {
        let heads = [
            "policy", "budget", "fresh %", "mean of users %", "median age, min", "spent",
            "wasted %",
            "wakes", "from sleep",
        ]
        var text = "<details><summary>Figures</summary><table><tr>"
        text += heads.map { "<th>\($0)</th>" }.joined() + "</tr>\n"
        for row in rows {
            let cells = [
                row.policy, "\(row.budget)", row.pooled.tenths, row.userMean.tenths,
                row.medianAgeMinutes.tenths, row.spentPerAppDay.tenths, row.wastedPercent.tenths,
                row.wakesPerDay.tenths, row.wakesFromSleepPerDay.tenths,
            ]
            text += "<tr>" + cells.map { "<td>\($0)</td>" }.joined() + "</tr>\n"
        }
        return text + "</table></details>\n"
    }

    private static let style = """
        :root{color-scheme:light dark;--ground:#fff;--ink:#1d2126;--faint:#69727d;--grid:#e3e6ea;\
        --offstage:#0a62c9;--oracle:#8a8f98;--histogram:#c2570c;--waking:#2c8a4b;--fixed:#8b3fb8;\
        --late:#c9302c;--use:#b9c3cf}
        @media(prefers-color-scheme:dark){:root{--ground:#15181c;--ink:#e6e9ed;--faint:#98a2ad;\
        --grid:#2c3239;--offstage:#6ab0ff;--oracle:#8d949e;--histogram:#f2a05c;--waking:#6fce8d;\
        --fixed:#cf9af0;--late:#ff7d75;--use:#46525f}}
        body{margin:2rem auto;padding:0 1rem;max-width:1180px;background:var(--ground);\
        color:var(--ink);font:15px/1.5 system-ui,sans-serif}
        h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem}
        .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1rem}
        figure{margin:0}figcaption{font-weight:600}svg{width:100%;height:auto}
        .grid{stroke:var(--grid);fill:none}text{fill:var(--ink);font-size:12px}
        text.scale,text.axis,.key{fill:var(--faint);color:var(--faint)}text.day{font-size:11px}
        .line{fill:none;stroke-width:2}.band{stroke:none;opacity:.14}
        .offstage .line{stroke-width:3}text.offstage{font-weight:700}
        .offstage .line{stroke:var(--offstage)}.offstage circle,.offstage .band,text.offstage\
        {fill:var(--offstage)}
        .oracle .line{stroke:var(--oracle);stroke-dasharray:5 4}.oracle circle,.oracle .band,\
        text.oracle{fill:var(--oracle)}
        .histogram .line{stroke:var(--histogram)}.histogram circle,.histogram .band,\
        text.histogram{fill:var(--histogram)}
        .waking .line{stroke:var(--waking)}.waking circle,.waking .band,text.waking\
        {fill:var(--waking)}
        .fixed .line{stroke:var(--fixed)}.fixed circle,.fixed .band,text.fixed{fill:var(--fixed)}
        table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.15rem .7rem;text-align:right;\
        border-bottom:1px solid var(--grid)}td:first-child,th:first-child{text-align:left}
        rect.use{fill:var(--use)}path.late{stroke:var(--late);stroke-width:2}path.good\
        {stroke:var(--waking);stroke-width:2}circle.run{fill:var(--offstage)}circle.lost\
        {fill:none;stroke:var(--offstage)}path.wake{fill:var(--histogram)}
        span.use{color:var(--use)}span.late{color:var(--late)}span.good{color:var(--waking)}\
        span.run,span.lost{color:var(--offstage)}span.lost{opacity:.5}span.wake\
        {color:var(--histogram)}
        """
}
