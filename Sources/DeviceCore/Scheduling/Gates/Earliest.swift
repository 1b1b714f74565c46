import Vocabulary

extension GateTable.Definition {
    /// `earliestBeginDate`: a floor, never a promise (C4). A user-initiated run does not move what
    /// was asked for.
    static let earliest = Self(
        title: "earliest begin date",
        kind: .rule,
        check: {
            guard let earliest = $0.work.earliest else { return .open }
            return .held(until: earliest, at: $0.now)
        },
        explain: {
            let earliest = $0.work.earliest ?? $0.now.wall
            return GateExplanation(
                value: $0.now.text(for: $0.now.wall),
                needed: $0.now.text(for: earliest),
                since: $0.work.since,
                sentence: "it is to begin \($0.now.text(for: earliest)) or later"
            )
        }
    )
}
