import Vocabulary

extension GateTable.Definition {
    /// The lock protects the data that the request asked for. Also before the first unlock, which
    /// holds everything.
    static let dataProtection = Self(
        title: "data protection: required data is locked",
        kind: .rule,
        check: { requiresData($0) && !$0.conditions.isAssured(.locked) ? .held(.event) : .open },
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

    private static func requiresData(_ context: borrowing GateContext) -> Bool {
        switch context.cell {
        case .yes, .classed: context.request?.needs.unlocked == true
        case .no, .asked, .needed, .set, .critical, .strikes, .fetchOrCommand, .command: false
        }
    }
}
