import Vocabulary

// As the store keeps it (RecordFields.swift).

extension RequestRecord {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    func value() throws(ValueError) -> Value {
        ["app": .string(app.name), "request": try request.value()]
    }
}

extension Request {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    fileprivate func value() throws(ValueError) -> Value {
        var fields = RecordFields(10)
        try fields.put("decision", decision)
        fields.put("earliest", earliest)
        fields.put("every", every)
        fields.put("id", try id.value())
        fields.put("identifier", identifier)
        fields.put("interruptedAt", interruptedAt)
        fields.put("isCancelled", isCancelled)
        fields.put("lastEnd", lastEnd)
        if mode != .normal { fields.put("mode", mode.rawValue) }
        try fields.put("needs", unlessDefault: needs)
        fields.put("origin", origin.rawValue)
        if let payload { fields.put("payload", .map(payload)) }
        fields.put("readySince", readySince)
        fields.put("span", span)
        if state != .pending { fields.put("state", try state.value()) }
        fields.put("submittedAt", submittedAt)
        fields.put("trigger", trigger.rawValue)
        return fields.value
    }
}

extension Request.State {
    fileprivate func value() throws(ValueError) -> Value {
        switch self {
        case .pending: ["pending": [:]]
        case .offered(let launch): ["offered": ["_0": try launch.value()]]
        case .running(let launch): ["running": ["_0": try launch.value()]]
        }
    }
}
