@testable import DeviceCore
import DeviceShell
import Vocabulary

/// What a store knows, in the words of `Tests/Fixtures/state/version-1/read.py`: they stay the same
/// whatever the records are called, so that what was read of a fixture once can be compared for
/// ever.
enum KnownWords {
    static func of(_ records: [Record]) -> Value {
        var device = Value.null
        var (apps, requests, launches) = (ValueMap(), ValueMap(), ValueMap())
        var transfers = ValueMap()
        for record in records {
            let key = record.key.key
            switch record {
            case .device(let record): device = words(record)
            case .app(let record): apps[key] = words(record)
            case .request(let record): requests[key] = words(record)
            case .launch(let record): launches[key] = words(record)
            case .transfer(let record): transfers[key] = words(record)
            }
        }
        // The first versions knew of none.
        return some([
            "device": device, "apps": .map(apps), "requests": .map(requests),
            "launches": .map(launches),
            "transfers": transfers.entries.isEmpty ? nil : .map(transfers),
        ])
    }

    /// The oldest first.
    static func of(_ lines: [Store.StoredLine]) -> [Value] {
        lines.sorted { $0.id < $1.id }.map { words($0) }
    }

    private static func words(_ record: TransferRecord) -> Value {
        let (transfer, order) = (record.transfer, record.transfer.order)
        let state =
            switch transfer.state {
            case .paused: "paused"
            case .waiting: "waiting"
            case .running: "running"
            case .placing: "placing"
            case .ended(let end, _): end.word
            }
        return some([
            "app": .string(record.app.name), "url": .string(order.url),
            "directory": .string(order.directory), "name": order.name.map { .string($0) },
            "earliest": time(order.earliest), "limit": span(order.resourceTimeout),
            "submittedAt": time(transfer.submittedAt), "state": .string(state),
        ])
    }

    // MARK: Parts

    private static func some(_ fields: KeyValuePairs<String, Value?>) -> Value {
        var map = ValueMap()
        for (key, value) in fields { map[key] = value }
        return .map(map)
    }

    private static func time<Clock>(_ time: Instant<Clock>?) -> Value? {
        time.map { .integer($0.nanoseconds) }
    }

    private static func span(_ span: Interval?) -> Value? { span.map { .integer($0.nanoseconds) } }

    private static func list(_ texts: [String]?) -> Value? {
        texts.map { .list($0.map { .string($0) }) }
    }

    private static func number(_ number: some BinaryInteger) -> Value { .integer(Int64(number)) }

    private static func millionths(_ number: Double) -> Int64 {
        Int64((number * 1e6 + 0.5).rounded(.down))
    }

    /// How many numbers are in it, and their sum, in 64 bits; doubles count in millionths.
    private static func numbers(_ value: some Encodable) -> Value {
        var (count, sum) = (Int64(0), UInt64(0))
        var todo = [(try? ValueEncoder().encode(value)) ?? .null]
        while let value = todo.popLast() {
            switch value {
            case .integer(let number): (count, sum) = (count + 1, sum &+ UInt64(bitPattern: number))
            case .double(let number):
                (count, sum) = (count + 1, sum &+ UInt64(bitPattern: millionths(number)))
            case .list(let list): todo += list
            case .map(let map): todo += map.entries.map(\.value)
            case .null, .bool, .string, .bytes: break
            }
        }
        return [.integer(count), .string("\(sum)")]
    }

    private static func words(_ ledger: DeviceCore.Ledger) -> Value {
        some([
            "day": number(ledger.day), "wakes": number(ledger.wakes), "time": span(ledger.runTime),
            "cpu": span(ledger.cpu), "wakesOnBattery": number(ledger.wakesOnBattery),
            "timeOnBattery": span(ledger.runTimeOnBattery),
        ])
    }

    private static func words(_ decision: RefreshDecision?) -> Value? {
        decision.map { [.integer($0.chance), .integer($0.price), .integer($0.left)] }
    }

