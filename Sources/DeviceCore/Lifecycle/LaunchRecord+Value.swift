import Vocabulary

// As the store keeps it (RecordFields.swift).

extension LaunchRecord {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    func value() throws(ValueError) -> Value {
        ["app": .string(app.name), "launch": try launch.value()]
    }
}

extension Launch {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    fileprivate func value() throws(ValueError) -> Value {
        var fields = RecordFields(16)
        fields.put("bookedUntil", bookedUntil)
        fields.put("deadline", deadline)
        try fields.put("deliveries", unlessDefault: deliveries)
        try fields.put("ending", ending)
        fields.put("enteringUntil", enteringUntil)
        try fields.put("exit", exit)
        try fields.put("finishUp", finishUp)
        fields.put("graceEnd", graceEnd)
        fields.put("id", try id.value())
        fields.put("interruptedSince", interruptedSince)
        fields.put("isConnected", isConnected)
        fields.put("isFrozen", isFrozen)
        if lastOpening != 0 { fields.put("lastOpening", lastOpening) }
        if lastTask != 0 { fields.put("lastTask", lastTask) }
        fields.put("launchingUntil", launchingUntil)
        fields.put("lockCheckAt", lockCheckAt)
        try fields.put("monitor", monitor)
        try fields.put("openings", unlessDefault: openings)
        fields.put("phase", phase.rawValue)
        fields.put("presence", presence.rawValue)
        try fields.put("probe", unlessDefault: probe)
        if let process { fields.put("process", try process.value()) }
        fields.put("registered", unlessEmpty: registered)
        fields.put("reopen", reopen)
        fields.put("role", try role.value())
        try fields.put("tasks", unlessDefault: tasks)
        fields.put("toldRefresh", toldRefresh?.rawValue)
        if let usage { fields.put("usage", usage.value) }
        if let wake { fields.put("wake", try wake.value()) }
        return fields.value
    }
}

extension Launch.Role {
    fileprivate func value() throws(ValueError) -> Value {
        switch self {
        case .main: ["main": [:]]
        case .command(let request, let trigger):
            ["command": ["_0": try request.value(), "_1": .string(trigger.rawValue)]]
        }
    }
}

extension ProcessID {
    fileprivate func value() throws(ValueError) -> Value {
        var fields = RecordFields(2)
        fields.put("pid", Int64(pid))
        try fields.put("startTime", startTime)
        return fields.value
    }
}

extension Usage {
    fileprivate var value: Value {
        var fields = RecordFields(4)
        fields.put("cpu", cpu)
        fields.put("isPeakSampled", isPeakSampled)
        fields.put("memory", memory)
        fields.put("peak", peak)
        return fields.value
    }
}

extension Wake {
    fileprivate func value() throws(ValueError) -> Value {
        var fields = RecordFields(12)
        fields.put("began", began.value)
        fields.put("cpuAtStart", cpuAtStart)
        try fields.put("decision", decision)
        fields.put("end", end)
        fields.put("identifier", identifier)
        fields.put("memorySeen", memorySeen)
        fields.put("mode", mode.rawValue)
        fields.put("peakAtStart", peakAtStart)
        fields.put("resumed", .bool(resumed))
        fields.put("stop", stop?.rawValue)
        fields.put("trigger", trigger.rawValue)
        if let wasOnBattery { fields.put("wasOnBattery", .bool(wasOnBattery)) }
        return fields.value
    }
}

extension Moment {
    fileprivate var value: Value {
        [
            "awake": .integer(awake.nanoseconds), "boot": .integer(boot.nanoseconds),
            "utcOffset": .integer(Int64(utcOffset)), "wall": .integer(wall.nanoseconds),
        ]
    }
}
