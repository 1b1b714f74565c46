import Vocabulary

extension GateTable.Definition {
    /// What one app may spend on a day off the charger (I1).
    static let appQuota = Self(
        title: "quota of the app",
        kind: .saving,
        check: {
            let spent = $0.app.record.ledger.spent(on: $0.now.local.day)
            return !$0.conditions.externalPower
                && (spent.wakesOnBattery >= $0.settings.appWakesPerDay
                    || spent.runTimeOnBattery >= $0.settings.appTimePerDay)
                ? .held(.wall($0.midnight)) : .open
        },
        explain: {
            let spent = $0.app.record.ledger.spent(on: $0.now.local.day)
            return GateExplanation(
                value: "\(spent.wakesOnBattery) wakes, \(spent.runTimeOnBattery) on battery today",
                needed: "fewer than \($0.settings.appWakesPerDay), "
                    + "less than \($0.settings.appTimePerDay), or external power",
                since: nil,
                sentence: "it has used up what it may spend today"
            )
        }
    )

    /// What all apps together may.
    static let deviceQuota = Self(
        title: "quota of the device",
        kind: .saving,
        check: {
            let spent = $0.device.ledger.spent(on: $0.now.local.day)
            return !$0.conditions.externalPower
                && (spent.wakesOnBattery >= $0.settings.deviceWakesPerDay
                    || spent.runTimeOnBattery >= $0.settings.deviceTimePerDay)
                ? .held(.wall($0.midnight)) : .open
        },
        explain: {
            let spent = $0.device.ledger.spent(on: $0.now.local.day)
            return GateExplanation(
                value: "\(spent.wakesOnBattery) wakes, \(spent.runTimeOnBattery) on battery today",
                needed: "fewer than \($0.settings.deviceWakesPerDay), "
                    + "less than \($0.settings.deviceTimePerDay), or external power",
                since: nil,
                sentence: "all apps together have used up what they may spend today"
            )
        }
    )
}

extension GateContext {
    fileprivate var midnight: WallTime {
        LocalTime(day: now.local.day + 1, timeOfDay: .zero).wall(utcOffset: now.utcOffset)
    }
}
