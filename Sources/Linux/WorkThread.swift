internal import Glibc
internal import Synchronization

/// A thread that does one thing after the other. It begins with the first, and stays for the next:
/// to begin a thread takes longer than most of what is done there.
package final class WorkThread: Sendable {
    private let name: String
    private let queue = Queue()
    private let hasBegun = Mutex(false)

    /// `name`: as `top` shows it; 15 bytes count.
    package init(named name: String) { self.name = name }

    /// The thread ends when it has done all that was begun.
    deinit { queue.add(nil) }

    /// Throws when there can be no thread.
    package func begin<Found: Sendable>(
        _ body: @escaping @Sendable () -> Found
    ) throws(LinuxError) -> ThreadOutcome<Found> {
        try start()
        let outcome = ThreadOutcome<Found>()
        queue.add { outcome.end(body()) }
        return outcome
    }

    private func start() throws(LinuxError) {
        try hasBegun.withLock { (hasBegun) throws(LinuxError) in
            guard !hasBegun else { return }
            try CurrentProcess.startThread(named: name) { [queue] in
                while let next = queue.next() { next() }
            }
            hasBegun = true
        }
    }

    /// What is still to be done; nil at its end.
    private final class Queue: Sendable {
        private let bodies = Mutex<[(@Sendable () -> Void)?]>([])
        private let count = Semaphore()

        func add(_ body: (@Sendable () -> Void)?) {
            bodies.withLock { $0.append(body) }
            count.signal()
        }

        func next() -> (@Sendable () -> Void)? {
            count.wait()
            return bodies.withLock { $0.removeFirst() }
        }
    }
}

/// What a `WorkThread` finds out.
package final class ThreadOutcome<Found: Sendable>: Sendable {
    private let result = Mutex<Found?>(nil)
    private let isDone = Semaphore()

    fileprivate init() {}

    fileprivate func end(_ found: Found) {
        result.withLock { $0 = found }
        isDone.signal()
    }

    /// Until there is a result.
    package func wait() -> Found {
        while true {
            isDone.wait()
            // It may be waited for more than once.
            isDone.signal()
            if let found = result.withLock({ $0 }) { return found }
        }
    }
}

/// glibc's, between the threads of this process.
@safe
// The pointer never changes, and the calls that it is used for are made for several threads.
private final class Semaphore: @unchecked Sendable {
    private let pointer: UnsafeMutablePointer<sem_t>

    init() {
        unsafe pointer = .allocate(capacity: 1)
        unsafe sem_init(pointer, 0, 0)
    }

    deinit {
        unsafe sem_destroy(pointer)
        unsafe pointer.deallocate()
    }

    func signal() { unsafe sem_post(pointer) }

    func wait() {
        while unsafe sem_wait(pointer) < 0 {}
    }
}
