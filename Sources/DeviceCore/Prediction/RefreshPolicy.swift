import Vocabulary

/// What is learned of one app for its refreshes: bounded, kept with the app's record.
package struct RefreshMemory: Hashable, Sendable, Codable {
    /// Refreshes that were started and their outcomes, saturating; the learned policy will weigh
    /// by them.
    package private(set) var newData: UInt32 = 0
    package private(set) var noData: UInt32 = 0
    package private(set) var opens: UInt32 = 0

    package init() {}

    mutating func opened() { opens = opens == .max ? opens : opens + 1 }

    /// *Unknown*, failed and expired runs teach nothing.
    mutating func ended(_ result: RunResult) {
        switch result {
        case .newData: newData = newData == .max ? newData : newData + 1
        case .noData: noData = noData == .max ? noData : noData + 1
        case .failed, .succeeded, .unsuccessful, .expired, .interrupted, .terminated, .crashed,
            .exited, .notStarted, .retry, .unknown:
            break
        }
    }
}

/// When to refresh an app next, and why then.
struct RefreshPlan: Hashable, Sendable {
    var at: WallTime
    /// Completes "NAME waits because …".
    var reason: String
}

/// Chooses the moment of a refresh from what was learned. This one spreads an app's refreshes
/// evenly over the user's waking hours.
enum RefreshPolicy {
    /// Pure: asked as often as anybody likes. The answer for one memory only moves when a run
    /// ends, the settings change, or the clock is set.
    static func plan(
        _ memory: RefreshMemory,
        lastRun: WallTime?,
        settings: Settings,
        at now: Moment
    ) -> RefreshPlan {
        let span = awakeSpan(settings)
        let period = span / max(1, settings.refreshesPerDay)
        // A last run in the future means that the clock was set back: nothing to wait for.
        guard let lastRun, lastRun <= now.wall else {
            return inWakingHours(now.wall, settings, now)
        }
        return inWakingHours(lastRun + period, settings, now)
    }

    private static func awakeSpan(_ settings: Settings) -> Interval {
        let span = settings.wakingUntil - settings.wakingFrom
        return span > .zero ? span : span + .days(1)
    }

    private static func inWakingHours(
        _ time: WallTime,
        _ settings: Settings,
        _ now: Moment
    ) -> RefreshPlan {
        let local = LocalTime(time, utcOffset: now.utcOffset)
        let from = settings.wakingFrom
        let until = settings.wakingUntil
        let isAwake =
            from == until
            || (from < until
                ? local.timeOfDay >= from && local.timeOfDay < until
                : local.timeOfDay >= from || local.timeOfDay < until)
        if isAwake {
            return RefreshPlan(
                at: time,
                reason: "its refreshes are spread over your day, and the next one is not due yet"
            )
        }
        let day = local.timeOfDay < from ? local.day : local.day + 1
        return RefreshPlan(
            at: LocalTime(day: day, timeOfDay: from).wall(utcOffset: now.utcOffset),
            reason: "it is refreshed when your day begins"
        )
    }
}
