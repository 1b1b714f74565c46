import Vocabulary

/// How good for a refresh the moments were, as they pass, by what was known then: what a price is
/// made of.
extension Device {
    /// Records how good the moments until `now` were, by what was known then. Before each event.
    mutating func recordGains(at now: Moment) {
        let end = now.wall
        // Habits go by the local time.
        if let last = lastMoment, last.utcOffset != now.utcOffset { planner.useChanged() }
        defer { planner.recordedUntil = end }
        let today = now.local.day
        let step = lastMoment.map { clockStep(from: $0, to: now) } ?? .zero
        let isSetByDay = step <= .zero - .hours(12)
        if planner.day != today, planner.day != today + 1 || isSetByDay { beginDay(today) }
        if isSetByDay { use.goOn(on: today) }
        if step > .minutes(1) || step < .zero - .minutes(1) {
            planner.forgetGains(at: end)
            return
        }
        guard let since = planner.recordedUntil, since < end, !planner.members.isEmpty else {
            return
        }
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
        // After a use is decided between them.
        if let at = planner.decideAt, at <= end, at > gridTime(upTo: end) {
            measure(at: UseTime(at, utcOffset: now.utcOffset))
        }
    }

    /// By how much more than the time that passed the clock went: it was set.
    private func clockStep(from last: Moment, to now: Moment) -> Interval {
        (now.wall - last.wall) - (now.boot - last.boot)
    }

    private mutating func measure(at time: UseTime) {
        var context: PredictionContext?
        let slot = RefreshPlanner.slot(time)
        for memberIndex in planner.members.indices {
            let index = planner.members[memberIndex]
            let (position, chance) = gain(of: index, at: time, &context, isAhead: false)
            planner.positions[index] = position
            planner.chances[index] = chance
            if position > 0 { planner.recordGain(position, of: index, slot: slot) }
        }
    }

    /// Where the gain of a refresh lies on the scale (0: none, its content is fresh or in view),
    /// and the chance that makes it.
    ///
    /// `context`: of that time, made when it is needed. `isAhead`: it will be asked for again.
    mutating func gain(
        of index: Int,
        at time: UseTime,
        _ context: inout PredictionContext?,
        isAhead: Bool
    ) -> (position: Double, chance: Double) {
        // Asked for part by part: nothing of an app is copied then.
        guard !apps[index].use.isOpen,
            apps[index].use.lastUse.map({ time.wall - $0 >= RefreshPlanner.rest }) ?? true
        else { return (0, 0) }
        let chance: Double
        if let known = planner.search.chances.chance(of: index, at: time.wall) {
            chance = known
            assert(known == self.chance(of: index, PredictionContext(self.use, at: time)))
        } else {
            if context == nil { context = PredictionContext(self.use, at: time) }
            chance = context.map { self.chance(of: index, $0) } ?? 0
            if isAhead {
                let count = planner.positions.count
                planner.search.chances.store(chance, of: index, at: time.wall, count: count)
            }
        }
        return (GainHistory.position(of: chance * apps[index].refreshWorth), chance)
    }

    /// That the app is opened in the half-hour after.
    func chance(of index: Int, _ context: PredictionContext) -> Double {
        settings.prior
            ? context.chance(of: apps[index].use) : context.habit(of: apps[index].use)
    }

    private mutating func beginDay(_ day: Int64) {
        let wasUsed = use.days.day == planner.day
        for index in planner.members where planner.day != .min {
            apps[index].record.refresh.gains.keep(planner.slots(of: index), of: planner.day)
            apps[index].record.refresh.gains.finish(counts: wasUsed)
            save(app: index)
        }
        for index in planner.today.indices { planner.today[index] = 0 }
        planner.day = day
        planner.spent = 0
        countGains()
        planner.isStale = true
        save(.device)
    }

    /// Makes the table of the days before anew.
    mutating func countGains() {
        planner.isCounted = true
        planner.table.clear()
        planner.days = 0
        let known = planner.knownCount
        planner.knownCount = 0
        for index in planner.members {
            let gains = apps[index].gains
            planner.table.add(gains)
            planner.days = max(planner.days, gains.days)
            if gains.days >= RefreshPlanner.enoughDays { planner.knownCount += 1 }
        }
        planner.table.sumUp()
        // Other gates ask then.
        if planner.knownCount != known { touchAll() }
    }

    /// The grid of instants at which anything is decided is offset per device (B10).
    func gridTime(after time: WallTime) -> WallTime {
        gridTime(upTo: time) + RefreshPlanner.bin
    }

    func gridTime(upTo time: WallTime) -> WallTime {
        let bin = RefreshPlanner.bin.nanoseconds
        var rest = (time.nanoseconds - seed % bin) % bin
        if rest < 0 { rest += bin }
        return WallTime(nanoseconds: time.nanoseconds - rest)
    }

    /// What was seen of a day before the daemon ended goes on. After all records were read.
    mutating func restoreGains(of index: Int) {
        let gains = apps[index].gains
        guard !gains.today.isEmpty else { return }
        guard gains.day == planner.day else {
            // It took no part any more when that day ended.
            apps[index].record.refresh.gains.finish(counts: false)
            return
        }
        planner.makeRoom(for: apps.endIndex)
        planner.restored(gains.today, of: index)
        planner.members.append(index)
    }
}
