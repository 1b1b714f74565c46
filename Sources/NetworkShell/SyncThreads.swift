import EventLoop
import Linux

/// A thread for each of the first few file systems: one that does not answer does not hold up the
/// others.
@safe
final class SyncThreads {
    private let loop: EventLoop
    private let take: (SyncThread.Result) -> Void
    /// The first one is also for the file systems beyond the limit.
    private var threads: [Running] = []
    /// By file system: its place among them.
    private var places: [UInt64: Int] = [:]

    private struct Running {
        let thread: SyncThread
        let source: DescriptorSource
    }

    private static let most = 16

    /// `take` is called on the loop for each result.
    init(
        _ loop: EventLoop,
        _ take: @escaping (SyncThread.Result) -> Void
    ) throws(LinuxError) {
        (self.loop, self.take) = (loop, take)
        try startOne()
    }

    private func startOne() throws(LinuxError) {
        let thread = try SyncThread()
        threads.append(Running(thread: thread, source: try thread.attach(to: loop, take)))
    }

    func add(_ job: SyncThread.Job) { threads[place(of: job.fileSystem)].thread.add(job) }

    /// Those that were added begin.
    func flush() { for running in threads { running.thread.flush() } }

    private func place(of fileSystem: UInt64) -> Int {
        if let known = places[fileSystem] { return known }
        let mayStart = !places.isEmpty && threads.count < Self.most
        let hasStarted = mayStart && (try? startOne()) != nil
        let place = hasStarted ? threads.count - 1 : 0
        places[fileSystem] = place
        return place
    }
}
