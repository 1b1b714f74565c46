package import Vocabulary

/// So many at once, and one more after each interval: a bucket that fills again slowly.
package struct RefillBucket: Equatable, Sendable {
    package private(set) var left: Int
    /// Since when the next one fills; meaningless while the bucket is full.
    private var since = BootTime(nanoseconds: 0)
    private let size: Int
    private let refill: Interval

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

    package mutating func isEmpty(at now: BootTime) -> Bool {
        fill(at: now)
        return left == 0
    }

    /// What another count says is left is believed when it is less.
    package mutating func report(_ count: Int, at now: BootTime) {
        fill(at: now)
        guard count < left else { return }
        if left == size { since = now }
        left = max(0, count)
    }

    private mutating func fill(at now: BootTime) {
        guard refill > .zero, left < size, since + refill <= now else { return }
        let filled = (now - since).nanoseconds / refill.nanoseconds
        left = Int(min(Int64(size), Int64(left) + min(filled, Int64(size))))
        since = since + Interval(nanoseconds: filled * refill.nanoseconds)
    }
}
