import Vocabulary

extension GateTable.Definition {
    /// The machine could not start the last program; it is tried again from time to time.
    static let processes = Self(
        title: "no program can be started",
        kind: .needed,
        check: { $0.blockEnd(.processes).map { .held(.boot($0)) } ?? .open },
        words: {
            GateWords(
                value: $0.device.startBlock?.failure.reason ?? "",
                needed: "room for one more process",
                since: $0.device.startBlock?.since,
                sentence: "the machine cannot start another process",
                fix: "end some programs"
            )
        }
    )
}
