import Vocabulary

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
    mutating func forgetPromised() { promised = 0 }

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

    mutating func countPromised(to members: [Int], at time: WallTime, _ facts: RefreshFacts) {
        promised = 0
        for index in members where facts.apps[index].isLearned {
            promised += facts.apps[index].promisedRefreshes(at: time)
        }
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
    func left(of index: Int, at time: UseTime, _ facts: RefreshFacts) -> Int64 {
        let full = perDay(of: index, facts)
        guard time.day <= day else { return full }
        switch facts.settings.budgetScope {
        case .app: return full - taken(by: index, at: time.wall, facts)
        case .device:
            return hasHadItsShare(index, at: time.wall, facts) ? 0 : full - spent - promised
        }
    }

    /// It has taken as much of a common budget today as one app may.
    func hasHadItsShare(_ index: Int, at time: WallTime, _ facts: RefreshFacts) -> Bool {
        facts.settings.budgetScope == .device && taken(by: index, at: time, facts) >= ceiling
    }

    private func taken(by index: Int, at time: WallTime, _ facts: RefreshFacts) -> Int64 {
        facts.apps[index].spentRefreshes(on: day) + facts.apps[index].promisedRefreshes(at: time)
    }
}
