import Vocabulary

/// When which app is refreshed: learned chances against a price (docs/prediction.md).
///
/// It owns what was learned of the use of the device, the budget, and the time of the next
/// decision. It is told what happened, and knows by itself what of that may change the next
/// decision. What it decides, foretells and explains is answered by one rule, `verdict`.
struct RefreshPolicy: Hashable, Sendable, Codable {
    /// What was learned of the device's use.
    private(set) var use = DeviceUse()
    private(set) var budget = RefreshBudget()
    private(set) var members = RefreshMembers()
    /// When something may be worth a refresh next; nil: not by time alone.
    private(set) var decideAt: WallTime?
    /// At `decideAt` a machine that sleeps is to be woken.
    private(set) var wakes = false
    /// Something has changed that `decideAt` depends on.
    private var isStale = true
    /// When it had changed last, if the search was postponed.
    private(set) var postponedSearch: Moment?
    /// Apps that may take part, or not any more: their manifests or requests have changed.
    private var changed = UniqueList<Int>()
    /// The device or an app was used since the last decision.
    private var wasUsed = true
    /// Until when the moments of today are measured.
    private var measuredUntil: WallTime?
    var search = RefreshSearch()

    /// So much must be known before moments are chosen by it.
    static let enoughDays = 3
    static let enoughOpens: UInt32 = 5
    /// While the device is in use, and nothing else is, so far ahead is looked.
    static let inUse = Interval.hours(1)
    static let bin = Interval.minutes(5)
    static let freshness = Interval.minutes(30)
    /// So soon after a use it is seen what that tells: what the user came for is open by then.
    private static let afterUse = Interval.seconds(10)
}

// MARK: - What happened

extension RefreshPolicy {
    mutating func settingsChanged() { useChanged() }

    mutating func conditionChanged(_ condition: Condition) {
        if condition == .power || condition == .metered { isStale = true }
    }

    /// Requests for refreshes came, went or changed, or their app did.
    mutating func requestsChanged(of index: Int) {
        isStale = true
        changed.append(index)
    }

    /// The same of any request: the app may take part now, or not any more.
    mutating func memberChanged(_ index: Int) { changed.append(index) }

    /// Other gates hold the refreshes of an app.
    mutating func gatesChanged(from old: GateSet, to new: GateSet) {
        if (old.bits ^ new.bits) & ~GateSet.ofMoments.bits != 0 { isStale = true }
    }

    mutating func deviceUsed(at now: UseTime) {
        use.used(at: now)
        useChanged()
    }

    mutating func deviceLeft(at now: UseTime) {
        use.left(at: now)
        useChanged()
    }

    mutating func deviceLeftUnseen() {
        use.leftUnseen()
        useChanged()
    }

    mutating func appOpened(_ index: Int, _ app: inout AppState, at now: UseTime) {
        app.record.refresh.opened(on: &use, at: now)
        // What is decided at this moment was measured before.
        members.forgetGain(of: index)
        useChanged()
    }

    mutating func appLeft(_ app: inout AppState, at now: UseTime) {
        app.record.refresh.left(at: now)
        useChanged()
    }

    mutating func appLeftUnseen(_ app: inout AppState) {
        app.record.refresh.leftUnseen()
        useChanged()
    }

    mutating func appClosed() { useChanged() }

    /// It is paid for. Whether out of the budget of all apps together.
    mutating func refreshBegan(of index: Int, _ app: inout AppState) -> Bool {
        isStale = true
        app.record.refresh.spend(on: budget.day)
        guard members.contains(index), app.isLearned else { return false }
        budget.spend()
        return true
    }

    /// One that was paid for never began. Whether out of the budget of all apps together.
    mutating func refreshUndone(of index: Int, _ app: inout AppState) -> Bool {
        isStale = true
        app.record.refresh.refund(on: budget.day)
        guard members.contains(index), app.isLearned, budget.spent > 0 else { return false }
        budget.refund()
        return true
    }

    mutating func clockChanged(at now: WallTime) {
        useChanged()
        forgetGains(at: now)
    }

