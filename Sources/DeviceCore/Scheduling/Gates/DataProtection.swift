import Vocabulary

extension GateTable.Definition {
    /// The lock protects the data that the request asked for. Also before the first unlock, which
    /// holds everything.
    static let dataProtection = Self(
        title: "data protection: required data is locked",
        kind: .rule,
        check: {
            switch $0.work.protection {
            case .none: .open
            case .complete: $0.conditions.isAssured(.locked) ? .open : .held(.event)
            }
        },
        explain: {
            GateExplanation(
                of: .locked,
                in: $0.conditions,
                value: "locked",
                needed: "unlocked",
                sentence: "the device is locked, and it needs data that the lock protects"
            )
        }
    )
}
