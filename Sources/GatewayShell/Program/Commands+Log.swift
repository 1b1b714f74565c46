import CommandTable
import GatewayCore
import Linux
import TLS
import Vocabulary

extension GatewayProgram {
    static let log = Subcommand(
        "log",
        "show what happened to a push, or to the newest pushes",
        forms: ["", "UNIQUE-ID"],
        operands: 0...1,
        options: [
            OptionRow("apns-id", "only pushes with this apns-id", argument: "ID"),
            OptionRow("device", "only pushes to this device", argument: "NUMBER"),
            OptionRow("topic", "only pushes of this app", argument: "ID"),
            OptionRow(
                "state",
                "only pushes to which this happened last: "
                    + LogState.allCases.map(\.rawValue).joined(separator: ", "),
                argument: "STATE"
            ),
            OptionRow("since", "only pushes accepted since then", argument: "TIME"),
            OptionRow("until", "only pushes accepted until then", argument: "TIME"),
            OptionRow("lines", "how many of the newest pushes to print (20)", argument: "NUMBER"),
        ],
        details: [
            "The id is the apns-unique-id of the answer. Providers can query it too, with GET "
                + "/3/log/UNIQUE-ID and their token. Entries appear within a second.",
            "TIME is a span before now, such as 2h, or a local time, such as 18:30, 2026-03-01 or "
                + "\"2026-03-01 07:05:09.250\". A time of day is the last one; that of --until, "
                + "with --since, is the first one after it.",
        ],
        examples: [
            Example("log --lines=5", "Print the last five pushes."),
            Example(
                "log --device=7 --state=dropped --since=1d",
                "Print what was dropped for a device in the last 24 hours."
            ),
            Example(
                "log --since=08:00 --until=18:30",
                "Print the newest pushes of the last working day."
            ),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let store = try invocation.store()
        let identity = try Self.identity(invocation.paths)
        let apps = try failing { Dictionary(uniqueKeysWithValues: try store.apps()) }
        func report(_ row: LogRow) -> Value {
            LogReport(row, bundle: apps[row.head.app], gateway: identity).value
        }
        if let text = invocation.operands.first {
            let options = ["apns-id", "device", "topic", "state", "since", "until", "lines"]
            for name in options where invocation.options.has(name) {
                throw Failure(.usage, "UNIQUE-ID names one push: leave out --\(name)")
            }
            guard let number = PushUUID(Array(text.utf8))?.number(gateway: identity),
                let row = try failing({ try store.log(of: number) })
            else {
                throw Failure(.notFound, "no push \(text.quoted) is known here")
            }
            return invocation.show(report(row)) { print($0, invocation.console) }
        }
        let limit = Int(try invocation.integer("lines", in: 1...1_000_000) ?? 20)
        let filter = try filter(of: invocation, store)
        let list = try failing { try store.log(matching: filter, limit: limit) }.map(report)
        invocation.show(.list(list)) { _ in
            for value in list { print(value, invocation.console) }
            if list.isEmpty { invocation.console.print("No push in the log fits.") }
        }
    }

    /// What the options ask for.
    private static func filter(
        of invocation: GatewayInvocation,
        _ store: some OperatorStore
    ) throws(Failure) -> LogFilter {
        let options = invocation.options
        var filter = LogFilter()
        if let text = options["apns-id"] {
            guard let id = PushUUID(Array(text.utf8)) else {
                throw Failure(
                    .usage,
                    "--apns-id \(text.quoted) is not a UUID",
                    fix: "Such as 123e4567-e89b-12d3-a456-426614174000."
                )
            }
            filter.apnsID = id
        }
        if let number = try invocation.integer("device", in: 1...Int64.max) {
            filter.device = DeviceID(UInt64(number))
        }
        if let bundle = options["topic"] {
            let apps = try failing { try store.apps() }
            guard let app = apps.first(where: { $0.1.utf8.elementsEqual(bundle.utf8) }) else {
                throw Failure(
                    .notFound,
                    "no app \(bundle.quoted) is known here",
                    fix: "offstage-gateway topics prints those that are. The log keeps no name of "
                        + "an app that was removed: without --topic it lists its pushes too."
                )
            }
            filter.app = app.0
        }
        if let text = options["state"] {
            guard let state = LogState(rawValue: text) else {
                let states = LogState.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure(
                    .usage,
                    "--state \(text.quoted) is not a state",
                    fix: "One of \(states)."
                )
            }
            filter.state = state
        }
        filter.since = try invocation.time("since", .past) { invocation.console.now }
        filter.until = try until(filter.since, of: invocation)?.endOfMillisecond
        return filter
    }

    /// A time of day is the first one after `since`, which may be to come: `--since 08:00
    /// --until 18:30` is one day.
    private static func until(
        _ since: WallTime?,
        of invocation: GatewayInvocation
    ) throws(Failure) -> WallTime? {
        guard let text = invocation.options["until"] else { return nil }
        guard let typed = TypedTime(text) else { throw Failure(noTime: text, of: "--until ") }
        let now = invocation.console.now
        let last = typed.wall(.past, of: now.wall, zone: now.utcOffset)
        guard let since else { return last }
        let until: WallTime
        switch typed {
        case .timeOfDay, .weekday: until = typed.wall(.future, of: since, zone: now.utcOffset)
        case .span, .date, .day, .instant: until = last
        }
        guard until >= since else {
            throw Failure(
                .usage,
                "--until \(text.quoted) is before --since",
                fix: "No push is accepted in between."
            )
        }
        return until
    }

    private static func print(_ report: Value, _ console: Console) {
        let topic = report["topic"]?.stringValue ?? "removed app"
        console.print(
            "\(report["uniqueId"]?.stringValue ?? "")  \(topic)  "
                + (report["device"]?.integerValue.map { "device \($0)" }
                    ?? "channel \(report["channel"]?.stringValue ?? "")")
                + "  \(report["state"]?.stringValue ?? "")"
        )
        for event in report["events"]?.listValue ?? [] {
            let at = WallTime(
                nanoseconds: Interval.milliseconds(event["timestamp"]?.integerValue ?? 0)
                    .nanoseconds
            )
            let local = console.now.local(at)
            let reason = event["reason"]?.stringValue.map { " (\($0))" } ?? ""
            let devices = event["devices"]?.integerValue.map { " to \($0) devices" } ?? ""
            let name = event["event"]?.stringValue ?? ""
            console.print("    \(local.withMilliseconds)  \(name)\(devices)\(reason)")
        }
    }

    /// What makes the unique ids of this gateway its own.
    static func identity(_ paths: GatewayPaths) throws(Failure) -> UInt64 {
        let text = try failing { try Files.text(paths.tokenKey) }
        guard let key = Hexadecimal.bytes(text.utf8.filter({ $0 > 0x20 })) else {
            throw Failure(.failed, "\(paths.tokenKey) does not hold digits")
        }
        return try failing {
            try Cryptography.hmac(Array("unique-id".utf8), key: key).prefix(8)
                .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
    }
}

extension WallTime {
    /// Times are typed, and printed, in milliseconds: what came within the last one is asked for.
    fileprivate var endOfMillisecond: WallTime {
        let millisecond: Int64 = 1_000_000
        return self + Interval(nanoseconds: millisecond - 1 - nanoseconds % millisecond)
    }
}
