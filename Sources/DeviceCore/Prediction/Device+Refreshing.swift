import Vocabulary

/// When which app is refreshed: learned chances against a price.
extension Device {
    // MARK: Who takes part

    /// Apps whose use is known and that ask for refreshes.
    mutating func findMembers() {
        var changed = false
        var memberIndex = 0
        for index in 0..<apps.endIndex {
            let belongs = apps.isUsed(index) && apps[index].isPlanned
            let isMember =
                memberIndex < planner.members.count && planner.members[memberIndex] == index
            if belongs == isMember {
                if belongs { memberIndex += 1 }
                continue
            }
            changed = true
            if belongs {
                planner.members.insert(index, at: memberIndex)
                memberIndex += 1
            } else {
                planner.members.remove(at: memberIndex)
            }
        }
        guard changed || !planner.isCounted else { return }
        planner.makeRoom(for: apps.endIndex)
        planner.search.chances.removeAll()
        countGains()
    }

    /// The index of a refresh that waits for nothing but its moment.
    func waitingRefresh(of index: Int, at now: UseTime) -> Int? {
        guard mayWait(index), !isFresh(index, at: now) else { return nil }
        let requests = apps[index].requests.span
        for requestIndex in requests.indices
        where requests[requestIndex].trigger == .refresh && requests[requestIndex].state == .pending
            && requests[requestIndex].mode == .normal
            && !requests[requestIndex].isChosen(at: now.wall)
            && notBefore(of: requests[requestIndex], index) <= now.wall
        {
            return requestIndex
        }
        return nil
    }

    /// Nothing holds it but what the choice of a moment knows.
    func mayWait(_ index: Int) -> Bool {
        apps[index].refreshHeldBy.bits & ~GateSet.ofMoments.bits == 0
    }

    /// Nothing chooses a moment for a refresh before it, for what holds it by time alone.
    func notBefore(of request: Request, _ index: Int) -> WallTime {
        let work = request.work(at: .distantPast)
        var notBefore = max(work.earliest ?? .distantPast, pauseEnds ?? .distantPast)
        if let end = work.quietEnd(in: apps[index], settings) { notBefore = max(notBefore, end) }
        if let end = apps[index].backOffEnd(of: work, settings.value) {
            notBefore = max(notBefore, end)
        }
        return notBefore
    }

    /// It was refreshed a moment ago.
    func isFresh(_ index: Int, at now: UseTime) -> Bool {
        guard let last = apps[index].lastRefreshEnd, last <= now.wall else { return false }
        // What was begun half an hour ago has taken some seconds of it.
        return now.wall - last < RefreshPlanner.freshness - .minutes(1)
    }

    /// Nobody is expected to use the device within the next half-hour; on external power, within
    /// the next hour.
    func isUserAsleep(at now: UseTime) -> Bool {
        guard use.idleSeconds(at: now) >= 1800 else { return false }
        let ahead = conditions.externalPower ? 12 : 6
        return use.share(from: now.bin, to: now.bin + ahead, at: now) < 0.1
    }

    // MARK: The budget

    /// What a day's budget holds: less for what is of little use or costs much.
    mutating func fillBudget() {
        var shares = 0.0
        var count = 0
        for index in planner.members where apps[index].isLearned {
            shares += share(of: index)
            count += 1
        }
        // Never nothing: an app that gets nothing cannot show that it is worth more.
        planner.filled = max(1, Int64(Double(settings.refreshesPerDay) * shares))
        // None takes all.
        planner.ceiling = count > 1 ? max(1, planner.filled * 3 / 4) : planner.filled
    }

    private func share(of index: Int) -> Double { max(0.25, apps[index].refreshWorth) }

    /// What a day begins with for an app.
    func refreshesPerDay(of index: Int) -> Int64 {
        switch settings.budgetScope {
        case .app:
            max(1, Int64(Double(settings.refreshesPerDay) * share(of: index)))
        case .device: planner.filled
        }
    }

    /// Counts what is chosen and has not begun by then: it waits for a slot, and will be paid for.
    mutating func countPromised(at time: WallTime) {
        planner.promised = 0
        for index in planner.members where apps[index].isLearned {
            planner.promised += apps[index].promisedRefreshes(at: time)
        }
    }

    /// What is left of a day's budget for an app: of today's, or of a whole one.
    func refreshesLeft(of index: Int, at time: UseTime) -> Int64 {
        let full = refreshesPerDay(of: index)
        guard time.day <= planner.day else { return full }
        switch settings.budgetScope {
        case .app: return full - takenToday(of: index, at: time.wall)
        case .device:
            return hasHadItsShare(index, at: time.wall)
                ? 0 : full - planner.spent - planner.promised
        }
    }

    /// It has taken as much of a common budget today as one app may.
    func hasHadItsShare(_ index: Int, at time: WallTime) -> Bool {
        settings.budgetScope == .device && takenToday(of: index, at: time) >= planner.ceiling
    }

    private func takenToday(of index: Int, at time: WallTime) -> Int64 {
        apps[index].spentRefreshes(on: planner.day) + apps[index].promisedRefreshes(at: time)
    }

    /// A run begins: it is paid for from its trigger's bucket.
    mutating func spend(_ trigger: Trigger, of index: Int, _ transition: inout Transition) {
        guard trigger.row.bucket == .refreshBudget else { return }
        planner.isStale = true
        apps[index].record.refresh.spend(on: planner.day)
        save(app: index)
        guard planner.members.contains(index), apps[index].isLearned else { return }
        planner.spent += 1
        save(.device)
    }

