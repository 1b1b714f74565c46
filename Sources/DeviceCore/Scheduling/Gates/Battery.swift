import Vocabulary

extension GateTable.Definition {
    /// Battery below the limit and not on external power.
    static let battery = Self(
        title: "battery low",
        kind: .saving,
        check: { $0.conditions.batteryIsLow ? .held(.event) : .open },
        explain: {
            let limit = $0.settings.batteryLimit
            return GateExplanation(
                of: .battery,
                in: $0.conditions,
                value: "\($0.conditions.battery) %",
                needed: "\(limit + $0.settings.batteryMargin) % or external power",
                sentence: "the battery is low (\($0.conditions.battery) %)"
            )
        }
    )
}
