import Vocabulary

/// When the next decision about refreshes can be another one than now, so that nothing ticks.
extension Device {
    /// Finds it anew, if anything has changed that it depends on. Last in each event.
    mutating func scheduleNextDecision(_ transition: inout Transition) {
        guard planner.isStale else { return }
        findMembers()
        planner.isStale = false
        planner.decideAt = nil
        fillBudget()
        findWaiting()
        guard !planner.search.waiting.isEmpty else { return }
        let first = gridTime(after: transition.now.wall)
        if use.isInUse, planner.wasUsed {
            // Its user does this and that: each tells something new.
            planner.decideAt = min(first, transition.now.wall + RefreshPlanner.afterUse)
            planner.wakes = false
            return
        }
        let end = first + (use.isInUse ? RefreshPlanner.inUse : .days(1))
        let time = firstWorth(from: first, until: end, transition.now)
        planner.decideAt = time ?? end
        planner.wakes = time != nil && !use.isInUse
    }

    /// Those whose refresh waits for nothing but its moment; and `other`, whatever holds it.
    mutating func findWaiting(and other: Int? = nil) {
        planner.search.waiting.removeAll(keepingCapacity: true)
        planner.search.pricesOf = nil
        for index in planner.members
        where apps[index].isLearned && (mayWait(index) || index == other) {
            planner.search.waiting.append(RefreshSearch.Waiting(index: index))
        }
    }

    /// When anything, or what is `asked` about, is refreshed if nothing happens until then.
    mutating func firstWorth(
        of asked: AskedRefresh? = nil,
        from first: WallTime,
        until end: WallTime,
        _ now: Moment
    ) -> WallTime? {
        var time = first
        while time < end {
            if isWorthIt(asked, at: time, now) {
                return earliest(asked, upTo: time, after: first, now)
            }
            // Later ones by the quarter-hour first: chances are no narrower than half an hour.
            time = time + RefreshPlanner.bin * (time - first < .hours(1) ? 1 : 3)
        }
        return nil
    }

    /// Of the moments that were stepped over before `time`.
    private mutating func earliest(
        _ asked: AskedRefresh?,
        upTo time: WallTime,
        after first: WallTime,
        _ now: Moment
    ) -> WallTime {
        guard time - first > .hours(1) else { return time }
        for steps: Int64 in [2, 1] {
            let earlier = time - RefreshPlanner.bin * steps
            if isWorthIt(asked, at: earlier, now) { return earlier }
        }
        return time
    }

    private mutating func isWorthIt(
        _ asked: AskedRefresh?,
        at time: WallTime,
        _ now: Moment
    ) -> Bool {
        let then = UseTime(time, utcOffset: now.utcOffset)
        if let asked { return blocker(to: asked, at: then) == nil }
        guard !isUserAsleep(at: then) else { return false }
        setPrices(at: then)
        return isAnyWorthIt(at: then)
    }

    /// What stands against the refresh of one app then, if nothing happens until then. Of those
    /// that `findWaiting` found.
    mutating func blocker(to asked: AskedRefresh, at time: UseTime) -> RefreshBlocker? {
        setPrices(at: time)
        let index = asked.index
        guard let app = planner.search.waiting.first(where: { $0.index == index }) else {
            return .early
        }
        guard refreshesLeft(of: index, at: time) > 0 else {
            return hasHadItsShare(index, at: time.wall) ? .share : .budget
        }
        guard !isUserAsleep(at: time) else { return .nobody }
        var context: PredictionContext?
        let (position, _) = gain(of: index, at: time, &context, isAhead: true)
        // What failed a moment ago is not fresh.
        let hasFailed = apps[index].failedUntil.map { time.wall < $0 } ?? false
        guard hasFailed || position > 0 && !isFresh(index, at: time) else { return .fresh }
        guard time.wall >= asked.notBefore else { return .early }
        guard position > app.price - discount(isAwake: use.isInUse) else { return .price }
        if use.isInUse || isAnyWorthIt(at: time, with: index) { return nil }
        return position > app.price ? .wake : .price
    }

    private mutating func setPrices(at time: UseTime) {
        let halfHour = time.day * Int64(GainHistory.slotCount) + Int64(RefreshPlanner.slot(time))
        guard planner.search.pricesOf != halfHour else { return }
        planner.search.pricesOf = halfHour
        countPromised(at: time.wall)
        for waitingIndex in planner.search.waiting.indices {
            let index = planner.search.waiting[waitingIndex].index
            let left = refreshesLeft(of: index, at: time)
            planner.search.waiting[waitingIndex].price =
                price(of: index, at: time, left: left).price
        }
    }

    /// Whether anything would be refreshed then if nothing happens until then. `other`: whatever
    /// else holds it.
    private mutating func isAnyWorthIt(at time: UseTime, with other: Int? = nil) -> Bool {
        var context: PredictionContext?
        var surplus = wakeSurplus
        let discount = discount(isAwake: true)
        for waitingIndex in planner.search.waiting.indices {
            let app = planner.search.waiting[waitingIndex]
            guard app.price < Double(GainHistory.levelCount),
                app.index == other || waitingRefresh(of: app.index, at: time) != nil
            else { continue }
            let (position, _) = gain(of: app.index, at: time, &context, isAhead: true)
            guard position > 0 else { continue }
            if use.isInUse {
                if position > app.price - discount { return true }
            } else {
                surplus.add(position, price: app.price)
                if surplus.isEnough { return true }
            }
        }
        return false
    }
}
