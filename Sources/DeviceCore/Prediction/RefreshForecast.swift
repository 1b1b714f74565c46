package import Vocabulary

/// What is expected of one app, told when somebody asks: the same chances, price and purse that
/// its refreshes are decided by.
package struct RefreshForecast: Hashable, Sendable, Codable {
    /// That it is opened within half an hour from now, in thousandths.
    package var chance: Int64
    /// From which chance on a refresh is worth it now, in thousandths.
    package var price: Int64
    /// Refreshes left today, and how many the day began with.
    package var left: Int64
    package var budget: Int64
    package var purse: RefreshPurse
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
        let members = planner.members.count { isLearned($0) }
        let budget = settings.refreshesPerDay * (settings.purse == .device ? Int64(members) : 1)
        let left = max(0, refreshesLeft(of: index, members: members))
        let today = UseTime(now)
        var forecast = RefreshForecast(
            chance: 0,
            price: 0,
            left: left,
            budget: budget,
            purse: settings.purse,
            likelyAt: now.wall,
            likelyChance: 0
        )
        let use = apps[index].use
        var slot = -1
        var price = 0.0
        for step in 0..<Int64(DayGrid.binCount) {
            let time = UseTime(now.wall + RefreshPlanner.bin * step, utcOffset: now.utcOffset)
            let outlook = Outlook(self.use, at: time)
            let chance = settings.prior ? outlook.chance(of: use) : outlook.habit(of: use)
            if RefreshPlanner.slot(time) != slot {
                slot = RefreshPlanner.slot(time)
                price = priceNow(of: index, slot, left: time.day == today.day ? left : budget)
            }
            let thousandths = Int64((chance * 1000).rounded())
            if step == 0 {
                forecast.chance = thousandths
                let odds = Arithmetic.logistic(MomentRing.logOdds(price))
                forecast.price = Int64((odds * 1000).rounded())
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

    private func priceNow(of index: Int, _ slot: Int, left: Int64) -> Double {
        var ahead = MomentCounts()
        for later in slot + 1..<max(slot + 1, MomentRing.slotCount) {
            switch settings.purse {
            case .app: ahead.add(apps[index].moments, slot: later)
            case .device: ahead.add(planner.table, slot: later)
            }
        }
        return ahead.price(left: Double(left), days: planner.days)
    }
}

extension RefreshForecast {
    /// Completes "NAME waits: …".
    func sentence(at now: Moment) -> String {
        var words =
            "you are most likely to open it \(now.words(for: likelyAt)) "
            + "(\(Self.percent(likelyChance)) within half an hour), now \(Self.percent(chance)); a "
            + "refresh is worth it from \(Self.percent(price)) on, with \(left) of \(budget) left "
            + (purse == .device ? "for all apps today" : "for it today")
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
