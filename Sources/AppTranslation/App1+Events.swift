package import AppProtocol
package import DeviceCore
package import Vocabulary

/// What is known of a call beside its fields: who calls, and what the machine shows.
package struct CallContext: Sendable {
    package let app: AppID
    /// The process that calls.
    package let process: ProcessID
    /// What its launch uses at this moment; nil: it is not known.
    package var usage: Usage?
    /// Where what its sessions fetch is kept for it.
    package var transferDirectory = ""
    /// Of those of its tasks that are uploads, in order: the files.
    package var sources: [SentFile] = []
    /// Under which the shell keeps the name and the password of an answer.
    package var login: UInt64?
    /// Of a task that it ends: as an activity of its own.
    package var holdsTask = false

    package init(app: AppID, process: ProcessID) { (self.app, self.process) = (app, process) }
}

/// A file that an app has shown to be able to read, and wants to be sent.
package struct SentFile: Sendable {
    package let file: UploadFile
    package let identity: FileIdentity

    package init(file: UploadFile, identity: FileIdentity) {
        (self.file, self.identity) = (file, identity)
    }
}

/// A call of an app's as the core hears it, and what the core replies as the app hears it: the same
/// on a socket and in the simulator.
extension App1 {
    /// What a call of a launch is to the core.
    package func event(_ context: CallContext, reply: ReplyToken) -> AppEvent {
        switch self {
        case .hello(let call): call.event(reply)
        case .finishedLaunching(let call):
            .finishedLaunching(registered: call.registered, reply: reply)
        case .expirationHandler(let call):
            .expirationHandler(call.delivery, set: call.isSet, reply: reply)
        case .complete(let call):
            // What the run has cost stands in its line.
            .completed(call.delivery, call.result, usage: context.usage, reply: reply)
        case .setMinimumFetchInterval(let call):
            .fetchInterval(FetchInterval(seconds: call.seconds), reply: reply)
        case .mistaken(let call):
            .mistaken(AppMistake(call.mistake), subject: call.subject, reply: reply)
        case .submit(let call): .submit(Submission(call, of: context.app), reply: reply)
        case .cancel(let call): .cancel(identifier: call.named, reply: reply)
        case .beginTask(let call):
            .taskBegan(
                name: call.name,
                hasHandler: call.expires,
                by: call.isActivity ? context.process : nil,
                token: call.token,
                reply: reply
            )
        case .endTask(let call):
            .taskEnded(task: call.task, by: context.holdsTask ? context.process : nil, reply: reply)
        case .joinSession(let call):
            .session(
                call.session,
                .join(
                    sendsLaunchEvents: !call.isQuiet,
                    answers: call.answers,
                    launchesForDelays: call.launchesForDelays
                ),
                reply: reply
            )
        case .enqueueTasks(let call):
            .session(
                call.session,
                .enqueue(call.orders(context), token: call.token),
                reply: reply
            )
        case .changeTasks(let call): .session(call.session, call.request, reply: reply)
        case .answerTask(let call):
            .session(
                call.session,
                .answer(UInt64(clamping: call.question), call.given(context)),
                reply: reply
            )
        case .leaveSession(let call): .session(call.session, .leave, reply: reply)
        case .watchConditions: .conditionsWatched(reply: reply)
        case .setIdleTimer(let call): .idleTimer(disabled: call.isDisabled, reply: reply)
        case .pending, .limits: preconditionFailure("\(self) is a question, and no event")
        }
    }

    /// What the core's reply is to this call; nil: it is none to it. `permitted`: the identifiers
    /// of the manifest.
    package func answer(
        _ reply: Reply,
        permitted: [String] = []
    ) -> Result<AppReply, Refusal>? {
        if case .refused(let refusal) = reply { return .failure(refusal) }
        switch self {
        case .hello:
            guard case .greeted(var greeting) = reply else { return nil }
            greeting.version = App1.version
            greeting.permitted = permitted
            greeting.features = App1.features
            return .success(.greeting(greeting))
        case .beginTask:
            guard case .begun(let task) = reply else { return nil }
            return .success(.task(task))
        case .finishedLaunching, .expirationHandler, .complete, .setMinimumFetchInterval,
            .mistaken, .submit, .cancel, .endTask, .enqueueTasks, .changeTasks, .answerTask,
            .leaveSession, .setIdleTimer:
            return .success(.nothing)
        case .watchConditions:
            guard case .conditions(let conditions) = reply else { return nil }
            return .success(.conditions(conditions))
        case .joinSession:
            guard case .tasks(let tasks) = reply else { return nil }
            return .success(.tasks(tasks))
        case .pending, .limits: return nil
        }
    }
}

