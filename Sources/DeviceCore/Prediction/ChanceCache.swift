import Vocabulary

/// Chances at instants to come, as far as somebody asked for them: they stay the same until the
/// device or an app is used, or the local time is another.
struct ChanceCache: Sendable {
    /// Of five minutes since ever, by bucket, as in `rows`; a day has room.
    private var bins: [Int64] = []
    /// By app; negative: nobody asked.
    private var rows: [[Double]] = []

    mutating func removeAll() {
        for bucket in bins.indices { bins[bucket] = .min }
    }

    func chance(of app: Int, at time: WallTime) -> Double? {
        guard !bins.isEmpty else { return nil }
        let (bucket, bin) = Self.bucket(of: time)
        guard bins[bucket] == bin, app < rows[bucket].count, rows[bucket][app] >= 0 else {
            return nil
        }
        return rows[bucket][app]
    }

    /// `count`: of all apps.
    mutating func store(_ chance: Double, of app: Int, at time: WallTime, count: Int) {
        if bins.isEmpty {
            bins = [Int64](repeating: .min, count: DayGrid.binCount)
            rows = [[Double]](repeating: [], count: DayGrid.binCount)
        }
        let (bucket, bin) = Self.bucket(of: time)
        if bins[bucket] != bin || rows[bucket].count < count {
            if rows[bucket].count < count {
                rows[bucket] = [Double](repeating: -1, count: count)
            } else {
                for app in rows[bucket].indices { rows[bucket][app] = -1 }
            }
            bins[bucket] = bin
        }
        rows[bucket][app] = chance
    }

    private static func bucket(of time: WallTime) -> (bucket: Int, bin: Int64) {
        let bin = time.nanoseconds / RefreshPolicy.bin.nanoseconds
        let count = Int64(DayGrid.binCount)
        return (Int(((bin % count) + count) % count), bin)
    }
}
