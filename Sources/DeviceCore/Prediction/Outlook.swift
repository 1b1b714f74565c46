/// One decision point: what is known of the device there, prepared for asking about many apps.
/// It may lie in the future; then nothing is used until it comes. Nothing is allocated.
package struct Outlook {
    package let now: UseTime
    private let past: PastDays
    private let idle: Double
    private let isActive: Bool
    private let device30: Double
    private let sessions60: Double
    private let slot: Int?
    private let slotCount: Double
    private let openCount: Double
    private let turn: (sine: Double, cosine: Double)
    private let allDays: Double
    private let kindDays: Double
    private let sameWeekdays: Double

    package init(_ device: DeviceUse, at now: UseTime) {
        self.now = now
        let past = PastDays(device.days, seenFrom: now.day)
        self.past = past
        allDays = Forgetting.sevenDays.weight(of: past.all)
        kindDays = Forgetting.tenDays.weight(of: past.kind)
        sameWeekdays = Forgetting.fourDays.weight(of: past.weekday)
        let idleSeconds = device.idleSeconds(at: now)
        idle = Arithmetic.logMinutes(idleSeconds)
        isActive = idleSeconds <= 120
        let marked = device.grid.days(
            from: now.bin,
            to: now.bin + 6,
            lag: past.lag,
            followed: past.followed
        )
        device30 = Arithmetic.logit(
            (Forgetting.sevenDays.weight(of: marked, in: past.all) + 0.3) / (allDays + 1)
        )
        sessions60 = Arithmetic.ln(
            1 + Double(device.sessionCount(within: 3600, of: now))
        )
        slot = device.opens.last?.slot
        let factor = past.lag > 0 ? Forgetting.fourWeeks.factor : 1
        slotCount = slot.map { device.openCounts[$0] * factor } ?? 0
        openCount = device.openCount * factor
        turn = Arithmetic.circle(now.secondOfDay / 86_400)
    }

    /// How likely `app` is to be opened in the 30 minutes from here on.
    package func chance(of app: AppUse) -> Double { Prior.chance(features(of: app)) }

    func features(of app: AppUse) -> UseFeatures {
        let lag = max(0, past.count - app.dayCount)
        let bin = now.bin
        let hasDays = allDays > 0
        let mean = hasDays ? min(1, max(0.002, app.nearShare(lag: lag) / allDays)) : 0.02
        let wideMean = hasDays ? app.aroundShare(lag: lag) / allDays : 0.05
        let near = app.grid.days(from: bin, to: bin + 6, lag: lag, followed: past.followed)
        let around = app.grid.days(
            from: bin - 6,
            to: bin + 12,
            lag: lag,
            followed: past.followed
        )
        let near30 =
            (Forgetting.sevenDays.weight(of: near, in: past.all) + mean) / (allDays + 1)
        let kind30 =
            (Forgetting.tenDays.weight(of: near, in: past.kind) + 2 * near30) / (kindDays + 2)
        let around90 =
            (Forgetting.sevenDays.weight(of: around, in: past.all) + wideMean) / (allDays + 1)
        let weekday90 =
            (Forgetting.fourDays.weight(of: around, in: past.weekday) + 2 * around90)
            / (sameWeekdays + 2)

        var features = UseFeatures(repeating: 0)
        features[.near30] = Arithmetic.logit(near30)
        features[.kind30] = Arithmetic.logit(kind30)
        features[.around90] = Arithmetic.logit(around90)
        features[.weekday90] = Arithmetic.logit(weekday90)
        features[.mean] = Arithmetic.logit(mean)
        features[.device30] = device30
        features[.idle] = idle
        features[.active] = isActive ? 1 : 0
        features[.since] = Arithmetic.logMinutes(app.idleSeconds(at: now))
        features[.today] = Arithmetic.ln(
            1 + Double(app.openCount(within: now.secondOfDay, of: now))
        )
        features[.opens24] = Arithmetic.ln(1 + Double(app.openCount(within: 86_400, of: now)))
        features[.sessions60] = sessions60
        features[.following] = Arithmetic.logit(following(app, lag: lag))
        features[.sine] = turn.sine
        features[.cosine] = turn.cosine
        features[.sine2] = 2 * turn.sine * turn.cosine
        features[.cosine2] = 1 - 2 * turn.sine * turn.sine
        features[.weekend] = past.isWeekend ? 1 : 0
        features[.near30Active] = isActive ? features[.near30] : 0
        return features
    }

    /// How often the app was opened within half an hour of an open of the app that was opened last.
    private func following(_ app: AppUse, lag: Int64) -> Double {
        let follows = app.follows(slot: slot ?? 0, lag: lag)
        let base = (follows.any + 0.02) / (openCount + 1)
        return slot == nil ? base : (follows.slot + 5 * base) / (slotCount + 5)
    }
}

/// How likely `app` is to be opened in the 30 minutes from `now` on, which may lie in the future;
/// then nothing is used until it comes.
package func chance(of app: AppUse, on device: DeviceUse, at now: UseTime) -> Double {
    Outlook(device, at: now).chance(of: app)
}
