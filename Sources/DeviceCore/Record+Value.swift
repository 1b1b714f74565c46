import Vocabulary

// As the store keeps them (RecordFields.swift).

extension Change {
    package func encode(to encoder: any Encoder) throws { try value().encode(to: encoder) }

    func value() throws(ValueError) -> Value {
        switch self {
        case .put(let record): ["put": ["_0": [record.section.rawValue: ["_0": record.value]]]]
        case .delete(let key): ["delete": ["_0": try ValueEncoder().encode(key)]]
        case .append(let line): ["append": ["_0": try line.value()]]
        }
    }
}

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
        if refresh != RefreshMemory() { fields.put("refresh", try refresh.value()) }
        try fields.put("sessions", unlessDefault: sessions)
        if !tokens.isEmpty {
            var list: [Value] = []
            for token in tokens { list.append(try token.value()) }
            fields.put("tokens", .list(list))
        }
        try fields.put("transferTokens", unlessDefault: transferTokens)
        if let transient { fields.put("transient", try transient.value.stored()) }
        fields.put("unusedSince", unusedSince)
        return fields.value
    }

    init?(fields value: Value) {
        guard var fields = StoredFields(value) else { return nil }
        let closedAt: WallTime? = fields.time("closedAt")
        let failures: Failures? = fields.decoded("failures")
        let fetchInterval: FetchInterval? = fields.decoded("fetchInterval")
        let firstSeen: WallTime? = fields.time("firstSeen")
        let goneSince: WallTime? = fields.time("goneSince")
        guard let id = fields.text("id") else { return nil }
        self.init(id: AppID(id))
        (self.closedAt, self.firstSeen, self.goneSince) = (closedAt, firstSeen, goneSince)
        if let failures { self.failures = failures }
        if let fetchInterval { self.fetchInterval = fetchInterval }
        kinds = fields.list("kinds", SubmittedKind.init(fields:)) ?? []
        lastEnds = fields.list("lastEnds", TriggerEnd.init(fields:)) ?? []
        lastRun = fields.decoded("lastRun")
        lastUsed = fields.time("lastUsed")
        if let kept: Ledger = fields.decoded("ledger") { ledger = kept }
        paces = fields.decoded("paces") ?? []
        if let kept: RefreshMemory = fields.decoded("refresh") { refresh = kept }
        sessions = fields.decoded("sessions") ?? []
        tokens = fields.list("tokens", AnsweredToken.init(fields:)) ?? []
        transferTokens = fields.decoded("transferTokens") ?? []
        transient = fields.take("transient", AppManifest.init(fields:)).map(Shared.init)
        unusedSince = fields.time("unusedSince")
        guard fields.areTaken else { return nil }
    }
}

extension SubmittedKind {
    fileprivate var value: Value {
        ["identifier": .string(identifier), "kind": .string(kind.rawValue)]
    }

    fileprivate init?(fields value: Value) {
        guard var fields = StoredFields(value), let identifier = fields.text("identifier"),
            let kind: TaskKind = fields.word("kind"), fields.areTaken
        else { return nil }
        self.init(identifier: identifier, kind: kind)
    }
}

extension TriggerEnd {
    fileprivate var value: Value {
        ["at": .integer(at.nanoseconds), "trigger": .string(trigger.rawValue)]
    }

    fileprivate init?(fields value: Value) {
        guard var fields = StoredFields(value), let at: WallTime = fields.time("at"),
            let trigger: Trigger = fields.word("trigger"), fields.areTaken
        else { return nil }
        self.init(trigger: trigger, at: at)
    }
}

extension AnsweredToken {
    fileprivate func value() throws(ValueError) -> Value {
        [
            "identifier": .string(identifier), "request": try request.value(),
            "token": .string(token),
        ]
    }

    fileprivate init?(fields value: Value) {
        guard var fields = StoredFields(value), let identifier = fields.text("identifier"),
            let request: RequestID = fields.serial("request"), let token = fields.text("token"),
            fields.areTaken
        else { return nil }
        self.init(token: token, request: request, identifier: identifier)
    }
}

extension LastRun {
    fileprivate func value() throws(ValueError) -> Value {
        var fields = RecordFields(5)
        fields.put("at", at)
        try fields.put("decision", decision)
        fields.put("identifier", identifier)
        fields.put("reason", reason)
        fields.put("result", result.value)
        return fields.value
    }
}

extension RunResult {
    var value: Value {
        switch self {
        case .newData: ["newData": [:]]
        case .noData: ["noData": [:]]
        case .failed: ["failed": [:]]
        case .succeeded: ["succeeded": [:]]
        case .unsuccessful: ["unsuccessful": [:]]
        case .expired(let reason): ["expired": ["_0": .string(reason.rawValue)]]
        case .interrupted(let reason): ["interrupted": ["_0": .string(reason.rawValue)]]
        case .terminated(let reason): ["terminated": ["_0": .string(reason.rawValue)]]
        case .crashed(let signal): ["crashed": ["signal": .integer(Int64(signal))]]
        case .exited(let status): ["exited": ["status": .integer(Int64(status))]]
        case .notStarted: ["notStarted": [:]]
        case .retry: ["retry": [:]]
        case .unknown: ["unknown": [:]]
        }
    }
}

