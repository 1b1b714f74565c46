import Curl
import Linux
@testable import NetworkShell
import TestKit
import Testing
import Vocabulary
import Wire

/// A file that could not be made durable. The kernel says so once: what it says afterwards is not
/// to be believed.
struct FailedSyncTests {
    private let scratch = ScratchDirectory()
    private static let id = TransferID(1)

    /// All of its bytes have come while the first of them were being made durable.
    private func complete() throws -> (download: Download, job: SyncThread.Job) {
        let file = try FileDescriptor(opening: scratch("file"), [.both, .create])
        let download = Download(Self.id, ExchangeOrder(url: "http://a/"), file)
        download.begin()
        guard case .request(let options, let connection)? = download.takeTasks().first else {
            throw DidNotHappen(description: "a request")
        }
        let request = try CurlRequest(options)
        download.use(request, on: connection) {}
        let bytes = [UInt8](repeating: 1, count: 5 << 20)
        for line in ["HTTP/1.1 200 OK", "ETag: \"1\"", "Content-Length: \(2 * bytes.count)", ""] {
            _ = request.headLine(line)
        }
        _ = request.body(bytes.span)
        let jobs = download.takeTasks().compactMap { task in
            if case .sync(let job) = task { job } else { nil }
        }
        let job = try #require(jobs.first)
        #expect(jobs.count == 1 && !job.isLast)
        _ = request.body(bytes.span)
        download.requestEnded(request, on: connection, nil)
        #expect(!download.needsConnections)
        return (download, job)
    }

    private func synced(_ job: SyncThread.Job, _ errno: Errno?) -> SyncThread.Result {
        SyncThread.Result(
            id: job.id,
            filled: job.filled,
            beginnings: job.beginnings,
            isLast: job.isLast,
            problem: errno.map { .system(LinuxError("fsync", "file", $0)) }
        )
    }

    @Test(arguments: [Errno.noSpace, .quota, .inputOutput])
    func `it is over, and nothing more of it is durable`(_ errno: Errno) throws {
        let (download, job) = try complete()
        _ = download.takeTasks()
        download.synced(synced(job, errno))
        var ends: [(ExchangeEnd, Int64?)] = []
        for task in download.takeTasks() {
            switch task {
            case .sync: Issue.record("it is asked again")
            case .done(.ended(Self.id, let end, let durable)): ends.append((end, durable))
            default: break
            }
        }
        #expect(ends.count == 1 && ends.first?.1 == 0)
        let isFull = ends.first?.0 == .interrupted(.init(.diskFull))
        #expect(isFull == (errno != .inputOutput))
        #expect(ends.first?.0.isComplete == false)
    }

    @Test func `one that is durable so far is made durable to its end`() throws {
        let (download, job) = try complete()
        download.synced(synced(job, nil))
        let last = download.takeTasks().compactMap { task in
            if case .sync(let job) = task { job } else { nil }
        }
        #expect(last.count == 1 && last.first?.isLast == true)
    }
}
