import Vocabulary

extension GateTable.Definition {
    /// The machine could not start the last program; it is tried again from time to time.
    static let processes = Self(
        title: "no program can be started",
        kind: .needed,
        check: {
            let end = $0.blockEnd(.processes) ?? $0.blockEnd(.groups)
            return end.map { .held(.attempt($0)) } ?? .open
        },
        explain: {
            let block = $0.device.startBlock
            guard block?.failure.cause == .groups else {
                return GateExplanation(of: block, .processes, needed: "room for one more process")
            }
            return GateExplanation(of: block, .groups, needed: "directories for its processes")
        }
    )
}
