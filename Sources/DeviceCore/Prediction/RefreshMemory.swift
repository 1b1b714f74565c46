import Vocabulary

/// What is learned of one app for its refreshes: bounded, kept with the app's record.
package struct RefreshMemory: Hashable, Sendable, Codable {
    /// Outcomes of refreshes; the older ones count less.
    package private(set) var newData: UInt32 = 0
    package private(set) var noData: UInt32 = 0
    package private(set) var opens: UInt32 = 0
    package private(set) var use = AppUse()
    var moments = MomentRing()
    /// What a run takes, in seconds of time and of the processor; the last runs count most.
    private var cost = 0.0
    private var day: Int64 = .min
    private var spent: Int64 = 0

    package init() {}

    mutating func opened(on device: inout DeviceUse, at now: UseTime) {
        opens = opens == .max ? opens : opens + 1
        use.opened(on: &device, at: now)
    }

    mutating func left(at now: UseTime) { use.left(at: now) }

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

    /// What a refresh is worth beside one that always brings something, and quickly.
    var worth: Double {
        let newness = Double(newData + 2) / Double(newData + noData + 2)
        return newness * 80 / (60 + max(20, cost))
    }

    mutating func spend(on day: Int64) {
        spent = spent(on: day) + 1
        self.day = day
    }

    func spent(on day: Int64) -> Int64 { day == self.day ? spent : 0 }
}

extension RefreshMemory {
    /// Records of older versions have the first three only.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        newData = try fields.decode(UInt32.self, forKey: .newData)
        noData = try fields.decode(UInt32.self, forKey: .noData)
        opens = try fields.decode(UInt32.self, forKey: .opens)
        use = try fields.decodeIfPresent(AppUse.self, forKey: .use) ?? AppUse()
        moments = try fields.decodeIfPresent(MomentRing.self, forKey: .moments) ?? MomentRing()
        cost = try fields.decodeIfPresent(Double.self, forKey: .cost) ?? 0
        day = try fields.decodeIfPresent(Int64.self, forKey: .day) ?? .min
        spent = try fields.decodeIfPresent(Int64.self, forKey: .spent) ?? 0
        // Counted without end before.
        while newData &+ noData >= 64 || newData >= 64 {
            (newData, noData) = (newData / 2, noData / 2)
        }
    }
}
