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

    func perform(_ incoming: IncomingCall) throws(Refusal) {
        let row = try Control1.row(of: incoming)
        if owner != nil, row.callers == .user { throw notItsOwn }
        try perform(try row.read(incoming), incoming)
    }

    private func perform(_ call: Control1, _ incoming: IncomingCall) throws(Refusal) {
        let now = host.now()
        switch call {
        case .status(let call): incoming.answer(call, status())
        case .overview(let call):
            incoming.answer(call, status(rows: call.rows.map { Int($0) } ?? .max))
        case .apps(let call): incoming.answer(call, host.device.appList(at: now))
        case .tasks(let call): incoming.answer(call, try tasks(call))
        case .explain(let call): incoming.answer(call, try explain(call))
        case .history(let call): incoming.answer(call, try history(call))
        case .logs(let call):
            let lines = Int(call.lines ?? 100)
            incoming.answer(call, try host.logs(of: try app(call), lines: lines))
        case .settings(let call): incoming.answer(call, settings)
        case .gates(let call): incoming.answer(call, Gate.report)
        case .modes(let call): incoming.answer(call, BackgroundMode.report)
        case .conditions(let call): incoming.answer(call, host.device.conditionsReport(at: now))
        case .doctor(let call): incoming.answer(call, host.doctor())
        case .version(let call): incoming.answer(call, host.version())
        case .open(let call): try open(call, incoming)
        case .leave(let call): ask(.leave(try app(call)), call, incoming)
        case .close(let call): ask(.close(try app(call)), call, incoming)
        case .submit(let call): try submit(call, incoming)
        case .run(let call): try run(call, incoming)
        case .cancel(let call): ask(.cancel(try app(call), identifier: call.task), call, incoming)
        case .dismiss(let call): ask(.dismiss(call.subject.map(resolve)), call, incoming)
        case .pause(let call): ask(.pause(call.seconds, until: call.until), call, incoming)
        case .continue(let call): ask(.continue, call, incoming)
        case .simulate(let call):
            let app = try app(call)
            ask(
                .simulate(call.what, app, identifier: call.task, kind: call.kind),
                call,
                incoming
            )
        case .advance(let call): advance(call, incoming)
        case .set(let call):
            host.set(call.name, to: call.value, app: call.app.map(resolve)) {
                incoming.answer(call, $0, \.done)
            }
        case .reload(let call): host.reload { incoming.answer(call, $0, \.done) }
        case .download(let call):
            let orders = try TransferOrder.of(call, at: now.wall)
            host.ask(.transfer(.enqueue(orders, token: call.manner.token))) {
                incoming.answer(call, $0) { enqueued($0, call.manner) }
            }
        case .upload(let call): try upload(call, incoming, at: now)
        case .transfers(let call): incoming.answer(call, host.device.transferList(at: now))
        case .transferPage(let call): incoming.answer(call, page(call, at: now))
        case .transferProgress(let call): incoming.answer(call, progress(call, at: now))
        case .moveTransfers(let call): ask(.transfer(try move(call)), call, incoming)
        case .changeTransfers(let call): ask(.transfer(TransferRequest(call)), call, incoming)
        }
    }

    private func ask<C: ControlCall>(
        _ request: UserRequest,
        _ call: C,
        _ incoming: IncomingCall
    ) where C.Reply == Done {
        host.ask(request) { incoming.answer(call, $0, \.done) }
    }

    // MARK: Which app

    /// The app that a call is about; an app's own processes may only name their own.
    private func app(_ call: some AppSubject) throws(Refusal) -> AppID {
        let app = resolve(call.app)
        guard owner == nil || app == owner else { throw notItsOwn }
        return app
    }

    /// The same of a call that need not name one; nil: all apps.
    private func appOrOwner(_ call: some ControlCall) throws(Refusal) -> AppID? {
        guard let app = call.subject.map(resolve) else { return owner }
        guard owner == nil || app == owner else { throw notItsOwn }
        return app
    }

    private var notItsOwn: Refusal {
        Refusal(
            .notPermitted,
            reason: "an app may only act for itself",
            value: owner?.name ?? "",
            fix: "ask from outside the app"
        )
    }

    /// What the user calls `backup` may be the command that they submitted under that name.
    private func resolve(_ name: String) -> AppID {
        let command = AppID("command.\(name)")
        let isOnlyCommand =
            !host.device.isListed(AppID(name)) && host.device.isListed(command)
        return isOnlyCommand ? command : AppID(name)
    }

    // MARK: Questions

    /// The settings file first: it is of all apps.
    private func status(rows: Int = .max) -> Report.Status {
        var status = host.device.status(at: host.now(), rows: rows)
        status.invalid = host.invalidSettings + (status.invalid ?? [])
        return status
    }

    private var settings: [Report.Setting] {
        host.device.settingsReport.filter { owner == nil || $0.app == nil || $0.app == owner }
    }

    private func tasks(_ call: Control1.Tasks) throws(Refusal) -> [Report.Request] {
        guard let tasks = host.device.taskList(of: try appOrOwner(call), at: host.now()) else {
            throw host.device.unknown(AppID(call.app))
        }
        return tasks
    }

    private func explain(_ call: Control1.Explain) throws(Refusal) -> [Report.Explanation] {
        let now = host.now()
        if let transfers = call.transfers {
            let ids = transfers.map { TransferID(UInt64(clamping: $0)) }
            let found = try host.device.explain(ids, at: now)
            guard owner == nil || found.allSatisfy({ $0.app == owner }) else { throw notItsOwn }
            return found.report(at: now)
        }
        let found = host.device.explain(try app(call), identifier: call.task, at: now)
        if found.count == 1, let only = found.first {
            if only.state == .unknown { throw host.device.unknown(AppID(call.app)) }
            // What was submitted has run and waits no more.
            if let task = call.task, only.state == .nothingToDo, only.lastRun == nil,
                only.app.name != Device.commandPrefix + task
            {
                try checkTask(task, of: only.app)
            }
        }
        return found.report(at: now)
    }

    private func checkTask(_ task: String, of app: AppID) throws(Refusal) {
        let index = host.device.apps.index(of: app)
        let names = index.map { host.device.apps[$0].requests.map(\.identifier) } ?? []
        guard !names.contains(task) else { return }
        throw Refusal(
            .notFound,
            reason: "\(app) has no task of that name",
            value: task,
            fix: Spelling.suggestion(for: task, among: names).map { "did you mean \($0)?" }
                ?? "offstage tasks \(app) lists them"
        )
    }

    private func history(_ call: Control1.History) throws(Refusal) -> [Report.HistoryLine] {
        try host.history(
            of: try appOrOwner(call),
            limit: Int(call.limit ?? 50),
            before: call.before
        )
    }

    // MARK: Actions

    private func open(_ call: Control1.Open, _ incoming: IncomingCall) throws(Refusal) {
        var process: ProcessID?
        if let pid = call.attach { process = try caller(Int32(pid), incoming) }
        let request = UserRequest.open(try app(call), attach: process, urls: call.urls ?? [])
        host.ask(request) { reply in
            guard case .opened(var app) = reply, app.attach == true else {
                return incoming.answer(call, reply, \.opened)
            }
            attached(incoming.connection)
            app.environment = host.takeEnvironment(of: app.launch)
            incoming.answer(call, app)
        }
    }

    /// Nobody makes an app of a process but that process itself, which is still there.
    private func caller(_ pid: Int32, _ incoming: IncomingCall) throws(Refusal) -> ProcessID {
        let connection = incoming.connection
        // In this order: the number is the peer's as long as it has not ended.
        guard pid == connection.peer.pid, let caller = connection.peer.identity,
            !connection.peer.hasEnded
        else {
            throw Refusal(
                .invalid,
                reason: "attach is not the caller",
                value: "\(pid)",
                fix: "give \(connection.peer.pid)"
            )
        }
        return ProcessID(pid: caller.pid, startTime: caller.startTime)
    }

    private func run(_ call: Control1.Run, _ incoming: IncomingCall) throws(Refusal) {
        host.ask(.run(try app(call), identifier: call.task)) { reply in
            guard case .requested(var task) = reply else {
                return incoming.answer(call, reply, \.requested)
            }
            // Its effects follow the commit: no line of its end is there yet.
            task.line = host.newestLine
            incoming.answer(call, task)
        }
    }

    private func advance(_ call: Control1.Advance, _ incoming: IncomingCall) {
        host.advance(
            by: call.seconds,
            asleep: call.asleep,
            patience: call.patience ?? Control1.Advance.usualPatience,
            isWanted: { incoming.connection.isOpen },
            answer: { result in
                switch result {
                case .success(let report): incoming.answer(call, report)
                case .failure(let refusal): incoming.refuse(refusal)
                }
            }
        )
    }

    private func submit(_ call: Control1.Submit, _ incoming: IncomingCall) throws(Refusal) {
        do throws(OptionError) {
            try call.check(byApp: owner != nil)
        } catch {
            throw Refusal(error)
        }
        let submission = Submission(call, of: owner)
        let warning = submission.command.flatMap { Self.missing($0, submission) }
        host.ask(.submit(submission)) { reply in
            guard case .requested(var task) = reply else {
                return incoming.answer(call, reply, \.requested)
            }
            task.warning = warning
            incoming.answer(call, task)
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
            if Files.isExecutable(path) { return nil }
            return Files.exists(path)
                ? "\(program) is not executable" : "there is no file \(program) in its directory"
        }
        let own = submission.environment.last { $0.name == "PATH" }?.value
        let path =
            own ?? CurrentProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        return Files.executable(program, searchPath: path) == nil
            ? "\(program) is not in the daemon's PATH (\(path))" : nil
    }
}

extension Submission {
    init(_ call: Control1.Submit, of app: AppID?) {
        self.init(
            app: app,
            identifier: call.id,
            kind: call.kind ?? .refresh,
            after: call.after,
            earliest: call.earliest,
            every: call.every,
            needs: call.needs,
            token: call.token,
            command: call.command.flatMap { $0.isEmpty ? nil : $0 },
            directory: call.directory,
            environment: call.variables
        )
    }
}
