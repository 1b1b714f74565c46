import Vocabulary

// As the store keeps it (RecordFields.swift).

extension HistoryLine {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    func value() throws(ValueError) -> Value {
        [
            "app": .string(app.name), "at": .integer(at.nanoseconds),
            "entry": try entry.value(), "utcOffset": .integer(Int64(utcOffset)),
        ]
    }
}

extension HistoryLine.Entry {
    fileprivate func value() throws(ValueError) -> Value {
        switch self {
        case .wake(let report): ["wake": ["_0": try report.value()]]
        case .ended(let result, let reason):
            ["ended": ["_0": result.value, "reason": .string(reason)]]
        case .dropped(let identifier, let reason):
            ["dropped": ["identifier": .string(identifier), "reason": .string(reason)]]
        case .note(let text): ["note": ["_0": .string(text)]]
        case .transferred(let id, let url, let end):
            ["transferred": ["_0": try id.value(), "_2": try end.value(), "url": .string(url)]]
        case .use(let kind): ["use": ["_0": .string(kind.rawValue)]]
        }
    }
}

extension WakeReport {
    fileprivate func value() throws(ValueError) -> Value {
        var fields = RecordFields(12)
        fields.put("cpu", cpu)
        try fields.put("decision", decision)
        fields.put("identifier", identifier)
        fields.put("isPeak", isPeak)
        fields.put("launch", try launch.value())
        fields.put("memory", memory)
        fields.put("reason", reason)
        fields.put("result", result.value)
        fields.put("resumed", .bool(resumed))
        fields.put("runTime", runTime)
        fields.put("simulated", .bool(simulated))
        fields.put("trigger", trigger.rawValue)
        return fields.value
    }
}
