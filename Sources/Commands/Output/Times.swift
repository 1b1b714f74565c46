package import Vocabulary

/// Times and spans as a person reads them.
package enum Times {
    /// `in 12 min`, `45 s ago`, or the day and the time of day.
    package static func text(_ time: WallTime, at now: Moment) -> String {
        let distance = time - now.wall
        let size = distance < .zero ? Interval.zero - distance : distance
        if size < .minutes(60) {
            if size < .seconds(1) { return distance < .zero ? "just now" : "now" }
            let amount =
                size < .minutes(1)
                ? "\(size.wholeSeconds) s" : "\(size.wholeSeconds / 60) min"
            return distance < .zero ? "\(amount) ago" : "in \(amount)"
        }
        return day(time, at: now)
    }

    /// `today 14:05`, `yesterday 03:10`, `Fri 07:00`, `2026-03-01 07:00`.
    package static func day(_ time: WallTime, at now: Moment) -> String {
        let local = now.local(time)
        let clock = padded(local.hour) + ":" + padded(local.minute)
        switch local.day - now.local.day {
        case 0: return "today \(clock)"
        case 1: return "tomorrow \(clock)"
        case -1: return "yesterday \(clock)"
        case 2...6: return "\(LocalTime.weekdays[local.weekday]) \(clock)"
        default: return "\(local.description.prefix(10)) \(clock)"
        }
    }

    /// `14:05:09` of today, else with the date: for lists that are read downwards.
    package static func stamp(_ time: WallTime, at now: Moment) -> String {
        let local = now.local(time)
        let text = local.description
        return local.day == now.local.day ? String(text.suffix(8)) : text
    }

    /// `1.2 s`, `45 s`, `3 min 20 s`, `2 h 5 min`.
    package static func span(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0 else { return "–" }
        if seconds < 10 {
            let tenths = Int64(seconds * 10)
            return "\(tenths / 10)" + (tenths % 10 == 0 ? "" : ".\(tenths % 10)") + " s"
        }
        let whole = Int64(min(seconds, 1e15))
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return pair(whole / 60, "min", whole % 60, "s") }
        if whole < 86_400 { return pair(whole / 3600, "h", whole % 3600 / 60, "min") }
        return pair(whole / 86_400, "d", whole % 86_400 / 3600, "h")
    }

    /// The same of what is left, without what nobody counts: `59 min`, `2 h 5 min`.
    package static func rest(_ seconds: Double) -> String {
        span(seconds >= 120 && seconds.isFinite ? (seconds / 60).rounded() * 60 : seconds.rounded())
    }

    private static func pair(_ large: Int64, _ unit: String, _ small: Int64, _ second: String)
        -> String
    {
        "\(large) \(unit)" + (small == 0 ? "" : " \(small) \(second)")
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
