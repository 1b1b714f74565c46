import Vocabulary

extension GateTable.Definition {
    static let externalPower = Self(
        title: "no external power",
        kind: .rule,
        check: {
            $0.work.needs.power && !$0.conditions.isAssured(.power)
                ? .held(.event) : .open
        },
        explain: {
            GateExplanation(
                of: .power,
                in: $0.conditions,
                value: "on battery",
                needed: "external power",
                sentence: "the device is not on external power"
            )
        }
    )
}
