import Vocabulary

/// Chances at instants to come, as far as somebody asked for them: they stay the same until the
/// device or an app is used, or the local time is another.
struct ChanceCache: Sendable {
    /// By five minutes of the day: the instant that is known there, and its row.
    private var times: [WallTime] = []
    /// By app; negative: nobody asked.
    private var rows: [[Double]] = []

    mutating func removeAll() {
        for bucket in times.indices { times[bucket] = .distantPast }
    }

    func chance(of app: Int, at time: WallTime) -> Double? {
        guard !times.isEmpty else { return nil }
        let bucket = Self.bucket(of: time)
        guard times[bucket] == time, app < rows[bucket].count, rows[bucket][app] >= 0 else {
            return nil
        }
        return rows[bucket][app]
    }

    /// `count`: of all apps.
    mutating func store(_ chance: Double, of app: Int, at time: WallTime, count: Int) {
        if times.isEmpty {
            times = [WallTime](repeating: .distantPast, count: DayGrid.binCount)
            rows = [[Double]](repeating: [], count: DayGrid.binCount)
        }
        let bucket = Self.bucket(of: time)
        if times[bucket] != time || rows[bucket].count < count {
            if rows[bucket].count < count {
                rows[bucket] = [Double](repeating: -1, count: count)
            } else {
                for app in rows[bucket].indices { rows[bucket][app] = -1 }
            }
            times[bucket] = time
        }
        rows[bucket][app] = chance
    }

    private static func bucket(of time: WallTime) -> Int {
        let count = Int64(DayGrid.binCount)
        let bin = time.nanoseconds / RefreshPolicy.bin.nanoseconds % count
        return Int(bin < 0 ? bin + count : bin)
    }
}