    /// Whether anything changed.
    mutating func clampDates(to now: WallTime) -> Bool { use.clamp(to: now) }

    /// The device or an app was used, or what is told from use is another.
    private mutating func useChanged() {
        isStale = true
        wasUsed = true
        search.chances.removeAll()
    }

    /// What was measured was the moment of another clock.
    private mutating func forgetGains(at now: WallTime) {
        measuredUntil = now
        members.forgetGains()
    }
}

// MARK: - What is kept

extension RefreshPolicy {
    mutating func restore(_ use: DeviceUse?, _ budget: RefreshBudgetRecord?) {
        self.use = use ?? DeviceUse()
        self.budget = budget.map { RefreshBudget($0) } ?? RefreshBudget()
    }

    /// After all records were read.
    mutating func restoreGains(in apps: inout AppTable) {
        members.restore(budget.day, in: &apps)
        changed = UniqueList(members.indices)
    }

    /// Adds what was seen today.
    func complete(_ record: inout AppRecord, of index: Int) {
        guard members.contains(index) else { return }
        record.refresh.gains.keep(members.slots(of: index), of: budget.day)
    }
}

// MARK: - Time

extension RefreshPolicy {
    /// Another local day than that of the budget has begun.
    func isOver(_ passage: Passage) -> Bool {
        let today = passage.now.local.day
        return budget.day != today && (budget.day != today + 1 || passage.isSetBackByDay)
    }

    /// Whether another number of apps is known well enough now.
    mutating func dayBegan(_ day: Int64, in apps: inout AppTable) -> Bool {
        let counts = use.days.day == budget.day
        let isOtherCount = members.finish(budget.day, counts: counts, in: &apps)
        budget.begin(day)
        isStale = true
        search.prices.removeAll()
        search.table = nil
        return isOtherCount
    }

    /// Measures how good the moments until now were, by what was known then.
    mutating func timePassed(_ passage: Passage, _ facts: RefreshFacts) {
        let now = passage.now
        let end = now.wall
        defer { measuredUntil = end }
        // Habits go by the local time.
        if passage.isInAnotherZone { useChanged() }
        if passage.isSetBackByDay {
            use.goOn(on: now.local.day)
            useChanged()
        }
        guard !passage.isSet else {
            forgetGains(at: end)
            return
        }
        guard let since = measuredUntil, since < end, !members.indices.isEmpty else { return }
        // Of another day is not known what it was.
        let midnight = LocalTime(day: now.local.day, timeOfDay: .zero)
            .wall(utcOffset: now.utcOffset)
        var time = facts.gridTime(after: max(since, midnight - .milliseconds(1)))
        let stride: Int64 = end - time > .hours(1) ? 3 : 1
        while time <= end {
            measure(at: facts.local(time), facts)
            let next = time + Self.bin * stride
            // The last one is not left out: the next decision is made there.
            time =
                next > end && stride > 1
                ? max(facts.gridTime(upTo: end), time + Self.bin) : next
        }
        // After a use is decided between them.
        if let at = decideAt, at <= end, at > facts.gridTime(upTo: end) {
            measure(at: facts.local(at), facts)
        }
    }

    private mutating func measure(at time: UseTime, _ facts: RefreshFacts) {
        let context = PredictionContext(use, at: time)
        let slot = facts.slot(of: time)
        for memberIndex in members.indices.indices {
            let index = members.indices[memberIndex]
            guard facts.wantedAt(index) <= time.wall else {
                members.measured(0, 0, of: index, slot: slot)
                continue
            }
            let chance =
                search.chances.chance(of: index, at: time.wall) ?? facts.chance(of: index, context)
            let position = facts.position(of: index, chance)
            members.measured(position, chance, of: index, slot: slot)
        }
    }
}

// MARK: - Deciding

/// A refresh that is worth it now.
struct RefreshChoice {
    let index: Int
    let requestIndex: Int
    let decision: RefreshDecision
}

