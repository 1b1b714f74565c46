/// One person's log as the protocol of the evaluation sees it. Times are seconds since `midnight`,
/// the first one of the log.
package struct UsageRecord: Sendable {
    package let data: String
    package let user: String
    /// Seconds of the local clock since 1970.
    package let midnight: Double
    package let days: Int
    /// 0 is Monday.
    package let firstWeekday: Int
    /// Days on which anything happened; on the others the logger was off.
    package let isValid: [Bool]
    /// The first scored day: two thirds are warm-up.
    package let splitDay: Int
    /// When something that shows a user begins.
    package let activityStarts: [Double]
    /// The latest end of all that has begun until then.
    package let activityEnds: [Double]
    package let apps: [Sessions]
    /// The apps that are scored, by index in `apps`.
    package let eligible: [Int]

    /// The sessions of one app; those less than 5 minutes apart are one.
    package struct Sessions: Sendable {
        package let name: String
        package let starts: [Double]
        package let ends: [Double]
    }

    static let day = 86_400.0
    static let binsPerDay = 288
    static let bin = 300.0
    /// Content is fresh for so long.
    static let freshness = 1800.0
    /// A refresh takes so long.
    static let refreshTime = 10.0

    package var scoredDays: Int { isValid[splitDay...].count { $0 } }
    var split: Double { Double(splitDay) * Self.day }
}

extension UsageRecord {
    /// What a log must hold to be scored.
    package enum Least {
        /// Lines of apps.
        package static let lines = 50
        /// On which anything happened.
        package static let days = 10
        /// Of one app, in the part that is learned from.
        package static let sessions = 10
        package static let daysOfSessions = 3
    }

    /// Nil: too little to be scored.
    package init?(_ log: UserLog) {
        let own = log.events.filter { $0.kind == .app }
        guard own.count >= Least.lines, let first = own.first?.start, let last = own.last?.start
        else {
            return nil
        }
        let midnight = (first / Self.day).rounded(.down) * Self.day
        let activity = Activity(
            log.events.filter { $0.start >= midnight && $0.start <= last },
            from: midnight
        )
        let days = Int((last - midnight) / Self.day) + 1
        let splitDay = Int((Double(days) * 2 / 3).rounded(.toNearestOrEven))
        var isValid = Array(repeating: false, count: days)
        for start in activity.starts { isValid[Int(start / Self.day)] = true }
        guard isValid.count(where: { $0 }) >= Least.days else { return nil }

        var apps: [Sessions] = []
        var eligible: [Int] = []
        for app in own.map(\.app).inOrderOnce {
            let sessions = activity.sessions(of: app, called: log.names[app])
            let warm = sessions.starts.filter { $0 < Double(splitDay) * Self.day }
            let warmDays = warm.map { Int($0 / Self.day) }.inOrderOnce
            if warm.count >= Least.sessions, warmDays.count >= Least.daysOfSessions {
                eligible.append(apps.count)
            }
            apps.append(sessions)
        }
        guard !eligible.isEmpty else { return nil }
        data = log.data
        user = log.user
        self.midnight = midnight
        self.days = days
        firstWeekday = (Int(midnight / Self.day) + 3) % 7
        self.isValid = isValid
        self.splitDay = splitDay
        activityStarts = activity.starts
        var latest = -Double.infinity
        activityEnds = activity.ends.map { end in
            latest = max(latest, end)
            return latest
        }
        self.apps = apps
        self.eligible = eligible
    }

    /// What shows a user, in the order of time.
    private struct Activity {
        var starts: [Double] = []
        var ends: [Double] = []
        /// Nil: no app of the user's.
        var apps: [Int?] = []

        init(_ events: [UsageEvent], from midnight: Double) {
            let active = events.filter {
                switch $0.kind {
                case .app, .system, .screenOn: true
                case .screenOff, .other: false
                }
            }
            for (index, event) in active.enumerated() {
                let start = event.start - midnight
                let next =
                    index + 1 < active.count ? active[index + 1].start - midnight : .infinity
                starts.append(start)
                // Where the log does not know, until the next one, at most ten minutes.
                ends.append(event.duration.map { start + $0 } ?? min(start + 600, next))
                apps.append(event.kind == .app ? event.app : nil)
            }
        }

        func sessions(of app: Int, called name: String) -> Sessions {
            var (starts, ends): ([Double], [Double]) = ([], [])
            for index in apps.indices where apps[index] == app {
                if let end = ends.last, self.starts[index] - end < 300 {
                    ends[ends.count - 1] = max(end, self.ends[index])
                } else {
                    starts.append(self.starts[index])
                    ends.append(self.ends[index])
                }
            }
            return Sessions(name: name, starts: starts, ends: ends)
        }
    }
}

extension UsageRecord.Sessions {
    /// The opens that count: more than the freshness after the use before.
    package func counted(from split: Double) -> [(open: Double, since: Double)] {
        starts.indices.dropFirst().compactMap { index in
            let (start, end) = (starts[index], ends[index - 1])
            return start - end > UsageRecord.freshness && start >= split ? (start, end) : nil
        }
    }

    /// The last session that has begun by then; nil: none.
    func session(at time: Double) -> Int? {
        let count = starts.count(upTo: time)
        return count > 0 ? count - 1 : nil
    }
}

extension UsageRecord {
    /// When the device was in use, in order.
    package var inUse: [(start: Double, end: Double)] {
        var uses: [(start: Double, end: Double)] = []
        for (index, start) in activityStarts.enumerated() {
            let end = max(start, activityEnds[index])
            if let last = uses.last, start <= last.end {
                uses[uses.count - 1].end = max(last.end, end)
            } else {
                uses.append((start, end))
            }
        }
        return uses
    }
}

extension [Double] {
    /// How many, of values in order, are at most `limit`.
    func count(upTo limit: Double) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= limit { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension UsageRecord {
    /// Whether the device was in use at some time of the two minutes before.
    package func isInUse(at time: Double) -> Bool {
        let count = activityStarts.count(upTo: time)
        guard count > 0 else { return false }
        return time - max(activityEnds[count - 1], activityStarts[count - 1]) <= 120
    }
}

extension Array where Element: Comparable {
    /// Each value once, in order.
    var inOrderOnce: [Element] {
        var values: [Element] = []
        for value in sorted() where values.last != value { values.append(value) }
        return values
    }
}
