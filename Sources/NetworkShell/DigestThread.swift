import EventLoop
import Linux
import Synchronization
import Vocabulary

/// Reads once more what was sent of files, in a thread of its own: gigabytes take their time. All
/// files have their turn, a piece each.
final class DigestThread: Sendable {
    struct Job: Sendable {
        let id: TransferID
        let file: SourceFile
        /// It gets what it lacks of the file.
        let digest: SentDigest
        /// What is known of the file; not beyond `end`. Nil: nothing.
        let known: SentPart?
        let end: Int64
    }

    struct Result: Sendable {
        let id: TransferID
        /// That of the job: it tells one attempt from the next.
        let file: SourceFile
        let digest: SentDigest
        let problem: Problem?

        enum Problem: Error, Equatable, Sendable {
            /// The file is not what is known of it, or is shorter.
            case changed
            case system(LinuxError)
        }
    }

    private struct Shared {
        var jobs: [Job] = []
        var results: [Result] = []
    }

    private let shared = Mutex(Shared())
    private let hasJobs: EventCounter
    private let hasResults: EventCounter

    /// Of one file, before the next one has its turn.
    private static let pieceBytes: Int64 = 16 << 20
    private static let readBytes: Int64 = 1 << 20

    init() throws(LinuxError) {
        hasJobs = try EventCounter()
        hasResults = try EventCounter()
        try CurrentProcess.startThread(named: "offstage-digest") { [self] in work() }
    }

    func add(_ job: Job) {
        shared.withLock { $0.jobs.append(job) }
        hasJobs.signal()
    }

    // MARK: The thread

    private func work() {
        while true {
            _ = Poll.ready(hasJobs.descriptor.number, for: .readable, milliseconds: -1)
            hasJobs.clear()
            while let job = next() {
                do throws(Result.Problem) {
                    guard try Self.goOn(with: job) else {
                        shared.withLock { $0.jobs.append(job) }
                        continue
                    }
                    finish(job, nil)
                } catch {
                    finish(job, error)
                }
            }
        }
    }

    private func next() -> Job? {
        shared.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
    }

    private func finish(_ job: Job, _ problem: Result.Problem?) {
        let result = Result(id: job.id, file: job.file, digest: job.digest, problem: problem)
        shared.withLock { $0.results.append(result) }
        hasResults.signal()
    }

    /// Whether it is done.
    static func goOn(with job: Job) throws(Result.Problem) -> Bool {
        let pause = job.digest.count + pieceBytes
        // Nobody waits for it any more.
        if job.file.isGivenUp { return true }
        while job.digest.count < min(job.end, pause) {
            let offset = job.digest.count
            // What is known is compared as soon as it is there.
            let known = job.known.map(\.count) ?? 0
            let next = known > offset ? known : job.end
            let bytes = try read(job.file, at: offset, count: min(readBytes, next - offset))
            guard !bytes.isEmpty else { throw .changed }
            job.digest.add(bytes.span, at: offset)
            guard job.digest.count == known else { continue }
            guard job.digest.part == job.known else { throw .changed }
        }
        return job.digest.count >= job.end
    }

    private static func read(
        _ file: SourceFile,
        at offset: Int64,
        count: Int64
    ) throws(Result.Problem) -> [UInt8] {
        do throws(LinuxError) {
            return try file.descriptor.read(at: offset, count: Int(count))
        } catch {
            throw .system(error)
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

/// An open file that is sent, and read by the loop and the thread.
final class SourceFile: Sendable {
    let descriptor: FileDescriptor
    private let givenUp = Atomic(false)

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// Its upload is over.
    func giveUp() { givenUp.store(true, ordering: .relaxed) }
    var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }
}
