internal import AppProtocol
internal import AppTranslation
internal import DeviceCore
internal import Linux
internal import SystemBus
internal import Vocabulary

/// The methods of `App1`, each as an event for the core or a question to it.
struct AppCalls {
    let host: any AppHost
    let links: AppLinks
    let caller: AppCaller

    func perform(_ incoming: IncomingCall) throws(Refusal) {
        let row = try App1.row(of: incoming)
        let launch = try launch(for: row.callers, incoming)
        try perform(try row.read(incoming), launch, incoming)
    }

    private func perform(
        _ call: App1,
        _ launch: LaunchID?,
        _ incoming: IncomingCall
    ) throws(Refusal) {
        switch call {
        case .hello(let hello): try perform(call, hello, launch, incoming)
        case .finishedLaunching, .expirationHandler, .setMinimumFetchInterval, .mistaken:
            say(call, launch, incoming)
        case .complete:
            say(call, launch, incoming) { $0.usage = launch.flatMap { host.usage(of: $0) } }
        case .submit(let submit): perform(submit, incoming)
        case .cancel(let cancel): perform(cancel, incoming)
        case .pending(let call):
            host.afterTurn {
                let requests = host.device.pendingRequests(of: caller.app)
                    .map { $0.onMachine(host.ahead) }
                incoming.answer(call, PendingRequests(requests: requests))
            }
        case .beginTask(let begin): perform(call, begin, incoming)
        case .endTask(let end):
            let launch = runningLaunch
            let tasks = launch.flatMap { host.device.launch($0)?.launch.tasks } ?? []
            let isOwn = tasks.contains { $0.number == end.task && $0.holder == caller.process }
            say(call, launch, incoming) { $0.holdsTask = isOwn }
        case .joinSession, .changeTasks, .leaveSession: say(call, launch, incoming)
        case .answerTask(let answer): perform(answer, launch, incoming)
        case .enqueueTasks(let enqueue): try perform(enqueue, launch, incoming)
        case .setIdleTimer: say(call, launch, incoming)
        case .watchConditions(let watch): perform(call, watch, incoming)
        case .limits(let call):
            host.afterTurn {
                let launch = runningLaunch
                let usage = launch.flatMap { host.usage(of: $0) }
                let limits = host.device.limits(of: launch, usage, at: host.now())
                incoming.answer(call, limits.onMachine(host.awakeAhead))
            }
        }
    }

    // MARK: Who calls

    /// The launch that calls, if it may; nil: a helper outside every launch.
    private func launch(
        for callers: Callers,
        _ incoming: IncomingCall
    ) throws(Refusal) -> LaunchID? {
        switch callers {
        case .main: return try mainLaunch(incoming)
        case .connected:
            let launch = try mainLaunch(incoming)
            guard links.launch(of: incoming.connection) == launch else {
                throw Refusal(
                    .invalid,
                    reason: "Hello has not been called on this connection",
                    value: incoming.method.name,
                    fix: "call Hello first"
                )
            }
            return launch
        case .app, .anyone, .everyone, .user, .daemon: return caller.launch
        }
    }

    /// The launch whose main process calls.
    private func mainLaunch(_ incoming: IncomingCall) throws(Refusal) -> LaunchID {
        if caller.role == .main, let launch = caller.launch { return launch }
        let launch = caller.launch.flatMap { host.device.launch($0)?.launch }
        let pid = launch?.process.map { ", process \($0.pid)" } ?? ""
        throw Refusal(
            .notPermitted,
            reason: "\(incoming.method.name) is for the main process of an app",
            value: "\(incoming.connection.peer.pid)",
            fix: "call it from the process that was started\(pid)"
        )
    }

    /// Its own; of a helper outside every launch, that of its app, if it runs.
    private var runningLaunch: LaunchID? {
        if let launch = caller.launch { return launch }
        return host.device.apps.index(of: caller.app)
            .flatMap { host.device.apps[$0].mainLaunch?.id }
    }

    // MARK: The main process

    private func perform(
        _ call: App1,
        _ hello: App1.Hello,
        _ launch: LaunchID?,
        _ incoming: IncomingCall
    ) throws(Refusal) {
        guard let launch, host.device.launch(launch)?.launch.role == .main else {
            throw Refusal(
                .notPermitted,
                reason: "this launch runs a command of the manifest, which gets no deliveries",
                value: caller.app.name,
                fix: "report the result by the exit status"
            )
        }
        guard links.launch(of: incoming.connection) == nil else {
            throw Refusal(
                .invalid,
                reason: "Hello was already called on this connection",
                value: caller.app.name,
                fix: "connect again, or go on"
            )
        }
        links.bind(incoming.connection, to: launch, path: hello.path ?? AppObject1.path)
        let permitted = host.device.apps.index(of: caller.app)
            .flatMap { host.device.apps[$0].manifest?.permittedTaskIdentifiers }
        host.say(
            launch,
            { call.event(context, reply: $0) },
            answer: { [links] reply in
                if case .refused = reply { links.unbind(refused: incoming.connection) }
                incoming.answer(call, reply, permitted: permitted ?? [])
            }
        )
    }

