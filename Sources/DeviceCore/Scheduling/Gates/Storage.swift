import Vocabulary

extension GateTable.Definition {
    /// Nothing may start that cannot be remembered.
    static let storage = Self(
        title: "storage full or failing",
        kind: .needed,
        check: {
            if $0.conditions.storage > 0 { return .held(.event) }
            return $0.blockEnd(.storage).map { .held(.attempt($0)) } ?? .open
        },
        explain: {
            guard $0.conditions.storage > 0 else {
                let needed = "writable files"
                return GateExplanation(of: $0.device.startBlock, .storage, needed: needed)
            }
            return GateExplanation(
                value: $0.conditions.word(.storage),
                needed: "ok",
                since: $0.conditions[.storage].since,
                sentence: $0.conditions.storageSentence,
                fix: $0.conditions.storageFix
            )
        }
    )
}

extension GateContext {
    /// Until when nothing is started, for want of this; nil: it is not why.
    borrowing func blockEnd(_ cause: StartFailure.Cause) -> BootTime? {
        guard let end = device.startBlock?.end(cause), now.boot < end else { return nil }
        return end
    }
}
