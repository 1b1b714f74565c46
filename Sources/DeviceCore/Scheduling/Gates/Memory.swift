import Vocabulary

extension GateTable.Definition {
    static let memory = Self(
        title: "memory pressure",
        kind: .rule,
        check: { $0.conditions.memory >= 2 ? .held(.event) : .open },
        words: {
            GateWords(
                value: $0.conditions.word(.memory),
                needed: "below critical",
                since: $0.conditions[.memory].since,
                sentence: "memory is short"
            )
        }
    )
}
