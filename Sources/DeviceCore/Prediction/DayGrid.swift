/// When something began, for each five minutes of the last 64 days: one bit each. From them every
/// histogram can be made, with any forgetting, and nothing else has to be kept.
package struct DayGrid: Hashable, Sendable {
    static let binCount = 288

    /// By five minutes; bit k is the day k days of use ago, bit 0 the current one. Empty until
    /// something is marked.
    private(set) var bins: [UInt64] = []

    init() {}

    mutating func mark(_ bin: Int) {
        if bins.isEmpty { bins = [UInt64](repeating: 0, count: Self.binCount) }
        bins[bin] |= 1
    }

    func isMarked(_ bin: Int) -> Bool { !bins.isEmpty && bins[bin] & 1 != 0 }

    /// `days` new days began.
    mutating func pass(days: Int64) {
        guard days > 0 else { return }
        // A shift by 64 or more leaves nothing.
        for bin in bins.indices { bins[bin] <<= days }
        if !bins.contains(where: { $0 != 0 }) { bins = [] }
    }

    /// The days on which something began in the bins from `first` up to, not including, `end`;
    /// these may lie up to a day before or after the day itself.
    ///
    /// `lag`: how many days of use began since the grid was last moved on.
    func days(from first: Int, to end: Int, lag: Int64, followed: UInt64) -> UInt64 {
        if bins.isEmpty { return 0 }
        if first >= 0, end <= Self.binCount { return any(first, end, shift: 0) << lag }
        let next = any(max(first, Self.binCount), end, shift: -Self.binCount)
        let previous = any(first, min(end, 0), shift: Self.binCount)
        var own = any(max(first, 0), min(end, Self.binCount), shift: 0)
        own <<= lag
        if next != 0 { own |= ((next << lag) << 1) & followed }
        if previous != 0 { own |= ((previous << lag) >> 1) & (followed >> 1) }
        return own
    }

    private func any(_ first: Int, _ end: Int, shift: Int) -> UInt64 {
        guard first < end else { return 0 }
        precondition(first + shift >= 0 && end + shift <= bins.count)
        var days: UInt64 = 0
        let span = bins.span
        // Checked above: asked some thousand times a day and app.
        for bin in first + shift..<end + shift { days |= unsafe span[unchecked: bin] }
        return days
    }
}

/// A list: of the bins that are not 0, each with its index before it; or, when those are many, of
/// all 288.
extension DayGrid: Codable {
    private static let fewBins = 96

    package init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        var numbers: [Int64] = []
        while !list.isAtEnd, numbers.count <= Self.binCount {
            numbers.append(try list.decode(Int64.self))
        }
        if numbers.isEmpty { return }
        if numbers.count == Self.binCount {
            bins = numbers.map { UInt64(bitPattern: $0) }
            return
        }
        bins = [UInt64](repeating: 0, count: Self.binCount)
        for index in stride(from: 0, to: numbers.count, by: 2) {
            guard numbers.count <= 2 * Self.fewBins, index + 1 < numbers.count,
                let bin = Int(exactly: numbers[index]), bins.indices.contains(bin)
            else {
                throw DecodingError.dataCorruptedError(
                    in: list,
                    debugDescription: "not the bins of a day"
                )
            }
            bins[bin] = UInt64(bitPattern: numbers[index + 1])
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        let isSparse = bins.count { $0 != 0 } <= Self.fewBins
        for (index, bin) in bins.enumerated() where bin != 0 || !isSparse {
            if isSparse { try list.encode(Int64(index)) }
            try list.encode(Int64(bitPattern: bin))
        }
    }
}
