import Vocabulary

extension GateTable.Definition {
    /// Between boot and the first unlock nothing runs (C10).
    static let beforeFirstUnlock = Self(
        title: "before the first unlock",
        kind: .rule,
        check: { $0.conditions.beforeFirstUnlock ? .held(.event) : .open },
        explain: {
            GateExplanation(
                of: .locked,
                in: $0.conditions,
                value: "not unlocked since boot",
                needed: "unlocked once",
                sentence: "the device has not been unlocked since it started"
            )
        }
    )
}
