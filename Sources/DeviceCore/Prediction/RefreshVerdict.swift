import Vocabulary

/// Whether an app is refreshed at a moment, with what that was decided by.
struct RefreshVerdict {
    /// Nil: it is refreshed.
    var blocker: RefreshBlocker?
    let candidate: RefreshSearch.Candidate
    /// How far below the price it may lie, as nothing has to be woken for it.
    let discount: Double
    /// Where its gain lies on the scale of levels, and the chance that makes it; 0: they were not
    /// asked for.
    var position = 0.0
    var chance = 0.0

    var isAbovePrice: Bool { position > candidate.price }
    var pricePaid: Double { isAbovePrice ? candidate.price : candidate.price - discount }

    func reason(isAwake: Bool) -> RefreshReason {
        position > candidate.usualPrice
            ? .chance : isAbovePrice ? .turn : isAwake ? .deviceAwake : .sharedWake
    }
}

/// A moment at which refreshes are or may be decided, and what is the same for all apps then.
struct DecisionPoint {
    let time: UseTime
    /// Nothing has to be woken.
    let isAwake: Bool
    /// It has come: what counts was measured before the event that came with it.
    let isNow: Bool
    /// Nobody is expected to use the device.
    let isUserAsleep: Bool
    /// How far below its price a refresh may lie that wakes nothing.
    let discount: Double
    /// Made when it is needed.
    fileprivate var context: PredictionContext?
    /// Nothing has to be woken, or what the apps gain together covers a wake; nil: nobody asked.
    fileprivate var isWakePaid: Bool?
}

/// What a search for the next decision works with. A memo: whatever it holds makes no difference,
/// and is not kept.
struct RefreshSearch: Sendable {
    var chances = ChanceCache()
    var prices = PriceCache()
    /// What the price of a common budget goes by; nil: it is to be counted anew.
    var table: GainTable?
    /// Those whose refresh waits for its moment.
    var candidates: [Candidate] = []
    /// Those of them that are still to be decided about.
    var byGain = Heap<Gain>()
    /// The half-hour, since ever, that their prices are of.
    var pricesOf: Int64?

    /// Where the gain of a candidate lies on the scale; the greatest first, then in their order.
    struct Gain: Hashable, Sendable, Codable, Comparable {
        let position: Double
        let candidate: Int

        static func < (left: Self, right: Self) -> Bool {
            (right.position, left.candidate) < (left.position, right.candidate)
        }
    }

    struct Candidate: Sendable {
        let index: Int
        /// Nothing chooses its moment before.
        let dueAt: WallTime
        /// Of the app, which a search would else look up for each moment: before this its content
        /// is in view, or fresh from its use.
        let wantedAt: WallTime
        let refreshedAt: WallTime?
        let failedUntil: WallTime?
        /// Refreshes left for it.
        var left: Int64 = 0
        /// Where its price lies on the scale of levels; and the usual one, that others pay whose
        /// turn it is not.
        var price = 0.0
        var usualPrice = 0.0

        init(_ index: Int, dueAt: WallTime, _ facts: RefreshFacts) {
            (self.index, self.dueAt) = (index, dueAt)
            wantedAt = facts.wantedAt(index)
            refreshedAt = facts.apps[index].lastRefreshEnd
            failedUntil = facts.apps[index].failedUntil
        }
    }
}

extension RefreshSearch: Hashable, Codable {
    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws {}
}

// MARK: - The rule

extension RefreshPolicy {
    /// So long after a use the device is still awake.
    private static let awakeAfterUse = 120.0

    func point(at time: UseTime, isNow: Bool, _ facts: RefreshFacts) -> DecisionPoint {
        let isAwake =
            isNow
            ? use.idleSeconds(at: time) <= Self.awakeAfterUse || facts.isRunning : use.isInUse
        return DecisionPoint(
            time: time,
            isAwake: isAwake,
            isNow: isNow,
            isUserAsleep: isUserAsleep(at: time, facts),
            discount: facts.discount(isAwake: isAwake),
            isWakePaid: isAwake ? true : nil
        )
    }

    /// The rule: whether a candidate is refreshed at a moment, or what stands against it.
    mutating func verdict(
        on candidate: Int,
        at point: inout DecisionPoint,
        _ facts: RefreshFacts
    ) -> RefreshVerdict {
        var verdict = bid(of: candidate, at: &point, facts)
        if verdict.blocker == nil, !isWakePaid(at: &point, facts) {
            verdict.blocker = verdict.isAbovePrice ? .wake : .price
        }
        return verdict
    }

    /// The same of a moment to come, if nothing happens until then.
    mutating func verdictAhead(
        on candidate: Int,
        at time: UseTime,
        _ facts: RefreshFacts
    ) -> RefreshVerdict {
        var point = point(at: time, isNow: false, facts)
        return verdict(on: candidate, at: &point, facts)
    }

    /// Whether any candidate is refreshed at a moment to come. A wake that is paid for is paid for
    /// by one that is refreshed then.
    mutating func refreshesAny(at time: UseTime, _ facts: RefreshFacts) -> Bool {
        var point = point(at: time, isNow: false, facts)
        guard !point.isUserAsleep else { return false }
        guard point.isAwake else { return isWakePaid(at: &point, facts) }
        for candidate in search.candidates.indices
        where bid(of: candidate, at: &point, facts).blocker == nil {
            return true
        }
        return false
    }

