import Vocabulary

/// What of the device the refresh policy looks at. Not the device itself: it is large.
struct RefreshFacts {
    let now: Moment
    let apps: AppTable
    let settings: Shared<Settings>
    let seed: Int64
    let pauseEnds: WallTime?
    let externalPower: Bool
    let isOnCharger: Bool
    let isMetered: Bool
    /// Something runs, and keeps the device awake.
    let isRunning: Bool
}

// MARK: - Refreshes

extension RefreshFacts {
    /// When the refresh of an app waits for nothing but its moment; nil: something else holds it.
    func refreshDueAt(_ index: Int) -> WallTime? {
        guard apps[index].mayWait else { return nil }
        var dueAt: WallTime?
        let requests = apps[index].requests
        let span = requests.span
        for requestIndex in span.indices where span[requestIndex].trigger.spendsRefreshBudget {
            guard let due = refreshDueAt(span[requestIndex], of: index) else { continue }
            dueAt = min(due, dueAt ?? due)
        }
        return dueAt
    }

    /// The index of a refresh that waits for nothing but its moment.
    func dueRefresh(of index: Int, at time: WallTime) -> Int? {
        let requests = apps[index].requests
        let span = requests.span
        for requestIndex in span.indices {
            if let due = refreshDueAt(span[requestIndex], of: index), due <= time {
                return requestIndex
            }
        }
        return nil
    }

    /// Nil: it waits for no moment.
    private func refreshDueAt(_ request: Request, of index: Int) -> WallTime? {
        guard request.trigger.spendsRefreshBudget, request.state == .pending,
            request.mode == .normal
        else { return nil }
        let notBefore = notBefore(of: request, index)
        // Chosen already.
        guard let end = request.decision?.end else { return notBefore }
        return max(notBefore, WallTime(nanoseconds: end.nanoseconds + 1))
    }

    /// Nothing chooses a moment for a refresh before it, for what holds it by time alone.
    func notBefore(of request: Request, _ index: Int) -> WallTime {
        let work = request.work(at: .distantPast)
        var notBefore = max(work.earliest ?? .distantPast, pauseEnds ?? .distantPast)
        if let end = work.quietEnd(in: apps[index], settings) { notBefore = max(notBefore, end) }
        if let end = apps[index].backOffEnd(of: work, settings) {
            notBefore = max(notBefore, end)
        }
        return notBefore
    }

    /// An app that got nothing of a common budget for so long, divided by the refreshes a day, is
    /// given one: a thirty-second of an even share.
    private static let starvationLimit = Interval.days(32)

    /// It has had nothing of the common budget for so long that it comes to its turn, at the best
    /// moment of its day.
    func isOwed(_ candidate: RefreshSearch.Candidate, at time: UseTime) -> Bool {
        let last = candidate.refreshedAt ?? apps[candidate.index].firstSeen ?? .distantPast
        return time.wall - last >= Self.starvationLimit / settings.refreshesPerDay
    }

    /// That the app is opened in the half-hour after.
    func chance(of index: Int, _ context: PredictionContext) -> Double {
        apps[index].chance(context, withPrior: settings.prior)
    }

    /// From which chance on an app's refresh is worth that price, in thousandths.
    func chanceWanted(of index: Int, at price: Double) -> Int64 {
        let gain = Arithmetic.logistic(GainHistory.logOdds(price))
        return Int64((min(1, gain / apps[index].refreshWorth) * 1000).rounded())
    }
}

// MARK: - Prices

extension RefreshFacts {
    /// How far below the price a refresh may lie, on the scale of levels, of a device that is awake
    /// anyway, or woken for another app (docs/prediction.md).
    private static let awakeDiscount = 2.0
    private static let wokenDiscount = 1.0
    /// How far below the price a refresh may lie while the device charges; and how far above it one
    /// must lie that is paid for by the byte.
    private static let chargingDiscount = 1.0
    private static let meteredSurcharge = 2.0
    /// Where a gain lies on the scale below which nothing wakes a device that sleeps: 6 %.
    private static let leastToWake = GainHistory.position(of: 0.06)

    var surcharge: Double {
        (isMetered ? Self.meteredSurcharge : 0) - (isOnCharger ? Self.chargingDiscount : 0)
    }

    /// Wakes are shared where the budget is: an app that has refreshes of its own spends them when
    /// they serve it best.
    private var sharesWakes: Bool { settings.budgetScope == .device && settings.wakePrice > 0 }

    /// How far below the price a refresh may lie that wakes nothing.
    func discount(isAwake: Bool) -> Double {
        guard sharesWakes else { return 0 }
        return isAwake ? Self.awakeDiscount : Self.wokenDiscount
    }

    /// What the refreshes must gain beyond their prices to wake a device that sleeps.
    var wakeSurplus: RefreshSurplus {
        guard settings.wakePrice > 0, !isOnCharger else {
            return RefreshSurplus(wanted: 0, least: 0)
        }
        return RefreshSurplus(
            wanted: sharesWakes ? Double(settings.wakePrice) / 100 : 0,
            least: Self.leastToWake
        )
    }
}

// MARK: - Moments

extension RefreshFacts {
    /// As the user's clock shows it.
    func local(_ time: WallTime) -> UseTime { UseTime(time, utcOffset: now.utcOffset) }

    /// Of the half-hours of the day.
    func slot(of time: UseTime) -> Int { time.bin / 6 }

    /// The grid of instants at which anything is decided is offset per device (B10).
    func gridTime(after time: WallTime) -> WallTime {
        gridTime(upTo: time) + RefreshPolicy.bin
    }

    func gridTime(upTo time: WallTime) -> WallTime {
        let bin = RefreshPolicy.bin.nanoseconds
        var rest = (time.nanoseconds - seed % bin) % bin
        if rest < 0 { rest += bin }
        return WallTime(nanoseconds: time.nanoseconds - rest)
    }
}
