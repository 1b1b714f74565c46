import Vocabulary

extension GateTable.Definition {
    static let thermal = Self(
        title: "device too warm",
        kind: .rule,
        check: { isTooWarm($0) ? .held(.event) : .open },
        explain: {
            let limit =
                isOnlyCritical($0) ? Conditions.criticallyWarm : Conditions.thermalLimit
            return GateExplanation(
                of: .thermal,
                in: $0.conditions,
                value: $0.conditions.word(.thermal),
                needed: "below \(Condition.thermal.row.word(limit))",
                sentence: "the device is too warm"
            )
        }
    )

    /// Asked often, beside the question itself.
    private static let thermalCells = GateTable.row(.thermal).cells

    private static func isOnlyCritical(_ context: borrowing GateContext) -> Bool {
        thermalCells[context.work.trigger.column] == .critical
    }

    private static func isTooWarm(_ context: borrowing GateContext) -> Bool {
        // Mostly it is not.
        guard context.conditions.isTooWarm else { return false }
        return !isOnlyCritical(context)
            || context.conditions.thermal >= Conditions.criticallyWarm
    }
}
