import Vocabulary

extension GateTable.Definition {
    /// A network that costs by the byte.
    static let metered = Self(
        title: "metered network",
        kind: .rule,
        check: { mustSpare($0) && $0.conditions.metered ? .held(.event) : .open },
        words: {
            GateWords(
                value: "metered",
                needed: "unmetered",
                since: $0.conditions[.metered].since,
                sentence: "the network is metered"
            )
        }
    )

    private static func mustSpare(_ context: borrowing GateContext) -> Bool {
        if context.request?.needs.unmetered == true { return true }
        switch context.cell {
        case .set: return context.usesNetwork && !context.settings.refreshOnMetered
        case .yes: return true
        case .no, .asked, .needed, .critical, .classed, .strikes, .fetchOrCommand, .command:
            return false
        }
    }
}
