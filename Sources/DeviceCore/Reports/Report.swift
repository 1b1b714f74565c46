package import Vocabulary

/// The one form in which the device tells of itself: maps with stable names, which the command
/// line prints with `--json` and D-Bus carries as `a{sv}`. Times are RFC 3339 text with offset,
/// spans are seconds, what is not known is left out.
enum Report {
    static func time(_ time: WallTime, offset: Int32) -> Value {
        let local = LocalTime(time, utcOffset: offset).description
        let minutes = abs(Int(offset)) / 60
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let zone = (offset < 0 ? "-" : "+") + padded(minutes / 60) + ":" + padded(minutes % 60)
        return .string(local.prefix(10) + "T" + local.suffix(8) + zone)
    }

    /// Milliseconds are enough for people and programs.
    static func seconds(_ interval: Interval) -> Value {
        .double(Double(interval.nanoseconds / 1_000_000) / 1000)
    }

    /// A map without what is null.
    static func map(_ entries: [(String, Value)]) -> Value {
        .map(ValueMap(entries.filter { !$0.1.isNull }))
    }
}

/// Builds reports at one moment.
struct Reporter {
    let now: Moment

    func time(_ time: WallTime?) -> Value {
        guard let time, time != .distantFuture, time != .distantPast else { return .null }
        return Report.time(time, offset: now.utcOffset)
    }

    func lastRun(_ run: LastRun?) -> Value {
        guard let run else { return .null }
        return Report.map([
            ("at", time(run.at)), ("task", .string(run.identifier)),
            ("outcome", .string(run.result.word)), ("result", .string(run.result.summary)),
            // The words of a stopped run end with its reason.
            ("reason", run.result.summary.hasSuffix(run.reason) ? .null : .string(run.reason)),
            ("decision", run.decision?.report ?? .null),
        ])
    }

    func failures(_ failures: Failures) -> Value {
        guard failures.count > 0 else { return .null }
        return Report.map([
            ("count", .integer(failures.count)), ("since", time(failures.since)),
            ("reason", .string(failures.reason)), ("until", time(failures.until)),
        ])
    }

    func spent(_ ledger: Ledger) -> Value {
        let today = ledger.spent(on: now.local.day)
        return Report.map([
            ("wakes", .integer(today.wakes)), ("seconds", Report.seconds(today.runTime)),
            ("cpuSeconds", Report.seconds(today.cpu)),
        ])
    }

    func held(_ hold: HoldTime) -> Value {
        Report.map([
            ("gate", .string(hold.gate.name)), ("title", .string(hold.gate.row.title)),
            ("since", time(hold.since)), ("until", time(hold.until)),
        ])
    }

    func hold(_ hold: Hold) -> Value {
        Report.map([
            ("gate", .string(hold.gate)), ("title", .string(hold.title)),
            ("value", .string(hold.value)), ("needed", .string(hold.needed)),
            ("since", time(hold.since)), ("next", time(hold.next)),
            ("fix", hold.fix.isEmpty ? .null : .string(hold.fix)),
        ])
    }
}

extension HistoryLine {
    /// The line as programs read it.
    package var report: Value {
        var fields: [(String, Value)] = [
            ("at", Report.time(at, offset: utcOffset)), ("app", .string(app.name)),
        ]
        switch entry {
        case .wake(let wake):
            fields += [
                ("what", "run"), ("launch", .integer(Int64(wake.launch.number))),
                ("trigger", .string(wake.trigger.rawValue)), ("task", .string(wake.identifier)),
                ("resumed", .bool(wake.resumed)), ("simulated", .bool(wake.simulated)),
                ("outcome", .string(wake.result.word)), ("result", .string(wake.result.summary)),
                ("reason", .string(wake.reason)),
                ("seconds", Report.seconds(wake.runTime)),
                ("cpuSeconds", wake.cpu.map(Report.seconds) ?? .null),
                ("memory", wake.memory.map { .integer($0) } ?? .null),
                ("decision", wake.decision?.report ?? .null),
            ]
        case .ended(let result, let reason):
            fields += [
                ("what", "ended"), ("outcome", .string(result.word)),
                ("result", .string(result.summary)), ("reason", .string(reason)),
            ]
        case .dropped(let identifier, let reason):
            fields += [
                ("what", "dropped"), ("task", .string(identifier)), ("reason", .string(reason)),
            ]
        case .note(let text):
            fields += [("what", "note"), ("reason", .string(text))]
        case .use(let kind):
            fields += [("what", .string(kind.rawValue))]
        }
        return Report.map(fields)
    }
}
