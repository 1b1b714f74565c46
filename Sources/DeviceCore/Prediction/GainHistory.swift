/// How good each half-hour of the last days was for a refresh of one app, at its best: one byte
/// each. From them comes the price.
package struct GainHistory: Hashable, Sendable, Codable {
    static let slotCount = 48
    static let dayCount = 14
    /// One byte, 0: the app was in use then, or its content fresh anyway.
    static let levelCount = 64

    /// By day and slot, the newest day first.
    private(set) var past: [UInt8] = []
    /// What was seen of the day `day`.
    private(set) var today: [UInt8] = []
    private(set) var day: Int64 = .min

    init() {}

    var isValid: Bool {
        past.count % Self.slotCount == 0 && [0, Self.slotCount].contains(today.count)
            && (past + today).allSatisfy { $0 < Self.levelCount }
    }

    /// Where a gain lies on the scale of levels: log odds, evenly divided.
    static func position(_ logOdds: Double) -> Double {
        min(Double(levelCount) - 0.001, max(1, 1 + (logOdds + 8) * 5.25))
    }

    /// The same of a chance.
    static func position(of chance: Double) -> Double {
        let kept = min(1 - 1e-4, max(1e-4, chance))
        return position(Arithmetic.ln(kept / (1 - kept)))
    }

    static func logOdds(_ position: Double) -> Double { (position - 1) / 5.25 - 8 }

    var days: Int { past.count / Self.slotCount }

    mutating func keep(_ slots: some Collection<UInt8>, of day: Int64) {
        today = Array(slots)
        self.day = day
    }

    /// The current day is over; it counts if the device was used on it.
    mutating func finish(counts: Bool) {
        if counts, today.count == Self.slotCount {
            past.insert(contentsOf: today, at: 0)
            let limit = Self.slotCount * Self.dayCount
            if past.count > limit { past.removeLast(past.count - limit) }
        }
        today = []
        day = .min
    }
}

extension GainHistory {
    /// The position on the scale above which `left` half-hours later than `slot` lie, on an
    /// average day; 0: there are not so many. Below it nothing is worth a refresh.
    func price(after slot: Int, left: Double) -> Double {
        var counts = InlineArray<64, Int32>(repeating: 0)
        let past = past.span
        var day = 0
        while day < past.count {
            var index = day + slot + 1
            while index < day + Self.slotCount {
                counts[Int(past[index])] += 1
                index += 1
            }
            day += Self.slotCount
        }
        return Self.price(left: left, days: days) { counts[$0] }
    }

    /// `count`: how many half-hours have a level.
    static func price(left: Double, days: Int, count: (Int) -> Int32) -> Double {
        let wanted = left * Double(max(1, days))
        guard wanted > 0 else { return Double(levelCount) }
        var above = 0.0
        for level in (1..<levelCount).reversed() {
            let here = Double(count(level))
            if above + here >= wanted { return Double(level) + 1 - (wanted - above) / here }
            above += here
        }
        return 0
    }
}

/// How many half-hours of the past days, of all apps, had each level: of each half-hour of the day
/// and all later ones. Made anew each day, and when other apps take part.
struct GainTable: Hashable, Sendable, Codable {
    private var counts: [Int32]
    /// How many days those are, of the app that is known longest.
    private var days = 0

    init(of indices: [Int], in apps: AppTable) {
        counts = [Int32](repeating: 0, count: GainHistory.slotCount * GainHistory.levelCount)
        for index in indices { add(apps[index].gains) }
        sumUp()
    }

    private mutating func add(_ history: GainHistory) {
        days = max(days, history.days)
        let past = history.past.span
        for index in past.indices {
            let slot = index % GainHistory.slotCount
            counts[slot * GainHistory.levelCount + Int(past[index])] += 1
        }
    }

    /// After all have been added.
    private mutating func sumUp() {
        let levels = GainHistory.levelCount
        for index in counts.indices.dropLast(levels).reversed() {
            counts[index] += counts[index + levels]
        }
    }

    /// As of one app, on an average of `days` days.
    func price(after slot: Int, left: Double) -> Double {
        let first = (slot + 1) * GainHistory.levelCount
        guard first < counts.count else {
            return GainHistory.price(left: left, days: days) { _ in 0 }
        }
        return GainHistory.price(left: left, days: days) { counts[first + $0] }
    }
}