extension RefreshPolicy {
    /// Finds who takes part, if that may have changed. Returns those that do now and did not
    /// before, or the reverse.
    mutating func findMembers(in apps: AppTable) -> [Int] {
        guard !changed.isEmpty else { return [] }
        let others = changed.elements.filter { members.update($0, in: apps) }
        changed.removeAll()
        guard !others.isEmpty else { return [] }
        isStale = true
        search.chances.removeAll()
        search.prices.removeAll()
        search.table = nil
        return others
    }

    /// What is to be begun now. After the event, before the apps are looked at.
    mutating func decide(_ facts: RefreshFacts) -> [RefreshChoice] {
        let now = facts.now
        guard let at = decideAt, at <= now.wall else { return [] }
        decideAt = nil
        isStale = true
        wasUsed = false
        let time = facts.local(max(at, facts.gridTime(upTo: now.wall)))
        guard time.day == now.local.day else { return [] }
        findCandidates(facts)
        var point = point(at: time, isNow: true, facts)
        var choices: [RefreshChoice] = []
        sortByGain()
        while let candidate = search.byGain.removeFirst()?.candidate {
            let index = search.candidates[candidate].index
            // Each choice leaves less for the others.
            if !choices.isEmpty { setPrice(of: candidate, at: time, facts) }
            let verdict = verdict(on: candidate, at: &point, facts)
            guard verdict.blocker == nil,
                let requestIndex = facts.dueRefresh(of: index, at: time.wall)
            else { continue }
            let decision = RefreshDecision(
                chance: Int64((verdict.chance * 1000).rounded()),
                price: facts.chanceWanted(of: index, at: verdict.pricePaid),
                left: verdict.candidate.left,
                budget: budget.perDay(of: index, facts),
                together: Int64(choices.count + 1),
                scope: facts.settings.budgetScope,
                because: verdict.reason(isAwake: point.isAwake),
                at: now.wall
            )
            choices.append(
                RefreshChoice(index: index, requestIndex: requestIndex, decision: decision)
            )
            budget.promise()
        }
        return choices
    }

    /// Those that gain anything, the greatest gain first.
    private mutating func sortByGain() {
        search.byGain.removeAll()
        for candidate in search.candidates.indices {
            let position = members.positions[search.candidates[candidate].index]
            guard position > 0 else { continue }
            search.byGain.insert(RefreshSearch.Gain(position: position, candidate: candidate))
        }
    }

    // MARK: The next decision

    /// When the next decision is, as far as that is known.
    func nextDecision(after now: WallTime) -> WallTime? {
        guard !isStale, postponedSearch == nil, let decideAt, decideAt > now else { return nil }
        return decideAt
    }

    /// Other events follow in this turn: until the search, which takes long, has been made after
    /// the last of them, the next decision is at the first moment at which there may be one.
    mutating func postponeSearch(_ facts: RefreshFacts) {
        guard isStale else { return }
        isStale = false
        postponedSearch = facts.now
        decideAt = soonest(facts)
    }

    /// As of when `decideAt` is to be found anew; nil: it holds.
    func searchMoment(at now: Moment) -> Moment? { isStale ? now : postponedSearch }

    private func soonest(_ facts: RefreshFacts) -> WallTime {
        let now = facts.now.wall
        let first = facts.gridTime(after: now)
        // Its user does this and that: each tells something new.
        return use.isInUse && wasUsed ? min(first, now + Self.afterUse) : first
    }

    /// Finds it anew, after something has changed that it depends on, so that nothing ticks.
    mutating func scheduleDecision(_ facts: RefreshFacts) {
        (isStale, postponedSearch) = (false, nil)
        (decideAt, wakes) = (nil, false)
        budget.forgetPromised()
        findCandidates(facts)
        guard !search.candidates.isEmpty else { return }
        if use.isInUse, wasUsed {
            decideAt = soonest(facts)
            return
        }
        let first = facts.gridTime(after: facts.now.wall)
        let end = first + (use.isInUse ? Self.inUse : .days(1))
        let time = firstRefresh(from: first, until: end, facts)
        decideAt = time ?? end
        wakes = time != nil && !use.isInUse
    }

