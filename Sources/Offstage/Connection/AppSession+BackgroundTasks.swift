internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// Time to finish something, as an app and its helper programs ask for it.
extension AppSession {
    /// What was asked for and not given back.
    struct BackgroundTask {
        var name: String
        /// As the daemon counts it; nil until it has answered.
        var number: Int64?
        /// CLOCK_MONOTONIC, seconds.
        var deadline: Double?
        /// It was given back before the daemon had answered.
        var hasEnded = false
        /// Called once, shortly before the end, or when there is no time to be had.
        var expired: (@Sendable () -> Void)?
        /// Called when there is time.
        var begun: (@Sendable (Int) -> Void)?
        /// What it is begun with, if it is an activity: that goes with a connection, and is begun
        /// again on the next.
        var activity: App1.BeginTask?
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
        let number = state.withLock { state in
            guard state.reach != .never else { return 0 }
            state.lastBackgroundTask += 1
            state.backgroundTasks[state.lastBackgroundTask] = BackgroundTask(
                name: name,
                expired: expired,
                begun: begun,
                activity: isActivity ? call : nil
            )
            return state.lastBackgroundTask
        }
        guard number != 0 else { return 0 }
        ask(
            OutgoingCall(call, isActivity ? .now : .kept) { [self] in
                began(number, $0)
            } late: { [self] late in
                // It has been told that there is no time: the daemon must not wait for its end.
                if late.task != 0 { tellEnd(late.task) }
            }
        )
        return number
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

    private func began(_ local: Int, _ answer: Result<BegunTask, CallError>) {
        guard let begun = try? answer.get(), begun.task != 0 else { return noTime(local, answer) }
        let task = state.withLock { state -> BackgroundTask? in
            guard let task = state.backgroundTasks[local] else { return nil }
            if task.hasEnded {
                state.backgroundTasks[local] = nil
            } else {
                state.backgroundTasks[local]?.number = begun.task
                state.backgroundTasks[local]?.deadline = begun.deadline
                state.backgroundTasks[local]?.begun = nil
            }
            return task
        }
        if task?.hasEnded == true { tellEnd(begun.task) } else { task?.begun?(local) }
    }

    // MARK: A daemon that has come back

    /// Activities that are held go with the connection, to the end of their process; the next one
    /// must know whom to tell that their time is out.
    func beginActivitiesAgain() {
        let held = state.withLock { state in
            state.backgroundTasks.compactMap { local, task -> (Int, Int64, App1.BeginTask)? in
                guard let call = task.activity, let number = task.number, number != 0 else {
                    return nil
                }
                return (local, number, call)
            }
        }
        for (local, number, call) in held.sorted(by: { $0.0 < $1.0 }) {
            ask(
                OutgoingCall(call) { [self] in
                    begunAgain(local, before: number, $0)
                }
            )
        }
    }

    private func begunAgain(
        _ local: Int,
        before: Int64,
        _ answer: Result<BegunTask, CallError>
    ) {
        // Lost again, it is asked again.
        if case .failure(let error) = answer, error.reason == .unreachable { return }
        guard let begun = try? answer.get(), begun.task != 0 else { return noTime(local, answer) }
        let isHeld = state.withLock { state in
            guard state.backgroundTasks[local] != nil else { return false }
            state.backgroundTasks[local]?.number = begun.task
            if let deadline = begun.deadline { state.backgroundTasks[local]?.deadline = deadline }
            return true
        }
        // It has ended meanwhile, which was said of the number that it had.
        if !isHeld, begun.task != before { tellEnd(begun.task) }
    }

    /// There is no time to be had: then it is over.
    private func noTime(_ local: Int, _ answer: Result<BegunTask, CallError>) {
        if case .failure(let error) = answer {
            LibraryLog.write("there is no time for a background task: \(error.text)")
        }
        let task = state.withLock { state -> BackgroundTask? in
            guard let task = state.backgroundTasks[local] else { return nil }
            if task.hasEnded {
                state.backgroundTasks[local] = nil
            } else {
                // Kept without a number: it is still to be ended by the app.
                state.backgroundTasks[local]?.expired = nil
                state.backgroundTasks[local]?.begun = nil
                state.backgroundTasks[local]?.number = 0
            }
            return task
        }
        if task?.hasEnded == false { task?.expired?() }
    }

    /// False: no such task.
    func endTask(_ local: Int) -> Bool {
        // Its closures go with the copy: what they hold may end with them, and come back here, so
        // not under the lock.
        let task = state.withLock { state -> BackgroundTask? in
            guard let task = state.backgroundTasks[local], !task.hasEnded else { return nil }
            if task.number == nil {
                state.backgroundTasks[local]?.hasEnded = true
                state.backgroundTasks[local]?.expired = nil
                state.backgroundTasks[local]?.begun = nil
            } else {
                state.backgroundTasks[local] = nil
            }
            return task
        }
        guard let task else { return false }
        if let number = task.number, number != 0 { tellEnd(number) }
        return true
    }

    private func tellEnd(_ number: Int64) {
        ask(OutgoingCall(App1.EndTask { $0.task = number }, .kept))
    }

    func expire(task number: Int64, deadline: Double?) {
        let expired = state.withLock { state -> (@Sendable () -> Void)? in
            let key = state.backgroundTasks.first { $0.value.number == number }?.key
            guard let key else { return nil }
            if let deadline { state.backgroundTasks[key]?.deadline = deadline }
            return state.backgroundTasks[key]?.expired.take()
        }
        expired?()
    }
}
