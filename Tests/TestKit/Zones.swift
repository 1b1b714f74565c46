package import Vocabulary

/// Zones whose clocks are set forward and back, for tests that nothing of the machine matters to.
package enum Zones {
    /// Central Europe: forward on the last Sunday of March, back on that of October, both at 01:00
    /// UTC.
    package static let berlin: Moment.Zone = { seconds in
        let time = WallTime(nanoseconds: 0) + .seconds(seconds)
        let year = LocalTime(time, utcOffset: 0).date.year
        let changes = [Int64(3), 10].map { month in
            let last = LocalTime.day(year, month, 31)
            let sinceSunday = (LocalTime(day: last, timeOfDay: .zero).weekday + 1) % 7
            return LocalTime(day: last - Int64(sinceSunday), timeOfDay: .hours(1))
                .wall(utcOffset: 0)
        }
        return time >= changes[0] && time < changes[1] ? 7200 : 3600
    }
}
