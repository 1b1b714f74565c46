import Vocabulary

extension GateTable.Definition {
    /// Swiped away (F3): nothing runs until the user opens it again.
    static let closedByUser = Self(
        title: "closed by the user",
        kind: .rule,
        check: { $0.app.record.closedAt == nil ? .open : .held(.event) },
        explain: {
            GateExplanation(
                value: "closed",
                needed: "the user opens it",
                since: $0.app.record.closedAt,
                sentence: "you closed it, and it stays closed until you open it",
                fix: "offstage open \($0.app.id)"
            )
        }
    )
}
