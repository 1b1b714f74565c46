internal import Glibc
internal import Synchronization

extension CurrentProcess {
    /// The results of both; the first is worked out in a thread of its own meanwhile, if there can
    /// be one.
    package static func both<First: Sendable, Second>(
        _ first: @escaping @Sendable () -> First,
        _ second: () -> Second
    ) -> (First, Second) {
        guard let outcome = try? WorkThread(named: "offstage-half").begin(first) else {
            return (first(), second())
        }
        let other = second()
        return (outcome.wait(), other)
    }

    /// Runs `body` in a thread of its own, which ends with the process at the latest. Signals that
    /// are blocked here are blocked there. `name`: as `top` shows it; 15 bytes count.
    package static func startThread(
        named name: String,
        _ body: @escaping @Sendable () -> Void
    ) throws(LinuxError) {
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        // The usual 8 MB would count against the limit of our memory.
        unsafe pthread_attr_setstacksize(&attributes, 256 << 10)
        let work = unsafe Unmanaged.passRetained(ThreadWork(name, body))
        let code = unsafe pthread_create(
            &thread,
            &attributes,
            { context in
                guard let context = unsafe context else { return nil }
                let work = unsafe Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue()
                CurrentProcess.nameThread(work.name)
                work.body()
                return nil
            },
            work.toOpaque()
        )
        guard code == 0 else {
            unsafe work.release()
            throw LinuxError("pthread_create", name, Errno(code))
        }
        pthread_detach(thread)
    }
}

/// What a thread is to do, on its way there.
private final class ThreadWork: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        (self.name, self.body) = (name, body)
    }
}

/// What a thread finds out, for a loop that goes on meanwhile.
package final class ThreadResult<Found: Sendable>: Sendable {
    private let result = Mutex<Found?>(nil)
    private let isDone: EventCounter

    /// Runs `body` in a thread of its own, as `CurrentProcess.startThread` does.
    package init(
        named name: String,
        _ body: @escaping @Sendable () -> Found
    ) throws(LinuxError) {
        isDone = try EventCounter()
        try CurrentProcess.startThread(named: name) { [self] in
            let found = body()
            result.withLock { $0 = found }
            isDone.signal()
        }
    }

    /// Readable once there is a result.
    package var descriptor: Int32 { isDone.descriptor.number }

    /// Nil: not yet.
    package var found: Found? { result.withLock { $0 } }
}
