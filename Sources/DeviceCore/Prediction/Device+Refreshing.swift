import Vocabulary

/// When which app is refreshed: learned chances against a price, every five minutes at the most,
/// and only when one of them can cross it.
extension Device {
    // MARK: Looking back

    /// Notes how good the moments until `now` were, by what was known then. Before each event.
    mutating func lookBack(at now: Moment) {
        let end = now.wall
        defer { planner.lookedAt = end }
        let today = now.local.day
        if planner.day != today { beginDay(today) }
        guard let since = planner.lookedAt, since < end, !planner.members.isEmpty else { return }
        // Of another day is not known what it was.
        let midnight = LocalTime(day: today, timeOfDay: .zero).wall(utcOffset: now.utcOffset)
        var time = gridTime(after: max(since, midnight - .milliseconds(1)))
        let stride: Int64 = end - time > .hours(1) ? 3 : 1
        while time <= end {
            measure(at: UseTime(time, utcOffset: now.utcOffset))
            let next = time + RefreshPlanner.bin * stride
            // The last one is not left out: the next decision is made there.
            time =
                next > end && stride > 1
                ? max(gridTime(upTo: end), time + RefreshPlanner.bin) : next
        }
    }

    private mutating func measure(at time: UseTime) {
        let outlook = Outlook(use, at: time)
        let slot = RefreshPlanner.slot(time)
        for place in planner.members.indices {
            let index = planner.members[place]
            let (position, chance) = gain(of: index, outlook)
            planner.positions[index] = position
            planner.chances[index] = chance
            if position > 0 { planner.note(position, of: index, slot: slot) }
        }
    }

    /// Where the gain of a refresh lies on the scale (0: none, its content is fresh or in view),
    /// and the chance that makes it.
    private func gain(of index: Int, _ outlook: Outlook) -> (position: Double, chance: Double) {
        let use = apps[index].use
        let isIdle =
            !use.isOpen
            && use.lastUse.map { outlook.now.wall - $0 >= RefreshPlanner.freshness } ?? true
        guard isIdle else { return (0, 0) }
        let chance = settings.prior ? outlook.chance(of: use) : outlook.habit(of: use)
        let worth = apps[index].refreshWorth
        return (MomentRing.position(of: chance * worth), chance)
    }

    private mutating func beginDay(_ day: Int64) {
        let wasUsed = use.days.day == planner.day
        for index in planner.members where planner.day != .min {
            apps[index].record.refresh.moments.keep(planner.slots(of: index), of: planner.day)
            apps[index].record.refresh.moments.finish(counts: wasUsed)
            save(app: index)
        }
        for place in planner.today.indices { planner.today[place] = 0 }
        planner.day = day
        planner.spent = 0
        countMoments()
        planner.isStale = true
    }

    /// Makes the table of the days before anew.
    private mutating func countMoments() {
        let wereEnough = planner.days >= RefreshPlanner.enoughDays
        planner.isCounted = true
        defer {
            // Other gates ask then.
            if wereEnough != (planner.days >= RefreshPlanner.enoughDays) { touchAll() }
        }
        planner.table.clear()
        planner.days = 0
        for index in planner.members {
            let moments = apps[index].moments
            planner.table.add(moments)
            planner.days = max(planner.days, moments.days)
        }
    }

    /// The grid of instants at which anything is decided is offset per device (B10).
    private func gridTime(after time: WallTime) -> WallTime {
        gridTime(upTo: time) + RefreshPlanner.bin
    }

    private func gridTime(upTo time: WallTime) -> WallTime {
        let bin = RefreshPlanner.bin.nanoseconds
        var rest = (time.nanoseconds - seed % bin) % bin
        if rest < 0 { rest += bin }
        return WallTime(nanoseconds: time.nanoseconds - rest)
    }

    /// What was seen of a day before the daemon ended goes on, if it is still that day.
    mutating func restoreMoments(of index: Int) {
        let moments = apps[index].moments
        guard !moments.today.isEmpty else { return }
        planner.makeRoom(for: apps.endIndex)
        planner.restored(moments.today, of: index)
        planner.day = moments.day
        planner.members.append(index)
    }

    // MARK: Who takes part

    /// Apps whose use is known and that ask for refreshes.
    private mutating func findMembers() {
        var changed = false
        var place = 0
        for index in 0..<apps.endIndex {
            let belongs = apps.isUsed(index) && apps[index].isPlanned
            let isMember = place < planner.members.count && planner.members[place] == index
            if belongs == isMember {
                if belongs { place += 1 }
                continue
            }
            changed = true
            if belongs {
                planner.members.insert(index, at: place)
                place += 1
            } else {
                planner.members.remove(at: place)
            }
        }
        guard changed || !planner.isCounted else { return }
        planner.makeRoom(for: apps.endIndex)
        countMoments()
    }