    /// The verdict, if the device is awake then.
    private mutating func bid(
        of candidate: Int,
        at point: inout DecisionPoint,
        _ facts: RefreshFacts
    ) -> RefreshVerdict {
        countPrices(at: point.time, facts)
        let app = search.candidates[candidate]
        var bid = RefreshVerdict(candidate: app, discount: point.discount)
        guard app.left > 0 else {
            let hasShare = budget.hasHadItsShare(app.index, at: point.time.wall, facts)
            bid.blocker = hasShare ? .share : .budget
            return bid
        }
        guard !point.isUserAsleep else {
            bid.blocker = .nobody
            return bid
        }
        let isWanted =
            point.isNow ? members.positions[app.index] > 0 : app.wantedAt <= point.time.wall
        bid.blocker = app.blocker(isWanted: isWanted, at: point.time.wall)
        guard bid.blocker == nil else { return bid }
        if point.isNow {
            (bid.position, bid.chance) = (members.positions[app.index], members.chances[app.index])
        } else {
            bid.chance = chance(of: app.index, at: &point, facts)
            bid.position = facts.position(of: app.index, bid.chance)
        }
        if bid.position <= app.price - point.discount { bid.blocker = .price }
        return bid
    }

    /// Whether what the apps gain together beyond their prices covers the wake of a device that
    /// sleeps.
    private mutating func isWakePaid(
        at point: inout DecisionPoint,
        _ facts: RefreshFacts
    ) -> Bool {
        if let known = point.isWakePaid { return known }
        var surplus = facts.wakeSurplus
        for candidate in search.candidates.indices where !surplus.isEnough {
            let bid = bid(of: candidate, at: &point, facts)
            if bid.blocker == nil { surplus.add(bid.position, price: bid.candidate.price) }
        }
        point.isWakePaid = surplus.isEnough
        return surplus.isEnough
    }

    // MARK: What it goes by

    /// Nobody is expected to use the device within the next half-hour; on external power, within
    /// the next hour.
    private func isUserAsleep(at time: UseTime, _ facts: RefreshFacts) -> Bool {
        guard use.idleSeconds(at: time) >= 1800 else { return false }
        let ahead = facts.externalPower ? 12 : 6
        return use.share(from: time.bin, to: time.bin + ahead, at: time) < 0.1
    }

    /// That an app is opened after a moment to come.
    private mutating func chance(
        of index: Int,
        at point: inout DecisionPoint,
        _ facts: RefreshFacts
    ) -> Double {
        if let known = search.chances.chance(of: index, at: point.time.wall) {
            assert(known == facts.chance(of: index, PredictionContext(use, at: point.time)))
            return known
        }
        let context = point.context ?? PredictionContext(use, at: point.time)
        if point.context == nil { point.context = context }
        let chance = facts.chance(of: index, context)
        let count = members.positions.count
        search.chances.store(chance, of: index, at: point.time.wall, count: count)
        return chance
    }
}

extension RefreshFacts {
    /// Where the gain of a refresh lies on the scale, by the chance that its app is opened.
    func position(of index: Int, _ chance: Double) -> Double {
        GainHistory.position(of: chance * apps[index].refreshWorth)
    }
}

extension RefreshFacts {
    /// So long after its use an app may be refreshed: of the decisions that are a bin apart, at the
    /// one nearest to when its content goes stale.
    private static let rest = Interval.seconds(27 * 60 + 30)

    /// From when on its content is neither in view nor fresh from its use, as far as is known.
    func wantedAt(_ index: Int) -> WallTime {
        // Asked for part by part: nothing of an app is copied then.
        guard !apps[index].use.isOpen else { return .distantFuture }
        return apps[index].use.lastUse.map { $0 + Self.rest } ?? .distantPast
    }
}

extension RefreshSearch.Candidate {
    /// What its own affairs put against a refresh, however likely its app is opened.
    fileprivate func blocker(isWanted: Bool, at time: WallTime) -> RefreshBlocker? {
        guard isWanted, !isRefreshed(at: time) else {
            // What failed a moment ago is not fresh.
            return failedUntil.map { time < $0 } ?? false ? .early : .fresh
        }
        return time >= dueAt ? nil : .early
    }

    /// It was refreshed a moment ago.
    private func isRefreshed(at time: WallTime) -> Bool {
        guard let refreshedAt, refreshedAt <= time else { return false }
        // What was begun half an hour ago has taken some seconds of it.
        return time - refreshedAt < RefreshPolicy.freshness - .minutes(1)
    }
}

// MARK: - Waking

/// What some refreshes gain beyond their prices, in prices.
struct RefreshSurplus {
    let wanted: Double
    /// Below it nothing is worth a wake, however much is left in the budget.
    let least: Double
    private var sum = 0.0
    private var hasAny = false

    init(wanted: Double, least: Double) { (self.wanted, self.least) = (wanted, least) }

    mutating func add(_ position: Double, price: Double) {
        let price = max(price, least)
        guard position > price else { return }
        hasAny = true
        let chance = Arithmetic.logistic(GainHistory.logOdds(position))
        sum += chance / Arithmetic.logistic(GainHistory.logOdds(price)) - 1
    }

    var isEnough: Bool { hasAny && sum >= wanted }
}