extension App1.ChangeTasks {
    fileprivate var request: SessionRequest {
        switch action {
        case .suspend: .suspend(tasks)
        case .resume: .resume(tasks)
        case .cancel: .cancel(tasks)
        case .describe: .describe(tasks, description)
        case .keep: .keep(tasks)
        case .prioritize: .prioritize(tasks, priority ?? 0)
        }
    }
}

extension App1.AnswerTask {
    fileprivate func given(_ context: CallContext) -> TransferAnswer {
        switch answer {
        case .proceed: return .proceed(isIgnored: isIgnored)
        case .request:
            let headers = (headers ?? []).compactMap(HTTPField.init(line:))
            return .request(url: url ?? "", headers: headers, ignoresCookies: ignoresCookies)
        case .login:
            // Without a question there is nothing to keep it for.
            guard let login = context.login else { return .proceed(isIgnored: false) }
            return .login(login, scheme: scheme, forSession: forSession)
        case .cancel: return .cancel
        }
    }
}

extension App1.EnqueueTasks {
    fileprivate func orders(_ context: CallContext) -> [SessionOrder] {
        var sources = context.sources[...]
        return tasks.map { task in
            let source = task.method == nil ? nil : sources.popFirst()
            return SessionOrder(task, of: session, context, source)
        }
    }
}

extension SessionOrder {
    fileprivate init(
        _ call: App1.TransferTask,
        of session: String,
        _ context: CallContext,
        _ source: SentFile?
    ) {
        var order = TransferOrder(
            url: call.url,
            headers: (call.headers ?? []).compactMap(HTTPField.init(line:)),
            directory: context.transferDirectory,
            overwrites: true,
            isDiscretionary: call.discretionary,
            needs: call.needs,
            earliest: call.earliest,
            errors: .deliver
        )
        if let source { order.send(source, by: call.method) }
        if let timeout = call.timeout { order.timeout = timeout }
        if let timeout = call.resourceTimeout { order.resourceTimeout = timeout }
        let task = SessionTask(
            session: session,
            number: call.task,
            description: call.description,
            expectsToSend: call.expectsToSend,
            expectsToReceive: call.expectsToReceive,
            priority: call.priority ?? 0,
            ignoresCookies: call.ignoresCookies
        )
        self.init(task: task, order: order, resume: call.resume)
    }
}

extension TransferOrder {
    fileprivate mutating func send(_ source: SentFile, by method: String?) {
        let method = method.flatMap(UploadMethod.init(rawValue:)) ?? .put
        let request = UploadRequest(
            method: method,
            source: source.identity,
            // With the key that it has the server takes a second copy for the first.
            mayRepeat: method.isIdempotent || headers.value(of: "Idempotency-Key") != nil
        )
        direction = .upload(request)
        (directory, name) = (source.file.directory, source.file.name)
    }
}

extension App1.Hello {
    fileprivate func event(_ reply: ReplyToken) -> AppEvent {
        guard isAgain else { return .connected(reply: reply) }
        return .reconnected(
            running: running ?? [],
            finished: (finished ?? []).map {
                FinishedDelivery(delivery: $0.delivery, result: $0.result)
            },
            registered: registered,
            reply: reply
        )
    }
}

extension App1.Cancel {
    /// Nil: all.
    package var named: String? { identifier.isEmpty ? nil : identifier }
}

extension Submission {
    package init(_ call: App1.Submit, of app: AppID) {
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

extension Refusal.Code {
    package var errorName: ControlErrorName {
        switch self {
        case .unavailable: .unavailable
        case .tooManyPendingTaskRequests: .tooManyPendingTaskRequests
        case .notPermitted: .notPermitted
        case .immediateRunIneligible: .immediateRunIneligible
        case .notFound: .notFound
        case .invalid: .invalid
        case .held: .held
        case .storage: .storage
        }
    }
}
