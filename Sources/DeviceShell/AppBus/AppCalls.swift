internal import AppProtocol
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
        case .hello(let call): try hello(call, launch, incoming)
        case .finishedLaunching(let call):
            say(call, launch, incoming) {
                .finishedLaunching(registered: call.registered, reply: $0)
            }
        case .expirationHandler(let call):
            say(call, launch, incoming) {
                .expirationHandler(call.delivery, set: call.isSet, reply: $0)
            }
        case .complete(let call):
            // What the run has cost stands in its line.
            let usage = launch.flatMap { host.usage(of: $0) }
            say(call, launch, incoming) {
                .completed(call.delivery, call.result, usage: usage, reply: $0)
            }
        case .setMinimumFetchInterval(let call):
            say(call, launch, incoming) {
                .fetchInterval(FetchInterval(seconds: call.seconds), reply: $0)
            }
        case .mistaken(let call):
            say(call, launch, incoming) {
                .mistaken(AppMistake(call.mistake), subject: call.subject, reply: $0)
            }
        case .submit(let call): submit(call, incoming)
        case .cancel(let call): cancel(call, incoming)
        case .pending(let call):
            host.afterTurn {
                let requests = host.device.pendingRequests(of: caller.app)
                    .map { $0.onMachine(host.ahead) }
                incoming.answer(call, PendingRequests(requests: requests))
            }
        case .beginTask(let call): beginTask(call, incoming)
        case .endTask(let call): endTask(call, incoming)
        case .limits(let call):
            host.afterTurn {
                let launch = runningLaunch
                let usage = launch.flatMap { host.usage(of: $0) }
                let limits = host.device.limits(of: launch, usage, at: host.now())
                incoming.answer(call, limits.onMachine(host.ahead))
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
        case .app, .everyone, .user, .daemon: return caller.launch
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

    private func hello(
        _ call: App1.Hello,
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
        links.bind(incoming.connection, to: launch, path: call.path ?? AppObject1.path)
        let permitted = host.device.apps.index(of: caller.app)
            .flatMap { host.device.apps[$0].manifest?.permittedTaskIdentifiers }
        host.say(
            launch,
            { token in
                guard call.isAgain else { return .connected(reply: token) }
                return .reconnected(
                    running: call.running ?? [],
                    finished: (call.finished ?? []).map {
                        FinishedDelivery(delivery: $0.delivery, result: $0.result)
                    },
                    registered: call.registered,
                    reply: token
                )
            },
            answer: { [links] reply in
                guard case .greeted(var greeting) = reply else {
                    links.unbind(refused: incoming.connection)
                    return incoming.answer(call, reply, \.greeted)
                }
                greeting.version = App1.version
                greeting.permitted = permitted ?? []
                greeting.features = App1.features
                incoming.answer(call, greeting)
            }
        )
    }

    // MARK: Every process of an app

    private func submit(_ call: App1.Submit, _ incoming: IncomingCall) {
        var submission = Submission(call, of: caller.app)
        submission.earliest = submission.earliest.map { $0 + host.ahead }
        guard let launch = caller.launch else {
            return host.ask(.submit(submission)) { incoming.answer(call, $0, \.nothing) }
        }
        say(call, launch, incoming) { .submit(submission, reply: $0) }
    }

    private func cancel(_ call: App1.Cancel, _ incoming: IncomingCall) {
        let identifier = call.identifier.isEmpty ? nil : call.identifier
        guard let launch = caller.launch else {
            return host.ask(.cancelPending(caller.app, identifier: identifier)) {
                incoming.answer(call, $0, \.nothing)
            }
        }
        say(call, launch, incoming) { .cancel(identifier: identifier, reply: $0) }
    }

    private func beginTask(_ call: App1.BeginTask, _ incoming: IncomingCall) {
        guard let launch = runningLaunch else {
            return incoming.answer(call, BegunTask(task: 0))
        }
        let holder = call.isActivity ? caller.process : nil
        let connection = incoming.connection
        let links = links
        // One that holds it since before its connection was lost may be told of its expiry before
        // it is answered.
        if let holder, call.token != nil,
            host.device.launch(launch)?.launch.tasks.contains(where: { $0.holder == holder })
                == true
        {
            links.holds(holder, of: launch, on: connection)
        }
        host.say(
            launch,
            {
                .taskBegan(
                    name: call.name,
                    hasHandler: call.expires,
                    by: holder,
                    token: call.token,
                    reply: $0
                )
            },
            answer: { reply in
                if let holder, case .begun(let task) = reply, task.task > 0 {
                    links.holds(holder, of: launch, on: connection)
                }
                incoming.answer(call, reply) { $0.begun?.onMachine(host.ahead) }
            }
        )
    }

    private func endTask(_ call: App1.EndTask, _ incoming: IncomingCall) {
        let launch = runningLaunch
        let tasks = launch.flatMap { host.device.launch($0)?.launch.tasks } ?? []
        let isOwn = tasks.contains { $0.number == call.task && $0.holder == caller.process }
        say(call, launch, incoming) {
            .taskEnded(task: call.task, by: isOwn ? caller.process : nil, reply: $0)
        }
    }

    private func say<C: AppCall>(
        _ call: C,
        _ launch: LaunchID?,
        _ incoming: IncomingCall,
        _ event: (ReplyToken) -> AppEvent
    ) where C.Reply == Nothing {
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
        host.say(launch, event) { incoming.answer(call, $0, \.nothing) }
    }
}

extension Submission {
    fileprivate init(_ call: App1.Submit, of app: AppID) {
        self.init(
            app: app,
            identifier: call.identifier,
            kind: call.kind ?? .refresh,
            earliest: call.earliest,
            needs: call.needs,
            token: call.token
        )
    }
}

extension FetchInterval {
    /// 0 is the minimum, less is never, and so is what no clock counts to.
    fileprivate init(seconds: Double) {
        switch seconds {
        case ..<0: self = .never
        case 0: self = .minimum
        // A hundred years.
        case ..<3_155_760_000: self = .every(Interval(nanoseconds: Int64(seconds * 1e9)))
        case _: self = .never
        }
    }
}

extension AppMistake {
    fileprivate init(_ name: AppMistakeName) {
        switch name {
        case .registeredLate: self = .registeredLate
        case .registeredTwice: self = .registeredTwice
        case .registeredUnpermitted: self = .registeredUnpermitted
        case .completedAgain: self = .completedAgain
        case .letGo: self = .letGo
        }
    }
}