    /// A run that was paid for never began.
    mutating func refund(_ trigger: Trigger, of index: Int) {
        guard trigger.row.bucket == .refreshBudget else { return }
        planner.isStale = true
        apps[index].record.refresh.refund(on: planner.day)
        save(app: index)
        guard planner.members.contains(index), apps[index].isLearned, planner.spent > 0 else {
            return
        }
        planner.spent -= 1
        save(.device)
    }

    /// Where the price of a refresh at a half-hour of the day lies on the scale of levels; and the
    /// usual one, that others pay whose turn it is not.
    func price(of index: Int, at now: UseTime, left: Int64) -> (price: Double, usual: Double) {
        let full = Double(GainHistory.levelCount)
        guard left > 0 else { return (full, full) }
        let slot = RefreshPlanner.slot(now)
        let usual =
            switch settings.budgetScope {
            case .app: apps[index].gains.price(after: slot, left: Double(left))
            case .device:
                planner.table.price(after: slot, left: Double(left), days: planner.days)
            }
        guard usual > 0, settings.budgetScope == .device, isOwed(index, at: now) else {
            return (usual + surcharge, usual + surcharge)
        }
        // Any moment of its best level will do.
        let own = apps[index].gains.price(after: slot, left: 1)
        return (min(usual, own.rounded(.down) - 0.001) + surcharge, usual + surcharge)
    }

    private var surcharge: Double {
        (conditions.metered ? RefreshPlanner.meteredSurcharge : 0)
            - (conditions.isOnCharger ? RefreshPlanner.chargingDiscount : 0)
    }

    /// From which chance on an app's refresh is worth that price, in thousandths.
    func chanceWanted(of index: Int, at price: Double) -> Int64 {
        let gain = Arithmetic.logistic(GainHistory.logOdds(price))
        return Int64((min(1, gain / apps[index].refreshWorth) * 1000).rounded())
    }

    /// It has had nothing of the common budget for so long that it comes to its turn, at the best
    /// moment of its day.
    private func isOwed(_ index: Int, at now: UseTime) -> Bool {
        let last = apps[index].lastRefreshEnd ?? apps[index].record.firstSeen ?? .distantPast
        return now.wall - last >= RefreshPlanner.starvationLimit / settings.refreshesPerDay
    }

    /// Wakes are shared where the budget is: an app that has refreshes of its own spends them when
    /// they serve it best.
    private var sharesWakes: Bool { settings.budgetScope == .device && settings.wakePrice > 0 }

    /// How far below the price a refresh may lie that wakes nothing.
    func discount(isAwake: Bool) -> Double {
        guard sharesWakes else { return 0 }
        return isAwake ? RefreshPlanner.awakeDiscount : RefreshPlanner.wokenDiscount
    }

    /// What the refreshes must gain beyond their prices to wake a device that sleeps.
    var wakeSurplus: RefreshSurplus {
        guard settings.wakePrice > 0, !conditions.isOnCharger else {
            return RefreshSurplus(wanted: 0, least: 0)
        }
        return RefreshSurplus(
            wanted: sharesWakes ? Double(settings.wakePrice) / 100 : 0,
            least: RefreshPlanner.leastToWake
        )
    }

    // MARK: Deciding

    /// Begins what is worth it now. After the event, before the apps are looked at.
    mutating func decideRefreshes(_ transition: inout Transition) {
        if planner.isStale { findMembers() }
        guard let at = planner.decideAt, at <= transition.now.wall else { return }
        planner.decideAt = nil
        planner.isStale = true
        planner.wasUsed = false
        let decided = max(at, gridTime(upTo: transition.now.wall))
        let now = UseTime(decided, utcOffset: transition.now.utcOffset)
        guard now.day == transition.now.local.day, !isUserAsleep(at: now) else { return }
        fillBudget()
        let isAwake = use.idleSeconds(at: now) <= 120 || running.all > 0
        countPromised(at: now.wall)
        guard isAwake || isWorthWaking(at: now) else { return }
        // What is awake anyway, or woken for another app, costs less.
        let discount = discount(isAwake: isAwake)
        var together: Int64 = 0
        while let (index, requestIndex) = bestWaiting(at: now) {
            let position = planner.positions[index]
            planner.positions[index] = 0
            let left = refreshesLeft(of: index, at: now)
            let (price, usual) = price(of: index, at: now, left: left)
            guard left > 0, position > price - discount else { continue }
            together += 1
            planner.promised += 1
            let isWorthIt = position > price
            apps[index].requests[requestIndex].decision = RefreshDecision(
                chance: Int64((planner.chances[index] * 1000).rounded()),
                price: chanceWanted(of: index, at: isWorthIt ? price : price - discount),
                left: left,
                budget: refreshesPerDay(of: index),
                together: together,
                scope: settings.budgetScope,
                because: position > usual
                    ? .chance : isWorthIt ? .turn : isAwake ? .deviceAwake : .sharedWake,
                at: transition.now.wall
            )
            touch(index)
        }
    }

    private func bestWaiting(at now: UseTime) -> (index: Int, requestIndex: Int)? {
        var best: (index: Int, requestIndex: Int)?
        for index in planner.members
        where planner.positions[index] > (best.map { planner.positions[$0.index] } ?? 0)
            && apps[index].isLearned
        {
            if let requestIndex = waitingRefresh(of: index, at: now) {
                best = (index, requestIndex)
            }
        }
        return best
    }

    /// Whether what the apps gain together beyond their price covers a wake of a device that
    /// sleeps. By the gains as of now.
    private func isWorthWaking(at now: UseTime) -> Bool {
        var surplus = wakeSurplus
        for index in planner.members
        where apps[index].isLearned && waitingRefresh(of: index, at: now) != nil {
            let left = refreshesLeft(of: index, at: now)
            let price = price(of: index, at: now, left: left).price
            surplus.add(planner.positions[index], price: price)
        }
        return surplus.isEnough
    }
}

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