    /// What today's purse still holds for all, or for this app.
    func refreshesLeft(of index: Int, members: Int) -> Int64 {
        switch settings.purse {
        case .app: settings.refreshesPerDay - apps[index].spentRefreshes(on: planner.day)
        case .device: settings.refreshesPerDay * Int64(members) - planner.spent
        }
    }

    /// What was learned is enough to go by.
    func isLearned(_ index: Int) -> Bool {
        planner.days >= RefreshPlanner.enoughDays && apps[index].opens >= RefreshPlanner.enoughOpens
    }

    private var learnedCount: Int { planner.members.count { isLearned($0) } }

    /// A refresh that waits for nothing but its moment, by place.
    private func waitingRefresh(of index: Int, at now: UseTime) -> Int? {
        guard mayWait(index), isRested(index, at: now) else { return nil }
        let requests = apps[index].requests.span
        for place in requests.indices
        where requests[place].kind == .refresh && requests[place].state == .pending
            && requests[place].mode == .normal && requests[place].decision == nil
            && requests[place].earliest.map({ $0 <= now.wall }) ?? true
        {
            return place
        }
        return nil
    }

    /// Nothing holds it but what the choice of a moment knows.
    private func mayWait(_ index: Int) -> Bool {
        apps[index].heldBy.bits & ~GateSet.ofMoments.bits == 0
    }

    // MARK: Deciding

    /// Begins what is worth it now. After the event, before the apps are looked at.
    mutating func decideRefreshes(_ step: inout Step) {
        if planner.isStale { findMembers() }
        guard let at = planner.decideAt, at <= step.now.wall else { return }
        planner.decideAt = nil
        planner.isStale = true
        let now = UseTime(gridTime(upTo: step.now.wall), utcOffset: step.now.utcOffset)
        guard now.day == planner.day, !isUserAsleep(at: now) else { return }
        let count = learnedCount
        pick(at: now, members: count, &step)
    }

    private mutating func pick(at now: UseTime, members: Int, _ step: inout Step) {
        let slot = RefreshPlanner.slot(now)
        let purse = settings.purse
        if purse == .device { countAhead(of: slot) }
        let isAwake = use.idleSeconds(at: now) <= 120 || running.all > 0
        if !isAwake, !isWorthWaking(at: now, members) { return }
        // What is awake anyway, or woken for another app, costs less.
        let discount =
            wakePrice == 0
            ? 0 : isAwake ? RefreshPlanner.awakeDiscount : RefreshPlanner.wokenDiscount
        var together: Int64 = 0
        while true {
            var best: Int?
            for index in planner.members
            where planner.positions[index] > (best.map { planner.positions[$0] } ?? 0)
                && isLearned(index) && waitingRefresh(of: index, at: now) != nil
            {
                best = index
            }
            guard let index = best, let place = waitingRefresh(of: index, at: now) else { return }
            let position = planner.positions[index]
            planner.positions[index] = 0
            let own = refreshesLeft(of: index, members: members)
            let left = own - (purse == .device ? together : 0)
            let price = price(of: index, at: slot, left: left)
            guard left > 0, position > price - discount else {
                if purse == .device { return }
                continue
            }
            together += 1
            apps[index].requests[place].decision = RefreshDecision(
                chance: Int64((planner.chances[index] * 1000).rounded()),
                price: Int64((Arithmetic.logistic(MomentRing.logOdds(price)) * 1000).rounded()),
                left: left,
                together: together,
                purse: purse
            )
            touch(index)
        }
    }

    /// Wakes are shared where the purse is: an app that has refreshes of its own spends them when
    /// they serve it best.
    private var wakePrice: Int64 { settings.purse == .device ? settings.wakePrice : 0 }

    private mutating func price(of index: Int, at slot: Int, left: Int64) -> Double {
        if settings.purse == .app { countAhead(of: slot, app: index) }
        return planner.ahead.price(left: Double(left), days: planner.days)
    }

    /// Whether what the apps gain together beyond their price covers a wake of a device that
    /// sleeps. By the gains as of now.
    private mutating func isWorthWaking(at now: UseTime, _ members: Int) -> Bool {
        var surplus = Surplus(wanted: Double(wakePrice) / 100)
        let slot = RefreshPlanner.slot(now)
        for index in planner.members
        where isLearned(index) && waitingRefresh(of: index, at: now) != nil {
            let left = refreshesLeft(of: index, members: members)
            surplus.add(planner.positions[index], price: price(of: index, at: slot, left: left))
        }
        return surplus.isEnough
    }

    /// What some refreshes gain beyond their prices, in prices.
    private struct Surplus {
        let wanted: Double
        private var sum = 0.0
        private var hasAny = false

