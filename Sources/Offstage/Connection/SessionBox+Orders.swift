internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Linux
internal import Synchronization
internal import Vocabulary

/// What is asked of the daemon for tasks that it does not know yet.
extension SessionBox {
    /// One call less is without an answer.
    private func answered() {
        state.withLock { $0.unanswered -= 1 }
        goOnIfAnswered()
    }

    /// When the daemon has answered all that was asked of it before: at once, if it has.
    func whenAnswered(_ body: @escaping @Sendable () -> Void) {
        // What was asked last is counted when it leaves.
        let waits = outgoing.sync {
            state.withLock { state in
                if !state.isAnswered { state.waitingForAnswers.append(body) }
                return !state.isAnswered
            }
        }
        if !waits { body() }
    }

    func goOnIfAnswered() {
        let waiting = state.withLock { state in
            guard state.isAnswered else { return [@Sendable () -> Void]() }
            defer { state.waitingForAnswers = [] }
            return state.waitingForAnswers
        }
        for body in waiting { body() }
    }

    /// In calls of a bounded size, each all or none.
    func sendUnsent() {
        let unsent = state.withLock { state in
            defer { state.unsent = [] }
            return state.unsent
        }
        for together in unsent {
            let downloads = together.tasks.filter { $0.file == nil }
            var rest = downloads[...]
            for part in downloads.map({ order(of: $0) }).callParts {
                enqueue(Array(rest.prefix(part.count)), part)
                rest = rest.dropFirst(part.count)
            }
        }
        let uploads = unsent.flatMap(\.tasks).filter { $0.file != nil }
        let mustBegin = state.withLock { state in
            state.unsentUploads += uploads
            guard !state.isSendingUploads, !state.unsentUploads.isEmpty else { return false }
            state.isSendingUploads = true
            return true
        }
        if mustBegin { sendUploads() }
    }

    /// Each has its file open until the call is answered.
    private static let mostFilesInCall = 32

    /// The next ones, in the order of what else is asked.
    private func sendUploads() {
        let tasks = state.withLock { state in
            let part = state.unsentUploads.prefix(Self.mostFilesInCall)
            state.unsentUploads.removeFirst(part.count)
            state.isSendingUploads = !part.isEmpty
            return Array(part)
        }
        guard !tasks.isEmpty else { return goOnIfAnswered() }
        var sent: [URLSessionTask] = []
        var orders: [App1.TransferTask] = []
        var files: [OpenFile] = []
        for task in tasks {
            do throws(URLError) {
                let file = try OpenFile(of: task)
                var order = order(of: task)
                order.descriptor = Int64(file.descriptor.number)
                sent.append(task)
                orders.append(order)
                files.append(file)
            } catch {
                fail(task, error)
            }
        }
        enqueue(sent, orders) { [self, files] in
            withExtendedLifetime(files) {}
            outgoing.async { self.sendUploads() }
        }
    }

    private func enqueue(
        _ tasks: [URLSessionTask],
        _ orders: [App1.TransferTask],
        answered next: @escaping @Sendable () -> Void = {}
    ) {
        state.withLock { $0.unanswered += 1 }
        enqueueAll(tasks, orders) { [self] in
            next()
            answered()
        }
    }

    /// On `outgoing`. The daemon takes all of a call or none. Of those that it refuses halves are
    /// tried, so that a bad one fails alone.
    private func enqueueAll(
        _ tasks: [URLSessionTask],
        _ orders: [App1.TransferTask],
        answered: @escaping @Sendable () -> Void
    ) {
        let left = tasks.indices.filter { !isDropped(tasks[$0], orders[$0]) }
        guard left.count == tasks.count else {
            return enqueueAll(left.map { tasks[$0] }, left.map { orders[$0] }, answered: answered)
        }
        guard !tasks.isEmpty else { return answered() }
        guard orders.callParts.count == 1 else {
            return enqueueHalves(tasks, orders, answered: answered)
        }
        // Said before the daemon knew of them, it would be lost.
        let suspended = tasks.filter { $0.state == .suspended }
        let call = App1.EnqueueTasks {
            ($0.session, $0.token, $0.tasks) = (identifier, UUID.token, orders)
        }
        app.ask(
            OutgoingCall(call, .kept) { [self] answer in
                guard case .failure(let error) = answer else { return answered() }
                let isInvalid = error.reason == .refused(.invalid)
                if isInvalid, tasks.count > 1 {
                    outgoing.async { self.enqueueHalves(tasks, orders, answered: answered) }
                } else if isInvalid, orders.contains(where: \.ignoresCookies) {
                    // An older daemon keeps no such word.
                    let older = orders.map(\.forOlderDaemon)
                    outgoing.async { self.enqueueAll(tasks, older, answered: answered) }
                } else {
                    for task in tasks { fail(task, URLError(error)) }
                    answered()
                }
            }
        )
        suspendNow(suspended)
    }

    private func enqueueHalves(
        _ tasks: [URLSessionTask],
        _ orders: [App1.TransferTask],
        answered: @escaping @Sendable () -> Void
    ) {
        let half = tasks.count / 2
        enqueueAll(Array(tasks[..<half]), renewed(orders[..<half], of: tasks)) { [self] in
            outgoing.async {
                let rest = self.renewed(orders[half...], of: tasks)
                self.enqueueAll(Array(tasks[half...]), rest, answered: answered)
            }
        }
    }

    /// With what was said of their tasks meanwhile: the daemon did not know of them then.
    private func renewed(
        _ orders: ArraySlice<App1.TransferTask>,
        of tasks: [URLSessionTask]
    ) -> [App1.TransferTask] {
        orders.indices.map { index in
            var order = orders[index]
            tasks[index].values.withLock { values in
                order.priority = URLSessionTask.wirePriority(values.priority)
                // A longer one would be refused, and the task with it.
                let size = values.description?.utf8.count ?? 0
                guard size <= App1.TransferTask.longestDescription else { return }
                order.description = values.description
            }
            return order
        }
    }