    /// Those whose refresh waits for nothing but its moment; and what is asked about, whatever
    /// holds it.
    mutating func findCandidates(and asked: AskedRefresh? = nil, _ facts: RefreshFacts) {
        budget.fill(for: members.indices, facts)
        search.candidates.removeAll(keepingCapacity: true)
        search.pricesOf = nil
        for index in members.indices where facts.apps[index].isLearned {
            let notBefore = asked?.index == index ? asked?.notBefore : nil
            guard let dueAt = notBefore ?? facts.refreshDueAt(index) else { continue }
            search.candidates.append(RefreshSearch.Candidate(index, dueAt: dueAt, facts))
        }
    }

    /// When anything, or the candidate that is asked about, is refreshed if nothing happens until
    /// then.
    mutating func firstRefresh(
        of asked: Int? = nil,
        from first: WallTime,
        until end: WallTime,
        _ facts: RefreshFacts
    ) -> WallTime? {
        var time = first
        while time < end, !refreshes(asked, at: time, facts) {
            // Later ones by the quarter-hour first: chances are no narrower than half an hour.
            time = time + Self.bin * (time - first < .hours(1) ? 1 : 3)
        }
        guard time < end else { return nil }
        guard time - first > .hours(1) else { return time }
        // Of those that were stepped over.
        for steps: Int64 in [2, 1] where refreshes(asked, at: time - Self.bin * steps, facts) {
            return time - Self.bin * steps
        }
        return time
    }

    mutating func refreshes(_ asked: Int?, at time: WallTime, _ facts: RefreshFacts) -> Bool {
        let time = facts.local(time)
        if let asked { return verdictAhead(on: asked, at: time, facts).blocker == nil }
        return refreshesAny(at: time, facts)
    }
}

// MARK: - Prices

extension RefreshPolicy {
    /// Prices go by the half-hour.
    mutating func countPrices(at time: UseTime, _ facts: RefreshFacts) {
        let halfHour = time.day * Int64(GainHistory.slotCount) + Int64(facts.slot(of: time))
        guard search.pricesOf != halfHour else { return }
        search.pricesOf = halfHour
        budget.countPromised(to: members.indices, at: time.wall, facts)
        setPrices(at: time, facts)
    }

    private mutating func setPrices(at time: UseTime, _ facts: RefreshFacts) {
        for candidate in search.candidates.indices { setPrice(of: candidate, at: time, facts) }
    }

    private mutating func setPrice(of candidate: Int, at time: UseTime, _ facts: RefreshFacts) {
        var app = search.candidates[candidate]
        setPrice(of: &app, at: time, facts)
        search.candidates[candidate] = app
    }

    private mutating func setPrice(
        of candidate: inout RefreshSearch.Candidate,
        at time: UseTime,
        _ facts: RefreshFacts
    ) {
        let index = candidate.index
        candidate.left = budget.left(of: index, at: time, facts)
        let (slot, left) = (facts.slot(of: time), Double(candidate.left))
        let usual =
            switch facts.settings.budgetScope {
            case .app: ownPrice(of: index, after: slot, left: left, facts)
            case .device: commonPrice(after: slot, left: left, facts)
            }
        let surcharge = left > 0 ? facts.surcharge : 0
        candidate.usualPrice = usual + surcharge
        candidate.price = candidate.usualPrice
        guard left > 0, usual > 0, facts.settings.budgetScope == .device,
            facts.isOwed(candidate, at: time)
        else { return }
        // Any moment of its best level will do.
        let own = ownPrice(of: index, after: slot, left: 1, facts)
        candidate.price = min(usual, own.rounded(.down) - 0.001) + surcharge
    }

    /// By the days of all apps.
    private mutating func commonPrice(
        after slot: Int,
        left: Double,
        _ facts: RefreshFacts
    ) -> Double {
        let table = search.table ?? GainTable(of: members.indices, in: facts.apps)
        search.table = table
        return table.price(after: slot, left: left)
    }

    /// By an app's own days.
    private mutating func ownPrice(
        of index: Int,
        after slot: Int,
        left: Double,
        _ facts: RefreshFacts
    ) -> Double {
        search.prices.price(
            of: index,
            after: slot,
            left: left,
            count: facts.apps.endIndex,
            facts.apps[index].gains
        )
    }
}
