import Vocabulary

/// What time alone does to an app: its launches have deadlines, and what is too old is dropped.
extension Device {
    mutating func advanceLaunches(of index: Int, _ transition: inout Transition) {
        // By position: nothing is allocated for a list that is short and rarely changes.
        var position = 0
        while position < apps[index].launches.count {
            let id = apps[index].launches[position].id
            if isDue(position, of: index, at: transition.now) { take(.woke, id, &transition) }
            let isThere =
                position < apps[index].launches.count && apps[index].launches[position].id == id
            if isThere { position += 1 }
        }
    }

    /// Whether a launch is to be changed: most are not, and stay shared with the copy that
    /// the driver keeps.
    private func isDue(_ launchIndex: Int, of index: Int, at now: Moment) -> Bool {
        let launches = apps[index].launches
        return launches.span[launchIndex].isDue(facts(of: index, at: now))
    }

    /// The next deadline of an app.
    func nextDeadline(of index: Int, at now: Moment) -> BootTime {
        var next = now.boot(of: nextDrop(of: apps[index]))
        if let end = forgetTime(of: index, now) { next = min(next, now.boot(of: end)) }
        let launches = apps[index].launches
        guard !launches.isEmpty else { return next }
        let facts = facts(of: index, at: now)
        let span = launches.span
        for launchIndex in span.indices { next = min(next, span[launchIndex].nextDeadline(facts)) }
        return next
    }

    /// When an app is forgotten; nil: not by time alone.
    func forgetTime(of index: Int, _ now: Moment) -> WallTime? {
        let end = apps[index].forgottenAt(now)
        return end != nil && transfers.contains(app: index) ? nil : end
    }

    /// When the first request is too old to be kept; distant future: none will be.
    private func nextDrop(of app: AppState) -> WallTime {
        guard app.requests.contains(where: \.isDroppable) else { return .distantFuture }
        let times = dropTimes(of: app)
        return min(times.gone, times.unused)
    }

    /// Suspended apps end in order of last use while memory is short (A10), one at a time; what was
    /// never used, or nobody knows of, goes first.
    mutating func relieveMemory(_ transition: inout Transition) {
        memoryCheckAt = nil
        guard conditions.isMemoryShort else { return }
        var oldest: (launch: LaunchID, used: WallTime)?
        for index in usedIndices {
            let used = apps[index].record.lastUsed ?? .distantPast
            for launch in apps[index].launches
            where launch.presence == .suspended && launch.ending == nil {
                if oldest.map({ (used, launch.id) < ($0.used, $0.launch) }) ?? true {
                    oldest = (launch.id, used)
                }
            }
        }
        guard let oldest else { return }
        take(.ended(.memoryPressure, detail: ""), oldest.launch, &transition)
        memoryCheckAt = transition.now.awake + .seconds(2)
    }
}
