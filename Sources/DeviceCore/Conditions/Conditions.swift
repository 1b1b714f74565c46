package import Vocabulary

/// What the device knows of itself: per condition every source's word, and the one in force.
package struct Conditions: Hashable, Sendable, Codable {
    /// One condition, in force.
    package struct State: Hashable, Sendable, Codable {
        package var value: Int
        package var sensing: Sensing
        /// Nil: unknown.
        package var source: ConditionSource?
        /// Since when it is so; nil: since the daemon started.
        package var since: WallTime?
    }

    private var readings: [SourceReading] = []
    private var states: [State]
    /// Battery below the limit, with hysteresis, so that it does not flap around it.
    package private(set) var batteryIsLow = false
    /// When a condition was last found as work needs it after it had not been; nil: never, or the
    /// user says so. By condition.
    private var cameBack: [BootTime?]
    /// Whether the device was unlocked since boot.
    private(set) var unlockedOnce = false

    private struct SourceReading: Hashable, Sendable, Codable {
        var condition: Condition
        var source: ConditionSource
        var reading: Reading
    }

    package init() {
        // The daemon sees each commit of its own.
        readings = [SourceReading(condition: .storage, source: .daemon, reading: .value(0))]
        states = Condition.allCases.map { Self.unknown($0) }
        cameBack = Condition.allCases.map { _ in nil }
        states[Condition.storage.index] = inForce(.storage)
    }

    /// An event log may be of a build that knows other conditions.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        readings = try fields.decode([SourceReading].self, forKey: .readings)
        states = try fields.decode([State].self, forKey: .states)
        batteryIsLow = try fields.decode(Bool.self, forKey: .batteryIsLow)
        cameBack = try fields.decode([BootTime?].self, forKey: .cameBack)
        unlockedOnce = try fields.decode(Bool.self, forKey: .unlockedOnce)
        let count = Condition.allCases.count
        guard states.count == count, cameBack.count == count else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not these conditions")
            )
        }
    }

    package subscript(_ condition: Condition) -> State { states[condition.index] }

    func cameBack(_ condition: Condition) -> BootTime? { cameBack[condition.index] }

    func value(_ condition: Condition) -> Int { states[condition.index].value }

    package var externalPower: Bool { value(.power) == 1 }
    /// As `externalPower`, of a device that can be without it.
    package var isOnCharger: Bool { externalPower && self[.power].sensing == .known }
    package var battery: Int { value(.battery) }
    package var networkReachable: Bool { value(.network) == 2 }
    package var metered: Bool { value(.metered) == 1 }
    package var lowData: Bool { value(.lowData) == 1 }
    /// Whether nobody is known to use the device. An estimate knows of nobody: it holds work back,
    /// and neither ends any nor teaches when the device is used.
    package var deviceIdle: Bool { value(.idle) == 1 || self[.idle].source == .estimate }
    /// Nothing but an estimate tells whether the device is in use.
    var idleIsEstimated: Bool {
        self[.idle].sensing == .unknown || self[.idle].source == .estimate
    }
    /// For what asks for this very condition: a source says that it holds, or that the device
    /// cannot be without it.
    package func isAssured(_ condition: Condition) -> Bool {
        let state = self[condition]
        return state.sensing != .unknown && state.value == condition.harmless
    }
    package var lowPower: Bool { value(.lowPower) == 1 }
    package var locked: Bool { value(.locked) != 0 }
    package var beforeFirstUnlock: Bool { value(.locked) == 2 }
    package var thermal: Int { value(.thermal) }
    package var memory: Int { value(.memory) }
    package var storage: Int { value(.storage) }
    /// Serious.
    static let thermalLimit = 2
    static let criticallyWarm = 3
    var isTooWarm: Bool { thermal >= Self.thermalLimit }
    /// Critical.
    var isMemoryShort: Bool { memory >= 2 }
    /// Deleted under the daemon, or moved away.
    static let storageGone = 3
    var storageIsGone: Bool { storage == Self.storageGone }
    package var storageSentence: String {
        storageIsGone
            ? "the state directory has been deleted or moved"
            : "the disk is full or not writable"
    }
    package var storageFix: String { storageIsGone ? Self.goneFix : "free some space" }
    static let goneFix =
        "move the state directory back if it was moved; a deleted one is recreated within a minute"

    /// What a source's word has changed.
    struct Change {
        /// A gate may answer otherwise, or with another explanation.
        var isAny: Bool
        /// The value, or whether what asks for the condition can have it.
        var isOfValue: Bool
        /// A gate may hold what it did not hold before.
        var mayClose: Bool
    }

    /// A source spoke.
    mutating func report(
        _ condition: Condition,
        _ source: ConditionSource,
        _ reading: Reading,
        limit: Int,
        margin: Int,
        at now: Moment
    ) -> Change {
        let wasAssured = isAssured(condition)
        insert(SourceReading(condition: condition, source: source, reading: reading))
        let old = self[condition]
        var new = inForce(condition)
        if condition == .locked {
            // What is set by hand, to try it, has unlocked nothing.
            if new.sensing == .known, new.source != .hand, new.value == 0 { unlockedOnce = true }
            new.value = bounded(lock: new.value)
        }
        let isOther = new.value != old.value || new.sensing != old.sensing
        new.since = isOther ? now.wall : old.since
        states[condition.index] = new
        if new.value != condition.harmless || new.source == .hand {
            cameBack[condition.index] = nil
        } else if old.value != condition.harmless, old.source != .hand {
            cameBack[condition.index] = now.boot
        }
        let wasLow = batteryIsLow
        updateBattery(limit: limit, margin: margin)
        let isAssured = isAssured(condition)
        // The battery's gate goes by whether it is low.
        let isWorse = isOther && new.value != condition.harmless && condition != .battery
        return Change(
            isAny: isOther || wasLow != batteryIsLow,
            isOfValue: new.value != old.value || isAssured != wasAssured,
            mayClose: isWorse || wasAssured && !isAssured || !wasLow && batteryIsLow
        )
    }

    /// A condition that the user overrides.
    struct HandReading: Hashable, Sendable, Codable {
        var condition: Condition
        var value: Int
    }

    var byHand: [HandReading] {
        readings.compactMap { entry in
            guard entry.source == .hand, case .value(let value) = entry.reading else { return nil }
            return HandReading(condition: entry.condition, value: value)
        }
    }

    mutating func restore(_ reading: HandReading) {
        insert(
            SourceReading(
                condition: reading.condition,
                source: .hand,
                reading: .value(reading.value)
            )
        )
        states[reading.condition.index] = inForce(reading.condition)
    }

    /// In the boot of the record.
    mutating func restore(unlockedOnce: Bool) { self.unlockedOnce = unlockedOnce }

    /// Another boot: nobody has unlocked it yet, and the sources speak anew.
    mutating func rebooted() { unlockedOnce = false }

    mutating func updateBattery(limit: Int, margin: Int) {
        // A battery that is known and a power line that is not: it may be what feeds the device.
        let isFed = externalPower && self[.power].sensing != .unknown
        if isFed || battery >= min(100, limit + margin) {
            batteryIsLow = false
        } else if battery < limit {
            batteryIsLow = true
        }
    }

    /// Once unlocked, a lock is a lock: the state before the first unlock does not come back
    /// until the next boot.
    private func bounded(lock value: Int) -> Int {
        value == 2 && unlockedOnce && !isByHand(.locked) ? 1 : value
    }

    private func isByHand(_ condition: Condition) -> Bool {
        readings.contains { $0.condition == condition && $0.source == .hand }
    }

    /// In the place of what its source said before, and in order of rank, which `inForce` needs.
    private mutating func insert(_ entry: SourceReading) {
        readings.removeAll { $0.condition == entry.condition && $0.source == entry.source }
        guard entry.reading != .silent else { return }
        let next = readings.firstIndex {
            ($0.condition.rawValue, $0.source.rank) > (entry.condition.rawValue, entry.source.rank)
        }
        readings.insert(entry, at: next ?? readings.endIndex)
    }

    private func inForce(_ condition: Condition) -> State {
        // Sources are in order of rank: the first that has a value has the word. What is lost
        // yields to a source that still reports, even one that reports no device.
        var best = Self.unknown(condition)
        for entry in readings where entry.condition == condition {
            switch entry.reading {
            case .value(let value):
                return State(value: value, sensing: .known, source: entry.source, since: nil)
            case .noDevice where best.sensing != .noDevice:
                let value = condition.harmless
                best = State(value: value, sensing: .noDevice, source: entry.source, since: nil)
            case .lost where best.sensing == .unknown:
                let value = condition.cautious
                best = State(value: value, sensing: .lost, source: entry.source, since: nil)
            case .noDevice, .lost, .silent: break
            }
        }
        return best
    }

    private static func unknown(_ condition: Condition) -> State {
        State(value: condition.harmless, sensing: .unknown, source: nil, since: nil)
    }
}
