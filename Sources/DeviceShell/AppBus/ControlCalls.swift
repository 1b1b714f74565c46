internal import AppProtocol
internal import DeviceCore
internal import Linux
internal import SystemBus
internal import Vocabulary

/// The methods of `Control1`, each as an event for the core or a question to it.
struct ControlCalls {
    let host: any ControlHost
    /// The app whose process calls: it acts as itself, and for nobody else. Nil: the user.
    var owner: AppID?
    /// The caller has become an app, or part of one.
    var attached: (Connection) -> Void = { _ in }

    func perform(_ call: IncomingCall) throws(Refusal) {
        if let owner, !mayAsk(call, as: owner) {
            throw Refusal(
                .notPermitted,
                reason: "an app may only act for itself",
                value: owner.name,
                fix: "ask from outside the app"
            )
        }
        do throws(OptionError) {
            if let rows = try question(call) {
                call.answer([rows])
            } else {
                try action(call)
            }
        } catch {
            throw Refusal(.invalid, reason: error.reason, value: error.value, fix: error.fix)
        }
    }

    /// What an app's own processes may do: look at themselves, ask for work of their own and take
    /// it back. To run now is for the user to ask.
    private func mayAsk(_ call: IncomingCall, as app: AppID) -> Bool {
        let named = call.arguments.first?.stringValue
        switch call.method.name {
        case "Gates", "Modes", "Settings", "Conditions", "Version", "Submit": return true
        case "Tasks": return named == "" || named.map(resolve) == app
        case "Explain", "Logs", "Cancel": return named.map(resolve) == app
        case "History":
            guard let other = call.arguments.first?["app"]?.stringValue else { return true }
            return resolve(other) == app
        default: return false
        }
    }

    // MARK: Questions

    /// Nil: the call is no question.
    private func question(_ call: IncomingCall) throws(OptionError) -> Value? {
        let now = host.now()
        switch call.method.name {
        case "Status": return host.device.status(at: now)
        case "Apps": return .list(host.device.appList(at: now))
        case "Settings": return .list(host.device.settingsReport)
        case "Gates": return .list(Gate.report)
        case "Modes": return .list(BackgroundMode.report)
        case "Conditions": return .list(host.device.conditionsReport(at: now))
        case "Doctor": return .list(host.doctor())
        case "Version": return host.version()
        default: return nil
        }
    }

    private func tasks(_ app: String) throws(Refusal) -> Value {
        let id = app.isEmpty ? owner : resolve(app)
        guard let tasks = host.device.taskList(of: id, at: host.now()) else {
            throw host.device.unknown(AppID(app))
        }
        return .list(tasks)
    }

    private func explain(_ app: String, task: String?) throws(Refusal) -> Value {
        let rows = host.device.explanationList(
            of: resolve(app),
            identifier: task,
            at: host.now()
        )
        if rows.count == 1, rows[0]["state"]?.stringValue == "unknown" {
            throw host.device.unknown(AppID(app))
        }
        if let task, let app = rows.first?["app"]?.stringValue, rows.count == 1,
            rows[0]["state"]?.stringValue == Explanation.State.nothingToDo.rawValue,
            // What was submitted has run and is known no more.
            app != "command.\(task)"
        {
            try checkTask(task, of: AppID(app))
        }
        return .list(rows)
    }

    private func checkTask(_ task: String, of app: AppID) throws(Refusal) {
        let tasks = host.device.taskList(of: app, at: host.now()) ?? []
        let names = tasks.compactMap { $0["task"]?.stringValue }
        guard !names.contains(task) else { return }
        throw Refusal(
            .notFound,
            reason: "\(app) has no task of that name",
            value: task,
            fix: Spelling.suggestion(for: task, among: names).map { "did you mean \($0)?" }
                ?? "offstage tasks \(app) lists them"
        )
    }

    /// What the user calls `backup` may be the command that they submitted under that name.
    private func resolve(_ name: String) -> AppID {
        let command = AppID("command.\(name)")
        let isOnlyCommand =
            host.device.apps.index(of: AppID(name)) == nil
            && host.device.apps.index(of: command) != nil
        return isOnlyCommand ? command : AppID(name)
    }

    // MARK: Actions

    private func action(_ call: IncomingCall) throws(OptionError) {
        let texts = call.arguments.compactMap(\.stringValue)
        let options = call.arguments.last?.mapValue ?? ValueMap()
        var reader = OptionReader(options)
        switch call.method.name {
        case "Submit":
            var submission = Submission(try SubmitOptions(options, ofAnApp: owner != nil))
            submission.app = owner
            let warning = submission.command.flatMap { Self.missing($0, submission) }
            host.ask(.submit(submission)) { reply in
                guard case .requested(var task) = reply else { return answer(call, reply) }
                task.warning = warning
                answer(call, .requested(task))
            }
            return
        case "Tasks": try finish(&reader, call) { () throws(Refusal) in try tasks(texts[0]) }
        case "Explain":
            let task = try reader.text("task")
            try finish(&reader, call) { () throws(Refusal) in try explain(texts[0], task: task) }
        case "History":
            let app = try reader.text("app")
            let limit = try reader.number("limit", in: 1...10_000)
            let before = try reader.number("before", in: 1...Int64.max)
            try finish(&reader, call) { () throws(Refusal) in
                .list(
                    try host.history(
                        of: app.map(resolve) ?? owner,
                        limit: Int(limit ?? 50),
                        before: before
                    )
                )
            }
        case "Logs":
            let lines = try reader.number("lines", in: 1...100_000)
            try finish(&reader, call) { () throws(Refusal) in
                try host.logs(of: resolve(texts[0]), lines: Int(lines ?? 100))
            }
        case "Set":
            let app = try reader.text("app")
            try reader.finish()
            host.set(texts[0], to: texts[1], app: app.map(resolve)) { answer(call, $0) }
        case "Reload": host.reload { answer(call, $0) }
        default:
            let request = try request(call, texts, &reader)
            try reader.finish()
            ask(call, request)
        }
    }

