import Vocabulary

extension GateTable.Definition {
    static let externalPower = Self(
        title: "no external power",
        kind: .rule,
        check: {
            $0.request?.needs.power == true && !$0.conditions.externalPower ? .held(.event) : .open
        },
        words: {
            GateWords(
                value: "on battery",
                needed: "external power",
                since: $0.conditions[.power].since,
                sentence: "the device is not on external power"
            )
        }
    )
}
