import Vocabulary

extension GateTable.Definition {
    static let lowPower = Self(
        title: "low-power mode",
        kind: .saving,
        check: { $0.conditions.lowPower ? .held(.event) : .open },
        words: {
            GateWords(
                value: "on",
                needed: "off",
                since: $0.conditions[.lowPower].since,
                sentence: "low-power mode is on"
            )
        }
    )
}
