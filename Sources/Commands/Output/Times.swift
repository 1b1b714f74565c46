package import Vocabulary

/// Times and spans as a person reads them.
package enum Times {
    /// `in 12 min`, `45 s ago`, `today 14:05`, `yesterday 03:10`, `Fri 07:00`, `2026-03-01 07:00`.
    package static func text(_ time: WallTime, at now: Moment) -> String {
        let distance = time - now.wall
        let size = distance < .zero ? Interval.zero - distance : distance
        if size < .minutes(60) {
            if size < .seconds(1) { return "now" }
            let amount =
                size < .minutes(1)
                ? "\(size.wholeSeconds) s" : "\(size.wholeSeconds / 60) min"
            return distance < .zero ? "\(amount) ago" : "in \(amount)"
        }
        let local = LocalTime(time, utcOffset: now.utcOffset)
        let clock = padded(local.hour) + ":" + padded(local.minute)
        switch local.day - now.local.day {
        case 0: return "today \(clock)"
        case 1: return "tomorrow \(clock)"
        case -1: return "yesterday \(clock)"
        case 2...6: return "\(weekdays[local.weekday]) \(clock)"
        default: return "\(local.description.prefix(10)) \(clock)"
        }
    }

    /// `14:05:09` of today, else with the date: for lists that are read downwards.
    package static func stamp(_ time: WallTime, at now: Moment) -> String {
        let local = LocalTime(time, utcOffset: now.utcOffset)
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

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension WallTime {
    /// Reads `2026-03-01T07:05:09+01:00`, as reports write times; nil for anything else.
    package init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= bytes.count,
                bytes[range].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return nil }
            return bytes[range].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        func letter(_ index: Int, _ expected: Character) -> Bool {
            index < bytes.count && bytes[index] == expected.asciiValue
        }
        guard let year = number(0..<4), letter(4, "-"), let month = number(5..<7), letter(7, "-"),
            let day = number(8..<10), letter(10, "T"), let hour = number(11..<13),
            letter(13, ":"), let minute = number(14..<16), letter(16, ":"),
            let second = number(17..<19), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let offset: Int64
        if bytes.count == 20, letter(19, "Z") {
            offset = 0
        } else if bytes.count == 25, letter(22, ":"), let hours = number(20..<22),
            let minutes = number(23..<25), letter(19, "+") || letter(19, "-")
        {
            offset = (hours * 60 + minutes) * 60 * (letter(19, "-") ? -1 : 1)
        } else {
            return nil
        }
        let time = Interval.hours(hour) + .minutes(minute) + .seconds(second)
        let local = LocalTime(day: Self.days(year, month, day), timeOfDay: time)
        self = local.wall(utcOffset: Int32(offset))
    }

    /// Days from 1970-01-01 (civil-to-days by 400-year eras).
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