    /// It ends here: the daemon never hears of it.
    private func isDropped(_ task: URLSessionTask, _ order: App1.TransferTask) -> Bool {
        if task.state == .canceling {
            fail(task, URLError(.cancelled, reason: "the task was cancelled"))
            return true
        }
        guard order.fitsInCall else {
            let reason = "its URL, header fields and description take more than about 3 MB"
            fail(task, URLError(.unknown, reason: reason))
            return true
        }
        return false
    }

    private func order(of task: URLSessionTask) -> App1.TransferTask {
        var order = App1.TransferTask()
        order.task = Int64(task.taskIdentifier)
        guard let request = task.originalRequest else { return order }
        order.url = request.url?.absoluteString ?? ""
        order.resume = task.resumeToken
        if task.file != nil { order.method = request.httpMethod?.uppercased() }
        order.headers = headerLines(of: request)
        order.ignoresCookies = !request.httpShouldHandleCookies
        order.discretionary = options.isDiscretionary
        order.needs.unmetered =
            options.isUnmetered || !request.allowsCellularAccess
            || !request.allowsExpensiveNetworkAccess || !request.allowsConstrainedNetworkAccess
        order.timeout = Self.interval(
            request.ownTimeout ?? options.timeout,
            unless: UsualTimeout.request
        )
        order.resourceTimeout = Self.interval(
            options.resourceTimeout,
            unless: UsualTimeout.resource
        )
        task.values.withLock { values in
            order.description = values.description
            order.priority = URLSessionTask.wirePriority(values.priority)
            order.earliest = values.earliest.flatMap {
                WallTime(secondsSince1970: $0.timeIntervalSince1970)
            }
            order.expectsToSend = values.expectsToSend >= 0 ? values.expectsToSend : nil
            order.expectsToReceive = values.expectsToReceive >= 0 ? values.expectsToReceive : nil
        }
        return order
    }

    /// The session's, those of the request, which go before them, and cookies.
    func headerLines(of request: URLRequest) -> [String]? {
        let request = request.withoutForeignCookies
        var fields = options.headers
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            for other in fields.keys where other.lowercased() == name.lowercased() {
                fields[other] = nil
            }
            fields[name] = value
        }
        if let cookies = cookieField(for: request, beside: fields) { fields["Cookie"] = cookies }
        return fields.isEmpty ? nil : fields.map { "\($0): \($1)" }.sorted()
    }

    /// Nil: the usual one, which needs no room in the call. No clock counts longer than a hundred
    /// years.
    private static func interval(_ seconds: TimeInterval, unless usual: Interval) -> Interval? {
        guard seconds > 0 else { return nil }
        let interval = Interval(nanoseconds: Int64(min(seconds, 3_155_760_000) * 1e9))
        return interval == usual ? nil : interval
    }
}

extension URLError {
    /// Why the daemon has not taken a task.
    fileprivate init(_ error: CallError) {
        let code: URLError.Code =
            switch error.reason {
            case .unreachable: .backgroundSessionWasDisconnected
            case .timedOut, .refused, .unsupported: .unknown
            }
        self.init(code, reason: error.text)
    }
}

extension App1.TransferTask {
    fileprivate var forOlderDaemon: Self {
        var order = self
        order.ignoresCookies = false
        return order
    }
}

extension SessionBox.State {
    /// The daemon has answered all that it was asked, and is asked nothing more.
    fileprivate var isAnswered: Bool {
        unanswered == 0 && !isSendingUploads && unansweredChanges == 0 && unsentChanges.isEmpty
    }
}

/// The file of an upload until the daemon has looked at it: that this process has it open shows
/// that it can read it.
private final class OpenFile: Sendable {
    let descriptor: FileDescriptor

    init(of task: URLSessionTask) throws(URLError) {
        guard task.state != .canceling, let path = task.file?.path else {
            throw URLError(.cancelled, reason: "the task was cancelled")
        }
        do throws(LinuxError) {
            // What is no file is not waited for.
            let descriptor = try FileDescriptor(opening: path, [.reading, .nonBlocking])
            let size = try descriptor.status().size
            self.descriptor = descriptor
            task.sent(0, of: size)
        } catch {
            let code =
                switch error.errno {
                case .noEntry: URLError.Code.fileDoesNotExist
                case .access, .permission: URLError.Code.noPermissionsToReadFile
                default: URLError.Code.cannotOpenFile
                }
            throw URLError(code, reason: "the file to be sent cannot be opened: \(error)")
        }
    }
}

extension SessionBox.Options {
    /// Every request of the session has it.
    func adds(_ field: HTTPField) -> Bool {
        headers.contains { name, value in
            name.lowercased() == field.name.lowercased()
                && value.trimmingCharacters(in: .whitespaces) == field.value
        }
    }

    /// Why the daemon would refuse a task; nil: it may take it.
    func refusal(of task: URLSessionTask) -> URLError? {
        let own = task.originalRequest?.cachePolicy ?? .useProtocolCachePolicy
        let policy = own == .useProtocolCachePolicy ? cachePolicy : own
        if policy == .returnCacheDataDontLoad {
            let reason = "a background session has no cache to take it from"
            return URLError(.resourceUnavailable, reason: reason)
        }
        guard task.taskDescription?.utf8.count ?? 0 <= App1.TransferTask.longestDescription else {
            let most = App1.TransferTask.longestDescription
            return URLError(.unknown, reason: "a description has up to \(most) bytes")
        }
        return nil
    }
}
