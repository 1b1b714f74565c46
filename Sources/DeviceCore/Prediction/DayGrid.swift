/// When something began, for each five minutes of the last 64 days: one bit each. From them every
/// histogram can be made, with any forgetting, and nothing else has to be kept.
package struct DayGrid: Hashable, Sendable {
    static let binCount = 288

    /// By five minutes; bit k is the day k days of use ago, bit 0 the current one.
    private(set) var bins: [UInt64]

    init() { bins = [UInt64](repeating: 0, count: Self.binCount) }

    mutating func mark(_ bin: Int) { bins[bin] |= 1 }

    func isMarked(_ bin: Int) -> Bool { bins[bin] & 1 != 0 }

    /// `days` new days began.
    mutating func pass(days: Int64) {
        guard days > 0 else { return }
        // A shift by 64 or more leaves nothing.
        for bin in bins.indices { bins[bin] <<= days }
    }

    /// The days on which something began in the bins from `first` up to, not including, `end`;
    /// these may lie up to a day before or after the day itself.
    ///
    /// `lag`: how many days of use began since the grid was last moved on.
    func days(from first: Int, to end: Int, lag: Int64, followed: UInt64) -> UInt64 {
        let next = any(max(first, Self.binCount), end, shift: -Self.binCount)
        let previous = any(first, min(end, 0), shift: Self.binCount)
        var own = any(max(first, 0), min(end, Self.binCount), shift: 0)
        own <<= lag
        if next != 0 { own |= ((next << lag) << 1) & followed }
        if previous != 0 { own |= ((previous << lag) >> 1) & (followed >> 1) }
        return own
    }

    private func any(_ first: Int, _ end: Int, shift: Int) -> UInt64 {
        var days: UInt64 = 0
        var bin = first
        while bin < end {
            days |= bins[bin + shift]
            bin += 1
        }
        return days
    }
}

/// A list of 288 integers: most of them are 0, one byte.
extension DayGrid: Codable {
    package init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        bins = []
        bins.reserveCapacity(Self.binCount)
        for _ in 0..<Self.binCount {
            bins.append(UInt64(bitPattern: try list.decode(Int64.self)))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        for bin in bins { try list.encode(Int64(bitPattern: bin)) }
    }
}
