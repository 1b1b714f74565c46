package import Vocabulary

/// How closely the launches for one of an app's own tasks follow each other.
package struct Pace: Hashable, Sendable, Codable {
    package var identifier: String
    /// When the last one began.
    package var began: WallTime
    /// How many in a row were asked for too soon after the one before.
    package var close: Int64 = 0
}

extension AppRecord {
    /// How many tasks of an app have their pace remembered: as many as may be pending, and more.
    /// Its sessions have theirs beside them.
    private static var memory: Int { 16 }

    private func pace(of work: Work) -> Pace? {
        paces.first { $0.identifier == work.identifier }
    }

    mutating func began(_ work: Work, at now: WallTime, _ settings: Settings) {
        var next = pace(of: work) ?? Pace(identifier: work.identifier, began: now)
        if let last = pace(of: work), work.since >= last.began {
            let end = lastEnd(of: work.trigger)
            let spacing = work.spacing(after: last, settings)
            let isClose = work.follows(last, closerThan: spacing.near, lastEnd: end)
            next.close = isClose ? last.close + 1 : 0
        }
        next.began = now
        paces.removeAll { $0.identifier == work.identifier }
        paces.append(next)
        forgetPaces()
    }

    /// The oldest of tasks. If those of sessions went too, more sessions than are remembered could
    /// take turns, and none would ever wait.
    private mutating func forgetPaces() {
        let tasks = paces.indices.filter { index in
            !sessions.contains { $0.identifier == paces[index].identifier }
        }
        for index in tasks.dropLast(Self.memory).reversed() { paces.remove(at: index) }
    }
}

extension AppState {
    /// Until when work waits because it follows too closely; nil: it does not.
    func tooClose(_ work: Work, _ settings: Shared<Settings>) -> (until: WallTime, pace: Pace)? {
        guard work.hasPace(in: self) else { return nil }
        guard let pace = paces.first(where: { $0.identifier == work.identifier }),
            work.since >= pace.began
        else { return nil }
        let spacing = work.spacing(after: pace, settings.value)
        let end = lastEnd(of: work.trigger)
        guard spacing.wait > .zero, work.follows(pace, closerThan: spacing.near, lastEnd: end)
        else { return nil }
        return (pace.began + spacing.wait, pace)
    }
}

extension Work {
    /// Whether a task asks to run again too soon after its last launch. What was asked for before
    /// that began waited for its turn only; and no task follows a run that has not ended.
    fileprivate func follows(
        _ pace: Pace,
        closerThan spacing: Interval,
        lastEnd: WallTime?
    ) -> Bool {
        max(since, earliest ?? .distantPast, lastEnd ?? .distantPast) < pace.began + spacing
    }

    /// Whether its launches are held apart: an app's own, asked for anew each time. What the user
    /// or a manifest wants again and again has a rhythm already.
    func hasPace(in app: AppState) -> Bool {
        switch origin {
        case .submitted: every == nil && !app.isTransient
        case .event: trigger.launchWait != nil
        case .command, .fetch, .transfer: false
        }
    }

    /// `near`: what is asked for within it after the last launch follows too closely. `wait`: so
    /// long after that launch it may begin.
    fileprivate func spacing(
        after pace: Pace,
        _ settings: Settings
    ) -> (near: Interval, wait: Interval) {
        if let first = trigger.launchWait {
            let wait = settings.wait(first, doubled: pace.close)
            return (wait, wait)
        }
        // The first time is free: that is how an app tries again what did not succeed.
        let spacing = settings.launchSpacing
        let wait = pace.close == 0 ? .zero : settings.wait(spacing, doubled: pace.close - 1)
        return (spacing, wait)
    }
}

extension Settings {
    /// `wait`, doubled so many times, up to the longest that there is.
    func wait(_ wait: Interval, doubled times: Int64) -> Interval {
        var (wait, left) = (wait, times)
        while left > 0, .zero < wait, wait < backOffLimit {
            wait = wait * 2
            left -= 1
        }
        return min(wait, backOffLimit)
    }
}
