internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// A background session between the app's threads and the daemon: its tasks, what they ask for,
/// and what the delegate is told. Its lock is never held while anything of the app's runs.
final class SessionBox: Sendable {
    let state: Mutex<State>
    private let app: AppSession
    /// Empty: the configuration has none.
    let identifier: String
    private let options: Options
    private let queue: OperationQueue
    /// What is asked of the daemon leaves it in this order.
    private let outgoing = DispatchQueue(label: "org.offstage.session")

    struct State: Sendable {
        /// The session keeps itself, and its delegate, until it is invalidated.
        var session: URLSession?
        var delegate: (any URLSessionDelegate)?
        var description: String?
        /// By their numbers.
        var tasks: [Int: URLSessionTask] = [:]
        var lastIdentifier: Int
        /// Resumed, and not yet sent.
        var unsent: [URLSessionTask] = []
        /// Who asked before it was known what the daemon has; nil: it is known.
        var waiting: [@Sendable () -> Void]? = []
        /// Takes no more tasks.
        var isClosing = false
        /// Events that are held back until the app knows why it was launched.
        var held: [HeldEvent]?
        /// Events that the delegate is being told.
        var underWay = 0
        /// How many the daemon has yet to tell; nil: it is not known.
        var remaining: Int?
        /// The launch for this session's events, until the delegate knows that it has all.
        var run: SessionRun?
        /// Whose end the delegate knows; the daemon may say it again after a lost connection.
        var told: Set<Int> = []
    }

    struct HeldEvent: Sendable {
        let end: SessionTaskEnd
        let number: IncomingNumber
    }

    /// What holds for every task.
    struct Options: Sendable {
        let isDiscretionary: Bool
        let isQuiet: Bool
        let timeout: TimeInterval
        let resourceTimeout: TimeInterval
        let isUnmetered: Bool
        let headers: [String: String]
    }

