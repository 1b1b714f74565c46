import Vocabulary

extension GateTable.Definition {
    /// A network that costs by the byte, or a user who wants little data to be used.
    static let metered = Self(
        title: "metered network, low-data mode",
        kind: .rule,
        check: {
            if $0.work.needs.unmetered {
                let isFree = $0.conditions.isAssured(.metered) && !$0.conditions.lowData
                return isFree ? .open : .held(.event)
            }
            guard mustSpare($0) else { return .open }
            return $0.conditions.metered || $0.conditions.lowData ? .held(.event) : .open
        },
        explain: {
            let conditions = $0.conditions
            let isMetered =
                $0.work.needs.unmetered ? !conditions.isAssured(.metered) : conditions.metered
            guard isMetered else { return lowData(conditions) }
            var explanation = GateExplanation(
                of: .metered,
                in: conditions,
                value: "metered",
                needed: "unmetered",
                sentence: "the network is metered"
            )
            if conditions.lowData { explanation.add(lowData(conditions)) }
            return explanation
        }
    )

    private static func lowData(_ conditions: Conditions) -> GateExplanation {
        GateExplanation(
            value: "low-data mode on",
            needed: "low-data mode off",
            since: conditions[.lowData].since,
            sentence: "low-data mode is on",
            fix: "offstage set low-data off"
        )
    }

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

extension GateExplanation {
    /// Another reason that has to go as well.
    fileprivate mutating func add(_ other: GateExplanation) {
        value += ", " + other.value
        needed += ", " + other.needed
        sentence += ", and " + other.sentence
        fix += fix.isEmpty ? other.fix : "; " + other.fix
    }
}
