internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// A background session between the app's threads and the daemon: its tasks, what they ask for,
/// and what the delegate is told. Its lock is never held while anything of the app's runs.
final class SessionBox: Sendable {
    let state: Mutex<State>
    let app: AppSession
    /// Empty: the configuration has none.
    let identifier: String
    let options: Options
    let queue: OperationQueue
    /// What is told beside the delegate.
    let events: EventQueue
    /// What is asked of the daemon leaves it in this order.
    let outgoing = DispatchQueue(label: "org.offstage.session")

    struct State: Sendable {
        /// The session keeps itself, and its delegate, until it is invalidated.
        var session: URLSession?
        var delegate: (any URLSessionDelegate)?
        var description: String?
        /// By their numbers.
        var tasks: [Int: URLSessionTask] = [:]
        var lastIdentifier: Int
        /// Resumed, and not yet sent.
        var unsent: [UnsentTasks] = []
        /// The same of uploads, which go a few at a time. The next ones go when those before them
        /// are answered.
        var unsentUploads: [URLSessionTask] = []
        var isSendingUploads = false
        /// Calls with new tasks that the daemon has not answered.
        var unanswered = 0
        /// What is asked for tasks that the daemon knows, in its order.
        var unsentChanges: [App1.ChangeTasks] = []
        /// Of such calls those that it has not answered.
        var unansweredChanges = 0
        /// The numbers of tasks for which it has refused one.
        var refusedChanges: [App1.TaskAction: Set<Int64>] = [:]
        /// Who waits until there are none.
        var waitingForAnswers: [@Sendable () -> Void] = []
        /// Who asked before it was known what the daemon has; nil: it is known.
        var waiting: [@Sendable () -> Void]? = []
        /// Takes no more tasks.
        var isClosing = false
        /// Events that are held back until the app knows why it was launched.
        var held: [HeldEvent]?
        /// Events that the delegate is being told.
        var underWay = 0
        /// Ends that the daemon has told, and that are not acknowledged.
        var unacknowledged = 0
        /// The daemon tells it no more.
        var hasLeft = false
        /// How many the daemon has yet to tell; nil: it is not known.
        var remaining: Int?
        /// The launch for this session's events, until the delegate knows that it has all.
        var run: SessionRun?
        /// Whose end the delegate knows; the daemon may say it again after a lost connection.
        var told: Set<Int> = []
        /// The same of questions.
        var asked: Set<Int64> = []
        /// What the delegate is known to have no method for.
        var leftToUs: Answers = []
    }

    /// Tasks that go to the daemon together.
    struct UnsentTasks: Sendable {
        var tasks: [URLSessionTask]
        /// They were resumed in one call, and no other goes with them.
        let isWhole: Bool
    }

    enum HeldEvent: Sendable {
        case ended(SessionTaskEnd, IncomingNumber)
        case asked(TaskQuestion)
    }

    /// What holds for every task.
    struct Options: Sendable {
        let isDiscretionary: Bool
        let isQuiet: Bool
        let launchesForDelays: Bool
        let timeout: TimeInterval
        let resourceTimeout: TimeInterval
        let isUnmetered: Bool
        let headers: [String: String]
        let cachePolicy: URLRequest.CachePolicy
        /// Nil: none are sent or kept.
        let cookies: HTTPCookieStorage?
        let sendsCookies: Bool
        let cookiePolicy: HTTPCookie.AcceptPolicy
    }

    init(
        _ app: AppSession,
        _ configuration: URLSessionConfiguration,
        _ delegate: (any URLSessionDelegate)?,
        _ queue: OperationQueue
    ) {
        (self.app, self.queue) = (app, queue)
        events = EventQueue(isOpen: delegate == nil)
        identifier = configuration.identifier ?? ""
        options = Options(
            isDiscretionary: configuration.isDiscretionary,
            isQuiet: !configuration.sessionSendsLaunchEvents,
            launchesForDelays: configuration.launchesForDelayedRequests,
            timeout: configuration.timeoutIntervalForRequest,
            resourceTimeout: configuration.timeoutIntervalForResource,
            isUnmetered: !configuration.allowsCellularAccess
                || !configuration.allowsExpensiveNetworkAccess
                || !configuration.allowsConstrainedNetworkAccess,
            headers: (configuration.httpAdditionalHeaders ?? [:]).reduce(into: [:]) {
                $0["\($1.key)"] = "\($1.value)"
            },
            cachePolicy: configuration.requestCachePolicy,
            cookies: configuration.httpCookieStorage,
            sendsCookies: configuration.httpShouldSetCookies,
            cookiePolicy: configuration.httpCookieAcceptPolicy
        )
        // Numbers of earlier launches live on: those of this one begin where none has been.
        let first = Int(UInt32.random(in: 1...UInt32.max)) << 24
        state = Mutex(State(delegate: delegate, lastIdentifier: first))
    }

