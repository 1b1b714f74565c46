extension Report {
    /// RFC 3339 text with offset. A later version may write times that this one cannot read.
    package struct Time: RawRepresentable, Codable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        package init(_ time: WallTime, utcOffset offset: Int32) {
            let local = LocalTime(time, utcOffset: offset).description
            let minutes = abs(Int(offset)) / 60
            func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            let zone = (offset < 0 ? "-" : "+") + padded(minutes / 60) + ":" + padded(minutes % 60)
            rawValue = local.prefix(10) + "T" + local.suffix(8) + zone
        }

        /// With the offset that the user's clock has then, so that it reads as that clock does.
        package init(_ time: WallTime, at now: Moment) {
            self.init(time, utcOffset: now.utcOffset(at: time))
        }

        package var wall: WallTime? { WallTime(rfc3339: rawValue) }
    }
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
        let local = LocalTime(day: LocalTime.day(year, month, day), timeOfDay: time)
        self = local.wall(utcOffset: Int32(offset))
    }
}
