package import GatewayCore
import Glibc
import Linux
import SQLite
import Synchronization
import Vocabulary

/// The embedded store: one file, written by a thread of its own so that the disk keeps nobody
/// waiting, read on the loop's thread.
package final class SQLiteStorage {
    /// The batch of this number is kept for good; or not, for this reason.
    package typealias Completion = (number: UInt64, error: StorageError?)

    package let reader: StoreReader
    private let shared: Shared
    private let thread: pthread_t

    /// What both threads reach.
    private final class Shared: Sendable {
        struct State {
            var waiting: [StoreBatch] = []
            var done: [Completion] = []
            var oldestLog: PushNumber?
            var isEnding = false
        }

        let state = Mutex(State())
        /// Rung when there is something to write, and when something was written.
        let work: EventCounter
        let finished: EventCounter

        init() throws(LinuxError) {
            work = try EventCounter()
            finished = try EventCounter()
        }
    }

    /// Given to the thread once.
    private final class Start {
        let shared: Shared
        let path: String
        let fileSystem: String?

        init(_ shared: Shared, _ path: String, _ fileSystem: String?) {
            (self.shared, self.path, self.fileSystem) = (shared, path, fileSystem)
        }
    }

    /// Opens the file at `path`, or makes it; one process at a time may. `fileSystem` as in
    /// `Database`.
    package init(_ path: String, fileSystem: String? = nil) throws(StorageError) {
        do throws(SQLiteError) {
            let database = try StoreSchema.open(path, fileSystem: fileSystem)
            try RestoredStore.adopt(database, at: Clocks.now().wall)
        } catch {
            throw StorageError(error, opening: path)
        }
        reader = try StoreReader(path)
        do throws(LinuxError) {
            shared = try Shared()
        } catch {
            throw StorageError("\(error)")
        }
        var thread = pthread_t()
        let start = unsafe Unmanaged.passRetained(Start(shared, path, fileSystem))
        let code = unsafe pthread_create(
            &thread,
            nil,
            { context in
                if let context = unsafe context {
                    unsafe SQLiteStorage.serve(
                        Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                    )
                }
                return nil
            },
            start.toOpaque()
        )
        guard code == 0 else {
            unsafe start.release()
            throw StorageError("no thread for the store: \(Errno(code).text)")
        }
        self.thread = thread
    }

    /// Writes what waits, then ends.
    deinit {
        shared.state.withLock { $0.isEnding = true }
        shared.work.signal()
        pthread_join(thread, nil)
    }

    /// Readable when `completions()` has something.
    package var descriptor: Int32 { shared.finished.descriptor.number }

    package func completions() -> [Completion] {
        shared.finished.clear()
        return shared.state.withLock { state in
            defer { state.done = [] }
            return state.done
        }
    }

    package func write(_ batch: StoreBatch) {
        shared.state.withLock { $0.waiting.append(batch) }
        shared.work.signal()
    }

    /// Removes the log before `oldestLog`, when there is time.
    package func sweep(oldestLog: PushNumber) {
        shared.state.withLock { $0.oldestLog = oldestLog }
        shared.work.signal()
    }

    /// What the driver asks, answered at once.
    func answer(_ question: StoreQuestion) -> StoreAnswer {
        do throws(StorageError) {
            return try reader.answer(question)
        } catch {
            return .failed
        }
    }

    package func log(of push: PushNumber) throws(StorageError) -> LogRow? {
        try reader.log(of: push)
    }

    // MARK: The thread

    private static func serve(_ start: Start) {
        let shared = start.shared
        var writer: StoreWriter?
        while true {
            shared.work.clear()
            let (batches, oldestLog, isEnding) = shared.state.withLock { state in
                defer { (state.waiting, state.oldestLog) = ([], nil) }
                return (state.waiting, state.oldestLog, state.isEnding)
            }
            for batch in batches {
                let error = Self.write(batch, &writer, start)
                shared.state.withLock { $0.done.append((batch.number, error)) }
                shared.finished.signal()
            }
            if let oldestLog {
                switch writer {
                case .some(let writer): Self.sweep(oldestLog, writer, shared)
                case .none: break
                }
            }
            if !batches.isEmpty { continue }
            if isEnding { return }
            _ = Poll.ready(shared.work.descriptor.number, for: .readable, milliseconds: -1)
        }
    }

    /// The file is opened with the first batch, and again with the next if that fails.
    private static func write(
        _ batch: StoreBatch,
        _ writer: inout StoreWriter?,
        _ start: Start
    ) -> StorageError? {
        do throws(SQLiteError) {
            if writer == nil {
                writer = try StoreWriter(start.path, fileSystem: start.fileSystem)
            }
            try writer?.write(batch)
            return nil
        } catch {
            return StorageError("\(error)")
        }
    }

    /// In small pieces, so that whoever waits for a commit does not wait for this.
    private static func sweep(
        _ oldestLog: PushNumber,
        _ writer: borrowing StoreWriter,
        _ shared: Shared
    ) {
        let piece = 500
        while shared.state.withLock({ $0.waiting.isEmpty && !$0.isEnding }) {
            // What could not be removed now is tried again the next time.
            let count = try? writer.sweep(oldestLog: oldestLog, limit: piece)
            guard let count, count >= piece else { return }
        }
    }
}
