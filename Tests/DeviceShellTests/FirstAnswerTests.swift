import Linux
import TestKit
import Testing
import Vocabulary

/// What the first answer says of a file holds for all of it, also if another one brings the rest
/// and says only which part of which version that is, as an answer to `If-Range` may.
struct FirstAnswerTests {
    private let bench: DownloadBench
    private let server: FaultServer

    init() throws {
        bench = try DownloadBench()
        server = bench.server
        server.change("/file") {
            $0.fields = [
                "Content-Disposition: attachment; filename=\"report.pdf\"",
                "Last-Modified: Sun, 01 Mar 2026 12:00:00 GMT",
            ]
            $0.isBrief = true
        }
    }

    private func expectNamed() throws {
        try bench.expect(VersionedObject(version: 1, size: DownloadBench.size), at: "report.pdf")
        let status = try #require(Files.status(bench.path("report.pdf")))
        #expect(status.modified / 1_000_000_000 == 1_772_366_400)
        #expect(try bench.names() == ["report.pdf"])
    }

    private var ranges: [String?] { server.requests.map { $0.fields["range"] } }

    @Test func `a file has the name and the time of before when only the rest has come`() throws {
        server.change("/file") { $0.dropsAfter = 700_000 }
        try bench.download(["-w"])
        try expectNamed()
        #expect(ranges == [nil, "bytes=700000-"])
    }

    @Test func `a file that lacked only the word that it was all has them too`() throws {
        server.change("/file") { ($0.isChunked, $0.dropsAfter) = (true, DownloadBench.size) }
        try bench.download(["-w"])
        try expectNamed()
        // The server says that there is nothing beyond.
        #expect(ranges == [nil, "bytes=1048576-"])
    }

    @Test func `a daemon that is killed leaves them to the next one`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        try Wait.until("its bytes have come") {
            try bench.state(of: id)?["received"]?.integerValue == 600_000
        }
        #expect(try bench.offstage("pause", id).succeeded)
        try bench.waitUntilPaused(id)
        try bench.daemon.kill()
        server.change("/file") { $0.holdsAfter = nil }
        server.release()
        try bench.daemon.start()
        #expect(try bench.offstage("resume", id).succeeded)
        try bench.waitForEnd(id)
        try expectNamed()
        #expect(ranges == [nil, "bytes=600000-"])
    }

    @Test func `another version has a name and a time of its own`() throws {
        server.change("/file") { ($0.dropsAfter, $0.holdsAfter) = (700_000, 600_000) }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        server.change("/file") { $0 = .init(VersionedObject(version: 2, size: DownloadBench.size)) }
        server.release()
        try bench.waitForEnd(id)
        try bench.expectVersion(2)
        let status = try #require(Files.status(bench.path("file")))
        #expect(status.modified / 1_000_000_000 > 1_772_366_400)
        #expect(try bench.names() == ["file"])
    }
}
