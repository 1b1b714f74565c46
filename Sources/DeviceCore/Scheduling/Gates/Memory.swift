import Vocabulary

extension GateTable.Definition {
    static let memory = Self(
        title: "memory pressure",
        kind: .rule,
        check: { $0.conditions.isMemoryShort ? .held(.event) : .open },
        explain: {
            GateExplanation(
                of: .memory,
                in: $0.conditions,
                value: $0.conditions.word(.memory),
                needed: "below critical",
                sentence: "memory is low"
            )
        }
    )
}
