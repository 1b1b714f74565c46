import Vocabulary

extension Device {
    /// A gap between boot time and awake time is a sleep of the device.
    mutating func noticeSleep(_ transition: inout Transition) {
        guard let last = lastMoment else { return }
        let slept = (transition.now.boot - last.boot) - (transition.now.awake - last.awake)
        guard slept >= .seconds(1) else { return }
        // Closes a gate, and opens none: what is due by now is looked at anyway.
        resumedAt = transition.now.boot
    }

    /// A date in the future of the new clock would hold things back for as long as the clock was
    /// wrong: it becomes now.
    mutating func clockChanged(_ transition: inout Transition) {
        let now = transition.now.wall
        if case .until(let end) = pause {
            pauseEnds = now + (end - transition.now.boot)
        }
        if let since = pausedAt {
            pausedAt = min(since, now)
            save(.device)
        }
        for index in usedIndices {
            if apps[index].record.clamp(to: now, settings: settings.value) { save(app: index) }
            // Of another clock's moment.
            apps[index].dropDecisions()
            for requestIndex in apps[index].requests.indices {
                guard apps[index].requests[requestIndex].clamp(to: now) else { continue }
                save(app: index, request: apps[index].requests[requestIndex].id)
            }
        }
        if refreshPolicy.clockChanged(at: now) { save(.device) }
        touchAll()
    }

    /// The clock was set back while no daemon lived to be told of it.
    func remembersFuture(of now: WallTime) -> Bool {
        usedIndices.contains { index in
            var record = apps[index].record
            return record.clamp(to: now, settings: settings.value)
                || apps[index].requests.contains {
                    var request = $0
                    return request.clamp(to: now)
                }
        }
    }
}

extension AppRecord {
    /// Whether anything changed.
    fileprivate mutating func clamp(to now: WallTime, settings: Settings) -> Bool {
        var changed = false
        lower(&firstSeen, to: now, &changed)
        lower(&lastUsed, to: now, &changed)
        lower(&closedAt, to: now, &changed)
        lower(&goneSince, to: now, &changed)
        lower(&unusedSince, to: now, &changed)
        lower(&lastRefreshEnd, to: now, &changed)
        lower(&lastProcessingEnd, to: now, &changed)
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
