public import Foundation
internal import Vocabulary

/// Work that an app was launched, or resumed, to do; given to the handler that was registered for
/// its identifier.
///
/// Every task is completed with ``setTaskCompleted(success:)``. An app that has completed all of
/// them is suspended; one that never does is terminated.
public class BGTask: NSObject, @unchecked Sendable {  // What changes: behind the lock of `run`.
    /// The identifier that the work was asked for by.
    public let identifier: String

    let run: TaskRun

    init(_ run: TaskRun) {
        identifier = run.work.identifier
        self.run = run
        super.init()
    }

    deinit { run.wasFreed() }

    static func make(_ run: TaskRun) -> BGTask {
        switch run.work.kind {
        case .fetch, .refresh: BGAppRefreshTask(run)
        case .processing: BGProcessingTask(run)
        case .sessionEvents: preconditionFailure("the events of a session are no task")
        }
    }

    /// Called once, shortly before the time is over, which may be before the full time: the power
    /// that the task needs is gone, or the user is back. It ends the work and sees that the task
    /// is completed, within seconds.
    ///
    /// It runs on the actor that it belongs to, else on a queue of the library's. It is cleared by
    /// its call and by completion. One that is set when that moment has come is called at once. A
    /// task without one counts as completed, without success, when its time is over.
    public var expirationHandler: (@isolated(any) () -> Void)? {
        get { run.handler?.body }
        set { run.set(newValue.map { ExpirationHandler($0) }) }
    }

    /// Says that the work is over, also after it has expired.
    ///
    /// The first call counts; a second one is logged.
    ///
    /// - Parameter success: Whether it was done; false also when it was given up.
    public func setTaskCompleted(success: Bool) { run.complete(success: success) }
}

extension NSObjectProtocol where Self: BGTask {
    /// The same with the type that Apple writes, so that a protocol of an app's own that asks for
    /// it fits. A closure that is set here belongs to no actor, and runs on a queue of the
    /// library's. One that was set with an actor is called on it, and the call does not wait.
    @_disfavoredOverload
    public var expirationHandler: (() -> Void)? {
        get { run.handler?.plain }
        set { run.set(newValue.map { ExpirationHandler(plain: $0) }) }
    }
}

/// A short task, 30 seconds, in which an app brings what it shows up to date.
public class BGAppRefreshTask: BGTask, @unchecked Sendable {}  // As its class.

/// A task of minutes, run while the device is idle.
public class BGProcessingTask: BGTask, @unchecked Sendable {}  // As its class.
