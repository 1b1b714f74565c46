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

    func perform(_ call: IncomingCall) throws(Refusal) {
        do throws(OptionError) {
            switch call.method.name {
            case "Submit", "Cancel", "Pending", "BeginTask", "EndTask", "Limits":
                try anyone(call)
            case "Hello": try hello(call, mainLaunch)
            default: try linked(call, mainLaunch)
            }
        } catch {
            throw Refusal(.invalid, reason: error.reason, value: error.value, fix: error.fix)
        }
    }

    // MARK: The main process

    /// The launch whose main process calls.
    private var mainLaunch: LaunchID? { caller.role == .main ? caller.launch : nil }

    private func refuseOthers(_ call: IncomingCall) {
        let launch = caller.launch.flatMap { host.device.launch($0)?.launch }
        let pid = launch?.process.map { ", process \($0.pid)" } ?? ""
        refuse(
            call,
            Refusal(
                .notPermitted,
                reason: "\(call.method.name) is for the main process of an app",
                value: "\(call.connection.peer.pid)",
                fix: "call it from the process that was started\(pid)"
            )
        )
    }

    private func hello(_ call: IncomingCall, _ launch: LaunchID?) throws(OptionError) {
        guard let launch else { return refuseOthers(call) }
        guard host.device.launch(launch)?.launch.role == .main else {
            return refuse(
                call,
                Refusal(
                    .notPermitted,
                    reason: "this launch runs a command of the manifest, which gets no deliveries",
                    value: caller.app.name,
                    fix: "report the result by the exit status"
                )
            )
        }
        guard links.launch(of: call.connection) == nil else {
            return refuse(
                call,
                Refusal(
                    .invalid,
                    reason: "Hello was already called on this connection",
                    value: caller.app.name,
                    fix: "connect again, or go on"
                )
            )
        }
        let options = try HelloOptions(call.arguments[0].mapValue ?? ValueMap())
        var finished: [FinishedDelivery] = []
        for end in options.again?.finished ?? [] {
            finished.append(
                FinishedDelivery(
                    delivery: DeliveryID(UInt64(end.delivery)),
                    result: try result(end.result)
                )
            )
        }
        links.bind(call.connection, to: launch, path: options.path)
        let event: (ReplyToken) -> AppEvent = { token in
            guard let again = options.again else { return .connected(reply: token) }
            return .reconnected(
                running: again.running.map { DeliveryID(UInt64($0)) },
                finished: finished,
                registered: again.registered,
                reply: token
            )
        }
        let permitted = host.device.apps.index(of: caller.app)
            .flatMap { host.device.apps[$0].manifest?.permittedTaskIdentifiers }
        host.say(launch, event) { reply in
            guard case .greeted(var greeting) = reply else { return answer(call, reply) }
            greeting.version = App1.version
            greeting.permitted = permitted ?? []
            greeting.features = App1.features
            call.answer([.encoding(greeting)])
        }
    }

    /// What is for the connection on which hello was said.
    private func linked(_ call: IncomingCall, _ launch: LaunchID?) throws(OptionError) {
        guard let launch else { return refuseOthers(call) }
        guard links.launch(of: call.connection) == launch else {
            return refuse(
                call,
                Refusal(
                    .invalid,
                    reason: "Hello has not been called on this connection",
                    value: call.method.name,
                    fix: "call Hello first"
                )
            )
        }
        let first = call.arguments[0]
        switch call.method.name {
        case "FinishedLaunching":
            let registered = try Self.identifiers(first)
            say(call, launch) { .finishedLaunching(registered: registered, reply: $0) }
        case "ExpirationHandler":
            let isSet = call.arguments[1].boolValue ?? false
            let delivery = try Self.delivery(first)
            say(call, launch) { .expirationHandler(delivery, set: isSet, reply: $0) }
        case "Complete":
            let delivery = try Self.delivery(first)
            let result = try result(call.arguments[1].stringValue ?? "")
            // What the run has cost stands in its line.
            let usage = host.usage(of: launch)
            say(call, launch) { .completed(delivery, result, usage: usage, reply: $0) }
        case "SetMinimumFetchInterval":
            let interval = try Self.fetchInterval(first.doubleValue ?? 0)
            say(call, launch) { .fetchInterval(interval, reply: $0) }
        case "Mistaken":
            let mistake = try Self.mistake(first.stringValue ?? "")
            let subject = try RequestOptions.checked(
                identifier: call.arguments[1].stringValue ?? ""
            )
            say(call, launch) { .mistaken(mistake, subject: subject, reply: $0) }
        default:
            call.refuse(ErrorName.unknownMethod, "no such method")
        }
    }

    private static func identifiers(_ value: Value) throws(OptionError) -> [String] {
        let texts = (value.listValue ?? []).compactMap(\.stringValue)
        guard texts.count <= 1024 else {
            throw OptionError(
                reason: "too many identifiers are registered",
                value: "\(texts.count)",
                fix: "at most 1024"
            )
        }
        var identifiers: [String] = []
        for text in texts { identifiers.append(try RequestOptions.checked(identifier: text)) }
        return identifiers
    }

    private static func delivery(_ value: Value) throws(OptionError) -> DeliveryID {
        guard let number = value.integerValue, number >= 0 else {
            throw OptionError(
                reason: "no delivery has that number",
                value: value.json(),
                fix: "give the one that Offer named"
            )
        }
        return DeliveryID(UInt64(number))
    }

    private static func mistake(_ text: String) throws(OptionError) -> AppMistake {
        switch AppMistakeName(rawValue: text) {
        case .registeredLate: return .registeredLate
        case .registeredTwice: return .registeredTwice
        case .registeredUnpermitted: return .registeredUnpermitted
        case .completedAgain: return .completedAgain
        case .letGo: return .letGo
        case nil:
            throw OptionError(
                reason: "unknown mistake",
                value: text,
                fix: AppMistakeName.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
    }

    private func result(_ text: String) throws(OptionError) -> TaskResult {
        guard let result = TaskResult(rawValue: text) else {
            throw OptionError(
                reason: "there is no such result",
                value: text,
                fix: TaskResult.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        return result
    }

    private static func fetchInterval(_ seconds: Double) throws(OptionError) -> FetchInterval {
        guard !seconds.isNaN else {
            throw OptionError(
                reason: "the interval is not a number",
                value: "\(seconds)",
                fix: "give seconds; 0 for the minimum, less for never"
            )
        }
        if seconds < 0 { return .never }
        if seconds == 0 { return .minimum }
        // A hundred years.
        guard seconds < 3_155_760_000 else { return .never }
        return .every(Interval(nanoseconds: Int64(seconds * 1e9)))
    }

    // MARK: Every process of an app

    private func anyone(_ call: IncomingCall) throws(OptionError) {
        let text = call.arguments.first?.stringValue ?? ""
        let options = call.arguments.last?.mapValue ?? ValueMap()
        switch call.method.name {
        case "Submit":
            let submission = Submission(try RequestOptions(text, options), of: caller.app)
            guard let launch = caller.launch else {
                return host.ask(.submit(submission)) { answer(call, $0) }
            }
            say(call, launch) { .submit(submission, reply: $0) }
        case "Cancel":
            let identifier =
                text.isEmpty ? nil : try RequestOptions.checked(identifier: text)
            guard let launch = caller.launch else {
                return host.ask(.cancelPending(caller.app, identifier: identifier)) {
                    answer(call, $0)
                }
            }
            say(call, launch) { .cancel(identifier: identifier, reply: $0) }
        case "Pending":
            host.afterTurn { call.answer([.list(host.device.pendingReport(of: caller.app))]) }
        case "Limits":
            host.afterTurn {
                let launch = runningLaunch
                let usage = launch.flatMap { host.usage(of: $0) }
                call.answer([host.device.limitsReport(of: launch, usage, at: host.now())])
            }
        case "BeginTask": try beginTask(call, try TaskOptions(text, options))
        default: endTask(call, call.arguments[0].integerValue ?? 0)
        }
    }

    /// Its own; of a helper outside every launch, that of its app, if it runs.
    private var runningLaunch: LaunchID? {
        if let launch = caller.launch { return launch }
        return host.device.apps.index(of: caller.app)
            .flatMap { host.device.apps[$0].mainLaunch?.id }
    }

    private func beginTask(_ call: IncomingCall, _ options: TaskOptions) throws(OptionError) {
        guard let launch = runningLaunch else { return call.answer([0, [:]]) }
        let holder = options.isActivity ? caller.process : nil
        let connection = call.connection
        let links = links
        // One that holds it since before its connection was lost may be told of its expiry before
        // it is answered.
        if let holder, options.token != nil,
            host.device.launch(launch)?.launch.tasks.contains(where: { $0.holder == holder })
                == true
        {
            links.holds(holder, of: launch, on: connection)
        }
        host.say(
            launch,
            {
                .taskBegan(
                    name: options.name,
                    hasHandler: options.expires,
                    by: holder,
                    token: options.token,
                    reply: $0
                )
            },
            answer: { reply in
                guard case .begun(let task) = reply else { return answer(call, reply) }
                if let holder, task.task > 0 { links.holds(holder, of: launch, on: connection) }
                var fields = ValueMap()
                if let deadline = task.deadline { fields["deadline"] = .double(deadline) }
                call.answer([.integer(task.task), .map(fields)])
            }
        )
    }

    private func endTask(_ call: IncomingCall, _ task: Int64) {
        guard let launch = runningLaunch else {
            return refuse(
                call,
                Refusal(
                    .notFound,
                    reason: "the app is not running, so it holds no background task",
                    value: "\(task)",
                    fix: "end a task before its app ends"
                )
            )
        }
        let tasks = host.device.launch(launch)?.launch.tasks ?? []
        let isOwn = tasks.contains { $0.number == task && $0.holder == caller.process }
        say(call, launch) {
            .taskEnded(task: task, by: isOwn ? caller.process : nil, reply: $0)
        }
    }

    // MARK: Answers

    private func say(
        _ call: IncomingCall,
        _ launch: LaunchID,
        _ event: (ReplyToken) -> AppEvent
    ) {
        host.say(launch, event) { answer(call, $0) }
    }

    private func answer(_ call: IncomingCall, _ reply: Reply) {
        switch reply {
        case .done, .requested, .opened, .greeted, .begun: call.answer()
        case .refused(let refusal): refuse(call, refusal)
        }
    }
}

extension Submission {
    fileprivate init(_ options: RequestOptions, of app: AppID) {
        self.init(
            app: app,
            identifier: options.identifier,
            kind: options.kind == .refresh ? .refresh : .processing,
            earliest: options.earliest,
            needs: options.needs,
            token: options.token
        )
    }
}
