import Vocabulary

extension GateTable.Definition {
    /// The machine could not start the last program; it is tried again from time to time.
    static let processes = Self(
        title: "no program can be started",
        kind: .needed,
        check: { $0.blockEnd(.processes).map { .held(.attempt($0)) } ?? .open },
        explain: {
            GateExplanation(
                of: $0.device.startBlock,
                .processes,
                needed: "room for one more process"
            )
        }
    )
}
