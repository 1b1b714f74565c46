import Vocabulary

extension GateTable.Definition {
    static let lowPower = Self(
        title: "low-power mode",
        kind: .saving,
        check: { $0.conditions.lowPower ? .held(.event) : .open },
        explain: {
            GateExplanation(
                of: .lowPower,
                in: $0.conditions,
                value: "on",
                needed: "off",
                sentence: "low-power mode is on"
            )
        }
    )
}
