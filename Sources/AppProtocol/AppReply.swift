package import Vocabulary

/// What answers a call of `App1`, whichever it is.
package enum AppReply: Equatable, Sendable {
    case nothing
    case greeting(Greeting)
    case task(BegunTask)
    case pending(PendingRequests)
    case limits(Limits)
    case tasks(JoinedTasks)
    case conditions(DeviceConditions)

    package var values: [Value] {
        get throws(ValueError) {
            switch self {
            case .nothing: []
            case .greeting(let greeting): try greeting.values
            case .task(let task): task.values
            case .pending(let requests): try requests.values
            case .limits(let limits): try limits.values
            case .tasks(let tasks): try tasks.values
            case .conditions(let conditions): try conditions.values
            }
        }
    }
}

/// The reply of one call of `App1`.
package protocol AppReplyContent: CallReply {
    /// Nil: it is the reply of another call.
    init?(_ reply: AppReply)
    var asReply: AppReply { get }
}

extension Nothing: AppReplyContent {
    package init?(_ reply: AppReply) {
        guard case .nothing = reply else { return nil }
        self.init()
    }
    package var asReply: AppReply { .nothing }
}

extension Greeting: AppReplyContent {
    package init?(_ reply: AppReply) {
        guard case .greeting(let greeting) = reply else { return nil }
        self = greeting
    }
    package var asReply: AppReply { .greeting(self) }
}

extension BegunTask: AppReplyContent {
    package init?(_ reply: AppReply) {
        guard case .task(let task) = reply else { return nil }
        self = task
    }
    package var asReply: AppReply { .task(self) }
}

extension PendingRequests: AppReplyContent {
    package init?(_ reply: AppReply) {
        guard case .pending(let requests) = reply else { return nil }
        self = requests
    }
    package var asReply: AppReply { .pending(self) }
}

extension Limits: AppReplyContent {
    package init?(_ reply: AppReply) {
        guard case .limits(let limits) = reply else { return nil }
        self = limits
    }
    package var asReply: AppReply { .limits(self) }
}

extension JoinedTasks: AppReplyContent {
    package init?(_ reply: AppReply) {
        guard case .tasks(let tasks) = reply else { return nil }
        self = tasks
    }
    package var asReply: AppReply { .tasks(self) }
}

extension App1 {
    /// The call itself, of whichever type it is.
    private var call: any AppCall {
        switch self {
        case .hello(let call): call
        case .finishedLaunching(let call): call
        case .expirationHandler(let call): call
        case .complete(let call): call
        case .setMinimumFetchInterval(let call): call
        case .mistaken(let call): call
        case .submit(let call): call
        case .cancel(let call): call
        case .pending(let call): call
        case .beginTask(let call): call
        case .endTask(let call): call
        case .limits(let call): call
        case .joinSession(let call): call
        case .enqueueTasks(let call): call
        case .changeTasks(let call): call
        case .answerTask(let call): call
        case .leaveSession(let call): call
        case .watchConditions(let call): call
        case .setIdleTimer(let call): call
        }
    }

    package var encoded: EncodedCall { call.encoded }
    /// Who may make this call.
    package var callers: Callers { call.callers }

    /// What was replied to this call.
    package func reply(_ values: [Value]) throws(ValueError) -> AppReply {
        try Self.reply(to: call, values)
    }

    private static func reply<C: AppCall>(
        to call: C,
        _ values: [Value]
    ) throws(ValueError) -> AppReply {
        try C.Reply(values).asReply
    }
}

extension AppObject1 {
    private var call: any AppObjectCall {
        switch self {
        case .offer(let call): call
        case .go(let call): call
        case .expire(let call): call
        case .expireTask(let call): call
        case .enterBackground(let call): call
        case .enterForeground(let call): call
        case .becomeActive(let call): call
        case .openURLs(let call): call
        case .memoryWarning(let call): call
        case .changed(let call): call
        case .taskEnded(let call): call
        case .taskProgressed(let call): call
        case .taskAsked(let call): call
        case .conditionsChanged(let call): call
        }
    }

    package var encoded: EncodedCall { call.encoded }
}
