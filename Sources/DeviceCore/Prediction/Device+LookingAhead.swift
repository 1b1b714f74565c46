import Vocabulary

/// When the next decision about refreshes can be another one than now, so that nothing ticks.
extension Device {
    /// Finds it anew, if anything has changed that it depends on. Last in each event.
    mutating func searchRefresh(_ step: inout Step) {
        guard planner.isStale else { return }
        planner.isStale = false
        planner.decideAt = nil
        fillPurse()
        planner.search.waiting.removeAll(keepingCapacity: true)
        for index in planner.members where isLearned(index) && mayWait(index) {
            planner.search.waiting.append(RefreshSearch.Waiting(index: index))
        }
        guard !planner.search.waiting.isEmpty else { return }
        planner.search.pricesOf = nil
        let first = gridTime(after: step.now.wall)
        if use.isInUse, planner.wasUsed {
            // Its user does this and that: each tells something new.
            planner.decideAt = first
            planner.wakes = false
            return
        }
        let steps = use.isInUse ? RefreshPlanner.stepsInUse : DayGrid.binCount
        search(from: first, steps: steps, step.now)
    }

    private mutating func search(
        from first: WallTime,
        steps: Int,
        _ now: Moment
    ) {
        var time = first
        let end = first + RefreshPlanner.bin * Int64(steps)
        while time < end {
            if isWorthIt(at: time, now) {
                planner.decideAt = earliest(upTo: time, after: first, now)
                planner.wakes = !use.isInUse
                return
            }
            // Later ones by the quarter-hour first: chances are no narrower than half an hour.
            time = time + RefreshPlanner.bin * (time - first < .hours(1) ? 1 : 3)
        }
        planner.decideAt = end
        planner.wakes = false
    }

    /// Of the moments that were stepped over before `time`.
    private mutating func earliest(
        upTo time: WallTime,
        after first: WallTime,
        _ now: Moment
    ) -> WallTime {
        guard time - first > .hours(1) else { return time }
        for steps: Int64 in [2, 1] {
            let earlier = time - RefreshPlanner.bin * steps
            if isWorthIt(at: earlier, now) { return earlier }
        }
        return time
    }

    private mutating func isWorthIt(at time: WallTime, _ now: Moment) -> Bool {
        let then = UseTime(time, utcOffset: now.utcOffset)
        guard !isUserAsleep(at: then) else { return false }
        setPrices(at: then)
        return isAnyWorthIt(at: then)
    }

    private mutating func setPrices(at time: UseTime) {
        let halfHour = time.day * Int64(MomentRing.slotCount) + Int64(RefreshPlanner.slot(time))
        guard planner.search.pricesOf != halfHour else { return }
        planner.search.pricesOf = halfHour
        for place in planner.search.waiting.indices {
            let index = planner.search.waiting[place].index
            let left = refreshesLeft(of: index, isToday: time.day == planner.day)
            planner.search.waiting[place].price = price(of: index, at: time, left: left)
        }
    }

    /// Whether anything would be refreshed then if nothing happens until then.
    private mutating func isAnyWorthIt(at time: UseTime) -> Bool {
        var outlook: Outlook?
        var surplus = wakeSurplus
        let discount = discount(isAwake: true)
        for place in planner.search.waiting.indices {
            let app = planner.search.waiting[place]
            guard app.price < Double(MomentRing.levelCount),
                waitingRefresh(of: app.index, at: time) != nil
            else { continue }
            let (position, _) = gain(of: app.index, at: time, &outlook, isAhead: true)
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
