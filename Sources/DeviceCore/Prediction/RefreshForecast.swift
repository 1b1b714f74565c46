package import Vocabulary

/// What is expected of one app, told when somebody asks: the same chances, price and purse that
/// its refreshes are decided by.
package struct RefreshForecast: Hashable, Sendable, Codable {
    /// That it is opened within half an hour from now, in thousandths.
    package var chance: Int64
    /// From which chance on a refresh is worth it now, in thousandths.
    package var price: Int64
    /// Refreshes left today, and how many there are for a day: fewer for what is of little use.
    package var left: Int64
    package var budget: Int64
    package var purse: RefreshPurse
    /// Of what there is for all apps it has had as much today as one may.
    package var hasHadItsShare: Bool
    /// Within half an hour from when it is opened most likely in the next 24 hours, and how likely.
    package var likelyAt: WallTime
    package var likelyChance: Int64
    /// When its chance crosses the price if nothing happens until then; nil: not within 24 hours.
    package var expectedAt: WallTime?
}

extension Device {
    /// Nil: its moments are not chosen by what was learned.
    func forecast(of index: Int, at now: Moment) -> RefreshForecast? {
        guard apps[index].isPlanned, isLearned(index) else { return nil }
        let budget = refreshesPerDay(of: index)
        let left = max(0, refreshesLeft(of: index))
        let today = UseTime(now)
        var forecast = RefreshForecast(
            chance: 0,
            price: 0,
            left: left,
            budget: budget,
            purse: settings.purse,
            hasHadItsShare: hasHadItsShare(index),
            likelyAt: now.wall,
            likelyChance: 0
        )
        var slot = -1
        var price = 0.0
        let grid = gridTime(upTo: now.wall)
        for step in 0..<Int64(DayGrid.binCount) {
            // Now, then where decisions are made.
            let wall = step == 0 ? now.wall : grid + RefreshPlanner.bin * step
            let time = UseTime(wall, utcOffset: now.utcOffset)
            let outlook = Outlook(self.use, at: time)
            let chance = chance(of: index, outlook)
            if RefreshPlanner.slot(time) != slot {
                slot = RefreshPlanner.slot(time)
                price = self.price(of: index, at: time, left: time.day == today.day ? left : budget)
            }
            let thousandths = Int64((chance * 1000).rounded())
            if step == 0 {
                forecast.chance = thousandths
                forecast.price = chanceWanted(of: index, at: price)
            }
            if thousandths > forecast.likelyChance {
                (forecast.likelyAt, forecast.likelyChance) = (time.wall, thousandths)
            }
            let position = MomentRing.position(of: chance * apps[index].refreshWorth)
            if forecast.expectedAt == nil, position > price, isStale(index, at: time) {
                forecast.expectedAt = time.wall
            }
        }
        return forecast
    }

    private func isStale(_ index: Int, at time: UseTime) -> Bool {
        let use = apps[index].use
        return !use.isOpen && use.idleSeconds(at: time) >= RefreshPlanner.freshness.seconds
            && isRested(index, at: time)
    }
}

extension RefreshForecast {
    /// Completes "NAME waits: …".
    func sentence(at now: Moment) -> String {
        var words =
            "you are most likely to open it \(now.words(for: likelyAt)) "
            + "(\(Self.percent(likelyChance)) within half an hour), now \(Self.percent(chance)); a "
            + "refresh is worth it from \(Self.percent(price)) on, with "
        switch (purse, hasHadItsShare) {
        case (.app, _): words += "\(left) of \(budget) left for it today"
        case (.device, false): words += "\(left) of \(budget) left for all apps today"
        case (.device, true): words += "nothing left for it of the \(budget) for all apps today"
        }
        words +=
            expectedAt == nil
            ? "; using the device, or apps that it follows, changes that"
            : "; using the device, or apps that it follows, may bring that forward"
        return words
    }

    static func percent(_ thousandths: Int64) -> String {
        thousandths >= 100 || thousandths % 10 == 0
            ? "\((thousandths + 5) / 10) %" : "\(thousandths / 10).\(thousandths % 10) %"
    }
}

extension Report {
    static func share(_ thousandths: Int64) -> Value { .double(Double(thousandths) / 1000) }
}

extension Reporter {
    func forecast(_ forecast: RefreshForecast?) -> Value {
        guard let forecast else { return .null }
        return Report.map([
            ("chance", Report.share(forecast.chance)), ("price", Report.share(forecast.price)),
            ("left", .integer(forecast.left)), ("budget", .integer(forecast.budget)),
            ("purse", .string(forecast.purse.rawValue)), ("likelyAt", time(forecast.likelyAt)),
            ("likelyChance", Report.share(forecast.likelyChance)),
            ("expectedAt", time(forecast.expectedAt)),
        ])
    }
}

extension RefreshDecision {
    var report: Value {
        Report.map([
            ("chance", Report.share(chance)), ("price", Report.share(price)),
            ("left", .integer(left)), ("together", .integer(together)),
            ("purse", .string(purse.rawValue)),
        ])
    }
}
