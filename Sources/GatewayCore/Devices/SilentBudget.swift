package import Vocabulary

/// How many silent pushes may go to an app on a device at once: a bucket that fills again slowly.
package struct SilentBucket: Equatable, Sendable {
    package private(set) var left: Int
    /// Since when the next one fills; meaningless while the bucket is full.
    private var since = BootTime(nanoseconds: 0)
    private let size: Int
    private let refill: Interval

    package init(_ limits: GatewayLimits) {
        self.init(size: limits.silentBurst, refill: limits.silentRefill)
    }

    package init(size: Int, refill: Interval) {
        (left, self.size, self.refill) = (size, size, refill)
    }

    /// Takes one; false when there is none.
    package mutating func take(at now: BootTime) -> Bool {
        fill(at: now)
        guard left > 0 else { return false }
        if left == size { since = now }
        left -= 1
        return true
    }

    /// What the device says is left is believed when it is less: it counts over our restarts too.
    package mutating func report(_ count: Int, at now: BootTime) {
        fill(at: now)
        guard count < left else { return }
        if left == size { since = now }
        left = max(0, count)
    }

    private mutating func fill(at now: BootTime) {
        guard refill > .zero else { return }
        while left < size, since + refill <= now {
            left += 1
            since = since + refill
        }
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