extension AppManifest {
    fileprivate func stored() throws(ValueError) -> Value {
        var fields = RecordFields(10)
        fields.put("directory", directory)
        try fields.put("environment", unlessDefault: environment)
        fields.put("exec", exec)
        fields.put("extensions", unlessEmpty: extensions)
        fields.put("failedFrom", failedFrom)
        if !file.isEmpty { fields.put("file", file) }
        fields.put("id", id.name)
        fields.put("memoryLimit", memoryLimit)
        fields.put("modes", unlessEmpty: modes.map(\.rawValue))
        fields.put("name", name)
        fields.put("needsNetwork", .bool(needsNetwork))
        try fields.put("newDataFrom", unlessDefault: newDataFrom)
        try fields.put("noDataExit", unlessDefault: noDataExit)
        fields.put("noDisplay", noDisplay)
        fields.put("passEnvironment", unlessEmpty: passEnvironment)
        fields.put("permittedTaskIdentifiers", unlessEmpty: permittedTaskIdentifiers)
        fields.put("processingCommand", processingCommand)
        fields.put("processingInterval", processingInterval)
        try fields.put("processingNeeds", unlessDefault: processingNeeds)
        fields.put("refreshCommand", refreshCommand)
        fields.put("refreshInterval", refreshInterval)
        fields.put("retryExit", .list(retryExit.map { .integer(Int64($0)) }))
        fields.put("stopTimeout", stopTimeout)
        fields.put("terminal", terminal)
        fields.put("tryExec", tryExec)
        try fields.put("useFrom", useFrom)
        try fields.put("wakeOn", unlessDefault: wakeOn)
        try fields.put("whenInterrupted", unlessDefault: whenInterrupted)
        return fields.value
    }

    fileprivate init?(fields value: Value) {
        guard var fields = StoredFields(value) else { return nil }
        let directory = fields.text("directory")
        let environment: [EnvironmentVariable]? = fields.decoded("environment")
        let exec = fields.texts("exec")
        let extensions = fields.texts("extensions")
        let failedFrom = fields.texts("failedFrom")
        let file = fields.text("file")
        guard let id = fields.text("id") else { return nil }
        let memoryLimit = fields.number("memoryLimit")
        let modes: [BackgroundMode]? = fields.words("modes")
        guard let name = fields.text("name"), let needsNetwork = fields.flag("needsNetwork")
        else { return nil }
        let newDataFrom: ResultSource? = fields.decoded("newDataFrom")
        let noDataExit = fields.statuses("noDataExit")
        let noDisplay = fields.flag("noDisplay")
        let passEnvironment = fields.texts("passEnvironment")
        let permitted = fields.texts("permittedTaskIdentifiers")
        let processingCommand = fields.texts("processingCommand")
        let processingInterval = fields.span("processingInterval")
        let processingNeeds: Needs? = fields.decoded("processingNeeds")
        let refreshCommand = fields.texts("refreshCommand")
        let refreshInterval = fields.span("refreshInterval")
        guard let retryExit = fields.statuses("retryExit") else { return nil }
        let stopTimeout = fields.span("stopTimeout")
        let terminal = fields.flag("terminal")
        let tryExec = fields.text("tryExec")
        let useFrom: UseSource? = fields.decoded("useFrom")
        let wakeOn: [WakeRule]? = fields.decoded("wakeOn")
        let whenInterrupted: Interruption? = fields.decoded("whenInterrupted")
        guard fields.areTaken else { return nil }
        self.init(
            id: AppID(id),
            name: name,
            file: file ?? "",
            exec: exec,
            tryExec: tryExec,
            directory: directory,
            terminal: terminal ?? false,
            noDisplay: noDisplay ?? false,
            permittedTaskIdentifiers: permitted ?? [],
            extensions: extensions ?? [],
            environment: environment ?? [],
            passEnvironment: passEnvironment ?? [],
            refreshCommand: refreshCommand,
            processingCommand: processingCommand,
            refreshInterval: refreshInterval,
            processingInterval: processingInterval,
            processingNeeds: processingNeeds ?? Needs(),
            whenInterrupted: whenInterrupted ?? .terminate,
            newDataFrom: newDataFrom ?? .exit,
            failedFrom: failedFrom,
            noDataExit: noDataExit ?? [],
            retryExit: retryExit,
            useFrom: useFrom,
            needsNetwork: needsNetwork,
            memoryLimit: memoryLimit,
            stopTimeout: stopTimeout,
            wakeOn: wakeOn ?? []
        )
        self.modes = modes ?? []
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
