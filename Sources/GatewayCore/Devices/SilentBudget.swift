package import Vocabulary

extension RefillBucket {
    /// How many silent pushes may go to an app on a device at once.
    init(silent limits: GatewayLimits) {
        self.init(size: limits.silentBurst, refill: limits.silentRefill)
    }
}

/// How many silent wakes a device may have in 24 hours on battery, over all apps.
package struct DailyWakes: Equatable, Sendable {
    private var count = 0
    private var start: BootTime?

    package init() {}

    package func mayWake(at now: BootTime, _ limits: GatewayLimits) -> Bool {
        guard let start, now < start + .days(1) else { return limits.silentPerDay > 0 }
        return count < limits.silentPerDay
    }

    package mutating func wake(at now: BootTime) {
        if let start, now < start + .days(1) {
            count += 1
        } else {
            (start, count) = (now, 1)
        }
    }

    package mutating func report(_ wakes: Int, at now: BootTime) {
        if start.map({ now >= $0 + .days(1) }) ?? true { (start, count) = (now, 0) }
        count = max(count, wakes)
    }
}