        init(wanted: Double) { self.wanted = wanted }

        mutating func add(_ position: Double, price: Double) {
            guard position > price else { return }
            hasAny = true
            let chance = Arithmetic.logistic(MomentRing.logOdds(position))
            sum += chance / Arithmetic.logistic(MomentRing.logOdds(price)) - 1
        }

        var isEnough: Bool { hasAny && sum >= wanted }
    }

    private mutating func countAhead(of slot: Int, app: Int? = nil) {
        planner.ahead.clear()
        guard slot + 1 < MomentRing.slotCount else { return }
        for later in slot + 1..<MomentRing.slotCount {
            if let app {
                planner.ahead.add(apps[app].moments, slot: later)
            } else {
                planner.ahead.add(planner.table, slot: later)
            }
        }
    }

    func isRested(_ index: Int, at now: UseTime) -> Bool {
        if let until = apps[index].failedUntil, now.wall < until { return false }
        guard let last = apps[index].lastRefreshEnd, last <= now.wall else { return true }
        let own = apps[index].manifest?.refreshInterval ?? .zero
        // What was begun half an hour ago has taken some seconds of it.
        return now.wall - last >= max(own, RefreshPlanner.freshness - .minutes(1))
    }

    /// Nobody is expected to use the device within the next half-hour; on a charger, within the
    /// next hour.
    private func isUserAsleep(at now: UseTime) -> Bool {
        guard use.idleSeconds(at: now) >= 1800 else { return false }
        let ahead = conditions.externalPower ? 12 : 6
        return use.share(from: now.bin, to: now.bin + ahead, at: now) < 0.1
    }

    /// A refresh begins: it is paid for.
    mutating func spendRefresh(of index: Int, _ step: inout Step) {
        planner.isStale = true
        apps[index].record.refresh.spend(on: step.now.local.day)
        if planner.members.contains(index), isLearned(index) { planner.spent += 1 }
    }

    // MARK: Looking ahead

    /// Finds when the next decision can be another one than now.
    mutating func searchRefresh(_ step: inout Step) {
        guard planner.isStale else { return }
        planner.isStale = false
        planner.decideAt = nil
        planner.waiting.removeAll(keepingCapacity: true)
        var members = 0
        for index in planner.members where isLearned(index) {
            members += 1
            if mayWait(index) { planner.waiting.append(index) }
        }
        guard !planner.waiting.isEmpty else { return }
        let now = step.now.wall
        if use.isInUse {
            // Used as it is, it tells something new every moment.
            planner.decideAt = gridTime(after: now)
            planner.wakes = false
            return
        }
        search(from: gridTime(after: now), members: members, step.now)
    }

    private mutating func search(from first: WallTime, members: Int, _ now: Moment) {
        var time = first
        var slot = -1
        var day = planner.day
        for _ in 0..<DayGrid.binCount {
            let use = UseTime(time, utcOffset: now.utcOffset)
            if RefreshPlanner.slot(use) != slot {
                slot = RefreshPlanner.slot(use)
                day = use.day
                if settings.purse == .device { countAhead(of: slot) }
            }
            if !isUserAsleep(at: use), crosses(at: use, isToday: day == planner.day, members) {
                planner.decideAt = time
                planner.wakes = true
                return
            }
            time = time + RefreshPlanner.bin
        }
        planner.decideAt = time
        planner.wakes = false
    }

    /// Whether the apps would be refreshed then if nothing happens until then.
    private mutating func crosses(at time: UseTime, isToday: Bool, _ members: Int) -> Bool {
        let outlook = Outlook(use, at: time)
        let slot = RefreshPlanner.slot(time)
        let full = settings.refreshesPerDay * (settings.purse == .device ? Int64(members) : 1)
        var surplus = Surplus(wanted: Double(wakePrice) / 100)
        var price: Double?
        for index in planner.waiting where waitingRefresh(of: index, at: time) != nil {
            let (position, _) = gain(of: index, outlook)
            guard position > 0 else { continue }
            if price == nil || settings.purse == .app {
                let left = isToday ? refreshesLeft(of: index, members: members) : full
                price = self.price(of: index, at: slot, left: left)
            }
            if let price { surplus.add(position, price: price) }
            if surplus.isEnough { return true }
        }
        return false
    }
}

extension DeviceUse {
    /// On which share of the past days the device was used between these five minutes of the day.
    func share(from first: Int, to end: Int, at now: UseTime) -> Double {
        let past = PastDays(days, seenFrom: now.day)
        let marked = grid.days(from: first, to: end, lag: past.lag, followed: past.followed)
        let all = Forgetting.sevenDays.weight(of: past.all)
        guard all > 0 else { return 1 }
        return Forgetting.sevenDays.weight(of: marked, in: past.all) / all
    }
}
