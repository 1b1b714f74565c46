import EventLoop
import Linux

/// A thread for each file system: one that does not answer holds up none of the others.
@safe
final class SyncThreads {
    private let loop: EventLoop
    private let take: (SyncThread.Result) -> Void
    /// For those that have none of their own.
    private let common: Running
    private var own: [UInt64: Running] = [:]

    private struct Running {
        let thread: SyncThread
        let source: DescriptorSource
    }

    /// Few write to more.
    private static let most = 16

    /// `take` is called on the loop for each result.
    init(
        _ loop: EventLoop,
        _ take: @escaping (SyncThread.Result) -> Void
    ) throws(LinuxError) {
        (self.loop, self.take) = (loop, take)
        common = try Self.start(loop, take)
    }

    private static func start(
        _ loop: EventLoop,
        _ take: @escaping (SyncThread.Result) -> Void
    ) throws(LinuxError) -> Running {
        let thread = try SyncThread()
        return Running(thread: thread, source: try thread.attach(to: loop, take))
    }

    func add(_ job: SyncThread.Job) { running(for: job.fileSystem).thread.add(job) }

    /// Those that were added begin.
    func flush() {
        common.thread.flush()
        for running in own.values { running.thread.flush() }
    }

    private func running(for fileSystem: UInt64) -> Running {
        if let known = own[fileSystem] { return known }
        // The first one needs no other thread.
        if own.isEmpty {
            own[fileSystem] = common
            return common
        }
        guard own.count < Self.most, let new = try? Self.start(loop, take) else { return common }
        own[fileSystem] = new
        return new
    }
}
