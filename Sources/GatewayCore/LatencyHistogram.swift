package import Vocabulary

/// How long things took, counted in fixed buckets.
package struct LatencyHistogram: Equatable, Sendable {
    /// The longest time of each bucket; longer ones are in one more.
    package static let bounds: [Interval] = [
        500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
        2_500_000, 5_000_000, 10_000_000, 30_000_000,
    ].map { Interval(nanoseconds: $0 * 1000) }

    /// By bucket, the shortest times first.
    package private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// Of all times, in seconds. Whole nanoseconds would be too many some day.
    package private(set) var sum = 0.0

    package init() {}

    package var count: UInt64 { counts.reduce(0, &+) }

    package mutating func record(_ time: Interval) {
        // Most are short: looking at each bound beats searching.
        var bucket = 0
        while bucket < Self.bounds.count, time > Self.bounds[bucket] { bucket += 1 }
        counts[bucket] &+= 1
        sum += Double(max(0, time.nanoseconds)) / 1e9
    }
}
