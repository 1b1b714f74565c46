import Glibc
import Linux
import Synchronization

/// A thread that serves until this object goes.
package final class ServingThread: Sendable {
    private let stop: FileDescriptor
    private let thread: Atomic<UInt>

    /// `serve` runs on the thread, and returns once the descriptor that it is given can be read.
    /// What it throws is a failure of the test's own works.
    package init(_ serve: sending @escaping (_ stopped: Int32) throws -> Void) throws {
        var pipe = try Pipe()
        guard let stopped = pipe.reading.take(), let stop = pipe.writing.take() else {
            fatalError("a pipe has two ends")
        }
        let work = Work(stopped, serve)
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

    deinit {
        try? stop.writeAll("x")
        pthread_join(pthread_t(thread.load(ordering: .relaxed)), nil)
    }

    /// Made by the test's thread, then given away.
    private final class Work {
        private let stopped: FileDescriptor
        private let serve: (Int32) throws -> Void

        init(_ stopped: consuming FileDescriptor, _ serve: @escaping (Int32) throws -> Void) {
            self.stopped = stopped
            self.serve = serve
        }

        func run() {
            do {
                try serve(stopped.number)
            } catch {
                fatalError("\(error)")
            }
        }
    }
}
