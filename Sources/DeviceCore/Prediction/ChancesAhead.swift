import Vocabulary

/// What a search for the next decision works with. A memo: whatever it holds makes no difference,
/// and is not kept.
struct RefreshSearch: Sendable {
    var chances = ChancesAhead()
    /// Those whose refresh waits for its moment.
    var waiting: [Waiting] = []
    /// The half-hour, since ever, that their prices are of.
    var pricesOf: Int64?

    struct Waiting: Sendable {
        let index: Int
        /// Where its price lies on the scale.
        var price = 0.0
    }
}

/// Chances at instants to come, as far as somebody asked for them: they stay the same until the
/// device or an app is used, or the local time is another.
struct ChancesAhead: Sendable {
    /// Of five minutes since ever, by place in `rows`; a day has room.
    private var bins: [Int64] = []
    /// By app; negative: nobody asked.
    private var rows: [[Double]] = []

    mutating func forget() {
        for place in bins.indices { bins[place] = .min }
    }

    func chance(of app: Int, at time: WallTime) -> Double? {
        guard !bins.isEmpty else { return nil }
        let (place, bin) = Self.place(of: time)
        guard bins[place] == bin, app < rows[place].count, rows[place][app] >= 0 else { return nil }
        return rows[place][app]
    }

    /// `count`: of all apps.
    mutating func store(_ chance: Double, of app: Int, at time: WallTime, count: Int) {
        if bins.isEmpty {
            bins = [Int64](repeating: .min, count: DayGrid.binCount)
            rows = [[Double]](repeating: [], count: DayGrid.binCount)
        }
        let (place, bin) = Self.place(of: time)
        if bins[place] != bin || rows[place].count < count {
            if rows[place].count < count {
                rows[place] = [Double](repeating: -1, count: count)
            } else {
                for app in rows[place].indices { rows[place][app] = -1 }
            }
            bins[place] = bin
        }
        rows[place][app] = chance
    }

    private static func place(of time: WallTime) -> (place: Int, bin: Int64) {
        let bin = time.nanoseconds / RefreshPlanner.bin.nanoseconds
        let count = Int64(DayGrid.binCount)
        return (Int(((bin % count) + count) % count), bin)
    }
}

extension RefreshSearch: Hashable, Codable {
    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws {}
}
