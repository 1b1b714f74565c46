import Vocabulary

extension GateTable.Definition {
    /// An app that the user is looking at refreshes itself.
    static let appInForeground = Self(
        title: "app in the foreground",
        kind: .rule,
        check: { $0.app.isForeground ? .held(.event) : .open },
        explain: {
            GateExplanation(
                value: "open",
                needed: "left",
                since: $0.app.record.lastUsed,
                sentence: "you have it open"
            )
        }
    )
}
