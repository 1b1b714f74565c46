package import Vocabulary

/// What the device knows of itself: per condition every source's word, and the one in force.
package struct Conditions: Hashable, Sendable, Codable {
    /// One sensor, in force.
    package struct State: Hashable, Sendable, Codable {
        package var value: Int
        /// Nil: no source has it (the harmless value).
        package var source: ConditionSource?
        package var isLost: Bool
        /// When `value` last changed; nil: since the daemon started.
        package var since: WallTime?
    }

    private var words: [Word] = []
    private var states: [State]
    /// Battery below the limit, with hysteresis, so that it does not flap around it.
    package private(set) var batteryIsLow = false
    /// Whether the device was unlocked since boot.
    private(set) var unlockedOnce = false

    private struct Word: Hashable, Sendable, Codable {
        var condition: Condition
        var source: ConditionSource
        var reading: Reading
    }

    package init() {
        states = Condition.allCases.map {
            State(value: $0.row.absent, source: nil, isLost: false, since: nil)
        }
    }

    package subscript(_ condition: Condition) -> State { states[Self.index(condition)] }

    func value(_ condition: Condition) -> Int { states[Self.index(condition)].value }

    package var externalPower: Bool { value(.power) == 1 }
    /// As `externalPower`, of a device that can be without it.
    package var isOnCharger: Bool { externalPower && self[.power].source != nil }
    package var battery: Int { value(.battery) }
    package var networkReachable: Bool { value(.network) == 2 }
    package var metered: Bool { value(.metered) == 1 }
    package var deviceIdle: Bool { value(.idle) == 1 }
    package var lowPower: Bool { value(.lowPower) == 1 }
    package var locked: Bool { value(.locked) != 0 }
    package var beforeFirstUnlock: Bool { value(.locked) == 2 }
    package var thermal: Int { value(.thermal) }
    package var memory: Int { value(.memory) }
    package var storage: Int { value(.storage) }

    /// A source spoke. Returns whether the condition in force changed.
    mutating func report(
        _ condition: Condition,
        _ source: ConditionSource,
        _ reading: Reading,
        limit: Int,
        margin: Int,
        at now: Moment
    ) -> Bool {
        words.removeAll { $0.condition == condition && $0.source == source }
        if reading != .absent {
            words.append(Word(condition: condition, source: source, reading: reading))
            words.sort {
                ($0.condition.rawValue, $0.source.rank) < ($1.condition.rawValue, $1.source.rank)
            }
        }
        let old = self[condition]
        var new = inForce(condition)
        if condition == .locked { new.value = bounded(lock: new.value) }
        let changed = new.value != old.value
        new.since = changed ? now.wall : old.since
        states[Self.index(condition)] = new
        let wasLow = batteryIsLow
        updateBattery(limit: limit, margin: margin)
        return changed || wasLow != batteryIsLow
    }

    /// A condition that the user plays.
    struct HandReading: Hashable, Sendable, Codable {
        var condition: Condition
        var value: Int
    }

    var byHand: [HandReading] {
        words.compactMap { word in
            guard word.source == .hand, case .value(let value) = word.reading else { return nil }
            return HandReading(condition: word.condition, value: value)
        }
    }

    mutating func restore(_ reading: HandReading) {
        words.append(
            Word(condition: reading.condition, source: .hand, reading: .value(reading.value))
        )
        states[Self.index(reading.condition)] = inForce(reading.condition)
    }

    /// Another boot: nobody has unlocked it yet, and the sources speak anew.
    mutating func rebooted() { unlockedOnce = false }

    mutating func updateBattery(limit: Int, margin: Int) {
        if externalPower || battery >= min(100, limit + margin) {
            batteryIsLow = false
        } else if battery < limit {
            batteryIsLow = true
        }
    }

    /// Once unlocked, a lock is a lock: the state before the first unlock does not come back
    /// until the next boot.
    private mutating func bounded(lock value: Int) -> Int {
        if value == 0 { unlockedOnce = true }
        return value == 2 && unlockedOnce && !isByHand(.locked) ? 1 : value
    }

    private func isByHand(_ condition: Condition) -> Bool {
        words.contains { $0.condition == condition && $0.source == .hand }
    }

    private func inForce(_ condition: Condition) -> State {
        // Sources are in order of rank: the first that has a value has the word; one that is lost
        // yields to a lower one that still sees.
        var lost: State?
        for word in words where word.condition == condition {
            if case .value(let value) = word.reading {
                return State(value: value, source: word.source, isLost: false, since: nil)
            }
            if lost == nil {
                let value = condition.row.lost
                lost = State(value: value, source: word.source, isLost: true, since: nil)
            }
        }
        return lost ?? State(value: condition.row.absent, source: nil, isLost: false, since: nil)
    }

    private static func index(_ condition: Condition) -> Int {
        switch condition {
        case .battery: 0
        case .power: 1
        case .network: 2
        case .metered: 3
        case .locked: 4
        case .idle: 5
        case .lowPower: 6
        case .thermal: 7
        case .memory: 8
        case .storage: 9
        }
    }
}
