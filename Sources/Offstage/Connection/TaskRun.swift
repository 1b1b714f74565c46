internal import AppProtocol
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// One delivery of a scheduled task, behind the `BGTask` that the app has.
final class TaskRun: RunningWork {
    let work: AcceptedWork
    private let session: AppSession
    private let state = Mutex(State())

    private struct State {
        var handler: ExpirationHandler?
        var expiry = Expiry.none
        var isCompleted = false
    }

    private enum Expiry: Equatable {
        case none
        /// It was told, and there is no handler yet.
        case told
        case handled
    }

    init(_ work: AcceptedWork, _ session: AppSession) {
        self.work = work
        self.session = session
    }

    /// Nil after it was called, and after completion.
    var handler: ExpirationHandler? { state.withLock { $0.handler } }

    func set(_ handler: ExpirationHandler?) {
        let (isNews, isLate, old) = state.withLock { state in
            guard !state.isCompleted, state.expiry != .handled else {
                return (false, false, nil as ExpirationHandler?)
            }
            let old = state.handler
            if handler != nil, state.expiry != .none {
                state.expiry = .handled
                return (true, true, old)
            }
            state.handler = handler
            return ((old == nil) != (handler == nil), false, old)
        }
        if isNews { session.tellHandler(of: work, isSet: handler != nil) }
        if isLate { handler?.call(on: LaunchHandler.expiration) }
        // What it holds may end with it, and come back here: not under the lock.
        withExtendedLifetime(old) {}
    }

    func complete(success: Bool) {
        let (isFirst, old) = state.withLock { state in
            defer { (state.isCompleted, state.handler) = (true, nil) }
            return (!state.isCompleted, state.handler)
        }
        defer { withExtendedLifetime(old) {} }
        guard isFirst else {
            return session.mistaken(
                .completedAgain,
                work.identifier,
                "task \(work.identifier) was completed a second time"
            )
        }
        // Whether it is too late is the daemon's to say: the user may have come back.
        session.complete(work, success ? .succeeded : .unsuccessful)
    }

    func expire() {
        let handler = state.withLock { state -> ExpirationHandler? in
            guard !state.isCompleted, state.expiry == .none else { return nil }
            state.expiry = state.handler == nil ? .told : .handled
            return state.handler.take()
        }
        handler?.call(on: LaunchHandler.expiration)
    }

    /// The app has no way left to complete it.
    func wasFreed() {
        guard !state.withLock({ $0.isCompleted }) else { return }
        session.mistaken(
            .letGo,
            work.identifier,
            "task \(work.identifier) was released without setTaskCompleted(success:): it counts as "
                + "unsuccessful (keep the task until it is completed)"
        )
        complete(success: false)
    }
}

/// One wake to fetch: exactly one completion counts.
final class FetchRun: RunningWork {
    let work: AcceptedWork
    private let session: AppSession
    private let isCompleted = Mutex(false)

    init(_ work: AcceptedWork, _ session: AppSession) {
        self.work = work
        self.session = session
    }

    func complete(_ result: TaskResult) {
        let isFirst = isCompleted.withLock { isCompleted in
            defer { isCompleted = true }
            return !isCompleted
        }
        guard isFirst else {
            return session.mistaken(
                .completedAgain,
                "fetch",
                "the completion handler of a fetch was called a second time"
            )
        }
        session.complete(work, result)
    }

    /// There is no handler for it: one that does not complete is ended.
    func expire() {}

    func wasFreed() {
        guard !isCompleted.withLock({ $0 }) else { return }
        session.mistaken(
            .letGo,
            "fetch",
            "the completion handler of a fetch was released without being called: it counts as "
                + "failed (call it exactly once)"
        )
        complete(.failed)
    }
}
