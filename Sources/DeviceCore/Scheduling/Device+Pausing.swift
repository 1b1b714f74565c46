import Vocabulary

/// `offstage pause`.
extension Device {
    mutating func pauseWork(
        for interval: Interval?,
        until date: WallTime?,
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        let now = transition.now
        if let date, date <= now.wall {
            let refusal = Refusal(
                .invalid,
                reason: "that time has passed",
                value: now.text(for: date),
                fix: "give a later one"
            )
            return transition.reply(reply, .refused(refusal))
        }
        pause =
            date.map { .untilDate($0) } ?? interval.map { .until(now.boot + $0) }
            ?? .untilContinued
        pausedAt = now.wall
        pauseEnds = date ?? interval.map { now.wall + $0 }
        save(.device)
        stopAllRuns(.paused, &transition)
        transition.reply(reply, .done)
        touchAll()
    }

    mutating func endPause(_ transition: inout Transition) {
        let isOver =
            switch pause {
            case .none, .untilContinued: false
            case .until(let end): transition.now.boot >= end
            case .untilDate(let end): transition.now.wall >= end
            }
        guard isOver else { return }
        endPause()
        save(.device)
        touchAll()
    }

    mutating func endPause() { (pause, pausedAt, pauseEnds) = (.none, nil, nil) }

    /// A pause for a while goes on; it counted a boot time that is gone. Never longer than it was
    /// to be, should the clock have been lost.
    mutating func carryPause(_ now: Moment) {
        // A date needs no carrying, and ends it once it has come.
        guard case .until = pause else { return }
        guard let ends = pauseEnds, let since = pausedAt, ends > now.wall else {
            endPause()
            return
        }
        pause = .until(now.boot + min(ends - now.wall, ends - since))
    }
}
