import Vocabulary

extension GateTable.Definition {
    /// Processing is for when nobody uses the device.
    static let deviceInUse = Self(
        title: "device in use",
        kind: .saving,
        check: { $0.conditions.deviceIdle ? .open : .held(.event) },
        words: {
            GateWords(
                value: "in use",
                needed: "idle",
                since: $0.conditions[.idle].since,
                sentence: "the device is in use"
            )
        }
    )
}
