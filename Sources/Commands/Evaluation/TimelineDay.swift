import DeviceCore
import Simulator

/// One day of a timeline: a drawing with a line for each app, and a table of the decisions.
struct TimelineDay {
    private let life: TimelineLife
    private let day: Int
    private let begin: Double
    private let moments: [TimelineLife.Moment]
    private let opens: [TimelineLife.Open]
    /// The apps of this day, by rank among the eligible ones, from above.
    private let lanes: [Int]

    private static let (names, top, lane) = (128.0, 38.0, 14.0)

    init(_ life: TimelineLife, _ day: Int) {
        (self.life, self.day) = (life, day)
        let begin = Double(day) * 86_400
        let range = begin..<begin + 86_400
        self.begin = begin
        moments = life.moments.filter { range.contains($0.time) }
        opens = life.opens.filter { range.contains($0.time) }
        let refreshed = Set(moments.flatMap { $0.refreshes.map(\.moment.app) })
        lanes = life.lanes.filter { app in
            refreshed.contains(app)
                || life.record.apps[life.record.eligible[app]].starts.contains(
                    where: range.contains
                )
        }
    }

    var markup: String {
        let refreshes = moments.reduce(0) { $0 + $1.refreshes.count }
        let wakes = moments.count(where: \.wakes)
        let summary =
            "\(TimelineLife.fresh(opens)), \(refreshes) refresh\(refreshes == 1 ? "" : "es"), "
            + "\(wakes) wake\(wakes == 1 ? "" : "s") from sleep"
        return "<h3>\(UsageTimeline.date(day, life.record)) <small>\(summary)</small></h3>\n"
            + "<div class=\"day\">" + apps + drawing + "</div>\n" + table
    }

    // MARK: Drawing

    private var height: Double { Self.top + Double(lanes.count) * Self.lane + 4 }
    private func y(_ lane: Int) -> Double { Self.top + (Double(lane) + 0.5) * Self.lane }
    /// In percent of the width, so that a whole day is seen on any screen.
    private func x(_ time: Double) -> Double { (time - begin) / 864 }
    private func percent(_ time: Double) -> String { Self.text(percent: x(time)) }

    private static func text(percent: Double) -> String {
        let hundredths = Int((percent * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100)" + (rest == 0 ? "" : rest < 10 ? ".0\(rest)" : ".\(rest)") + "%"
    }

    /// Behind every second app, so that the eye finds its name.
    private var stripes: String {
        stride(from: 0, to: lanes.count, by: 2).map { lane in
            "<path class=\"stripe\" d=\"M0 \(y(lane))h4000\"/>"
        }.joined()
    }

    private var apps: String {
        var text =
            "<svg class=\"apps\" width=\"\(Int(Self.names))\" height=\"\(Int(height))\">"
            + "\(stripes)<text class=\"scale\" x=\"4\" y=\"35\">device</text>"
        for (lane, app) in lanes.enumerated() {
            let name = life.record.apps[life.record.eligible[app]].name
            let short = name.count > 19 ? name.prefix(18) + "…" : name[...]
            text +=
                "<text x=\"4\" y=\"\(y(lane) + 4)\">\(String(short).markup)"
                + (short.count < name.count ? "<title>\(name.markup)</title>" : "") + "</text>"
        }
        return text + "</svg>"
    }

    private var drawing: String {
        var text =
            "<div class=\"hours\"><svg class=\"stripes\" height=\"\(Int(height))\">\(stripes)"
            + "</svg><svg width=\"100%\" height=\"\(Int(height))\" role=\"img\" "
            + "aria-label=\"\(UsageTimeline.date(day, life.record))\">"
        for hour in stride(from: 0, through: 24, by: 3) {
            let x = percent(begin + Double(hour) * 3600)
            text +=
                upright("grid", at: x, 18, height)
                + "<text class=\"scale\" text-anchor=\"middle\" x=\"\(x)\" y=\"12\">\(hour)"
                + "</text>"
        }
        text += bar(life.inUse, at: 31, width: 5)
        for (lane, app) in lanes.enumerated() {
            let sessions = life.record.apps[life.record.eligible[app]]
            text += bar(Array(zip(sessions.starts, sessions.ends)), at: y(lane) + 4, width: 3)
        }
        if life.end < begin + 86_400 {
            let isLate = x(life.end) > 70
            let end = percent(life.end)
            text +=
                upright("end", at: end, 18, height)
                + "<text class=\"scale\" x=\"\(end)\" dx=\"\(isLate ? -4 : 4)\" y=\"26\""
                + (isLate ? " text-anchor=\"end\"" : "") + ">the log ends</text>"
        }
        text += moments.map(drawn).joined() + opens.map(drawn).joined()
        return text + "</svg></div>"
    }

    private func upright(
        _ style: String,
        at x: String,
        _ from: Double,
        _ to: Double,
        _ inside: String = ""
    ) -> String {
        "<line class=\"\(style)\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(from)\" y2=\"\(to)\""
            + (inside.isEmpty ? "/>" : ">\(inside)</line>")
    }

    /// Times of use, those that touch in the drawing as one.
    private func bar(_ uses: [(Double, Double)], at y: Double, width: Int) -> String {
        var parts: [(from: Double, to: Double)] = []
        for (start, end) in uses where start < begin + 86_400 && end >= begin {
            let from = x(max(start, begin))
            // Short ones are seen, too.
            let to = max(from + 0.15, x(min(end, begin + 86_400)))
            if let last = parts.last, from <= last.to {
                parts[parts.count - 1].to = max(last.to, to)
            } else {
                parts.append((from, to))
            }
        }
        return parts.map { part in
            "<line class=\"use\" stroke-width=\"\(width)\" x1=\"\(Self.text(percent: part.from))\" "
                + "x2=\"\(Self.text(percent: part.to))\" y1=\"\(y)\" y2=\"\(y)\"/>"
        }.joined()
    }

    private func drawn(_ open: TimelineLife.Open) -> String {
        guard let lane = lanes.firstIndex(of: open.app) else { return "" }
        let name = life.record.apps[life.record.eligible[open.app]].name
        let title =
            "<title>\(clock(open.time)) \(name.markup) opened, "
            + "\(open.isFresh ? "fresh" : "not fresh")</title>"
        let (style, above) = open.isFresh ? ("good", 6.0) : ("open", 0)
        return upright(style, at: percent(open.time), y(lane) - above, y(lane) + 6, title)
    }

    private func drawn(_ moment: TimelineLife.Moment) -> String {
        let x = percent(moment.time)
        let places = moment.refreshes.compactMap { lanes.firstIndex(of: $0.moment.app) }
        guard let lowest = places.max() else { return "" }
        var text = "<g><title>\(told(moment).markup)</title>"
        if moment.wakes {
            text +=
                upright("tie", at: x, 24, y(lowest))
                + "<svg x=\"\(x)\" y=\"18\"><path class=\"wake\" d=\"M0 0l4 6h-8z\"/></svg>"
        }
        for (refresh, lane) in zip(moment.refreshes, places) {
            let wait = refresh.wait ?? .infinity
            let style = wait <= 1800 ? "run" : wait <= 7200 ? "slow" : "lost"
            text +=
                "<circle class=\"\(style)\" cx=\"\(x)\" cy=\"\(y(lane))\" r=\"3.4\"/>"
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
