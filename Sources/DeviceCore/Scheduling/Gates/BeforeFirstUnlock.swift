import Vocabulary

extension GateTable.Definition {
    /// Between boot and the first unlock nothing runs (C10).
    static let beforeFirstUnlock = Self(
        title: "before the first unlock",
        kind: .rule,
        check: { $0.conditions.beforeFirstUnlock ? .held(.event) : .open },
        words: {
            GateWords(
                value: "not unlocked since boot",
                needed: "unlocked once",
                since: $0.conditions[.locked].since,
                sentence: "the device has not been unlocked since it started"
            )
        }
    )
}
