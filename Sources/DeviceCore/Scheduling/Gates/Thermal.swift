import Vocabulary

extension GateTable.Definition {
    static let thermal = Self(
        title: "device too warm",
        kind: .rule,
        check: { $0.conditions.isTooWarm ? .held(.event) : .open },
        explain: {
            GateExplanation(
                of: .thermal,
                in: $0.conditions,
                value: $0.conditions.word(.thermal),
                needed: "below \(Condition.thermal.row.word(Conditions.thermalLimit))",
                sentence: "the device is too warm"
            )
        }
    )
}
