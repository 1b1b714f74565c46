import EventLoop
import Linux
@testable import NetworkShell
import TestKit
import Testing
import Vocabulary

/// Complete files are made durable together, and fail by themselves.
struct SyncThreadTests {
    private let scratch = ScratchDirectory()

    private func job(
        _ number: UInt64,
        _ path: String,
        fileSystem: UInt64 = 1,
        size: Int64 = 1,
        sha256: [UInt8]? = nil
    ) throws -> SyncThread.Job {
        SyncThread.Job(
            id: TransferID(number),
            file: DownloadFile(try FileDescriptor(opening: path, .both)),
            fileSystem: fileSystem,
            filled: FilledBytes(prefix: size),
            beginnings: 0,
            isLast: true,
            sha256: sha256
        )
    }

    @Test func `one that cannot be made durable does not fail the others`() throws {
        let (loop, thread) = (try EventLoop(), try SyncThread())
        var results: [TransferID: SyncThread.Result] = [:]
        let source = try thread.attach(to: loop) { results[$0.id] = $0 }
        defer { withExtendedLifetime(source) {} }
        scratch.write("a", to: "one")
        // The kernel makes no file of its own durable.
        thread.add(try job(1, "/proc/self/comm"))
        thread.add(try job(2, scratch("one")))
        thread.flush()
        try Wait.until("both results") {
            results.count == 2
        } step: {
            _ = try loop.runReady()
        }
        #expect(results[TransferID(1)]?.problem != nil)
        #expect(results[TransferID(2)] != nil && results[TransferID(2)]?.problem == nil)
    }

    @Test func `one call goes by the file that was opened first, and may fail`() throws {
        let memory = ScratchDirectory(in: "/dev/shm")
        for name in ["one", "two"] { memory.write("a", to: name) }
        let first = try job(1, memory("one"))
        let jobs = [try job(2, memory("two")), first]
        var asked: [DownloadFile] = []
        #expect(SyncThread.synchronize(jobs) { asked.append($0) })
        #expect(asked.count == 1 && asked.first === first.file)
        let failed = SyncThread.synchronize(jobs) { _ throws(LinuxError) in
            throw LinuxError("syncfs", "", .inputOutput)
        }
        #expect(!failed, "each is asked by itself then")
    }

    @Test func `one call is enough where it tells of failures`() throws {
        let memory = ScratchDirectory(in: "/dev/shm")
        memory.write("a", to: "file")
        func isEnough(_ path: String) throws -> Bool {
            try FileDescriptor(opening: path, .both).syncsFilesTogether
        }
        #expect(try isEnough(memory("file")))
        #expect(try !isEnough("/proc/self/comm"))
    }

    @Test func `a file system that takes long does not hold up another`() throws {
        let loop = try EventLoop()
        var done: [TransferID] = []
        let threads = try SyncThreads(loop) { done.append($0.id) }
        let size: Int64 = 16 << 30
        let long = try FileDescriptor(opening: scratch("long"), [.both, .create])
        try long.truncate(to: size)
        scratch.write("a", to: "short")
        // All of it is read for its sum, which takes seconds, and the other is asked for after it.
        threads.add(try job(1, scratch("long"), size: size, sha256: [0]))
        threads.add(try job(2, scratch("short"), fileSystem: 2))
        threads.flush()
        try Wait.until("a result") {
            !done.isEmpty
        } step: {
            _ = try loop.runReady()
        }
        #expect(done == [TransferID(2)])
        // It is shorter than it was, and over.
        try long.truncate(to: 0)
        try Wait.until("the other one") {
            done.count == 2
        } step: {
            _ = try loop.runReady()
        }
    }
}
