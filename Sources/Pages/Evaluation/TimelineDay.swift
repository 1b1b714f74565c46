import DeviceCore
import Simulator
internal import Vocabulary

/// One day of a timeline: a drawing with a line for each app, and a table of the decisions.
struct TimelineDay {
    private let life: TimelineLife
    private let chart: DayChart
    private let moments: [TimelineLife.Moment]
    private let opens: [TimelineLife.Open]
    /// The apps of this day, by rank among the eligible ones, from above.
    private let lanes: [Int]

    init(_ life: TimelineLife, _ day: Int) {
        self.life = life
        let begin = Double(day) * 86_400
        let range = begin..<begin + 86_400
        moments = life.moments.filter { range.contains($0.time) }
        opens = life.opens.filter { range.contains($0.time) }
        let refreshed = Set(moments.flatMap { $0.refreshes.map(\.moment.app) })
        lanes = life.lanes.filter { app in
            refreshed.contains(app)
                || life.record.apps[life.record.eligible[app]].starts.contains(
                    where: range.contains
                )
        }
        chart = DayChart(
            title: UsageTimeline.date(day, life.record),
            begin: begin,
            names: lanes.map { life.record.apps[life.record.eligible[$0]].name },
            scale: life.scale
        )
    }

    var markup: String {
        let refreshes = moments.reduce(0) { $0 + $1.refreshes.count }
        let wakes = moments.count(where: \.wakes)
        let summary =
            "\(TimelineLife.fresh(opens)), \(refreshes) refresh\(refreshes == 1 ? "" : "es"), "
            + "\(wakes) wake\(wakes == 1 ? "" : "s") from sleep"
        return "<h3>\(chart.title) <small>\(summary)</small></h3>\n" + chart.markup(drawing) + table
    }

    // MARK: Drawing

    private var drawing: String {
        var text = chart.bar(life.inUse, at: DayChart.device, width: 5)
        for (lane, app) in lanes.enumerated() {
            let sessions = life.record.apps[life.record.eligible[app]]
            let uses = Array(zip(sessions.starts, sessions.ends))
            text += chart.bar(uses, at: chart.y(lane) + 4, width: 3)
        }
        if life.end < chart.end {
            let isLate = chart.x(life.end) > 70
            let end = chart.place(life.end)
            text +=
                chart.upright("end", at: end, DayChart.head, chart.height)
                + "<text class=\"scale\" x=\"\(end)\" dx=\"\(isLate ? -4 : 4)\" y=\"26\""
                + (isLate ? " text-anchor=\"end\"" : "") + ">the log ends</text>"
        }
        return text + moments.map(drawn).joined() + opens.map(drawn).joined()
    }

    private func drawn(_ open: TimelineLife.Open) -> String {
        guard let lane = lanes.firstIndex(of: open.app) else { return "" }
        let title =
            "<title>\(clock(open.time)) \(chart.names[lane].markup) opened, "
            + "\(open.isFresh ? "fresh" : "not fresh")</title>"
        let (style, above) = open.isFresh ? ("good", 6.0) : ("open", 0)
        let (x, y) = (chart.place(open.time), chart.y(lane))
        return chart.upright(style, at: x, y - above, y + 6, title)
    }

    private func drawn(_ moment: TimelineLife.Moment) -> String {
        let x = chart.place(moment.time)
        let places = moment.refreshes.compactMap { lanes.firstIndex(of: $0.moment.app) }
        guard let lowest = places.max() else { return "" }
        var text = "<g><title>\(told(moment).markup)</title>"
        if moment.wakes {
            text +=
                chart.upright("tie", at: x, 24, chart.y(lowest))
                + "<svg x=\"\(x)\" y=\"18\"><path class=\"wake\" d=\"M0 0l4 6h-8z\"/></svg>"
        }
        for (refresh, lane) in zip(moment.refreshes, places) {
            let wait = refresh.wait ?? .infinity
            let style = wait <= 1800 ? "run" : wait <= 7200 ? "slow" : "lost"
            text +=
                "<circle class=\"\(style)\" cx=\"\(x)\" cy=\"\(chart.y(lane))\" r=\"3.4\"/>"
        }
        return text + "</g>"
    }

    // MARK: Words

    private func told(_ moment: TimelineLife.Moment) -> String {
        let head = clock(moment.time) + (moment.wakes ? ", wakes the device" : "")
        let lines = moment.refreshes.map { refresh in
            guard let decision = refresh.moment.decision else {
                return "\(refresh.name): spread over the day because too little was known; "
                    + opened(refresh)
            }
            let why = decision.because?.explanation ?? ""
            let worth = DecisionText.worth(Double(decision.price) / 1000)
            return
                "\(refresh.name): \(percent(decision.chance)) likely to be opened within half an "
                + "hour; a refresh was worth it \(worth)\(why), with "
                + "\(decision.left) left; \(opened(refresh))"
        }
        return ([head] + lines).joined(separator: "\n")
    }

    private var table: String {
        guard !moments.isEmpty else { return "" }
        var text =
            "<details><summary>Decisions</summary><div class=\"scroll\">"
            + "<table class=\"decisions\"><tr><th>time<th>app<th>likely to be opened<br>"
            + "within half an hour<th>worth it<br>from<th>why<th>left in<br>the budget<th>apps<br>"
            + "together<th>device<th>what followed\n"
        for moment in moments {
            for (index, refresh) in moment.refreshes.enumerated() {
                let isFirst = index == 0
                text += "<tr><td>\(isFirst ? clock(moment.time) : "")<td>\(refresh.name.markup)"
                if let decision = refresh.moment.decision {
                    text +=
                        "<td>\(percent(decision.chance))<td>\(percent(decision.price))"
                        + "<td>\(decision.reason)<td>\(decision.left)"
                } else {
                    text += "<td><td><td>spread<td>"
                }
                text += "<td>" + (isFirst ? "\(moment.refreshes.count)" : "")
                text += "<td>" + (isFirst ? (moment.wakes ? "woken" : "in use") : "")
                text += "<td>\(opened(refresh))"
                text += "\n"
            }
        }
        return text + "</table></div></details>\n"
    }

    private func opened(_ refresh: TimelineLife.Refresh) -> String {
        guard let next = refresh.next, let wait = refresh.wait, wait < 86_400 else {
            return "not opened for a day"
        }
        let minutes = Int(wait / 60)
        let after = minutes < 120 ? "\(minutes) min" : "\(minutes / 60) h"
        return "opened \(clock(next)), \(after) later"
            + (wait <= 1800 && wait >= 10 ? ": fresh" : "")
    }

    private func percent(_ thousandths: Int64) -> String {
        DecisionText.percent(Double(thousandths) / 1000)
    }

    private func clock(_ time: Double) -> String {
        let minutes = Int(time / 60) % 1440
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(padded(minutes / 60)):\(padded(minutes % 60))"
    }
}

extension RefreshDecision {
    /// In a word or two; the page says what they mean.
    fileprivate var reason: String {
        switch because {
        case .chance: "chance"
        case .deviceAwake: "device awake"
        case .sharedWake: "shared wake"
        case .turn: "its turn"
        case nil: ""
        }
    }
}
