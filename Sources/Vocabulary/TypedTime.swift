/// A point in time as a user types it.
package enum TypedTime: Hashable, Sendable {
    /// How far from now: `2h`.
    case span(Interval)
    /// `2026-12-24`, which is its midnight, or `2026-12-24 18:30`.
    case date(LocalTime)
    /// `18:30`: the nearest one.
    case timeOfDay(Interval)
    /// `today`, `tomorrow 14:00`, `yesterday 07:05`: so many days from today.
    case day(Int64, Interval)
    /// `Fri 07:00`: the nearest one; 0 is Monday.
    case weekday(Int, Interval)
    /// `2026-12-24T18:30:00+01:00`, as reports write it.
    case instant(WallTime)

    /// On which side of now it is looked for.
    package enum Side: Sendable { case future, past }

    /// Nil: it is none of these. A time of day and a date are by the user's clock. Each form in
    /// which the programs themselves print a point in time is read.
    package init?(_ text: String) {
        let text = text.trimmingSpaces
        if let span = Interval(text) {
            self = .span(span)
        } else if let time = LocalTime.timeOfDay(text[...]) {
            self = .timeOfDay(time)
        } else if let date = LocalTime(text) {
            self = .date(date)
        } else if LocalTime(String(text.prefix(19))) != nil, let time = WallTime(rfc3339: text) {
            self = .instant(time)
        } else {
            guard let day = Self.day(text.lowercased()) else { return nil }
            self = day
        }
    }

    /// A word for a day, and a time of day if there is one.
    private static func day(_ text: String) -> TypedTime? {
        let words = text.split(separator: " ")
        guard let name = words.first, words.count <= 2 else { return nil }
        var time = Interval.zero
        if words.count == 2 {
            guard let given = LocalTime.timeOfDay(words[1]) else { return nil }
            time = given
        }
        switch name {
        case "yesterday": return .day(-1, time)
        case "today": return .day(0, time)
        case "tomorrow": return .day(1, time)
        case _:
            guard words.count == 2,
                let weekday = LocalTime.weekdays.firstIndex(where: { $0.lowercased() == name })
            else { return nil }
            return .weekday(weekday, time)
        }
    }

    /// How far it is from now, whatever a clock shows; nil: clocks decide.
    package var span: Interval? {
        switch self {
        case .span(let span): span
        case .date, .timeOfDay, .day, .weekday, .instant: nil
        }
    }

    /// When that is; a date may lie on the other side. `zone`: local time minus UTC in seconds, at
    /// a time.
    package func wall(
        _ side: Side,
        of now: WallTime,
        zone: (WallTime) -> Int32
    ) -> WallTime {
        let candidates: [WallTime]
        let today = LocalTime(now, utcOffset: zone(now)).day
        func walls(_ days: some Sequence<Int64>, _ time: Interval) -> [WallTime] {
            days.flatMap { LocalTime(day: $0, timeOfDay: time).walls(zone: zone) }
        }
        switch self {
        case .span(let span): return side == .future ? now + span : now - span
        case .date(let date): candidates = date.walls(zone: zone)
        case .timeOfDay(let time): candidates = walls(today - 1...today + 1, time)
        case .day(let distance, let time):
            candidates = walls(CollectionOfOne(today + distance), time)
        case .weekday(let weekday, let time):
            let days = today - 8...today + 8
            candidates = walls(
                days.filter { LocalTime(day: $0, timeOfDay: .zero).weekday == weekday },
                time
            )
        case .instant(let time): return time
        }
        switch side {
        case .future: return candidates.first { $0 > now } ?? candidates[candidates.count - 1]
        case .past: return candidates.last { $0 <= now } ?? candidates[0]
        }
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        var rest = self[...]
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}

extension LocalTime {
    /// When clocks in `zone` show this: once, or twice on the day on which they are set back. What
    /// is skipped when they are set forward comes as much later as they were set.
    package func walls(zone: (WallTime) -> Int32) -> [WallTime] {
        let day = Interval.days(1)
        let middle = wall(utcOffset: 0)
        let offsets = [zone(middle - day), zone(middle + day)]
        let shown = offsets.map(wall).enumerated().filter { index, wall in
            zone(wall) == offsets[index]
        }
        let walls = shown.map(\.element).sorted()
        guard let first = walls.first, let last = walls.last else {
            return [wall(utcOffset: offsets[0])]
        }
        return first == last ? [first] : [first, last]
    }
}
