internal import Foundation

/// A closure of the app's with the place where it runs: its own actor, else the queue that the app
/// named or was told of, as Apple's interface says.
struct Handler<Input: Sendable>: @unchecked Sendable {  // Called on its own actor or queue only.
    let body: @isolated(any) (Input) -> Void

    init(_ body: @escaping @isolated(any) (Input) -> Void) { self.body = body }

    /// Runs it, soon. `queue` is for one without an actor.
    func call(_ input: Input, on queue: DispatchQueue) {
        if body.isolation === MainActor.shared {
            Task { @MainActor in await body(input) }
        } else {
            Task(executorPreference: QueueExecutor(queue)) { await body(input) }
        }
    }
}

/// The same for one that is given nothing.
struct ExpirationHandler: @unchecked Sendable {  // Called on its own actor or queue only.
    let body: @isolated(any) () -> Void
    /// What it was made of, if that was nobody's.
    private let own: (() -> Void)?

    init(_ body: @escaping @isolated(any) () -> Void) { (self.body, own) = (body, nil) }

    init(plain body: @escaping () -> Void) { (self.body, own) = (body, body) }

    /// To be called by whoever holds it, on any thread.
    var plain: () -> Void { own ?? { call(on: LaunchHandler.expiration) } }

    func call(on queue: DispatchQueue) {
        if body.isolation === MainActor.shared {
            Task { @MainActor in await body() }
        } else {
            Task(executorPreference: QueueExecutor(queue)) { await body() }
        }
    }
}

/// What an app registered for an identifier.
struct LaunchHandler: Sendable {
    let handler: Handler<BGTask>
    let queue: DispatchQueue

    init(_ handler: Handler<BGTask>, queue: DispatchQueue?) {
        self.handler = handler
        self.queue = queue ?? Self.background
    }

    /// For handlers that name none: one at a time.
    static let background = DispatchQueue(label: "org.offstage.tasks")
    /// For what must wait behind no handler that fills its queue, nor behind its like.
    static let expiration = DispatchQueue(
        label: "org.offstage.expiration",
        attributes: .concurrent
    )

    func launch(_ run: TaskRun) { handler.call(BGTask.make(run), on: queue) }
}

/// Runs what is no actor's on a queue.
private final class QueueExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
