import Glibc
import Linux
import Synchronization

/// A thread that serves until this object goes.
package final class ServingThread: Sendable {
    private let stop: SharedPipe
    private let thread: Atomic<UInt>

    /// `serve` runs on the thread, and returns once the descriptor that it is given can be read.
    /// What it throws is a failure of the test's own works.
    package init(_ serve: sending @escaping (_ stopped: Int32) throws -> Void) throws {
        let stop = try SharedPipe()
        let work = Work(stop, serve)
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { context in
                context.map { Unmanaged<Work>.fromOpaque($0).takeRetainedValue().run() }
                return nil
            },
            Unmanaged.passRetained(work).toOpaque()
        )
        precondition(code == 0)
        self.stop = stop
        self.thread = Atomic(UInt(thread))
    }

    /// What a body that waits a lot returns, from a thread of its own: the few that all tests share
    /// stay free.
    package static func value<Value: Sendable>(
        of body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        var thread: ServingThread?
        defer { withExtendedLifetime(thread) {} }
        return try await withCheckedThrowingContinuation { continuation in
            do {
                thread = try ServingThread { _ in
                    continuation.resume(with: Result { try body() })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    deinit {
        try? stop.writing.writeAll("x")
        pthread_join(pthread_t(thread.load(ordering: .relaxed)), nil)
    }

    /// Made by the test's thread, then given away.
    private final class Work {
        private let stop: SharedPipe
        private let serve: (Int32) throws -> Void

        init(_ stop: SharedPipe, _ serve: @escaping (Int32) throws -> Void) {
            self.stop = stop
            self.serve = serve
        }

        func run() {
            do {
                try serve(stop.reading.number)
            } catch {
                fatalError("\(error)")
            }
        }
    }
}
