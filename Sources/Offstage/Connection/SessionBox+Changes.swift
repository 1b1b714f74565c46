internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// What is asked of the daemon for tasks that it knows. Changes are collected, and leave in the
/// order in which they were made.
extension SessionBox {
    /// So many tasks one call changes.
    fileprivate static let mostChanged = 1_000
    /// So many calls are without an answer at a time; the rest waits here. An app may change
    /// thousands of tasks one by one, faster than the daemon stores it.
    private static let mostUnansweredChanges = 8

    func describe(_ task: URLSessionTask) { change(task, .describe) }
    func prioritize(_ task: URLSessionTask) { change(task, .prioritize) }
    func change(_ task: URLSessionTask, _ action: App1.TaskAction) { change([task], action) }

    func change(_ tasks: [URLSessionTask], _ action: App1.TaskAction) {
        collect { state in
            for task in tasks { state.add(call(for: task, action)) }
        }
    }

    /// The daemon is another one, or has come to itself: what it has refused is asked for again,
    /// as the tasks are to be by now.
    func changeAgain() {
        collect { state in
            let refused = state.refusedChanges
            state.refusedChanges = [:]
            for action in App1.TaskAction.allCases {
                for number in (refused[action] ?? []).sorted() {
                    guard let task = state.tasks[Int(number)], task.isToBe(action) else { continue }
                    state.add(call(for: task, action))
                }
            }
        }
    }

    /// On `outgoing`, right behind the call by which the daemon knows them, and before what was
    /// said of them later.
    func suspendNow(_ tasks: [URLSessionTask]) {
        for start in stride(from: 0, to: tasks.count, by: Self.mostChanged) {
            let part = tasks[start..<min(start + Self.mostChanged, tasks.count)]
            state.withLock { $0.unansweredChanges += 1 }
            sendChange(
                App1.ChangeTasks {
                    ($0.session, $0.action) = (identifier, .suspend)
                    $0.tasks = part.map { task in Int64(task.taskIdentifier) }
                }
            )
        }
    }

    private func call(for task: URLSessionTask, _ action: App1.TaskAction) -> App1.ChangeTasks {
        App1.ChangeTasks {
            ($0.session, $0.action) = (identifier, action)
            $0.tasks = [Int64(task.taskIdentifier)]
            if action == .describe { $0.description = task.taskDescription }
            if action == .prioritize { $0.priority = task.wirePriority }
        }
    }

    private func collect(_ body: (inout State) -> Void) {
        let mustBegin = state.withLock { state in
            let hadNone = state.unsentChanges.isEmpty
            body(&state)
            return hadNone && !state.unsentChanges.isEmpty
        }
        // What is changed until then goes with it. If there were some, they leave by themselves.
        if mustBegin { outgoing.async { self.sendChanges() } }
    }

    /// On `outgoing`: as many as may be without an answer.
    private func sendChanges() {
        let calls = state.withLock { state in
            let room = max(0, Self.mostUnansweredChanges - state.unansweredChanges)
            let calls = Array(state.unsentChanges.prefix(room))
            state.unsentChanges.removeFirst(calls.count)
            state.unansweredChanges += calls.count
            return calls
        }
        for call in calls { sendChange(call) }
    }

    /// On `outgoing`; it is counted already. A lost connection does not answer it: it is made again
    /// on the next one.
    private func sendChange(_ call: App1.ChangeTasks) {
        app.ask(
            OutgoingCall(call, .kept) { [self] answer in
                if case .failure(let error) = answer { refused(call, error) }
                let hasMore = state.withLock { state in
                    state.unansweredChanges -= 1
                    return !state.unsentChanges.isEmpty
                }
                if hasMore { outgoing.async { self.sendChanges() } }
                goOnIfAnswered()
            }
        )
    }

    private func refused(_ call: App1.ChangeTasks, _ error: CallError) {
        // There is no daemon to come.
        guard error.reason != .unreachable else { return }
        LibraryLog.write(
            "a change of tasks was refused, and is asked for again on the next connection to the "
                + "daemon: \(error.text)"
        )
        state.withLock { $0.refusedChanges[call.action, default: []].formUnion(call.tasks) }
    }
}

extension SessionBox.State {
    /// Behind the others: with the last of them, if that is the same of other tasks.
    fileprivate mutating func add(_ call: App1.ChangeTasks) {
        guard let last = unsentChanges.indices.last, unsentChanges[last].action == call.action,
            unsentChanges[last].description == call.description,
            unsentChanges[last].priority == call.priority,
            unsentChanges[last].tasks.count < SessionBox.mostChanged
        else { return unsentChanges.append(call) }
        unsentChanges[last].tasks += call.tasks
    }
}

extension URLSessionTask {
    /// Nobody has said anything else since then.
    fileprivate func isToBe(_ action: App1.TaskAction) -> Bool {
        switch action {
        case .suspend: state == .suspended
        case .resume: state == .running
        case .cancel, .keep: state == .canceling
        case .describe, .prioritize: true
        }
    }
}
