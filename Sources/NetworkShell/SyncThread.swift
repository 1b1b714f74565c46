import EventLoop
import Linux
import Synchronization
import TLS
import Vocabulary

/// Makes bytes of files durable, and sums them up, in a thread of its own: a disk takes its time.
/// What comes while it works is done together: with one call where that reports failures, else with
/// one for each file.
final class SyncThread: Sendable {
    struct Job: Sendable {
        let id: TransferID
        let file: DownloadFile
        let fileSystem: UInt64
        /// Bytes that are in the file.
        let filled: FilledBytes
        /// Since when they count.
        let beginnings: Int
        /// Nothing more is written: it may wait for others.
        let isLast: Bool
        /// What the whole file must have; nil: it is not summed up.
        let sha256: [UInt8]?

        var size: Int64 { filled.count }
    }

    struct Result: Sendable {
        let id: TransferID
        let filled: FilledBytes
        let beginnings: Int
        let isLast: Bool
        let problem: Problem?

        enum Problem: Error, Sendable {
            /// What the file has; nil: it is shorter than it was.
            case checksum(found: [UInt8]?)
            case system(LinuxError)
        }
    }

    private struct Shared {
        var jobs: [Job] = []
        var results: [Result] = []
        var isOver = false
    }

    private let shared = Mutex(Shared())
    private let hasJobs: EventCounter
    private let hasResults: EventCounter

    init() throws(LinuxError) {
        hasJobs = try EventCounter()
        hasResults = try EventCounter()
        try CurrentProcess.startThread(named: "offstage-sync") { [self] in work() }
    }

    func add(_ job: Job) { shared.withLock { $0.jobs.append(job) } }

    /// Those that were added begin.
    func flush() {
        if shared.withLock({ !$0.jobs.isEmpty }) { hasJobs.signal() }
    }

    // MARK: The thread

    private func work() {
        while true {
            _ = Poll.ready(hasJobs.descriptor.number, for: .readable, milliseconds: -1)
            hasJobs.clear()
            // Not kept: whoever is told that a file is done may want to lock it.
            let results = Self.perform(takeJobs())
            guard !results.isEmpty else { continue }
            shared.withLock { $0.results += results }
            hasResults.signal()
        }
    }

    private func takeJobs() -> [Job] {
        shared.withLock { shared in
            defer { shared.jobs = [] }
            return shared.jobs
        }
    }

    private static func perform(_ jobs: [Job]) -> [Result] {
        var results: [Result] = []
        var systems: [UInt64] = []
        for job in jobs where !systems.contains(job.fileSystem) { systems.append(job.fileSystem) }
        for system in systems {
            let together = jobs.filter { $0.fileSystem == system && $0.isLast }
            let areDurable = together.count > 1 && synchronize(together)
            for job in jobs where job.fileSystem == system {
                let own =
                    job.isLast && areDurable
                    ? nil
                    : problem { () throws(LinuxError) in try job.file.descriptor.synchronize() }
                results.append(
                    Result(
                        id: job.id,
                        filled: job.filled,
                        beginnings: job.beginnings,
                        isLast: job.isLast,
                        problem: own ?? checksumProblem(job)
                    )
                )
            }
        }
        return results
    }

    /// With one call for all of them. False: each needs a call of its own, which tells what is
    /// wrong with it and not with the files of others.
    static func synchronize(
        _ jobs: [Job],
        with call: (DownloadFile) throws(LinuxError) -> Void = synchronizeFileSystem(of:)
    ) -> Bool {
        // The call reports errors since its descriptor was opened. The oldest one covers all files.
        guard let oldest = jobs.min(by: { $0.file.openedAt < $1.file.openedAt }),
            oldest.file.descriptor.syncsFilesTogether
        else { return false }
        return (try? call(oldest.file)) != nil
    }

    static func synchronizeFileSystem(of file: DownloadFile) throws(LinuxError) {
        try file.descriptor.synchronizeFileSystem()
    }

    private static func problem(_ body: () throws(LinuxError) -> Void) -> Result.Problem? {
        do throws(LinuxError) {
            try body()
            return nil
        } catch {
            return .system(error)
        }
    }

    private static func checksumProblem(_ job: Job) -> Result.Problem? {
        guard let wanted = job.sha256 else { return nil }
        do throws(LinuxError) {
            var sum = MessageDigest(.sha256)
            var offset: Int64 = 0
            while offset < job.size {
                let count = Int(min(1 << 20, job.size - offset))
                let bytes = try job.file.descriptor.read(at: offset, count: count)
                guard !bytes.isEmpty else { return .checksum(found: nil) }
                sum.add(bytes)
                offset += Int64(bytes.count)
            }
            let found = sum.finish()
            return found == wanted ? nil : .checksum(found: found)
        } catch {
            return .system(error)
        }
    }

    // MARK: The loop

    /// `take` is called on the loop for each result.
    func attach(
        to loop: EventLoop,
        _ take: @escaping (Result) -> Void
    ) throws(LinuxError) -> DescriptorSource {
        try DescriptorSource(loop, hasResults.descriptor.number, .readable) { [self] _ in
            hasResults.clear()
            let results = shared.withLock { shared in
                defer { shared.results = [] }
                return shared.results
            }
            for result in results { take(result) }
        }
    }
}

/// An open file that the loop and the thread share.
final class DownloadFile: Sendable {
    let descriptor: FileDescriptor
    /// In the order in which the daemon has opened them.
    let openedAt = Clocks.boot()

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}