    /// Why a command would not be found now. It is stored all the same: it may be installed by the
    /// time it runs.
    private static func missing(_ command: [String], _ submission: Submission) -> String? {
        guard let program = command.first else { return nil }
        guard !program.hasPrefix("/") else {
            if Files.isExecutable(program) { return nil }
            return Files.exists(program)
                ? "\(program) is not executable" : "\(program) is not there"
        }
        if program.contains("/") {
            let path = (submission.directory ?? "/") + "/" + program
            return Files.isExecutable(path) ? nil : "\(program) is not a program in its directory"
        }
        let own = submission.environment.last { $0.name == "PATH" }?.value
        let path =
            own ?? CurrentProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        return Files.executable(program, searchPath: path) == nil
            ? "\(program) is not in the daemon's PATH (\(path))" : nil
    }

    private func request(
        _ call: IncomingCall,
        _ texts: [String],
        _ reader: inout OptionReader
    ) throws(OptionError) -> UserRequest {
        let method = call.method.name
        let app = resolve(texts.first ?? "")
        switch method {
        case "Open":
            let attach = try reader.number("attach", in: 1...Int64(Int32.max))
            return .open(
                app,
                attach: try attach.map { (pid) throws(OptionError) in
                    try caller(Int32(pid), call)
                }
            )
        case "Leave": return .leave(app)
        case "Close": return .close(app)
        case "Run": return .run(app, identifier: try reader.text("task"))
        case "Cancel": return .cancel(app, identifier: try reader.text("task"))
        case "Pause": return .pause(try reader.interval("seconds"))
        case "Continue": return .continue
        case "Simulate":
            guard let what = Simulation(rawValue: texts[0]) else {
                throw OptionError(
                    reason: "this cannot be simulated",
                    value: texts[0],
                    fix: Simulation.allCases.map(\.rawValue).joined(separator: ", ")
                )
            }
            return .simulate(what, resolve(texts[1]), identifier: try reader.text("task"))
        default:
            throw OptionError(reason: "no such method", value: method, fix: "introspect the object")
        }
    }

    /// Nobody makes an app of a process but that process itself, which is still there.
    private func caller(_ pid: Int32, _ call: IncomingCall) throws(OptionError) -> ProcessID {
        let peer = call.connection.peer.pid
        // In this order: the number is the peer's as long as it has not ended.
        guard pid == peer, let caller = call.connection.peer.identity,
            !call.connection.peer.hasEnded
        else {
            throw OptionError(
                reason: "attach is not the caller",
                value: "\(pid)",
                fix: "give \(peer)"
            )
        }
        return ProcessID(pid: caller.pid, startTime: caller.startTime)
    }

    /// Refuses what is left of the options before it answers the question.
    private func finish(
        _ reader: inout OptionReader,
        _ call: IncomingCall,
        _ body: () throws(Refusal) -> Value
    ) throws(OptionError) {
        try reader.finish()
        do throws(Refusal) {
            call.answer([try body()])
        } catch {
            refuse(call, error)
        }
    }

    private func ask(_ call: IncomingCall, _ request: UserRequest) {
        host.ask(request) { answer(call, $0) }
    }

    private func answer(_ call: IncomingCall, _ reply: Reply) {
        switch reply {
        case .done: call.answer([.map(ValueMap())])
        case .requested(let task): call.answer([.encoding(task)])
        case .opened(var app):
            if app.attach == true {
                attached(call.connection)
                app.environment = host.takeEnvironment(of: app.launch)
            }
            call.answer([.encoding(app)])
        case .greeted(let greeting): call.answer([.encoding(greeting)])
        case .begun(let task): call.answer([.encoding(task)])
        case .refused(let refusal): refuse(call, refusal)
        }
    }
}

extension Value {
    /// A reply, all of whose fields D-Bus carries.
    static func encoding(_ reply: some Encodable) -> Value {
        (try? ValueEncoder().encode(reply)) ?? [:]
    }
}

extension Submission {
    init(_ options: SubmitOptions) {
        self.init(
            identifier: options.id,
            kind: options.kind == .refresh ? .refresh : .processing,
            after: options.after,
            every: options.every,
            needs: options.needs,
            token: options.token,
            command: options.command.isEmpty ? nil : options.command,
            directory: options.directory,
            environment: options.environment
        )
    }
}
