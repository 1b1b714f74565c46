internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Linux
internal import Synchronization
internal import Vocabulary

/// What is asked of the daemon for tasks.
extension SessionBox {
    func describe(_ task: URLSessionTask) { change(task, .describe) }

    func change(_ task: URLSessionTask, _ action: App1.TaskAction) {
        let call = App1.ChangeTasks {
            ($0.session, $0.action) = (identifier, action)
            $0.tasks = [Int64(task.taskIdentifier)]
            if action == .describe { $0.description = task.taskDescription }
        }
        outgoing.async { [app] in app.ask(OutgoingCall(call, .kept)) }
    }

    /// In calls of a bounded size, each all or none.
    func sendUnsent() {
        let tasks = state.withLock { state in
            defer { state.unsent = [] }
            return state.unsent
        }
        let downloads = tasks.filter { $0.file == nil }
        for start in stride(from: 0, to: downloads.count, by: Self.mostInCall) {
            let part = Array(downloads[start..<min(start + Self.mostInCall, downloads.count)])
            enqueue(part, part.map { order(of: $0) })
        }
        let mustBegin = state.withLock { state in
            state.unsentUploads += tasks.filter { $0.file != nil }
            guard !state.isSendingUploads, !state.unsentUploads.isEmpty else { return false }
            state.isSendingUploads = true
            return true
        }
        if mustBegin { sendUploads() }
    }

    private static let mostInCall = 10_000
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
        guard !tasks.isEmpty else { return }
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
        // Suspended while it waited here, before the daemon knew of it.
        let suspended = sent.filter { $0.state == .suspended }
        enqueue(sent, orders) { [self, files] in
            withExtendedLifetime(files) {}
            outgoing.async { self.sendUploads() }
        }
        for task in suspended { change(task, .suspend) }
    }

    /// The daemon takes all of a call or none. Of those that it refuses halves are tried, so that a
    /// bad one fails alone.
    private func enqueue(
        _ tasks: [URLSessionTask],
        _ orders: [App1.TransferTask],
        answered: @escaping @Sendable () -> Void = {}
    ) {
        guard !tasks.isEmpty else { return answered() }
        let call = App1.EnqueueTasks {
            ($0.session, $0.token, $0.tasks) = (identifier, UUID.token, orders)
        }
        app.ask(
            OutgoingCall(call, .kept) { [self] answer in
                guard case .failure(let error) = answer else { return answered() }
                guard error.reason == .refused(.invalid), tasks.count > 1 else {
                    for task in tasks { fail(task, URLError(.unknown, reason: error.text)) }
                    return answered()
                }
                let half = tasks.count / 2
                enqueue(Array(tasks[..<half]), Array(orders[..<half])) { [self] in
                    enqueue(Array(tasks[half...]), Array(orders[half...]), answered: answered)
                }
            }
        )
    }

    private func order(of task: URLSessionTask) -> App1.TransferTask {
        var order = App1.TransferTask()
        order.task = Int64(task.taskIdentifier)
        guard let request = task.originalRequest else { return order }
        order.url = request.url?.absoluteString ?? ""
        order.resume = task.resumeToken
        if task.file != nil { order.method = request.httpMethod?.uppercased() }
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
