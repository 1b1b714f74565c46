package import Vocabulary

/// How many new devices may come from one address: so many at once, then one after each interval.
package struct EnrolmentGate: Sendable {
    private var buckets = RecentGroups<RefillBucket>(atMost: 50_000)

    package init() {}

    /// One more; false: the address has to wait. Nil: it is exempt.
    package mutating func admit(
        _ group: AddressGroup?,
        atOnce size: Int,
        refill: Interval,
        at now: BootTime
    ) -> Bool {
        guard let group else { return true }
        var bucket = buckets[group] ?? RefillBucket(size: size, refill: refill)
        defer { buckets.set(group, bucket) }
        return bucket.take(at: now)
    }
}
