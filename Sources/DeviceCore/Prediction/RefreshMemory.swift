import Vocabulary

/// What is learned of one app for its refreshes: bounded, kept with the app's record.
package struct RefreshMemory: Hashable, Sendable, Codable, Defaulted {
    package static let defaultValue = RefreshMemory()

    /// Outcomes of refreshes; the older ones count less.
    package private(set) var newData: UInt32 = 0
    package private(set) var noData: UInt32 = 0
    package private(set) var opens: UInt32 = 0
    package private(set) var use = Self.noUse
    var gains = GainHistory()
    /// What a run takes, in seconds of time and of the processor; the last runs count most.
    private var cost = 0.0
    private var day: Int64 = .min
    private var spent: Int64 = 0

    /// Most apps are commands whose use nothing tells of: they share it, and do not write it.
    private static let noUse = AppUse()

    package init() {}

    var isValid: Bool { use.isValid && gains.isValid && cost.isAmount && spent.isCount }

    mutating func opened(on device: inout DeviceUse, at now: UseTime) {
        if use.opened(on: &device, at: now), opens < .max { opens += 1 }
    }

    mutating func left(at now: UseTime) { use.left(at: now) }
    mutating func leftUnseen() { use.leftUnseen() }
    mutating func clamp(to now: WallTime) -> Bool { use.clamp(to: now) }

    /// *Unknown*, failed and expired runs teach nothing.
    mutating func ended(_ result: RunResult, after runTime: Interval, _ cpu: Interval?) {
        switch result {
        case .newData: newData += 1
        case .noData: noData += 1
        case .failed, .succeeded, .unsuccessful, .expired, .interrupted, .terminated, .crashed,
            .exited, .notStarted, .retry, .unknown:
            return
        }
        let seconds = runTime.seconds + (cpu ?? .zero).seconds
        cost = newData + noData == 1 ? seconds : cost + (seconds - cost) / 8
        if newData + noData >= 64 { (newData, noData) = (newData / 2, noData / 2) }
    }

    /// What a refresh is worth beside one that always brings something and is done within ten
    /// seconds. The constant is what a run costs before it does anything.
    var worth: Double {
        let newness = Double(newData + 2) / Double(newData + noData + 2)
        return newness * min(1, 12 / (2 + cost))
    }

    mutating func spend(on day: Int64) {
        spent = spent(on: day) + 1
        self.day = day
    }

    mutating func refund(on day: Int64) {
        if day == self.day { spent = max(0, spent - 1) }
    }

    package func spent(on day: Int64) -> Int64 { day == self.day ? spent : 0 }
}

extension RefreshMemory {
    private enum CodingKeys: String, CodingKey {
        case newData, noData, opens, use, gains, cost, day, spent
    }

    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    /// As the store keeps it (RecordFields.swift).
    func value() throws(ValueError) -> Value {
        var fields = RecordFields(8)
        fields.put("cost", .double(cost))
        fields.put("day", day)
        if gains != GainHistory() { try fields.put("gains", gains) }
        fields.put("newData", Int64(newData))
        fields.put("noData", Int64(noData))
        fields.put("opens", Int64(opens))
        fields.put("spent", spent)
        if use != Self.noUse { try fields.put("use", use) }
        return fields.value
    }

    /// Records of older versions have the first three only.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        newData = try fields.decode(UInt32.self, forKey: .newData)
        noData = try fields.decode(UInt32.self, forKey: .noData)
        opens = try fields.decode(UInt32.self, forKey: .opens)
        use = try fields.decodeIfPresent(AppUse.self, forKey: .use) ?? Self.noUse
        gains = try fields.decodeIfPresent(GainHistory.self, forKey: .gains) ?? GainHistory()
        cost = try fields.decodeIfPresent(Double.self, forKey: .cost) ?? 0
        day = try fields.decodeIfPresent(Int64.self, forKey: .day) ?? .min
        spent = try fields.decodeIfPresent(Int64.self, forKey: .spent) ?? 0
        // Counted without end before.
        while max(newData, noData) >= 64 || newData + noData >= 64 {
            (newData, noData) = (newData / 2, noData / 2)
        }
    }
}
