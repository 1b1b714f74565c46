import Vocabulary

extension Device {
    mutating func clockChanged(_ transition: inout Transition) {
        clampDates(to: transition.now)
        requeueTransfers(at: transition.now)
        // Of another clock's moment.
        for index in usedIndices { apps[index].dropDecisions() }
        refreshPolicy.clockChanged(at: transition.now.wall)
        touchAll()
    }

    /// No time passes while the clock is set, as it is after each boot of a board that has none of
    /// its own: what has just ended, or was just used, is not forgotten for that. In whichever turn
    /// it is noticed first: that of the event itself may fail.
    mutating func noticeClockStep(at now: Moment) {
        guard let last = lastMoment else { return }
        let step = (now.wall - last.wall) - (now.boot - last.boot)
        guard step >= .minutes(1) || step <= .zero - .minutes(1) else { return }
        shiftTransfers(by: step)
        requeueTransfers(at: now)
        for index in usedIndices {
            apps[index].record.shift(by: step)
            save(app: index)
        }
    }

    /// A date in the future of the clock would hold things back for as long as the clock was
    /// wrong: it becomes now. Also for a daemon that starts: the clock may have been set back while
    /// none lived to be told of it.
    mutating func clampDates(to now: Moment) {
        var changed = false
        if case .until(let end) = pause {
            pauseEnds = now.wall + (end - now.boot)
            changed = true
        }
        lower(&pausedAt, to: now.wall, &changed)
        if refreshPolicy.clampDates(to: now.wall) || changed { save(.device) }
        clampTransfers(to: now.wall)
        for index in usedIndices {
            if apps[index].record.clamp(to: now.wall, settings: settings.value) { save(app: index) }
            for requestIndex in apps[index].requests.indices {
                guard apps[index].requests[requestIndex].clamp(to: now.wall) else { continue }
                save(app: index, request: apps[index].requests[requestIndex].id)
            }
        }
    }
}

extension AppRecord {
    /// Those after which something is forgotten.
    fileprivate mutating func shift(by step: Interval) {
        firstSeen = firstSeen.map { $0 + step }
        lastUsed = lastUsed.map { $0 + step }
        closedAt = closedAt.map { $0 + step }
        if let run = lastRun { lastRun?.at = run.at + step }
        goneSince = goneSince.map { $0 + step }
        unusedSince = unusedSince.map { $0 + step }
    }

    /// Whether anything changed.
    fileprivate mutating func clamp(to now: WallTime, settings: Settings) -> Bool {
        var changed = false
        lower(&firstSeen, to: now, &changed)
        lower(&lastUsed, to: now, &changed)
        lower(&closedAt, to: now, &changed)
        lower(&goneSince, to: now, &changed)
        lower(&unusedSince, to: now, &changed)
        for index in lastEnds.indices where lastEnds[index].at > now {
            lastEnds[index].at = now
            changed = true
        }
        if let run = lastRun, run.at > now {
            lastRun?.at = now
            changed = true
        }
        lower(&failures.since, to: now, &changed)
        for index in paces.indices where paces[index].began > now {
            paces[index].began = now
            changed = true
        }
        lower(&failures.until, to: now + settings.backOffLimit, &changed)
        return refresh.clamp(to: now) || changed
    }
}

extension Request {
    fileprivate mutating func clamp(to now: WallTime) -> Bool {
        var changed = submittedAt > now
        submittedAt = min(submittedAt, now)
        lower(&interruptedAt, to: now, &changed)
        lower(&lastEnd, to: now, &changed)
        if let span { lower(&earliest, to: now + span, &changed) }
        return changed
    }
}

func lower(_ time: inout WallTime?, to limit: WallTime, _ changed: inout Bool) {
    guard let later = time, later > limit else { return }
    time = limit
    changed = true
}