    private static func words(_ result: RunResult) -> Value {
        switch result {
        case .newData: "newData"
        case .noData: "noData"
        case .failed: "failed"
        case .succeeded: "succeeded"
        case .unsuccessful: "unsuccessful"
        case .expired(let reason): "expired \(reason.rawValue)"
        case .interrupted(let reason): "interrupted \(reason.rawValue)"
        case .terminated(let reason): "terminated \(reason.rawValue)"
        case .crashed(let signal): "crashed \(signal)"
        case .exited(let status): "exited \(status)"
        case .notStarted: "notStarted"
        case .retry: "retry"
        case .unknown: "unknown"
        }
    }

    // MARK: Records

    private static func words(_ record: DeviceRecord) -> Value {
        some([
            "boot": .string(record.bootID), "seed": number(record.seed),
            "reserved": number(record.reserved), "pausedSince": time(record.pausedAt),
            "pausedUntil": time(record.pausedUntil), "pauseEnds": time(record.pauseEnds),
            "spent": words(record.ledger),
            "byHand": .list(
                record.byHand.map { [.string($0.condition.rawValue), number($0.value)] }
            ),
            "refreshesSpent": record.refreshBudget.map { [number($0.day), number($0.spent)] },
            "use": record.use.map { use in
                some([
                    "days": number(use.days.count), "day": number(use.days.day),
                    "isInUse": .bool(use.isInUse), "lastUse": time(use.lastUse),
                    "numbers": numbers(use),
                ])
            },
        ])
    }

    private static func words(_ record: AppRecord) -> Value {
        some([
            "firstSeen": time(record.firstSeen), "lastUsed": time(record.lastUsed),
            "goneSince": time(record.goneSince), "closed": time(record.closedAt),
            "unusedSince": time(record.unusedSince), "fetchInterval": words(record.fetchInterval),
            "failures": some([
                "count": number(record.failures.count), "since": time(record.failures.since),
                "reason": .string(record.failures.reason), "until": time(record.failures.until),
            ]),
            "lastRun": record.lastRun.map { run in
                some([
                    "at": time(run.at), "task": .string(run.identifier),
                    "result": words(run.result), "reason": .string(run.reason),
                    "decision": words(run.decision),
                ])
            },
            "lastRefreshEnd": time(record.lastEnd(of: .refresh)),
            "lastProcessingEnd": time(record.lastEnd(of: .processing)),
            "spent": words(record.ledger),
            "learned": words(record.refresh), "command": words(record.transient?.value),
            "paces": .list(
                record.paces.map {
                    [.string($0.identifier), time($0.began) ?? .null, number($0.close)]
                }
            ),
            "tokens": .list(
                record.tokens.map {
                    [.string($0.token), number($0.request.number), .string($0.identifier)]
                }
            ),
        ])
    }

    private static func words(_ interval: FetchInterval) -> Value {
        switch interval {
        case .never: "never"
        case .minimum: "minimum"
        case .every(let span): "every \(span.nanoseconds)"
        }
    }

    private static func words(_ manifest: AppManifest?) -> Value? {
        manifest.map { manifest in
            some([
                "name": .string(manifest.name), "refresh": list(manifest.refreshCommand),
                "processing": list(manifest.processingCommand),
                "directory": manifest.directory.map { .string($0) },
                "environment": .list(
                    manifest.environment.map { [.string($0.name), .string($0.value)] }
                ),
            ])
        }
    }

    private static func words(_ memory: RefreshMemory) -> Value {
        let stored = try? ValueEncoder().encode(memory)
        let cost = stored?["cost"]?.doubleValue ?? 0
        let day = stored?["day"]?.integerValue ?? .min
        let hasUse = memory.use != AppUse()
        return some([
            "newData": number(memory.newData), "noData": number(memory.noData),
            "opens": number(memory.opens), "costMillionths": .integer(millionths(cost)),
            "spent": [.integer(day), .integer(memory.spent(on: day))],
            "use": hasUse
                ? some([
                    "isOpen": .bool(memory.use.isOpen), "lastUse": time(memory.use.lastUse),
                    "numbers": numbers(memory.use),
                ]) : nil,
            "moments": memory.gains == GainHistory() ? nil : numbers(memory.gains),
        ])
    }

