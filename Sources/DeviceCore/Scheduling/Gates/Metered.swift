import Vocabulary

extension GateTable.Definition {
    /// A network that costs by the byte.
    static let metered = Self(
        title: "metered network",
        kind: .rule,
        check: {
            if $0.work.needs.unmetered {
                return $0.conditions.isAssured(.metered) ? .open : .held(.event)
            }
            return mustSpare($0) && $0.conditions.metered ? .held(.event) : .open
        },
        explain: {
            GateExplanation(
                of: .metered,
                in: $0.conditions,
                value: "metered",
                needed: "unmetered",
                sentence: "the network is metered"
            )
        }
    )

    /// Asked often, beside the question itself.
    private static let meteredCells = GateTable.row(.metered).cells

    private static func mustSpare(_ context: borrowing GateContext) -> Bool {
        switch meteredCells[context.work.trigger.column] {
        case .set: return context.usesNetwork && !context.settings.refreshOnMetered
        case .yes: return true
        case .no, .asked, .needed, .fetchOrCommand, .command, .critical: return false
        }
    }
}