    var delegate: (any URLSessionDelegate)? { state.withLock { $0.delegate } }
    var tasks: [URLSessionTask] {
        state.withLock { $0.tasks.values.sorted { $0.taskIdentifier < $1.taskIdentifier } }
    }

    // MARK: Joining

    func begin(_ session: URLSession) {
        state.withLock { $0.session = session }
        guard (1...255).contains(identifier.utf8.count) else {
            return becomeInvalid(
                URLError(.unknown, reason: "a session's identifier has 1 to 255 bytes")
            )
        }
        guard app.add(self) else {
            let reason = "there is a session \(identifier) already: make one for each identifier"
            return becomeInvalid(URLError(.backgroundSessionInUseByAnotherProcess, reason: reason))
        }
        join()
    }

    /// Asks the daemon for what it has. Whoever connects again asks again.
    func join() {
        let call = App1.JoinSession {
            ($0.session, $0.isQuiet, $0.answers) = (identifier, options.isQuiet, true)
            $0.launchesForDelays = options.launchesForDelays
        }
        app.ask(
            OutgoingCall(call) { [self] answer in
                switch answer {
                case .success(let joined): self.joined(joined)
                // Without a daemon there are only the tasks of this process.
                case .failure: known()
                }
            }
        )
    }

    private func joined(_ joined: JoinedTasks) {
        state.withLock { state in
            state.remaining = joined.missed
            guard let session = state.session else { return }
            for report in joined.tasks where state.tasks[Int(report.task)] == nil {
                let task = URLSessionTask.known(session, report)
                state.tasks[task.taskIdentifier] = task
            }
        }
        known()
        finishEventsIfTold()
    }

    private func known() {
        let waiting = state.withLock { $0.waiting.take() ?? [] }
        for body in waiting { queue.addOperation(body) }
    }

    /// On the delegate queue, once it is known what the daemon has.
    func whenJoined(_ body: @escaping @Sendable () -> Void) {
        let isKnown = state.withLock { state in
            state.waiting?.append(body)
            return state.waiting == nil
        }
        if isKnown { queue.addOperation(body) }
    }

    // MARK: Tasks

    func nextIdentifier() -> Int {
        state.withLock { state in
            state.lastIdentifier += 1
            return state.lastIdentifier
        }
    }

    func add(_ task: URLSessionTask) {
        state.withLock { $0.tasks[task.taskIdentifier] = task }
    }

    func resume(_ task: URLSessionTask) {
        switch begin(task) {
        case true?: send([task], isWhole: false)
        case false?: change(task, .resume)
        case nil: break
        }
    }

    /// The same of many: those that the daemon does not know go to it in a call of their own.
    func resumeAll(_ tasks: [URLSessionTask]) {
        var new: [URLSessionTask] = []
        var known: [URLSessionTask] = []
        for task in tasks {
            switch begin(task) {
            case true?: new.append(task)
            case false?: known.append(task)
            case nil: break
            }
        }
        if !new.isEmpty { send(new, isWhole: true) }
        change(known, .resume)
    }

    /// Whether the daemon does not know it yet; nil: there is nothing to be done.
    private func begin(_ task: URLSessionTask) -> Bool? {
        if let error = refusal(of: task) {
            fail(task, error)
            return nil
        }
        return task.values.withLock { values -> Bool? in
            guard values.state == .suspended else { return nil }
            values.state = .running
            defer { values.isEnqueued = true }
            return !values.isEnqueued
        }
    }

