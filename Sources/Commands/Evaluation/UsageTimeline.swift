import DeviceCore
import Simulator

/// One person's scored days, a row each: what was used, what was refreshed, and why.
struct UsageTimeline {
    let record: UsageRecord
    let refreshes: [RefreshMoment]
    let budget: Int

    private static let (left, width, row) = (110.0, 960.0, 34.0)

    private func x(_ second: Double) -> Double {
        Self.left + second / 86_400 * (Self.width - Self.left - 8)
    }

    var markup: String {
        let days = (record.splitDay..<record.days).filter { record.isValid[$0] }
        let height = Self.row * Double(days.count) + 32
        var text =
            "<section><h2>\(record.user.markup), \(days.count) days at \(budget) refreshes per app "
            + "and day, one purse</h2>\n<p class=\"key\"><span class=\"use\">▬</span> device in "
            + "use <span class=\"late\">┃</span> opened, not fresh <span class=\"good\">┃</span> "
            + "opened fresh <span class=\"run\">●</span> refresh <span class=\"lost\">●</span> "
            + "refresh, not opened within 2 h <span class=\"wake\">▲</span> wake from sleep. Point "
            + "at a refresh to read why it was begun.</p>\n"
        text += "<svg class=\"days\" viewBox=\"0 0 \(Int(Self.width)) \(Int(height))\">"
        for hour in stride(from: 0, through: 24, by: 3) {
            let x = x(Double(hour) * 3600).tenths
            text += "<path class=\"grid\" d=\"M\(x) 20V\(height)\"/>"
            text +=
                "<text class=\"scale\" text-anchor=\"middle\" x=\"\(x)\" y=\"13\">\(hour)</text>"
        }
        for (place, day) in days.enumerated() {
            text += drawn(day, at: 24 + Double(place) * Self.row)
        }
        return text + "</svg></section>\n"
    }

    private func drawn(_ day: Int, at y: Double) -> String {
        let begin = Double(day) * 86_400
        let range = begin..<begin + 86_400
        let weekday = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][
            (record.firstWeekday + day) % 7
        ]
        var text =
            "<text class=\"day\" x=\"0\" y=\"\(y + 20)\">\(weekday), day \(day + 1)</text>"
        for use in record.inUse where use.start < range.upperBound && use.end > begin {
            let (from, to) = (max(use.start, begin), min(use.end, range.upperBound))
            text +=
                "<rect class=\"use\" x=\"\(x(from - begin).tenths)\" y=\"\(y + 22)\" width=\""
                + "\(max(0.8, x(to - begin) - x(from - begin)).tenths)\" height=\"5\"/>"
        }
        for (app, open, isFresh) in opens where range.contains(open) {
            text +=
                "<path class=\"\(isFresh ? "good" : "late")\" d=\"M\(x(open - begin).tenths) "
                + "\(y + 13)v8\"><title>\(app.markup) opened \(clock(open)), "
                + "\(isFresh ? "fresh" : "not fresh")</title></path>"
        }
        for refresh in refreshes where range.contains(refresh.time) {
            let sessions = record.apps[record.eligible[refresh.app]]
            let next = sessions.starts.first { $0 > refresh.time }
            let isLost = next.map { $0 - refresh.time > 7200 } ?? true
            let x = x(refresh.time - begin).tenths
            if !record.isInUse(at: refresh.time) {
                text += "<path class=\"wake\" d=\"M\(x) \(y)l3 4h-6z\"/>"
            }
            text +=
                "<circle class=\"\(isLost ? "lost" : "run")\" cx=\"\(x)\" cy=\"\(y + 8)\" "
                + "r=\"2.6\">"
                + "<title>\(why(refresh, next: next).markup)</title></circle>"
        }
        return text
    }

    /// The opens that count, and whether their content was fresh.
    private var opens: [(app: String, open: Double, isFresh: Bool)] {
        record.eligible.indices.flatMap { place in
            let sessions = record.apps[record.eligible[place]]
            let times = refreshes.filter { $0.app == place }.map(\.time)
            return sessions.countedOpens(from: Double(record.splitDay) * 86_400).map { open in
                let isFresh = times.contains { $0 <= open - 10 && open - $0 <= 1800 }
                return (sessions.name, open, isFresh)
            }
        }
    }

    private func why(_ refresh: RefreshMoment, next: Double?) -> String {
        let name = record.apps[record.eligible[refresh.app]].name
        var words = "\(name) refreshed \(clock(refresh.time))"
        if let decision = refresh.decision {
            words +=
                ": opened within half an hour with \(percent(decision.chance)), worth it from "
                + "\(percent(decision.price)), \(decision.left) left in the purse"
            if decision.together > 1 { words += ", together with others" }
        } else {
            words += ": spread over the day, since too little was known"
        }
        guard let next, next - refresh.time < 86_400 else {
            return words + ". Not opened that day."
        }
        return words + ". Opened \(clock(next))."
    }

    private func percent(_ thousandths: Int64) -> String {
        (Double(thousandths) / 10).tenths + " %"
    }

    private func clock(_ time: Double) -> String {
        let minutes = Int(time / 60) % 1440
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "at \(padded(minutes / 60)):\(padded(minutes % 60))"
    }
}