    init(
        _ app: AppSession,
        _ configuration: URLSessionConfiguration,
        _ delegate: (any URLSessionDelegate)?,
        _ queue: OperationQueue
    ) {
        (self.app, self.queue) = (app, queue)
        identifier = configuration.identifier ?? ""
        options = Options(
            isDiscretionary: configuration.isDiscretionary,
            isQuiet: !configuration.sessionSendsLaunchEvents,
            timeout: configuration.timeoutIntervalForRequest,
            resourceTimeout: configuration.timeoutIntervalForResource,
            isUnmetered: !configuration.allowsCellularAccess
                || !configuration.allowsExpensiveNetworkAccess
                || !configuration.allowsConstrainedNetworkAccess,
            headers: (configuration.httpAdditionalHeaders ?? [:]).reduce(into: [:]) {
                $0["\($1.key)"] = "\($1.value)"
            }
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
            ($0.session, $0.isQuiet) = (identifier, options.isQuiet)
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
                let task = URLSessionDownloadTask(session, report)
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
        if let error = refusal(of: task) { return fail(task, error) }
        let isNew = task.values.withLock { values -> Bool? in
            guard values.state == .suspended else { return nil }
            values.state = .running
            defer { values.isEnqueued = true }
            return !values.isEnqueued
        }
        switch isNew {
        case true?:
            let isFirst = state.withLock { state in
                state.unsent.append(task)
                return state.unsent.count == 1
            }
            // What is resumed until then goes with it, in one call.
            if isFirst { outgoing.async { self.sendUnsent() } }
        case false?: change(task, .resume)
        case nil: break
        }
    }

    private func refusal(of task: URLSessionTask) -> URLError? {
        let (delegate, isClosing) = state.withLock { ($0.delegate, $0.isClosing) }
        if let rule = task.refusal { return URLError(.unsupportedURL, reason: rule) }
        if delegate == nil {
            let reason = "a background session needs a delegate: nobody would hear of its tasks"
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
        return nil
    }

    func suspend(_ task: URLSessionTask) {
        let isEnqueued = task.values.withLock { values in
            guard values.state == .running else { return false }
            values.state = .suspended
            return values.isEnqueued
        }
        if isEnqueued { change(task, .suspend) }
    }

    func cancel(_ task: URLSessionTask) {
        let isEnqueued = task.values.withLock { values -> Bool? in
            guard values.state == .running || values.state == .suspended else { return nil }
            values.state = .canceling
            return values.isEnqueued
        }
        switch isEnqueued {
        case true?: change(task, .cancel)
        case false?: fail(task, URLError(.cancelled, reason: "the task was cancelled"))
        case nil: break
        }
    }

    /// It ends without the daemon.
    private func fail(_ task: URLSessionTask, _ error: URLError) {
        queue.addOperation { [self] in
            finish(task, nil, error)
            becomeInvalidIfOver()
        }
    }

    // MARK: Asking the daemon

    private func change(_ task: URLSessionTask, _ action: App1.TaskAction) {
        let call = App1.ChangeTasks {
            ($0.session, $0.action) = (identifier, action)
            $0.tasks = [Int64(task.taskIdentifier)]
        }
        outgoing.async { [app] in app.ask(OutgoingCall(call, .kept)) }
    }

    /// In calls of a bounded size, each all or none.
    private func sendUnsent() {
        let tasks = state.withLock { state in
            defer { state.unsent = [] }
            return state.unsent
        }
        for start in stride(from: 0, to: tasks.count, by: Self.mostInCall) {
            let part = Array(tasks[start..<min(start + Self.mostInCall, tasks.count)])
            let call = App1.EnqueueTasks {
                ($0.session, $0.token) = (identifier, UUID.token)
                $0.tasks = part.map { order(of: $0) }
            }
            app.ask(
                OutgoingCall(call, .kept) { [self] answer in
                    guard case .failure(let error) = answer else { return }
                    for task in part { fail(task, URLError(.unknown, reason: error.text)) }
                }
            )
        }
    }

    private static let mostInCall = 10_000

    private func order(of task: URLSessionTask) -> App1.DownloadTask {
        var order = App1.DownloadTask()
        order.task = Int64(task.taskIdentifier)
        guard let request = task.originalRequest else { return order }
        order.url = request.url?.absoluteString ?? ""
        var fields = options.headers
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            for other in fields.keys where other.lowercased() == name.lowercased() {
                fields[other] = nil
            }
            fields[name] = value
        }
        order.headers = fields.isEmpty ? nil : fields.map { "\($0): \($1)" }.sorted()
        order.discretionary = options.isDiscretionary
        order.needs.unmetered =
            options.isUnmetered || !request.allowsCellularAccess
            || !request.allowsExpensiveNetworkAccess || !request.allowsConstrainedNetworkAccess
        order.timeout = Self.interval(min(options.timeout, request.timeoutInterval))
        order.resourceTimeout = Self.interval(options.resourceTimeout)
        task.values.withLock { values in
            order.description = values.description
            order.earliest = values.earliest.flatMap {
                WallTime(secondsSince1970: $0.timeIntervalSince1970)
            }
            order.expectsToSend = values.expectsToSend >= 0 ? values.expectsToSend : nil
            order.expectsToReceive = values.expectsToReceive >= 0 ? values.expectsToReceive : nil
        }
        return order
    }

    /// Nil: the usual one. No clock counts longer than a hundred years.
    private static func interval(_ seconds: TimeInterval) -> Interval? {
        guard seconds > 0 else { return nil }
        return Interval(nanoseconds: Int64(min(seconds, 3_155_760_000) * 1e9))
    }

    // MARK: Events

    /// A task has ended, which the delegate has not been told by this process.
    func ended(_ end: SessionTaskEnd, _ number: IncomingNumber) {
        let isHeld = state.withLock { state in
            state.remaining = end.remaining
            state.held?.append(HeldEvent(end: end, number: number))
            if state.held == nil { state.underWay += 1 }
            return state.held != nil
        }
        if !isHeld { tell(HeldEvent(end: end, number: number)) }
    }

    private func tell(_ event: HeldEvent) {
        queue.addOperation { [self] in
            let number = Int(event.end.task.task)
            if let task = task(of: event.end.task), isNews(number) {
                finish(task, event.end, URLError(event.end))
            }
            // The delegate has returned: by this the daemon knows that it needs to say it no more.
            app.answer(event.number)
            state.withLock { $0.underWay -= 1 }
            finishEventsIfTold()
            becomeInvalidIfOver()
        }
    }

    private func isNews(_ number: Int) -> Bool {
        state.withLock { $0.told.insert(number).inserted }
    }

    private func task(of report: SessionTaskReport) -> URLSessionTask? {
        state.withLock { state in
            if let known = state.tasks[Int(report.task)] { return known }
            return state.session.map { URLSessionDownloadTask($0, report) }
        }
    }

    /// On the delegate queue.
    private func finish(_ task: URLSessionTask, _ end: SessionTaskEnd?, _ error: URLError?) {
        let isOver = task.values.withLock { values in
            defer { values.state = .completed }
            if let end { values.response = HTTPURLResponse.of(end) }
            values.error = error
            return values.state == .completed
        }
        guard !isOver else { return }
        let (session, delegate) = state.withLock { state in
            state.tasks[task.taskIdentifier] = nil
            return (state.session, state.delegate)
        }
        guard let session else { return }
        if error == nil, let size = end?.size { task.progressed(size, size) }
        // An app that was told before, and died before that was known, has taken its file. Told
        // once more, it would make room for a file that is not there.
        if error == nil, let file = end?.file, FileManager.default.fileExists(atPath: file),
            let download = task as? URLSessionDownloadTask
        {
            (delegate as? any URLSessionDownloadDelegate)?
                .urlSession(
                    session,
                    downloadTask: download,
                    didFinishDownloadingTo: URL(fileURLWithPath: file)
                )
        }
        (delegate as? any URLSessionTaskDelegate)?
            .urlSession(session, task: task, didCompleteWithError: error)
    }

    func progressed(_ progress: TaskProgress) {
        let (task, session, delegate) = state.withLock {
            ($0.tasks[Int(progress.task)], $0.session, $0.delegate)
        }
        guard let session, let task = task as? URLSessionDownloadTask,
            let delegate = delegate as? any URLSessionDownloadDelegate
        else { return }
        queue.addOperation {
            let before = task.countOfBytesReceived
            task.progressed(progress.received, progress.total)
            let total = progress.total ?? NSURLSessionTransferSizeUnknown
            if let offset = progress.resumedAt {
                delegate.urlSession(
                    session,
                    downloadTask: task,
                    didResumeAtOffset: offset,
                    expectedTotalBytes: total
                )
            } else {
                delegate.urlSession(
                    session,
                    downloadTask: task,
                    didWriteData: max(0, progress.received - before),
                    totalBytesWritten: progress.received,
                    totalBytesExpectedToWrite: total
                )
            }
        }
    }

    // MARK: A launch for its events

    /// The app is about to be told why it was launched: events wait until it has been.
    func hold() { state.withLock { $0.held = $0.held ?? [] } }

    /// The app was launched for its events before it made the session.
    func expect(_ run: SessionRun) { state.withLock { $0.run = run } }

    /// The app has been told. It is asked again how much is to come: what was known may be from
    /// before it was suspended.
    func release(_ run: SessionRun) {
        let held = state.withLock { state in
            state.run = run
            state.remaining = nil
            let held = state.held.take() ?? []
            state.underWay += held.count
            return held
        }
        for event in held { tell(event) }
        join()
    }

    /// All that was missed has been told.
    private func finishEventsIfTold() {
        let told = state.withLock { state -> (URLSession, (any URLSessionDelegate)?)? in
            guard state.run != nil, state.remaining == 0, state.underWay == 0, state.held == nil
            else { return nil }
            state.run = nil
            return state.session.map { ($0, state.delegate) }
        }
        guard let (session, delegate) = told else { return }
        queue.addOperation {
            delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: session)
        }
    }

    // MARK: The end

    func invalidate(cancelling: Bool) {
        state.withLock { $0.isClosing = true }
        if cancelling {
            whenJoined { [self] in
                for task in tasks { cancel(task) }
                becomeInvalidIfOver()
            }
        } else {
            whenJoined { [self] in
                // What was never resumed never ends.
                for task in tasks where !task.values.withLock({ $0.isEnqueued }) { cancel(task) }
                becomeInvalidIfOver()
            }
        }
    }

    private func becomeInvalidIfOver() {
        guard state.withLock({ $0.isClosing && $0.tasks.isEmpty }) else { return }
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
        queue.addOperation {
            delegate?.urlSession(session, didBecomeInvalidWithError: error)
        }
    }
}
