package import Vocabulary

/// A limit on the pushes of a provider key: `count` at once, refilled evenly over `time`.
package struct KeyQuota: Equatable, Sendable {
    package let count: Int
    package let time: Interval

    package init(_ count: Int, per time: Interval) { (self.count, self.time) = (count, time) }

    /// As in `100000/1d`; nil if it is none.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), let time = Interval(String(parts[1])),
            (1...1_000_000_000).contains(count), time >= .seconds(1), time <= .days(366)
        else { return nil }
        self.init(count, per: time)
    }

    package var text: String { "\(count)/\(time)" }
}

/// What keys have left of their quotas. Not stored: all quotas are full after a restart.
struct KeyQuotas: Sendable {
    private struct Spending: Sendable {
        let quota: KeyQuota
        var bucket: RefillBucket
    }

    private var spending: [String: Spending] = [:]

    /// Whether a key may send no more for now; `quota` nil: it has none.
    mutating func isSpent(_ quota: KeyQuota?, of key: String, at now: BootTime) -> Bool {
        guard let quota else { return false }
        if spending[key]?.quota != quota {
            let refill = Interval(nanoseconds: quota.time.nanoseconds / Int64(quota.count))
            let bucket = RefillBucket(
                size: quota.count,
                refill: max(refill, Interval(nanoseconds: 1))
            )
            spending[key] = Spending(quota: quota, bucket: bucket)
        }
        return spending[key]?.bucket.isEmpty(at: now) == true
    }

    /// One push was taken.
    mutating func spend(_ quota: KeyQuota?, of key: String, at now: BootTime) {
        guard quota != nil else { return }
        _ = spending[key]?.bucket.take(at: now)
    }
}
