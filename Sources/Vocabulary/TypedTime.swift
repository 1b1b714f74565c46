/// A point in time as a user types it.
package enum TypedTime: Hashable, Sendable {
    /// How far from now: `2h`.
    case span(Interval)
    /// `2026-12-24`, which is its midnight, or `2026-12-24 18:30`.
    case date(LocalTime)
    /// `18:30`: the nearest one.
    case timeOfDay(Interval)

    /// On which side of now it is looked for.
    package enum Side: Sendable { case future, past }

    /// Nil: it is none of these. A time of day and a date are by the user's clock.
    package init?(_ text: String) {
        if let span = Interval(text) {
            self = .span(span)
        } else if let time = LocalTime.timeOfDay(text[...]) {
            self = .timeOfDay(time)
        } else if let date = LocalTime(text) {
            self = .date(date)
        } else {
            return nil
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
        switch self {
        case .span(let span): return side == .future ? now + span : now - span
        case .date(let date): candidates = date.walls(zone: zone)
        case .timeOfDay(let time):
            let today = LocalTime(now, utcOffset: zone(now)).day
            candidates = (today - 1...today + 1).flatMap { day in
                LocalTime(day: day, timeOfDay: time).walls(zone: zone)
            }
        }
        switch side {
        case .future: return candidates.first { $0 > now } ?? candidates[candidates.count - 1]
        case .past: return candidates.last { $0 <= now } ?? candidates[0]
        }
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
