package import Vocabulary

/// All clocks of the virtual device. `now` in here, the time since the simulation began, is what
/// they are made of; it never stops.
package struct VirtualClock {
    package private(set) var elapsed = Interval.zero
    package private(set) var isAsleep = false
    private var bootedAt = Interval.zero
    private var awake = Interval.zero
    private var wallAtStart: WallTime
    package private(set) var utcOffset: Int32

    package init(wall: WallTime, utcOffset: Int32) {
        (self.wallAtStart, self.utcOffset) = (wall, utcOffset)
    }

    package var moment: Moment {
        Moment(
            boot: BootTime(nanoseconds: 0) + (elapsed - bootedAt),
            awake: AwakeTime(nanoseconds: 0) + awake,
            wall: wallAtStart + elapsed,
            utcOffset: utcOffset
        )
    }

    /// Since the simulation began, of a boot time of this boot.
    package func elapsed(at boot: BootTime) -> Interval {
        bootedAt + (boot - BootTime(nanoseconds: 0))
    }

    mutating func advance(to time: Interval) {
        if !isAsleep { awake += time - elapsed }
        elapsed = time
    }

    mutating func fallAsleep() { isAsleep = true }
    mutating func wakeUp() { isAsleep = false }

    mutating func boot() {
        bootedAt = elapsed
        awake = .zero
        isAsleep = false
    }

    mutating func setWall(by step: Interval) { wallAtStart = wallAtStart + step }
    mutating func setZone(_ offset: Int32) { utcOffset = offset }
}
