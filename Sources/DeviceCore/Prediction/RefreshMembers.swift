import Vocabulary

/// The apps whose use is known and that ask for refreshes, and how good the moments of today were
/// for each: what a price is made of.
struct RefreshMembers: Hashable, Sendable, Codable {
    /// By index, in order.
    private(set) var indices: [Int] = []
    /// By app: whether it is one of them.
    private var belong: [Bool] = []
    /// By app and half-hour: the best level of today.
    private var today: [UInt8] = []
    /// By app: where its gain lies on the scale, as last measured; 0: not to be refreshed.
    private(set) var positions: [Double] = []
    private(set) var chances: [Double] = []

    func contains(_ index: Int) -> Bool { index < belong.count && belong[index] }

    /// Looks at an app whose manifest or requests have changed. Returns whether it has joined or
    /// left.
    mutating func update(_ index: Int, in apps: AppTable) -> Bool {
        let belongs = apps.isUsed(index) && apps[index].isPlanned
        guard belongs != contains(index) else { return false }
        makeRoom(for: apps.endIndex)
        if belongs {
            insert(index)
        } else {
            indices.remove(at: position(of: index))
            belong[index] = false
        }
        return true
    }

    private mutating func insert(_ index: Int) {
        indices.insert(index, at: position(of: index))
        belong[index] = true
    }

    /// In the list of those that take part.
    private func position(of index: Int) -> Int {
        var range = 0..<indices.count
        while let middle = range.isEmpty ? nil : (range.lowerBound + range.upperBound) / 2 {
            range =
                indices[middle] < index
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    private mutating func makeRoom(for count: Int) {
        while positions.count < count {
            positions.append(0)
            chances.append(0)
            belong.append(false)
        }
        let slots = count * GainHistory.slotCount
        if today.count < slots {
            today.append(contentsOf: repeatElement(0, count: slots - today.count))
        }
    }

    // MARK: Today

    mutating func measured(_ position: Double, _ chance: Double, of index: Int, slot: Int) {
        (positions[index], chances[index]) = (position, chance)
        let offset = index * GainHistory.slotCount + slot
        today[offset] = max(today[offset], UInt8(position))
    }

    mutating func forgetGains() { for index in positions.indices { positions[index] = 0 } }
    mutating func forgetGain(of index: Int) { if index < positions.count { positions[index] = 0 } }

    func slots(of index: Int) -> ArraySlice<UInt8> {
        let first = index * GainHistory.slotCount
        return today[first..<first + GainHistory.slotCount]
    }

    /// What was seen of the current day goes to what is known of the days before. Whether another
    /// number of apps is known well enough now.
    mutating func finish(_ day: Int64, counts: Bool, in apps: inout AppTable) -> Bool {
        var (before, after) = (0, 0)
        for index in indices {
            if apps[index].isKnownForLong { before += 1 }
            if day != .min {
                apps[index].record.refresh.gains.keep(slots(of: index), of: day)
                apps[index].record.refresh.gains.finish(counts: counts)
            }
            if apps[index].isKnownForLong { after += 1 }
        }
        for index in today.indices { today[index] = 0 }
        return before != after
    }

    /// What was seen of a day before the daemon ended goes on.
    mutating func restore(_ day: Int64, in apps: inout AppTable) {
        for index in 0..<apps.endIndex where apps.isUsed(index) {
            let gains = apps[index].gains
            guard !gains.today.isEmpty else { continue }
            guard gains.day == day else {
                // It took no part any more when that day ended.
                apps[index].record.refresh.gains.finish(counts: false)
                continue
            }
            makeRoom(for: apps.endIndex)
            let first = index * GainHistory.slotCount
            for (slot, level) in gains.today.enumerated() { today[first + slot] = level }
            insert(index)
        }
    }
}