    private func send(_ tasks: [URLSessionTask], isWhole: Bool) {
        let isFirst = state.withLock { state in
            if !isWhole, let last = state.unsent.indices.last, !state.unsent[last].isWhole {
                state.unsent[last].tasks += tasks
                return false
            }
            state.unsent.append(UnsentTasks(tasks: tasks, isWhole: isWhole))
            return state.unsent.count == 1
        }
        // What is resumed until then goes with it, in one call.
        if isFirst { outgoing.async { self.sendUnsent() } }
    }

    private func refusal(of task: URLSessionTask) -> URLError? {
        let (delegate, isClosing) = state.withLock { ($0.delegate, $0.isClosing) }
        if let rule = task.refusal { return URLError(.unsupportedURL, reason: rule) }
        if delegate == nil, !events.hasReader {
            let reason =
                "a background session needs a delegate, or somebody who reads its events: nobody "
                + "would hear of its tasks"
            return URLError(.unknown, reason: reason)
        }
        if isClosing, !task.values.withLock({ $0.isEnqueued }) {
            return URLError(.cancelled, reason: "the session is being invalidated")
        }
        let scheme = task.originalRequest?.url?.scheme?.lowercased()
        guard scheme == "http" || scheme == "https" else {
            let reason = "only http and https are supported: \(scheme ?? "no URL")"
            return URLError(.unsupportedURL, reason: reason)
        }
        return options.refusal(of: task)
    }

    func suspend(_ task: URLSessionTask) {
        let isEnqueued = task.values.withLock { values in
            guard values.state == .running else { return false }
            values.state = .suspended
            return values.isEnqueued
        }
        if isEnqueued { change(task, .suspend) }
    }

    func cancel(_ task: URLSessionTask) { cancel([task]) }

    private func cancel(_ tasks: [URLSessionTask]) {
        let known = tasks.filter { task in
            let isEnqueued = task.values.withLock { values -> Bool? in
                guard values.state == .running || values.state == .suspended else { return nil }
                values.state = .canceling
                return values.isEnqueued
            }
            if isEnqueued == false {
                fail(task, URLError(.cancelled, reason: "the task was cancelled"))
            }
            return isEnqueued == true
        }
        change(known, .cancel)
    }

    /// The same. `keeper` gets what the daemon keeps of it.
    func cancel(_ task: URLSessionTask, _ keeper: @escaping @Sendable (Data?) -> Void) {
        let isEnqueued = task.values.withLock { values -> Bool? in
            guard values.state == .running || values.state == .suspended else { return nil }
            values.state = .canceling
            values.keepers.append(keeper)
            return values.isEnqueued
        }
        switch isEnqueued {
        case true?: change(task, .keep)
        case false?: fail(task, URLError(.cancelled, reason: "the task was cancelled"))
        case nil: queue.addOperation { keeper(nil) }
        }
    }

    /// It ends without the daemon.
    func fail(_ task: URLSessionTask, _ error: URLError) {
        queue.addOperation { [self] in
            finish(task, nil, error)
            becomeInvalidIfOver()
        }
    }

    // MARK: The end

    func invalidate(cancelling: Bool) {
        state.withLock { $0.isClosing = true }
        whenJoined { [self] in
            // What was never resumed never ends.
            let ending = tasks.filter { task in
                cancelling || !task.values.withLock { $0.isEnqueued }
            }
            cancel(ending)
            becomeInvalidIfOver()
        }
    }

    /// Once, and behind the last acknowledgement: what is told and not acknowledged when a session
    /// is left is told again.
    func becomeInvalidIfOver() {
        let leaves = state.withLock { state in
            // Without a session it was never there, or is over.
            guard state.session != nil, state.isClosing, !state.hasLeft, state.tasks.isEmpty,
                state.unacknowledged == 0
            else { return false }
            state.hasLeft = true
            return true
        }
        guard leaves else { return }
        let call = App1.LeaveSession { $0.session = identifier }
        outgoing.async { [app] in app.ask(OutgoingCall(call)) }
        app.remove(self)
        becomeInvalid(nil)
    }

    private func becomeInvalid(_ error: URLError?) {
        let (session, delegate) = state.withLock { state in
            defer {
                (state.session, state.delegate, state.isClosing) = (nil, nil, true)
                state.tasks = [:]
            }
            return (state.session, state.delegate)
        }
        known()
        guard let session else { return }
        queue.addOperation { [events] in
            delegate?.urlSession(session, didBecomeInvalidWithError: error)
            events.end(error)
        }
    }
}
