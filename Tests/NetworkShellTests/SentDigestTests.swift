import Curl
import Linux
@testable import NetworkShell
import TestKit
import Testing
import Vocabulary

/// What was sent of a file, summed up as it goes, and compared with the file before it goes on.
struct SentDigestTests {
    private let folder = ScratchDirectory()
    private let bytes = VersionedObject(version: 1, size: 3 << 20).all
    private typealias Problem = DigestThread.Result.Problem

    private func add(_ range: Range<Int>, to digest: SentDigest) {
        let part = Array(bytes[range])
        digest.add(part.span, at: Int64(range.lowerBound))
    }

    /// Of the first bytes.
    private func part(_ count: Int) -> SentPart? {
        let digest = SentDigest()
        add(0..<count, to: digest)
        return digest.part
    }

    private func file(_ bytes: [UInt8]) throws -> SourceFile {
        let path = folder("file")
        try FileDescriptor(opening: path, [.writing, .create, .truncate]).writeAll(bytes.span)
        return SourceFile(try FileDescriptor(opening: path, [.reading]))
    }

    private func job(
        _ file: SourceFile,
        _ digest: SentDigest,
        _ known: SentPart?,
        end: Int64
    ) -> DigestThread.Job {
        DigestThread.Job(id: TransferID(1), file: file, digest: digest, known: known, end: end)
    }

    @Test func `what is sent twice counts once, and what does not follow is left out`() throws {
        let digest = SentDigest()
        #expect(digest.part?.count == 0)
        add(0..<1000, to: digest)
        // The server had less than was sent.
        add(600..<900, to: digest)
        add(600..<1500, to: digest)
        #expect(digest.part == part(1500))
        add(2000..<2100, to: digest)
        #expect(digest.part == part(1500))
    }

    /// The server may have more than what is known of, or less: it goes on from there.
    @Test(arguments: [1000, 2_000_000, 3 << 20])
    func `a digest goes on behind what was looked at`(count: Int) throws {
        let known = try #require(part(count))
        let digest = SentDigest()
        let end = max(count, 2_500_000)
        #expect(try DigestThread.goOn(with: job(try file(bytes), digest, known, end: Int64(end))))
        #expect(digest.part == part(end))
        add(end..<bytes.count, to: digest)
        #expect(digest.part == part(bytes.count))
    }

    @Test func `a file that is another, or shorter, is noticed`() throws {
        let known = try #require(part(2_000_000))
        let size = Int64(bytes.count)
        for place in [0, 1_999_999] {
            var changed = bytes
            changed[place] ^= 1
            let job = job(try file(changed), SentDigest(), known, end: size)
            #expect(throws: Problem.changed) {
                try DigestThread.goOn(with: job)
            }
        }
        // Behind it nobody knows what was there.
        var other = bytes
        other[2_000_000] ^= 1
        #expect(try DigestThread.goOn(with: job(try file(other), SentDigest(), known, end: size)))
        let short = job(try file(Array(bytes[..<100])), SentDigest(), known, end: size)
        #expect(throws: Problem.changed) {
            try DigestThread.goOn(with: short)
        }
    }

    @Test func `a large file takes turns with others, and what is over is left`() throws {
        let size: Int64 = 40 << 20
        let path = folder("large")
        let made = try FileDescriptor(opening: path, [.both, .create])
        try made.truncate(to: size)
        let large = job(SourceFile(made), SentDigest(), nil, end: size)
        var turns = 1
        while try !DigestThread.goOn(with: large) { turns += 1 }
        #expect(turns == 3 && large.digest.count == size)
        let over = job(try file(bytes), SentDigest(), nil, end: Int64(bytes.count))
        over.file.giveUp()
        #expect(try DigestThread.goOn(with: over) && over.digest.count == 0)
    }

    // MARK: Attempts

    /// One whose server has these bytes, and which has asked what it has.
    private func resumed(_ bytes: [UInt8], _ known: SentPart) throws -> Upload {
        let path = folder("file")
        try FileDescriptor(opening: path, [.writing, .create, .truncate]).writeAll(bytes.span)
        let file = try FileDescriptor(opening: path, [.reading])
        var order = UploadOrder(url: "http://a.example/up", source: try file.status().identity)
        order.resource = UploadResource(
            url: "http://a.example/made/1",
            interop: .eight,
            offset: known.count
        )
        order.sent = known
        let upload = Upload(TransferID(1), order, file)
        upload.begin()
        let asked = upload.takeTasks().compactMap(\.options)
        let request = try CurlRequest(try #require(asked.first))
        upload.use(request, on: 0) {}
        let head = ["HTTP/1.1 204 No Content", "Upload-Offset: \(known.count)", ""]
        for line in head { _ = request.headLine(line) }
        upload.requestEnded(request, on: 0, nil)
        return upload
    }

    @Test func `what was read for an attempt that was stopped says nothing of the next`() throws {
        let known = try #require(part(2_000_000))
        var changed = bytes
        changed[0] ^= 1
        let upload = try resumed(changed, known)
        let job = try #require(upload.takeTasks().compactMap(\.job).first)
        let earlier = try file(bytes)
        earlier.giveUp()
        upload.digested(.init(id: job.id, file: earlier, digest: SentDigest(), problem: nil))
        #expect(upload.takeTasks().isEmpty)
        upload.digested(.init(id: job.id, file: job.file, digest: job.digest, problem: nil))
        #expect(upload.takeTasks().contains { $0.options != nil })
    }
}

extension ExchangeTask {
    fileprivate var options: CurlRequest.Options? {
        if case .request(let options, _) = self { options } else { nil }
    }

    fileprivate var job: DigestThread.Job? {
        if case .digest(let job) = self { job } else { nil }
    }
}
