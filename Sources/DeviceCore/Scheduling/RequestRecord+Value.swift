import Vocabulary

// As the store keeps it (RecordFields.swift).

extension RequestRecord {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    func value() throws(ValueError) -> Value {
        ["app": .string(app.name), "request": try request.value()]
    }

    init?(fields value: Value) {
        guard var fields = StoredFields(value), let app = fields.text("app"),
            let request = fields.take("request", Request.init(fields:)), fields.areTaken
        else { return nil }
        self.init(AppID(app), request)
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

    fileprivate init?(fields value: Value) {
        guard var fields = StoredFields(value) else { return nil }
        let decision: RefreshDecision? = fields.decoded("decision")
        let earliest: WallTime? = fields.time("earliest")
        let every = fields.span("every")
        guard let id: RequestID = fields.serial("id"),
            let identifier = fields.text("identifier")
        else { return nil }
        let interruptedAt: WallTime? = fields.time("interruptedAt")
        let isCancelled = fields.flag("isCancelled")
        let lastEnd: WallTime? = fields.time("lastEnd")
        let mode: Work.RunMode? = fields.word("mode")
        let needs: Needs? = fields.decoded("needs")
        guard let origin: Work.Origin = fields.word("origin") else { return nil }
        let payload = fields.map("payload")
        let readySince: BootTime? = fields.time("readySince")
        let span = fields.span("span")
        let state: State? = fields.decoded("state")
        guard let submittedAt: WallTime = fields.time("submittedAt"),
            let trigger: Trigger = fields.word("trigger"), fields.areTaken
        else { return nil }
        self.init(
            id: id,
            identifier: identifier,
            trigger: trigger,
            origin: origin,
            earliest: earliest,
            span: span,
            needs: needs ?? Needs(),
            every: every,
            lastEnd: lastEnd,
            submittedAt: submittedAt,
            mode: mode ?? .normal,
            readySince: readySince,
            interruptedAt: interruptedAt,
            state: state ?? .pending,
            isCancelled: isCancelled ?? false,
            decision: decision,
            payload: payload
        )
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
