import Vocabulary

extension GateTable.Definition {
    /// What a daemon begins in its last turn it would not see to its end.
    static let stopping = Self(
        title: "the daemon is stopping",
        kind: .needed,
        check: { $0.device.stoppingSince != nil ? .held(.event) : .open },
        explain: {
            GateExplanation(
                value: "stopping",
                needed: "a running daemon",
                since: $0.device.stoppingSince,
                sentence: "the daemon is stopping"
            )
        }
    )
}
