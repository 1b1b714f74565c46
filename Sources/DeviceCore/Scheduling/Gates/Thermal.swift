import Vocabulary

extension GateTable.Definition {
    static let thermal = Self(
        title: "device too warm",
        kind: .rule,
        check: { $0.conditions.thermal >= limit ? .held(.event) : .open },
        explain: {
            GateExplanation(
                of: .thermal,
                in: $0.conditions,
                value: $0.conditions.word(.thermal),
                needed: "below \(Condition.thermal.row.word(limit))",
                sentence: "the device is too warm"
            )
        }
    )

    /// Serious.
    private static let limit = 2
}
