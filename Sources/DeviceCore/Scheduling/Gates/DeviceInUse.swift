import Vocabulary

extension GateTable.Definition {
    /// Processing is for when nobody uses the device. Where no source tells, the load is read as
    /// soon as nothing else holds it. A machine that sleeps is used by nobody: it may be woken.
    static let deviceInUse = Self(
        title: "device in use",
        kind: .saving,
        check: {
            if $0.conditions.isAssured(.idle) { return .open }
            if $0.conditions[.idle].sensing == .unknown { return .held(.look) }
            return .held($0.device.idleAfterSleep.map { .boot($0) } ?? .event)
        },
        explain: {
            let isGuess = $0.conditions[.idle].source == .estimate
            return GateExplanation(
                of: .idle,
                in: $0.conditions,
                value: "in use",
                needed: "idle",
                sentence: isGuess
                    ? "the device is busy, and its load is the only sign of use"
                    : "the device is in use"
            )
        }
    )
}
