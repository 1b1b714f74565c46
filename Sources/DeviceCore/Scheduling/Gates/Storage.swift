import Vocabulary

extension GateTable.Definition {
    /// Nothing may start that cannot be remembered.
    static let storage = Self(
        title: "storage full or failing",
        kind: .needed,
        check: {
            if $0.conditions.storage > 0 { return .held(.event) }
            return $0.blockEnd(.storage).map { .held(.boot($0)) } ?? .open
        },
        words: {
            if $0.conditions.storage == 0, let block = $0.device.startBlock {
                return GateWords(of: block, needed: "ok")
            }
            return GateWords(
                value: $0.conditions.word(.storage),
                needed: "ok",
                since: $0.conditions[.storage].since,
                sentence: $0.conditions.storageSentence,
                fix: $0.conditions.storageFix
            )
        }
    )
}

extension GateWords {
    init(of block: StartBlock, needed: String) {
        self.init(
            value: block.failure.reason,
            needed: needed,
            since: block.since,
            sentence: block.failure.sentence,
            fix: block.failure.fix
        )
    }
}

extension GateContext {
    /// Until when nothing is started, for want of this; nil: it is not why.
    borrowing func blockEnd(_ cause: StartFailure.Cause) -> BootTime? {
        guard let end = device.startBlock?.end(cause), now.boot < end else { return nil }
        return end
    }
}
