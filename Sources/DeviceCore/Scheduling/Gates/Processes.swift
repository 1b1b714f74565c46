import Vocabulary

extension GateTable.Definition {
    /// The machine could not start the last program; it is tried again from time to time.
    static let processes = Self(
        title: "no program can be started",
        kind: .needed,
        check: { $0.blockEnd(.processes).map { .held(.boot($0)) } ?? .open },
        words: {
            let needed = "room for one more process"
            guard let block = $0.device.startBlock else {
                return GateWords(value: "", needed: needed, sentence: "")
            }
            return GateWords(of: block, needed: needed)
        }
    )
}
