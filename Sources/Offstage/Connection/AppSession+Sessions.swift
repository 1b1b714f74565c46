internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// Background sessions: which are there, and what the daemon says of them.
extension AppSession {
    /// False: there is one of that identifier.
    func add(_ box: SessionBox) -> Bool {
        let (isNew, isHeld, run) = state.withLock { state in
            guard state.sessions[box.identifier] == nil else {
                return (false, false, nil as SessionRun?)
            }
            state.sessions[box.identifier] = box
            let isHeld = state.heldSessions.contains(box.identifier)
            return (true, isHeld, state.sessionRuns.removeValue(forKey: box.identifier))
        }
        if isHeld { box.hold() }
        if let run { box.expect(run) }
        return isNew
    }

    func remove(_ box: SessionBox) {
        state.withLock { state in
            guard state.sessions[box.identifier] === box else { return }
            state.sessions[box.identifier] = nil
        }
    }

    /// Calls `body` once the daemon has answered all calls of the app's sessions, which may be at
    /// once. After `body` the app may be suspended, and what is still in its memory would wait.
    func afterSessionCalls(_ body: @escaping @Sendable () -> Void) {
        let boxes = state.withLock { Array($0.sessions.values) }
        let countdown = Countdown(from: boxes.count + 1, body)
        for box in boxes { box.whenAnswered { countdown.step() } }
        countdown.step()
    }

    /// The connection is new: the daemon knows of no session of this process.
    func joinAgain() {
        let boxes = state.withLock { Array($0.sessions.values) }
        for box in boxes {
            box.join()
            box.changeAgain()
        }
    }

    // MARK: What the daemon says

    func taskEnded(session: String, _ end: SessionTaskEnd, _ number: IncomingNumber) {
        // Without an answer it is told again, to a process that has the session.
        state.withLock { $0.sessions[session] }?.ended(end, number)
    }

    func taskProgressed(session: String, _ progress: TaskProgress) {
        state.withLock { $0.sessions[session] }?.progressed(progress)
    }

    func taskAsked(session: String, _ question: TaskQuestion) {
        // Who makes the session later is asked then.
        state.withLock { $0.sessions[session] }?.asked(question)
    }

    /// The app was launched, or goes on, for the events of a session: its delegate is told so
    /// before any of them.
    func handleEvents(_ run: SessionRun) {
        let identifier = run.work.identifier
        let (application, box) = state.withLock { state in
            state.heldSessions.insert(identifier)
            return (state.application, state.sessions[identifier])
        }
        box?.hold()
        application?.handleEvents(run)
    }

    /// The delegate has been told.
    func handledEvents(_ run: SessionRun) {
        let identifier = run.work.identifier
        let box = state.withLock { state in
            state.heldSessions.remove(identifier)
            return state.sessions[identifier]
        }
        if let box { return box.release(run) }
        state.withLock { $0.sessionRuns[identifier] = run }
    }

    /// Nobody needs to be told any more that it has all.
    fileprivate func ended(_ run: SessionRun) {
        state.withLock { state in
            guard state.sessionRuns[run.work.identifier] === run else { return }
            state.sessionRuns[run.work.identifier] = nil
        }
    }
}

/// Calls a closure with its last step.
private final class Countdown: Sendable {
    private let left: Mutex<Int>
    private let body: @Sendable () -> Void

    init(from count: Int, _ body: @escaping @Sendable () -> Void) {
        left = Mutex(count)
        self.body = body
    }

    func step() {
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isLast { body() }
    }
}

/// One launch for the events of a session: exactly one completion counts.
final class SessionRun: RunningWork {
    let work: AcceptedWork
    private let session: AppSession
    private let isCompleted = Mutex(false)

    init(_ work: AcceptedWork, _ session: AppSession) {
        (self.work, self.session) = (work, session)
    }

    func complete() {
        let isFirst = isCompleted.withLock { isCompleted in
            defer { isCompleted = true }
            return !isCompleted
        }
        guard isFirst else {
            return session.mistaken(
                .completedAgain,
                work.identifier,
                "the completion handler for the events of session \(work.identifier) was called a "
                    + "second time"
            )
        }
        session.ended(self)
        session.complete(work, .succeeded)
    }

    /// There is no handler for it: one that does not complete is ended.
    func expire() {}

    func wasFreed() {
        guard !isCompleted.withLock({ $0 }) else { return }
        session.mistaken(
            .letGo,
            work.identifier,
            "the completion handler for the events of session \(work.identifier) was released "
                + "without being called: call it in urlSessionDidFinishEvents"
        )
        complete()
    }
}
