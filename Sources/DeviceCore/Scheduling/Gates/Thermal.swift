import Vocabulary

extension GateTable.Definition {
    static let thermal = Self(
        title: "device too warm",
        kind: .rule,
        check: { $0.conditions.thermal >= limit($0.cell) ? .held(.event) : .open },
        explain: {
            GateExplanation(
                of: .thermal,
                in: $0.conditions,
                value: $0.conditions.word(.thermal),
                needed: "below \(Condition.thermal.row.word(limit($0.cell)))",
                sentence: "the device is too warm"
            )
        }
    )

    private static func limit(_ cell: GateCell) -> Int {
        switch cell {
        case .critical: 3
        case .no, .yes, .asked, .needed, .set, .classed, .strikes, .fetchOrCommand, .command: 2
        }
    }
}