    private static func words(_ record: RequestRecord) -> Value {
        let request = record.request
        let state: Value =
            switch request.state {
            case .pending: "pending"
            case .offered(let launch): "offered \(launch)"
            case .running(let launch): "running \(launch)"
            }
        let needs = Need.allCases.filter { $0.isAsked(by: request.needs) }.map(\.rawValue).sorted()
        return some([
            "app": .string(record.app.name), "task": .string(request.identifier),
            "kind": .string(request.trigger.rawValue), "origin": .string(request.origin.rawValue),
            "earliest": time(request.earliest), "span": span(request.span), "needs": list(needs),
            "every": span(request.every), "lastEnd": time(request.lastEnd),
            "submittedAt": time(request.submittedAt), "mode": .string(request.mode.rawValue),
            "interruptedAt": time(request.interruptedAt), "state": state,
            "isCancelled": .bool(request.isCancelled),
        ])
    }

    private static func words(_ record: LaunchRecord) -> Value {
        let launch = record.launch
        let role: Value =
            switch launch.role {
            case .main: "main"
            case .command(let request, let kind): "command \(request) \(kind.rawValue)"
            }
        return some([
            "app": .string(record.app.name), "role": role, "phase": .string(launch.phase.rawValue),
            "process": launch.process.map { [number($0.pid), number($0.startTime)] },
            "presence": .string(launch.presence.rawValue), "isFrozen": .bool(launch.isFrozen),
            "wake": launch.wake.map { words($0) },
            "tasks": .list(
                launch.tasks.map {
                    [number($0.number), .string($0.name), $0.token.map { .string($0) } ?? .null]
                }
            ),
            "registered": list(launch.registered),
            "interruptedSince": time(launch.interruptedSince),
            "deadline": time(launch.deadline),
        ])
    }

    private static func words(_ wake: Wake) -> Value {
        some([
            "trigger": .string(wake.trigger.rawValue), "task": .string(wake.identifier),
            "resumed": .bool(wake.resumed), "mode": .string(wake.mode.rawValue),
            "began": time(wake.began.wall), "end": time(wake.end),
            "stop": wake.stop.map { .string($0.rawValue) },
            "wasOnBattery": wake.wasOnBattery.map { .bool($0) },
            "decision": words(wake.decision),
        ])
    }

    // MARK: The history

    private static func words(_ stored: Store.StoredLine) -> Value {
        let line = stored.line
        var fields: ValueMap = [
            "id": .integer(stored.id), "at": .integer(line.at.nanoseconds),
            "offset": number(line.utcOffset), "app": .string(line.app.name),
        ]
        for (key, value) in words(line.entry) { fields[key] = value }
        return .map(fields)
    }

    private static func words(_ entry: HistoryLine.Entry) -> KeyValuePairs<String, Value?> {
        switch entry {
        case .wake(let run):
            [
                "what": "wake", "launch": number(run.launch.number),
                "trigger": .string(run.trigger.rawValue), "task": .string(run.identifier),
                "resumed": .bool(run.resumed), "simulated": .bool(run.simulated),
                "result": words(run.result), "reason": .string(run.reason),
                "time": span(run.runTime), "cpu": span(run.cpu),
                "memory": run.memory.map { .integer($0) }, "decision": words(run.decision),
            ]
        case .ended(let result, let reason):
            ["what": "ended", "result": words(result), "reason": .string(reason)]
        case .dropped(let identifier, let reason):
            ["what": "dropped", "task": .string(identifier), "reason": .string(reason)]
        case .note(let text): ["what": "note", "reason": .string(text)]
        case .use(let kind): ["what": "use", "use": .string(kind.rawValue)]
        case .transferred(_, let url, let end):
            ["what": "transfer", "url": .string(url), "result": .string(end.word)]
        }
    }
}
