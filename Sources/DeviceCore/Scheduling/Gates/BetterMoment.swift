import Vocabulary

extension GateTable.Definition {
    /// The refresh policy expects a better moment.
    static let betterMoment = Self(
        title: "waiting for a better moment",
        kind: .saving,
        check: {
            guard $0.hasBetterMoments else { return .open }
            if $0.isLearned { return $0.work.isChosen ? .open : .held(.event) }
            return .held(until: $0.plan.at, at: $0.now)
        },
        explain: {
            if let forecast = $0.forecast {
                let text = forecast.explanation
                return GateExplanation(
                    value: text.value,
                    needed: text.needed,
                    since: $0.app.lastEnd(of: .refresh),
                    sentence: forecast.sentence(at: $0.now)
                )
            }
            let plan = $0.plan
            return GateExplanation(
                value: $0.now.text(for: $0.now.wall),
                needed: $0.now.text(for: plan.at),
                since: $0.app.lastEnd(of: .refresh),
                sentence: plan.reason
            )
        }
    )
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
            since: app.lastEnd(of: .refresh) ?? app.firstSeen,
            isFirst: app.lastEnd(of: .refresh) == nil,
            settings: settings.value,
            at: now
        )
    }
}
