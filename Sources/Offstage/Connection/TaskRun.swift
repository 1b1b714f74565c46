internal import Foundation
internal import Synchronization

/// One delivery of a scheduled task, behind the `BGTask` that the app has.
final class TaskRun: RunningWork {
    let work: Work
    private let session: AppSession
    private let state = Mutex(State())

    private struct State {
        var handler: ExpirationHandler?
        /// It was called, which happens once.
        var hasExpired = false
        var completion = Completion.none
    }

    private enum Completion {
        case none
        /// Its time was over, and there was no handler to tell.
        case byExpiry
        case byApp
    }

    init(_ work: Work, _ session: AppSession) {
        self.work = work
        self.session = session
    }

    /// Nil after it was called, and after completion.
    var handler: ExpirationHandler? { state.withLock { $0.handler } }

    func set(_ handler: ExpirationHandler?) {
        let (isNews, old) = state.withLock { state in
            guard state.completion == .none, !state.hasExpired else {
                return (false, nil as ExpirationHandler?)
            }
            let old = state.handler
            state.handler = handler
            return ((old == nil) != (handler == nil), old)
        }
        if isNews { session.tellHandler(of: work, isSet: handler != nil) }
        // What it holds may end with it, and come back here: not under the lock.
        withExtendedLifetime(old) {}
    }

    func complete(success: Bool) {
        let (before, old) = state.withLock { state in
            defer { (state.completion, state.handler) = (.byApp, nil) }
            return (state.completion, state.handler)
        }
        defer { withExtendedLifetime(old) {} }
        switch before {
        case .none: session.complete(work, success ? "succeeded" : "unsuccessful")
        case .byExpiry: break
        case .byApp: LibraryLog.write("task \(work.identifier) was completed a second time")
        }
    }

    func expire() {
        let (isFirst, handler) = state.withLock { state in
            guard state.completion == .none, !state.hasExpired else {
                return (false, nil as ExpirationHandler?)
            }
            state.hasExpired = true
            if state.handler == nil { state.completion = .byExpiry }
            return (true, state.handler.take())
        }
        guard isFirst else { return }
        guard let handler else { return session.complete(work, "unsuccessful") }
        handler.call(on: LaunchHandler.expiration)
    }

    /// The app has no way left to complete it.
    func wasFreed() {
        guard state.withLock({ $0.completion == .none }) else { return }
        LibraryLog.write(
            "task \(work.identifier) was let go without setTaskCompleted(success:): it counts as "
                + "unsuccessful (keep the task until it is completed)"
        )
        complete(success: false)
    }
}

/// One wake to fetch: exactly one completion counts.
final class FetchRun: RunningWork {
    let work: Work
    private let session: AppSession
    private let isCompleted = Mutex(false)

    init(_ work: Work, _ session: AppSession) {
        self.work = work
        self.session = session
    }

    /// `result`: newData, noData or failed.
    func complete(_ result: String) {
        let isFirst = isCompleted.withLock { isCompleted in
            defer { isCompleted = true }
            return !isCompleted
        }
        guard isFirst else {
            return LibraryLog.write("the completion handler of a fetch was called a second time")
        }
        session.complete(work, result)
    }

    /// There is no handler for it: one that does not complete is ended.
    func expire() {}

    func wasFreed() {
        guard !isCompleted.withLock({ $0 }) else { return }
        LibraryLog.write(
            "the completion handler of a fetch was let go without being called: it counts as "
                + "failed (call it exactly once)"
        )
        complete("failed")
    }
}
