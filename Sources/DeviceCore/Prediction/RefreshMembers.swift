import Vocabulary

/// The apps whose use is known and that ask for refreshes, and how good the moments of today were
/// for each: what a price is made of.
struct RefreshMembers: Hashable, Sendable, Codable {
    /// By index, in order.
    private(set) var indices: [Int] = []
    /// By app and half-hour: the best level of today.
    private var today: [UInt8] = []
    /// By app: where its gain lies on the scale, as last measured; 0: not to be refreshed.
    private(set) var positions: [Double] = []
    private(set) var chances: [Double] = []
    /// Of the days before, all apps.
    private var table = GainTable()
    /// They have been counted since the start.
    private var isCounted = false
    /// How many days those are, of the app that is known longest.
    private var days = 0
    /// How many apps are known for long enough.
    private var knownCount = 0

    func contains(_ index: Int) -> Bool { indices.contains(index) }

    /// Whether others than before take part, or the days before are to be counted.
    mutating func find(in apps: AppTable) -> Bool {
        var changed = !isCounted
        var memberIndex = 0
        for index in 0..<apps.endIndex {
            let belongs = apps.isUsed(index) && apps[index].isPlanned
            let isMember = memberIndex < indices.count && indices[memberIndex] == index
            if belongs != isMember {
                changed = true
                if belongs {
                    indices.insert(index, at: memberIndex)
                } else {
                    indices.remove(at: memberIndex)
                }
            }
            if belongs { memberIndex += 1 }
        }
        if changed { makeRoom(for: apps.endIndex) }
        return changed
    }

    /// Nobody else takes part.
    func isCurrent(in apps: AppTable) -> Bool {
        var copy = self
        return !copy.find(in: apps)
    }

    private mutating func makeRoom(for count: Int) {
        while positions.count < count {
            positions.append(0)
            chances.append(0)
        }
        let slots = count * GainHistory.slotCount
        if today.count < slots {
            today.append(contentsOf: repeatElement(0, count: slots - today.count))
        }
    }

    /// Makes the table of the days before anew. Whether another number of apps is known now.
    mutating func countDays(in apps: AppTable) -> Bool {
        isCounted = true
        table.clear()
        days = 0
        let known = knownCount
        knownCount = 0
        for index in indices {
            let gains = apps[index].gains
            table.add(gains)
            days = max(days, gains.days)
            if gains.days >= RefreshPolicy.enoughDays { knownCount += 1 }
        }
        table.sumUp()
        return knownCount != known
    }

    /// The price for an app of the budget of all together.
    func price(after slot: Int, left: Double) -> Double {
        table.price(after: slot, left: left, days: days)
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

    /// What was seen of the current day goes to what is known of the days before.
    mutating func finish(_ day: Int64, counts: Bool, in apps: inout AppTable) {
        for index in indices where day != .min {
            apps[index].record.refresh.gains.keep(slots(of: index), of: day)
            apps[index].record.refresh.gains.finish(counts: counts)
        }
        for index in today.indices { today[index] = 0 }
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
            indices.append(index)
        }
    }
}
