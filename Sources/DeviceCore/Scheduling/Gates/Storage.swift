import Vocabulary

extension GateTable.Definition {
    /// Nothing may start that cannot be remembered.
    static let storage = Self(
        title: "storage full or failing",
        kind: .needed,
        check: { $0.conditions.storage > 0 ? .held(.event) : .open },
        words: {
            GateWords(
                value: $0.conditions.word(.storage),
                needed: "ok",
                since: $0.conditions[.storage].since,
                sentence: "the disk is full or takes no writes"
            )
        }
    )
}
