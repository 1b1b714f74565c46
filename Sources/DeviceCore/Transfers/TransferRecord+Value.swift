import Vocabulary

// Thousands of small files make thousands of records (see RecordFields.swift).

extension TransferRecord {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    /// As the store keeps it.
    func value() throws(ValueError) -> Value {
        ["app": .string(app.name), "transfer": try transfer.value()]
    }
}

extension Transfer {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    fileprivate func value() throws(ValueError) -> Value {
        var fields = RecordFields(24)
        // In the order that a map has.
        try fields.put("answer", answer)
        fields.put("countsFrom", countsFrom)
        fields.put("formers", unlessEmpty: formers)
        try fields.put("group", group)
        fields.put("id", try id.value())
        if let inode { fields.put("inode", try ValueEncoder().encode(inode)) }
        fields.put("isAlone", isAlone)
        fields.put("isConfirmed", isConfirmed)
        try fields.put("kept", kept)
        if !logins.isEmpty { try fields.put("logins", logins) }
        fields.put("modified", modified)
        fields.put("name", name)
        fields.put("order", try order.value())
        if let partOf { fields.put("partOf", try partOf.value()) }
        try fields.put("question", question)
        fields.put("rank", rank)
        if refusals != 0 { fields.put("refusals", refusals) }
        try fields.put("resume", resume)
        try fields.put("retry", retry)
        fields.put("state", try state.value())
        fields.put("submittedAt", submittedAt)
        fields.put("takesRefusal", takesRefusal)
        try fields.put("task", task)
        try fields.put("upload", upload)
        return fields.value
    }
}

extension Transfer.State {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    fileprivate func value() throws(ValueError) -> Value {
        switch self {
        case .paused: ["paused": [:]]
        case .waiting: ["waiting": [:]]
        case .running(let attempt): ["running": ["_0": try ValueEncoder().encode(attempt)]]
        case .placing(let size): ["placing": ["size": .integer(size)]]
        case .ended(let end, let at):
            ["ended": ["_0": try end.value(), "at": .integer(at.nanoseconds)]]
        }
    }
}

extension TransferEnd {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    func value() throws(ValueError) -> Value {
        switch self {
        case .finished(let size, let name):
            ["finished": ["name": .string(name), "size": .integer(size)]]
        case .failed(let failure): ["failed": ["_0": try ValueEncoder().encode(failure)]]
        case .cancelled: ["cancelled": [:]]
        }
    }
}

extension TransferOrder {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    fileprivate func value() throws(ValueError) -> Value {
        var fields = RecordFields(24)
        try fields.put("credentials", credentials)
        fields.put("delay", delay)
        if direction != .download { try fields.put("direction", direction) }
        fields.put("directory", directory)
        fields.put("earliest", earliest)
        fields.put("errors", errors.rawValue)
        fields.put(
            "headers",
            .list(headers.map { ["name": .string($0.name), "value": .string($0.value)] })
        )
        fields.put("isDiscretionary", .bool(isDiscretionary))
        if moreConnections != 0 { fields.put("moreConnections", moreConnections) }
        fields.put("name", name)
        if needs == Needs() { fields.put("needs", [:]) } else { try fields.put("needs", needs) }
        fields.put("notifies", notifies)
        fields.put("overwrites", .bool(overwrites))
        if permissions != 0 { fields.put("permissions", Int64(permissions)) }
        fields.put("proxy", proxy)
        fields.put("rateLimit", rateLimit)
        fields.put("resourceTimeout", resourceTimeout)
        try fields.put("sha256", sha256)
        fields.put("timeout", timeout)
        fields.put("url", url)
        return fields.value
    }
}
