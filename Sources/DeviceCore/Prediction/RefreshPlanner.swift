package import Vocabulary

/// Whose the refresh budget of a day is: one of all apps together, or one of each app.
package enum RefreshBudgetScope: String, CaseIterable, Hashable, Sendable, Codable {
    case app, device
}

/// Why a refresh was begun: kept with the run in the history.
package struct RefreshDecision: Hashable, Sendable, Codable {
    /// That the app is opened in the half-hour after, in thousandths.
    package var chance: Int64
    /// From which chance on a refresh was worth it then, in thousandths; with `because`.
    package var price: Int64
    /// Refreshes left in the budget, before this one.
    package var left: Int64
    /// What the budget held that day, as of then. It, `because` and `at` are nil in older records.
    package var budget: Int64?
    /// Its position among the apps refreshed together, from 1.
    package var together: Int64
    package var scope: RefreshBudgetScope
    package var because: Reason?
    package var at: WallTime?

    /// What could not begin by then is chosen anew.
    func isOver(at now: WallTime) -> Bool {
        at.map { now - $0 > RefreshPlanner.freshness } ?? true
    }

    package enum Reason: String, CaseIterable, Hashable, Sendable, Codable {
        /// The chance alone was worth it.
        case chance
        /// Only as nothing had to be woken: the device was awake anyway, or woken for another app.
        case deviceAwake, sharedWake
        /// Only as it had got nothing of the common budget for long.
        case turn
    }
}

/// What is spent of today's budget, and what the decisions are made of between two of them.
struct RefreshPlanner: Hashable, Sendable, Codable {
    /// The local day that `spent` and `today` are of. Who travels west over midnight has no second
    /// budget for the same day: it does not go back by one, unless the clock was set by half a day.
    var day: Int64 = .min
    /// Of the budget of all apps together.
    var spent: Int64 = 0
    /// What the budget of all apps together holds for a day, as of the last search, and what one of
    /// them may take.
    var filled: Int64 = 0
    var ceiling: Int64 = 0
    /// Of today's, for refreshes that are chosen and have not begun.
    var promised: Int64 = 0
    /// The apps whose use is known, by index.
    var members: [Int] = []
    /// By app and half-hour: the best level of today.
    var today: [UInt8] = []
    /// By app: where its gain lies on the scale, as of `recordedUntil`; 0: not to be refreshed.
    var positions: [Double] = []
    var chances: [Double] = []
    /// Of the days before, all apps.
    var table = GainTable()
    /// They have been counted since the start.
    var isCounted = false
    /// How many days those are, of the app that is known longest.
    var days = 0
    /// How many apps are known for long enough.
    var knownCount = 0
    /// Until when the moments of today are known.
    var recordedUntil: WallTime?
    /// When something may be worth a refresh next; nil: not by time alone.
    var decideAt: WallTime?
    /// At `decideAt` a machine that sleeps is to be woken.
    var wakes = false
    /// Something has changed that `decideAt` depends on.
    var isStale = true
    /// The device or an app was used since the last decision.
    var wasUsed = true
    var search = RefreshSearch()

    /// So much must be known before moments are chosen by it.
    static let enoughDays = 3
    static let enoughOpens: UInt32 = 5
    /// How far below the price a refresh may lie, on the scale of levels, of a device that is awake
    /// anyway, or woken for another app (docs/prediction.md).
    static let awakeDiscount = 2.0
    static let wokenDiscount = 1.0
    /// Where a gain lies on the scale below which nothing wakes a device that sleeps: 6 %.
    static let leastToWake = GainHistory.position(of: 0.06)
    /// How far below the price a refresh may lie while the device charges; and how far above it one
    /// must lie that is paid for by the byte.
    static let chargingDiscount = 1.0
    static let meteredSurcharge = 2.0
    /// An app that got nothing of a common budget for so long, divided by the refreshes a day, is
    /// given one: a thirty-second of an even share.
    static let starvationLimit = Interval.days(32)
    /// While the device is in use, and nothing else is, so far ahead is looked.
    static let inUse = Interval.hours(1)
    static let bin = Interval.minutes(5)
    static let freshness = Interval.minutes(30)
    /// So long after its use an app may be refreshed: of the decisions that are a bin apart, at the
    /// one nearest to when its content goes stale.
    static let rest = Interval.seconds(27 * 60 + 30)
    /// So soon after a use it is seen what that tells: what the user came for is open by then.
    static let afterUse = Interval.seconds(10)

    static func slot(_ time: UseTime) -> Int { time.bin / 6 }

    mutating func makeRoom(for count: Int) {
        while positions.count < count {
            positions.append(0)
            chances.append(0)
        }
        let slots = count * GainHistory.slotCount
        if today.count < slots {
            today.append(contentsOf: repeatElement(0, count: slots - today.count))
        }
    }

    /// The device or an app was used, or what is told from use is another.
    mutating func useChanged() {
        isStale = true
        wasUsed = true
        search.chances.removeAll()
    }

    /// The clock was set: what was looked at was the moment of another one.
    mutating func forgetGains(at now: WallTime) {
        recordedUntil = now
        for index in positions.indices { positions[index] = 0 }
    }

    /// It was opened: what is decided at this moment was looked at before.
    mutating func forgetGain(of index: Int) {
        if index < positions.count { positions[index] = 0 }
    }

    func slots(of index: Int) -> ArraySlice<UInt8> {
        let first = index * GainHistory.slotCount
        return today[first..<first + GainHistory.slotCount]
    }

    mutating func restored(_ slots: [UInt8], of index: Int) {
        let first = index * GainHistory.slotCount
        for (slot, level) in slots.enumerated() { today[first + slot] = level }
    }

    mutating func recordGain(_ position: Double, of index: Int, slot: Int) {
        let offset = index * GainHistory.slotCount + slot
        today[offset] = max(today[offset], UInt8(position))
    }
}

/// The device's part of it that is kept.
struct RefreshBudgetRecord: Hashable, Sendable, Codable {
    var day: Int64
    var spent: Int64
}
