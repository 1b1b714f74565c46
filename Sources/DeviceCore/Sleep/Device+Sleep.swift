package import Vocabulary

/// What is known of the last sleep of the machine.
struct Sleep: Hashable, Sendable, Codable {
    /// When it ended.
    var end: BootTime?
    /// Our own alarm ended it, and nobody has used the machine since.
    var isOwnWake = false
    /// It was sent back to sleep since, and nothing speaks against that.
    var isSentBack = false
    /// When the machine began to prepare for the next one; nil: it does not.
    var begunAt: BootTime?
    /// It prepares for one that has not come yet.
    var isAhead = false
    /// Until then what is said of the network is of the sleep.
    var endsAt: AwakeTime?
    /// The newest that was said of it meanwhile, by each source.
    var withheld: [ConditionReport] = []
    /// Until then a network is waited for that was there before it.
    var networkDueBy: BootTime?

    /// Whoever used the machine then counts as gone, as if they had only stopped using it.
    func idleFrom(after patience: Interval) -> BootTime? { begunAt.map { $0 + patience } }
}

/// The machine is woken for work, and goes back to sleep afterwards.
extension Device {
    /// An alarm rings so long before anybody hears of it at most.
    private static let alarmDelay = Interval.seconds(10)
    /// A real-time clock counts in seconds: it may ring so much too early.
    package static let alarmAdvance = Interval.seconds(1)
    /// Work that is due so soon is waited for.
    private static let shortWait = Interval.minutes(1)
    /// Nothing prepares longer for a sleep, or for none after all.
    private static let longestPreparation = Interval.minutes(1)
    /// What is said of the power line so soon after a sleep may have happened in it.
    private static let powerDelay = Interval.seconds(10)
    /// A network that is not back so long after a sleep does not come any more.
    private static let networkDelay = Interval.seconds(30)

    /// So long after a sleep a loss of the network does not count.
    private var networkGrace: Interval {
        min(max(settings.pauseAfterResume, .seconds(10)), Self.networkDelay)
    }

    /// A gap between boot time and awake time is a sleep of the device.
    mutating func noticeSleep(_ transition: inout Transition) {
        guard let last = lastMoment else { return }
        let now = transition.now
        let slept = (now.boot - last.boot) - (now.awake - last.awake)
        guard slept >= .seconds(1) else { return }
        // Closes a gate, and opens none: what is due by now is looked at anyway.
        (sleep.end, sleep.isAhead) = (now.boot, false)
        (sleep.isSentBack, sleep.networkDueBy) = (false, nil)
        if sleep.endsAt != nil {
            noLongerPrepares()
            sleep.endsAt = now.awake + networkGrace
        }
        // Whoever woke it earlier was heard of earlier, unless that could not be stored.
        let rang = armed.alarm.map {
            $0 > last.boot && $0 - now.boot <= Self.alarmAdvance
                && now.boot - $0 < Self.alarmDelay
        }
        sleep.isOwnWake = rang == true && conditions.storage == 0
    }

    mutating func sleepStep(_ step: SleepStep, _ transition: inout Transition) {
        let now = transition.now
        switch step {
        case .begins:
            // Nobody came since it was woken for work: not once more for the same.
            if !sleep.isOwnWake { sleep.begunAt = now.boot }
            sleep.isAhead = true
            sleep.endsAt = now.awake + Self.longestPreparation
            // Work that waits for the user to go may wake the machine.
            touch(heldBy: GateSet(.deviceInUse))
        case .ended:
            // What is due is looked at, and the timers are set anew.
            isTimerSpent = true
            // Somebody kept it from sleeping, who may be there.
            if sleep.isAhead { (sleep.isAhead, sleep.isOwnWake) = (false, false) }
            // It has not slept, or that would have been noticed; the network was taken down.
            guard sleep.begunAt != nil else { return }
            noLongerPrepares()
            sleep.endsAt = now.awake + networkGrace
        }
    }

    private mutating func noLongerPrepares() {
        guard sleep.begunAt != nil else { return }
        sleep.begunAt = nil
        touch(heldBy: GateSet(.deviceInUse))
    }

    /// A source reports. NetworkManager takes the network down for a sleep and brings it back
    /// shortly after. Until then its loss ends no work and cancels no alarm.
    mutating func sensed(_ report: ConditionReport, _ transition: inout Transition) {
        sleep.withheld.removeAll {
            ($0.condition, $0.source) == (report.condition, report.source)
        }
        let isOfNetwork = report.condition == .network || report.condition == .metered
        if sleep.endsAt != nil, isOfNetwork, report.source != .hand,
            conditions.value(report.condition) == report.condition.harmless
        {
            return sleep.withheld.append(report)
        }
        conditionReported(report.condition, report.source, report.reading, &transition)
    }

    /// The sleep and the grace after it are over: the withheld reports count now.
    mutating func endSleepIfDue(_ transition: inout Transition) {
        guard let end = sleep.endsAt, end <= transition.now.awake else { return }
        noLongerPrepares()
        sleep.endsAt = nil
        let (reports, hadNetwork) = (sleep.withheld, conditions.networkReachable)
        sleep.withheld = []
        for report in reports {
            conditionReported(report.condition, report.source, report.reading, &transition)
        }
        if hadNetwork, !conditions.networkReachable {
            sleep.networkDueBy = sleep.end.map { $0 + Self.networkDelay }
        }
    }

    /// Whether the machine may be woken for work.
    var mayWakeMachine: Bool {
        switch settings.wakeFromSleep {
        case .off: false
        case .charger: conditions.isAssured(.power)
        case .on: true
        }
    }

    /// A sign that somebody is there, after which we do not send it back to sleep.
    mutating func noticeUser(_ event: Event, at now: Moment) {
        guard sleep.isOwnWake, let end = sleep.end else { return }
        switch event {
        case .used, .user: sleep.isOwnWake = false
        case .condition(.idle, _, .value(0)), .condition(.locked, _, .value(0)):
            sleep.isOwnWake = false
        case .condition(.power, _, .value):
            if now.boot - end >= Self.powerDelay { sleep.isOwnWake = false }
        // What is said while nothing can be stored is forgotten, and what ends is heard of late:
        // somebody may be there by then.
        case .condition(.storage, _, .value(1...)): sleep.isOwnWake = false
        case .condition, .started, .timer, .clockChanged, .sleep, .manifests, .settings, .process,
            .app, .transfer, .triggered, .storageRecovered, .stopping:
            break
        }
    }

    /// An estimate does not see who only reads.
    private var isKnownToBeIdle: Bool {
        conditions.isAssured(.idle) && conditions[.idle].source != .estimate
    }

    /// After a wake of our own, when nothing is left to do: back to sleep. `next`: when work is due
    /// for which the machine would be woken.
    mutating func sleepAgain(next: BootTime, _ look: inout BootTime, _ transition: inout Transition)
    {
        guard sleep.isOwnWake, !sleep.isSentBack, let end = sleep.end, !isHeldAwake,
            running.all == 0
        else { return }
        // What is due begins when the pause after the sleep is over, and the network is back.
        var begun = end + settings.pauseAfterResume + .seconds(1)
        if let due = sleep.networkDueBy, !conditions.networkReachable { begun = max(begun, due) }
        guard begun <= transition.now.boot else { return look = min(look, begun) }
        guard next - transition.now.boot > Self.shortWait, isKnownToBeIdle else { return }
        sleep.isSentBack = true
        transition.emit(.sleepAgain)
    }
}
