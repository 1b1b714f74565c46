import Vocabulary

/// Spreads an app's refreshes evenly over the user's waking hours: while too little is known of its
/// use, or for ever, if nothing tells of that.
enum RefreshSpread {
    /// When to refresh an app next, and why then.
    struct Plan: Hashable, Sendable {
        var at: WallTime
        /// Completes "NAME waits because …".
        var reason: String
    }

    /// Pure: asked as often as anybody likes. The answer stays the same while time goes by, so
    /// that a timer that comes late still finds the moment that it was armed for: it moves when a
    /// run ends, a day begins, the settings change, or the clock is set.
    ///
    /// `since`: when the app was last refreshed; before the first time, since when it is known.
    static func plan(
        since: WallTime?,
        isFirst: Bool,
        settings: Settings,
        at now: Moment
    ) -> Plan {
        let day = WakingHours(settings, utcOffset: now.utcOffset)
        let period = isFirst ? .zero : day.length / max(1, settings.refreshesPerDay)
        // In the future: the clock was set back, and there is nothing to wait for.
        let wanted = since.map { $0 <= now.wall ? $0 + period : .distantPast } ?? .distantPast
        let begin = day.current(at: now.wall) ?? day.next(after: now.wall)
        let at: WallTime
        if wanted <= begin {
            at = begin
        } else {
            at = day.current(at: wanted) == nil ? day.next(after: wanted) : wanted
        }
        return Plan(
            at: at,
            reason: at == wanted
                ? "its refreshes are spread over your day, and the next one is not due yet"
                : "it is refreshed when your day begins"
        )
    }
}

/// The hours in which the user is awake, every day the same; the end may lie after midnight.
struct WakingHours: Hashable, Sendable {
    private let from: Interval
    private let utcOffset: Int32
    /// Of one day; 24 hours: always awake.
    let length: Interval

    init(_ settings: Settings, utcOffset: Int32) {
        from = settings.wakingFrom
        self.utcOffset = utcOffset
        let span = settings.wakingUntil - settings.wakingFrom
        length = span > .zero ? span : span + .days(1)
    }

    /// When the waking hours began in which `time` lies; nil: it lies in none.
    func current(at time: WallTime) -> WallTime? {
        guard length < .days(1) else { return .distantPast }
        let begin = latest(before: time)
        return time < begin + length ? begin : nil
    }

    func next(after time: WallTime) -> WallTime { latest(before: time) + .days(1) }

    /// The last beginning that is not after `time`.
    private func latest(before time: WallTime) -> WallTime {
        let local = LocalTime(time, utcOffset: utcOffset)
        let day = local.timeOfDay < from ? local.day - 1 : local.day
        return LocalTime(day: day, timeOfDay: from).wall(utcOffset: utcOffset)
    }
}
