package import Vocabulary

/// A point in time as the learning sees it: differences are told by UTC, habits by the clock that
/// the user sees.
package struct UseTime: Hashable, Sendable {
    package let wall: WallTime
    /// The calendar day of the user's clock.
    package let day: Int64
    /// Seconds since local midnight.
    let secondOfDay: Double

    package init(_ wall: WallTime, utcOffset: Int32) {
        let local = LocalTime(wall, utcOffset: utcOffset)
        self.wall = wall
        day = local.day
        secondOfDay = local.timeOfDay.seconds
    }

    package init(_ now: Moment) { self.init(now.wall, utcOffset: now.utcOffset) }

    /// Which five minutes of the day, 0..<288.
    package var bin: Int { min(DayGrid.binCount - 1, Int(secondOfDay) / 300) }

    /// Seconds since `earlier`; 0 when that lies in the future, since the clock was set.
    func seconds(since earlier: WallTime) -> Double { max(0, (wall - earlier).seconds) }
}
