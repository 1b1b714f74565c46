import Vocabulary

/// What the refresh policy is told of each event, and what comes of what it decides.
extension Device {
    func refreshFacts(at now: Moment) -> RefreshFacts {
        RefreshFacts(
            now: now,
            apps: apps,
            settings: settings,
            seed: seed,
            pauseEnds: pauseEnds,
            externalPower: conditions.externalPower,
            isOnCharger: conditions.isOnCharger,
            isMetered: conditions.metered,
            isRunning: running.all > 0
        )
    }

    /// The moments until now are measured by what was known then. Before each event.
    mutating func measureMoments(until now: Moment) {
        let passage = Passage(from: lastMoment, to: now)
        if refreshPolicy.isOver(passage) {
            let isOtherCount = refreshPolicy.dayBegan(now.local.day, in: &apps)
            for index in refreshPolicy.members.indices { save(app: index) }
            // Other gates ask then.
            if isOtherCount { touchAll() }
            save(.device)
        }
        refreshPolicy.timePassed(passage, refreshFacts(at: now))
    }

    /// Begins what is worth it now. After the event, before the apps are looked at.
    mutating func decideRefreshes(_ transition: inout Transition) {
        findRefreshMembers()
        for choice in refreshPolicy.decide(refreshFacts(at: transition.now)) {
            apps[choice.index].requests[choice.requestIndex].decision = choice.decision
            touch(choice.index)
        }
    }

    /// Last in each event: finds when the next decision is. The search takes long, so that of an
    /// event that others follow in its turn is left to the last of them.
    mutating func scheduleNextDecision(othersFollow: Bool, at now: Moment) {
        findRefreshMembers()
        if othersFollow {
            refreshPolicy.postponeSearch(refreshFacts(at: now))
        } else {
            searchNextDecision(at: now)
        }
    }

    private mutating func searchNextDecision(at now: Moment) {
        guard let moment = refreshPolicy.searchMoment(at: now) else { return }
        refreshPolicy.scheduleDecision(refreshFacts(at: moment))
    }

    /// Before each event: catches up on a postponed search if a decision may be due by now. So what
    /// is decided does not depend on how events are split into turns.
    mutating func searchIfPostponed(until now: Moment) {
        guard refreshPolicy.postponedSearch != nil, let due = refreshPolicy.decideAt,
            due <= now.wall
        else { return }
        searchNextDecision(at: now)
    }

    /// Of a copy that is kept: with it, each step of a search would copy what is known so far.
    mutating func forgetSearch() { refreshPolicy.search = RefreshSearch() }

    /// A run begins: it is paid for from its trigger's bucket.
    mutating func spend(_ trigger: Trigger, of index: Int) {
        guard trigger.row.bucket == .refreshBudget else { return }
        let isShared = refreshPolicy.refreshBegan(of: index, &apps[index])
        save(app: index)
        if isShared { save(.device) }
    }

    /// A run that was paid for never began.
    mutating func refund(_ trigger: Trigger, of index: Int) {
        guard trigger.row.bucket == .refreshBudget else { return }
        let isShared = refreshPolicy.refreshUndone(of: index, &apps[index])
        save(app: index)
        if isShared { save(.device) }
    }

    private mutating func findRefreshMembers() {
        // Other gates ask then.
        for index in refreshPolicy.findMembers(in: apps) { touch(index) }
    }
}

/// What passed of time since the event before.
struct Passage {
    let now: Moment
    /// By how much more than the time that passed the clock went: it was set.
    private let step: Interval
    let isInAnotherZone: Bool

    init(from last: Moment?, to now: Moment) {
        self.now = now
        step = last.map { (now.wall - $0.wall) - (now.boot - $0.boot) } ?? .zero
        isInAnotherZone = last.map { $0.utcOffset != now.utcOffset } ?? false
    }

    var isSet: Bool { step > .minutes(1) || step < .zero - .minutes(1) }
    var isSetBackByDay: Bool { step <= .zero - .hours(12) }
}
