import Vocabulary

// As the store keeps them (RecordFields.swift).

extension DeviceRecord {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    func value() throws(ValueError) -> Value {
        var fields = RecordFields(8)
        fields.put("bootID", bootID)
        try fields.put("byHand", byHand)
        fields.put("ledger", ledger.value)
        fields.put("pauseEnds", pauseEnds)
        fields.put("pausedAt", pausedAt)
        fields.put("pausedUntil", pausedUntil)
        try fields.put("refreshBudget", refreshBudget)
        try fields.put("reserved", reserved)
        fields.put("seed", seed)
        fields.put("unlockedOnce", unlockedOnce)
        try fields.put("use", use)
        return fields.value
    }
}

extension AppRecord {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    func value() throws(ValueError) -> Value {
        var fields = RecordFields(12)
        fields.put("closedAt", closedAt)
        try fields.put("failures", unlessDefault: failures)
        try fields.put("fetchInterval", unlessDefault: fetchInterval)
        fields.put("firstSeen", firstSeen)
        fields.put("goneSince", goneSince)
        fields.put("id", id.name)
        if !kinds.isEmpty { fields.put("kinds", .list(kinds.map(\.value))) }
        if !lastEnds.isEmpty { fields.put("lastEnds", .list(lastEnds.map(\.value))) }
        if let lastRun { fields.put("lastRun", try lastRun.value()) }
        fields.put("lastUsed", lastUsed)
        if ledger != Ledger() { fields.put("ledger", ledger.value) }
        try fields.put("paces", unlessDefault: paces)
        try fields.put("refresh", unlessDefault: refresh)
        try fields.put("sessions", unlessDefault: sessions)
        if !tokens.isEmpty {
            var list: [Value] = []
            for token in tokens { list.append(try token.value()) }
            fields.put("tokens", .list(list))
        }
        try fields.put("transferTokens", unlessDefault: transferTokens)
        try fields.put("transient", transient)
        fields.put("unusedSince", unusedSince)
        return fields.value
    }
}

extension SubmittedKind {
    fileprivate var value: Value {
        ["identifier": .string(identifier), "kind": .string(kind.rawValue)]
    }
}

extension TriggerEnd {
    fileprivate var value: Value {
        ["at": .integer(at.nanoseconds), "trigger": .string(trigger.rawValue)]
    }
}

extension AnsweredToken {
    fileprivate func value() throws(ValueError) -> Value {
        [
            "identifier": .string(identifier), "request": try request.value(),
            "token": .string(token),
        ]
    }
}

extension LastRun {
    fileprivate func value() throws(ValueError) -> Value {
        var fields = RecordFields(5)
        fields.put("at", at)
        try fields.put("decision", decision)
        fields.put("identifier", identifier)
        fields.put("reason", reason)
        try fields.put("result", result)
        return fields.value
    }
}

extension Ledger {
    fileprivate var value: Value {
        var fields = RecordFields(6)
        if cpu != .zero { fields.put("cpu", cpu) }
        fields.put("day", day)
        if runTime != .zero { fields.put("runTime", runTime) }
        if runTimeOnBattery != .zero { fields.put("runTimeOnBattery", runTimeOnBattery) }
        fields.put("wakes", wakes)
        if wakesOnBattery != 0 { fields.put("wakesOnBattery", wakesOnBattery) }
        return fields.value
    }
}
