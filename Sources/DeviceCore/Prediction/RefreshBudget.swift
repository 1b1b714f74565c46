import Vocabulary

/// Whose the refresh budget of a day is: one of all apps together, or one of each app.
package enum RefreshBudgetScope: String, CaseIterable, Hashable, Sendable, Codable {
    case app, device
}

/// The part of the budget that is kept.
struct RefreshBudgetRecord: Hashable, Sendable, Codable {
    var day: Int64
    var spent: Int64
}

/// How many refreshes there are for a day, and how many of today's are left.
struct RefreshBudget: Hashable, Sendable, Codable {
    /// The local day that `spent` is of. Who travels west over midnight has no second budget for
    /// the same day: it does not go back by one, unless the clock was set by half a day.
    private(set) var day: Int64 = .min
    /// Of the budget of all apps together.
    private(set) var spent: Int64 = 0
    /// What the budget of all apps together holds for a day, and what one of them may take.
    private(set) var filled: Int64 = 0
    private var ceiling: Int64 = 0
    /// Of today's, for refreshes that are chosen and have not begun: they wait for a slot, and will
    /// be paid for.
    private var promised: Int64 = 0

    init() {}

    init(_ record: RefreshBudgetRecord) { (day, spent) = (record.day, record.spent) }

    var record: RefreshBudgetRecord { RefreshBudgetRecord(day: day, spent: spent) }

    mutating func begin(_ day: Int64) { (self.day, spent) = (day, 0) }
    mutating func spend() { spent += 1 }
    mutating func refund() { spent = max(0, spent - 1) }
    mutating func promise() { promised += 1 }

    /// Less for what is of little use or costs much.
    mutating func fill(for members: [Int], _ facts: RefreshFacts) {
        var shares = 0.0
        var count = 0
        for index in members where facts.apps[index].isLearned {
            shares += share(of: index, facts)
            count += 1
        }
        // Never nothing: an app that gets nothing cannot show that it is worth more.
        filled = max(1, Int64(Double(facts.settings.refreshesPerDay) * shares))
        // None takes all.
        ceiling = count > 1 ? max(1, filled * 3 / 4) : filled
    }

    mutating func countPromised(at time: WallTime, _ promises: RefreshPromises) {
        promised = promises.count(at: time)
    }

    private func share(of index: Int, _ facts: RefreshFacts) -> Double {
        max(0.25, facts.apps[index].refreshWorth)
    }

    /// What a day begins with for an app.
    func perDay(of index: Int, _ facts: RefreshFacts) -> Int64 {
        switch facts.settings.budgetScope {
        case .app:
            max(1, Int64(Double(facts.settings.refreshesPerDay) * share(of: index, facts)))
        case .device: filled
        }
    }

    /// What is left of a day's budget for an app: of today's, or of a whole one.
    func left(
        of index: Int,
        at time: UseTime,
        _ promises: RefreshPromises,
        _ facts: RefreshFacts
    ) -> Int64 {
        let full = perDay(of: index, facts)
        guard time.day <= day else { return full }
        switch facts.settings.budgetScope {
        case .app: return full - taken(by: index, at: time.wall, promises, facts)
        case .device:
            return hasHadItsShare(index, at: time.wall, promises, facts)
                ? 0 : full - spent - promised
        }
    }

    /// It has taken as much of a common budget today as one app may.
    func hasHadItsShare(
        _ index: Int,
        at time: WallTime,
        _ promises: RefreshPromises,
        _ facts: RefreshFacts
    ) -> Bool {
        facts.settings.budgetScope == .device
            && taken(by: index, at: time, promises, facts) >= ceiling
    }

    private func taken(
        by index: Int,
        at time: WallTime,
        _ promises: RefreshPromises,
        _ facts: RefreshFacts
    ) -> Int64 {
        facts.apps[index].spentRefreshes(on: day) + promises.count(to: index, at: time)
    }
}

/// Refreshes that were chosen for a moment and have not begun: hardly ever any.
struct RefreshPromises: Sendable {
    private var ends: [(app: Int, at: WallTime)] = []

    mutating func removeAll() { ends.removeAll(keepingCapacity: true) }

    mutating func append(of index: Int, _ facts: RefreshFacts) {
        for end in facts.apps[index].promisedUntil { ends.append((index, end)) }
    }

    /// Of those that still hold at a moment: all, or those of one app.
    func count(at time: WallTime) -> Int64 { Int64(ends.count { time <= $0.at }) }
    func count(to index: Int, at time: WallTime) -> Int64 {
        ends.isEmpty ? 0 : Int64(ends.count { $0.app == index && time <= $0.at })
    }
}
