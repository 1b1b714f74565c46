internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// Time to finish something, as an app and its helper programs ask for it.
extension AppSession {
    /// What a program gave along with a task: closures, which its own lock must not hold while they
    /// run or go.
    struct TaskHandlers {
        /// Called once, shortly before the end, or when there is no time to be had.
        var expired: (@Sendable () -> Void)?
        /// Called when there is time.
        var begun: (@Sendable (Int) -> Void)?
    }

    /// Asks for time for an activity, which ends with the connection if not before.
    func beginActivity(
        _ reason: String,
        begun: @escaping @Sendable (Int) -> Void,
        expired: @escaping @Sendable () -> Void
    ) -> Int {
        beginTask(reason, isActivity: true, begun: begun, expired: expired)
    }

    /// Asks for time; the number that this process knows it by, at once. 0: there is nobody to
    /// ask.
    func beginTask(
        _ name: String,
        isActivity: Bool = false,
        begun: (@Sendable (Int) -> Void)? = nil,
        expired: (@Sendable () -> Void)?
    ) -> Int {
        // Asked again after the connection was lost, it is one task.
        let call = App1.BeginTask {
            ($0.name, $0.expires) = (Self.wireName(name), expired != nil)
            ($0.isActivity, $0.token) = (isActivity, UUID.token)
        }
        let task = state.withLock { state -> Int? in
            guard state.reach != .never else { return nil }
            let task = state.tasks.begin(call)
            state.taskHandlers[task] = TaskHandlers(expired: expired, begun: begun)
            return task
        }
        guard let task else { return 0 }
        ask(
            OutgoingCall(call, isActivity ? .now : .kept) { [self] in
                began(task, $0)
            } late: { [self] late in
                if case .tellEnd(let number) = HeldTasks.answeredLate(late) { tellEnd(number) }
            }
        )
        return task
    }

    /// As much of a name as the daemon takes; it only describes.
    private static func wireName(_ name: String) -> String {
        var wire = ""
        for character in name where !character.utf8.contains(0) {
            guard wire.utf8.count + character.utf8.count <= 255 else { break }
            wire.append(character)
        }
        return wire
    }

    private func began(_ task: Int, _ answer: Result<BegunTask, CallError>) {
        let (answered, begun) = state.withLock { state in
            (state.tasks.began(task, answer), state.taskHandlers[task]?.begun.take())
        }
        act(on: answered, for: task, answer)
        if answered == .hasTime { begun?(task) }
    }

    /// A daemon has come back: activities went with the connection, and the next one must know whom
    /// to tell that their time is out.
    func beginActivitiesAgain() {
        for (task, number, call) in state.withLock({ $0.tasks.activities }) {
            ask(
                OutgoingCall(call) { [self] answer in
                    let answered = state.withLock {
                        $0.tasks.begunAgain(task, before: number, answer)
                    }
                    act(on: answered, for: task, answer)
                }
            )
        }
    }

    private func act(
        on answered: HeldTasks.Answered,
        for task: Int,
        _ answer: Result<BegunTask, CallError>
    ) {
        switch answered {
        case .hasTime, .nothing: break
        case .tellEnd(let number): tellEnd(number)
        case .noTime:
            if case .failure(let error) = answer {
                LibraryLog.write("there is no time for a background task: \(error.text)")
            }
            let handlers = state.withLock { $0.taskHandlers.removeValue(forKey: task) }
            handlers?.expired?()
        }
    }

    /// False: no such task.
    func endTask(_ task: Int) -> Bool {
        // The closures go with the copy: what they hold may end with them, and come back here, so
        // not under the lock.
        let (ended, handlers) = state.withLock { state in
            (state.tasks.end(task), state.taskHandlers.removeValue(forKey: task))
        }
        defer { withExtendedLifetime(handlers) {} }
        switch ended {
        case .unknown: return false
        case .quietly: break
        case .tell(let number): tellEnd(number)
        }
        return true
    }

    private func tellEnd(_ number: Int64) {
        afterSessionCalls { [self] in
            ask(OutgoingCall(App1.EndTask { $0.task = number }, .kept))
        }
    }

    func expire(task number: Int64, deadline: Double?) {
        let expired = state.withLock { state -> (@Sendable () -> Void)? in
            guard let task = state.tasks.expire(number, deadline: deadline) else { return nil }
            return state.taskHandlers[task]?.expired.take()
        }
        expired?()
    }
}