    private func perform(
        _ call: App1.EnqueueTasks,
        _ launch: LaunchID?,
        _ incoming: IncomingCall
    ) throws(Refusal) {
        var call = call
        for index in call.tasks.indices {
            call.tasks[index].earliest = call.tasks[index].earliest.map { $0 + host.ahead }
        }
        let directory: String
        do throws(LinuxError) {
            directory = try host.transferDirectory(of: caller.app)
        } catch {
            throw Refusal(
                .storage,
                reason: "there is no directory for the app's files: \(error)",
                value: caller.app.name,
                fix: "make room on the disk of the state directory"
            )
        }
        // One that is made again was answered with its files as they were then.
        let isAnswered = host.device.hasEnqueued(call.token, of: caller.app)
        var sources: [SentFile] = []
        var held: [Int64: HeldSource] = [:]
        for task in call.tasks where !isAnswered {
            guard let descriptor = task.descriptor else { continue }
            let source = try UploadSource.file(descriptor, of: caller.process)
            sources.append(SentFile(file: source.file, identity: source.identity))
            held[task.task] = host.take(source.descriptor)
        }
        let session = call.session
        say(call.asCall, launch, incoming) {
            ($0.transferDirectory, $0.sources) = (directory, sources)
        } answered: { reply in
            if case .refused = reply { return }
            hold(held, in: session)
        }
    }

    /// By the numbers of the tasks that they are of.
    private func hold(_ sources: [Int64: HeldSource], in session: String) {
        guard !sources.isEmpty else { return }
        for transfer in host.device.openTasks(of: session, in: caller.app) {
            guard let number = transfer.task?.number else { continue }
            host.hold(sources[number], ifTaken: transfer.id)
        }
    }

    private func perform(
        _ call: App1.AnswerTask,
        _ launch: LaunchID?,
        _ incoming: IncomingCall
    ) {
        let number = UInt64(clamping: call.question)
        var login: UInt64?
        if call.answer == .login, let user = call.user, let password = call.password,
            host.device.isAsked(number, of: caller.app, in: call.session)
        {
            login = host.keepLogin(user, password)
        }
        say(call.asCall, launch, incoming) { $0.login = login }
    }

    // MARK: Every process of an app

    private func perform(_ call: App1, _ watch: App1.WatchConditions, _ incoming: IncomingCall) {
        // Others are not told of changes: nobody sees what they read.
        guard let launch = links.launch(of: incoming.connection) else {
            return host.afterTurn { incoming.answer(watch, host.device.conditionsForApps) }
        }
        say(call, launch, incoming)
    }

    private func perform(_ call: App1.Submit, _ incoming: IncomingCall) {
        var call = call
        call.earliest = call.earliest.map { $0 + host.ahead }
        guard let launch = caller.launch else {
            return host.ask(.submit(Submission(call, of: caller.app))) {
                incoming.answer(call.asCall, $0)
            }
        }
        say(call.asCall, launch, incoming)
    }

    private func perform(_ call: App1.Cancel, _ incoming: IncomingCall) {
        guard let launch = caller.launch else {
            return host.ask(.cancelPending(caller.app, identifier: call.named)) {
                incoming.answer(call.asCall, $0)
            }
        }
        say(call.asCall, launch, incoming)
    }

    private func perform(_ call: App1, _ begin: App1.BeginTask, _ incoming: IncomingCall) {
        guard let launch = runningLaunch else {
            return incoming.answer(begin, BegunTask(task: 0))
        }
        let holder = begin.isActivity ? caller.process : nil
        let connection = incoming.connection
        let links = links
        // One that holds it since before its connection was lost may be told of its expiry before
        // it is answered.
        if let holder, begin.token != nil,
            host.device.launch(launch)?.launch.tasks.contains(where: { $0.holder == holder })
                == true
        {
            links.holds(holder, of: launch, on: connection)
        }
        host.say(
            launch,
            { call.event(context, reply: $0) },
            answer: { reply in
                guard case .begun(let task) = reply else { return incoming.answer(call, reply) }
                if let holder, task.task > 0 { links.holds(holder, of: launch, on: connection) }
                incoming.answer(call, .begun(task.onMachine(host.awakeAhead)))
            }
        )
    }

    // MARK: Saying it to the core

    private var context: CallContext {
        CallContext(app: caller.app, process: caller.process)
    }

    private func say(
        _ call: App1,
        _ launch: LaunchID?,
        _ incoming: IncomingCall,
        _ fill: (inout CallContext) -> Void = { _ in },
        answered: @escaping (Reply) -> Void = { _ in }
    ) {
        guard let launch else {
            return incoming.refuse(
                Refusal(
                    .notFound,
                    reason: "the app is not running, so it holds no background task",
                    value: caller.app.name,
                    fix: "end a task before its app ends"
                )
            )
        }
        var context = context
        fill(&context)
        host.say(launch, { call.event(context, reply: $0) }) { reply in
            answered(reply)
            incoming.answer(call, reply)
        }
    }
}
