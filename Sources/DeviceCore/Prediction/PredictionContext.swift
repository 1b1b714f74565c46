/// One decision point: what is known of the device there, prepared for asking about many apps.
/// It may lie in the future; then nothing is used until it comes. Nothing is allocated.
package struct PredictionContext {
    package let now: UseTime
    private let past: PastDays
    private let allDays: Double
    private let kindDays: Double
    private let sameWeekdays: Double
    private let lastDays: Double
    /// What is the same for all apps.
    private let shared: UseFeatures
    private let last: OpenedApp?
    private let before: OpenedApp?
    private let openCount: Double
    private let openTotal: Int64

    /// An app that was opened lately: its slot, and how often it was opened.
    private struct OpenedApp {
        var slot: Int
        var count: Double
    }

    package init(_ device: DeviceUse, at now: UseTime) {
        self.now = now
        let past = PastDays(device.days, seenFrom: now.day)
        self.past = past
        allDays = Forgetting.sevenDays.weight(of: past.all)
        kindDays = Forgetting.tenDays.weight(of: past.kind)
        sameWeekdays = Forgetting.fourDays.weight(of: past.weekday)
        lastDays = Forgetting.twoDays.weight(of: past.all)
        let factor = past.lag > 0 ? Forgetting.fourWeeks.factor : 1
        last = device.lastSlot.map { OpenedApp(slot: $0, count: device.openCounts[$0] * factor) }
        before = device.slotBefore.map {
            OpenedApp(slot: $0, count: device.openCounts[$0] * factor)
        }
        openCount = device.openCount * factor
        openTotal = device.openTotal

        func used(from first: Int, to end: Int) -> UInt64 {
            device.grid.days(
                from: now.bin + first,
                to: now.bin + end,
                lag: past.lag,
                followed: past.followed
            )
        }
        let near = used(from: 0, to: 6)
        let around = used(from: -6, to: 12)
        let device30 =
            (Forgetting.sevenDays.weight(of: near, in: past.all) + 0.3) / (allDays + 1)
        let kind30 =
            (Forgetting.tenDays.weight(of: near, in: past.kind) + device30) / (kindDays + 1)
        let device90 =
            (Forgetting.sevenDays.weight(of: around, in: past.all) + 0.5) / (allDays + 1)
        let idle = device.idleSeconds(at: now)
        var shared = UseFeatures()
        shared[.device30] = UseFeatures.share(device30)
        shared[.deviceKind30] = UseFeatures.share(kind30)
        shared[.device90] = UseFeatures.share(device90)
        shared[.deviceReturning] = UseFeatures.share(device.gaps.nearShare(after: idle))
        shared[.idle] = UseFeatures.seconds(idle)
        shared[.awake] = UseFeatures.seconds(device.awakeSeconds(at: now))
        shared[.deviceOpens60] = Int32(device.openCount(within: 3600, of: now))
        shared[.bin] = Int32(now.bin)
        shared[.weekend] = past.isWeekend ? 1 : 0
        self.shared = shared
    }

    /// How likely `app` is to be opened in the 30 minutes from here on.
    package func chance(of app: AppUse) -> Double { Prior.chance(features(of: app)) }

    /// The same, only from what was learned here: the share of the days on which it was so at this
    /// time. What the prior is worth is told by the difference.
    package func habit(of app: AppUse) -> Double {
        let lag = max(0, past.count - app.dayCount)
        let (near30, kind30) = near(days(app, from: 0, to: 6, lag: lag), app, lag: lag)
        return (near30 + kind30) / 2
    }

    func features(of app: AppUse) -> UseFeatures {
        let lag = max(0, past.count - app.dayCount)
        let here = days(app, from: 0, to: 6, lag: lag)
        let (near30, kind30) = near(here, app, lag: lag)
        let next = days(app, from: 6, to: 12, lag: lag)
        let marked = days(app, from: -6, to: 0, lag: lag) | here | next
        let wide =
            days(app, from: -24, to: -6, lag: lag) | marked | days(app, from: 12, to: 36, lag: lag)
        let around90 =
            (Forgetting.sevenDays.weight(of: marked, in: past.all) + aroundMean(app, lag: lag))
            / (allDays + 1)
        let weekday90 =
            (Forgetting.fourDays.weight(of: marked, in: past.weekday) + 2 * around90)
            / (sameWeekdays + 2)
        let recent90 =
            (Forgetting.twoDays.weight(of: marked, in: past.all) + around90) / (lastDays + 1)
        let kind90 =
            (Forgetting.tenDays.weight(of: marked, in: past.kind) + around90) / (kindDays + 1)
        let mean = nearMean(app, lag: lag)
        let next30 = (Forgetting.sevenDays.weight(of: next, in: past.all) + mean) / (allDays + 1)
        let wide300 = (Forgetting.sevenDays.weight(of: wide, in: past.all) + 0.3) / (allDays + 1)
        let since = app.idleSeconds(at: now)

        var features = shared
        features[.near30] = UseFeatures.share(near30)
        features[.kind30] = UseFeatures.share(kind30)
        features[.around90] = UseFeatures.share(around90)
        features[.weekday90] = UseFeatures.share(weekday90)
        features[.mean] = UseFeatures.share(mean)
        features[.recent90] = UseFeatures.share(recent90)
        features[.kind90] = UseFeatures.share(kind90)
        features[.next30] = UseFeatures.share(next30)
        features[.wide300] = UseFeatures.share(wide300)
        features[.following] = UseFeatures.share(following(app, last, lag: lag))
        features[.followingBefore] = UseFeatures.share(following(app, before, lag: lag))
        features[.returning] = UseFeatures.share(app.gaps.opensPerHalfHour(after: since))
        features[.since] = UseFeatures.seconds(since)
        features[.opens24] = Int32(app.openCount(within: 86_400, of: now))
        features[.opensSince] = Int32(min(65_535, max(0, openTotal - app.openTotal)))
        let rate = (app.opensPerDay(lag: lag) + 1) / (allDays + 1)
        features[.rate] = Int32(min(65_535, rate * 256))
        return features
    }

    // MARK: Shares of the past days

    private func days(_ app: AppUse, from first: Int, to end: Int, lag: Int64) -> UInt64 {
        app.grid.days(
            from: now.bin + first,
            to: now.bin + end,
            lag: lag,
            followed: past.followed
        )
    }

    private func near(
        _ marked: UInt64,
        _ app: AppUse,
        lag: Int64
    ) -> (all: Double, kind: Double) {
        let all =
            (Forgetting.sevenDays.weight(of: marked, in: past.all) + nearMean(app, lag: lag))
            / (allDays + 1)
        let kind =
            (Forgetting.tenDays.weight(of: marked, in: past.kind) + 2 * all) / (kindDays + 2)
        return (all, kind)
    }

    private func nearMean(_ app: AppUse, lag: Int64) -> Double {
        allDays > 0 ? min(1, max(0.002, app.nearShare(lag: lag) / allDays)) : 0.02
    }

    private func aroundMean(_ app: AppUse, lag: Int64) -> Double {
        allDays > 0 ? app.aroundShare(lag: lag) / allDays : 0.05
    }

    /// How often `app` was opened within half an hour of an open of `other`.
    private func following(_ app: AppUse, _ other: OpenedApp?, lag: Int64) -> Double {
        let base = (app.followedCount(lag: lag) + 0.02) / (openCount + 1)
        guard let other else { return base }
        return (app.followedCount(slot: other.slot, lag: lag) + 5 * base) / (other.count + 5)
    }
}
