import Vocabulary

extension GateTable.Definition {
    /// The refresh policy expects a better moment.
    static let betterMoment = Self(
        title: "waiting for a better moment",
        kind: .saving,
        check: {
            if let transfer = $0.work.transfer { return charging($0, transfer.value) }
            guard $0.hasBetterMoments else { return .open }
            if $0.isLearned { return $0.work.isChosen ? .open : .held(.event) }
            return .held(until: $0.plan.at, at: $0.now)
        },
        explain: {
            if let transfer = $0.work.transfer { return explainCharging($0, transfer.value) }
            if let forecast = $0.forecast {
                let text = forecast.explanation
                return GateExplanation(
                    value: text.value,
                    needed: text.needed,
                    since: $0.app.lastEnd(of: $0.work.trigger),
                    sentence: forecast.sentence(at: $0.now)
                )
            }
            let plan = $0.plan
            return GateExplanation(
                value: $0.now.text(for: $0.now.wall),
                needed: $0.now.text(for: plan.at),
                since: $0.app.lastEnd(of: $0.work.trigger),
                sentence: plan.reason
            )
        }
    )

    /// A discretionary transfer prefers a device that charges while nobody uses it, and does not
    /// wait for that without end.
    private static func charging(
        _ context: borrowing GateContext,
        _ transfer: TransferWork
    ) -> GateAnswer {
        let isIdle =
            context.conditions[.idle].sensing != .known || context.conditions.deviceIdle
        if context.conditions.externalPower && isIdle { return .open }
        return .held(until: end(of: context, transfer), at: context.now)
    }

    private static func end(
        of context: borrowing GateContext,
        _ transfer: TransferWork
    ) -> WallTime {
        context.settings.discretionaryEnd(since: context.work.since, halfTime: transfer.halfTime)
    }

    private static func explainCharging(
        _ context: borrowing GateContext,
        _ transfer: TransferWork
    ) -> GateExplanation {
        let wait = end(of: context, transfer) - context.work.since
        return GateExplanation(
            value: context.conditions.externalPower ? "in use" : "on battery",
            needed: "idle on external power, or \(wait) of waiting",
            since: context.work.since,
            sentence: "it can wait for the device to be idle on external power"
        )
    }
}

extension Shared<Settings> {
    /// Until when a discretionary transfer that was asked for then waits for a better moment. It
    /// never waits longer than half of its time.
    func discretionaryEnd(since asked: WallTime, halfTime: WallTime) -> WallTime {
        min(asked + value.discretionaryWait, halfTime)
    }
}

extension GateContext {
    /// Processing waits for an idle device instead; and a command of the user's has no use that
    /// could be told in advance.
    var hasBetterMoments: Bool {
        work.trigger.spendsRefreshBudget && !(work.origin == .submitted && app.isTransient)
    }

    /// Its moments are chosen by what was learned of its use.
    var isLearned: Bool { app.isPlanned && app.isLearned }

    var plan: RefreshSpread.Plan {
        RefreshSpread.plan(
            since: app.lastEnd(of: work.trigger) ?? app.firstSeen,
            isFirst: app.lastEnd(of: work.trigger) == nil,
            settings: settings.value,
            at: now
        )
    }
}
