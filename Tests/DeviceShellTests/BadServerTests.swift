import Linux
import TestKit
import Testing
import Vocabulary

/// Servers that should not be, or that others stand in for: a clear error, bounded memory, and no
/// file but the one that was asked for.
struct BadServerTests {
    private let bench: DownloadBench
    private let server: FaultServer

    init() throws {
        bench = try DownloadBench()
        server = bench.server
    }

    /// Above what the process needs for anything that is as it should be.
    private static let mostMemory: Int64 = 64 << 20

    private func refusal(_ options: [String] = []) throws -> String {
        let outcome = try bench.download(["-w"] + options, succeeds: false)
        #expect(try bench.names() == [])
        return outcome.errors
    }

    // MARK: Answers

    @Test(arguments: ["this is not HTTP\r\n\r\n", "\0\u{1}\u{2}\r\n\r\n", "HTTP/1.1 abc\r\n\r\n"])
    func `garbage is an error`(text: String) throws {
        server.change("/file") { $0.garbage = text }
        #expect(try refusal().contains("offstage:"))
    }

    @Test func `garbage and heads without end are ended, in little memory`() throws {
        server.change("/file") { ($0.garbage, $0.isEndless) = ("nothing of HTTP", true) }
        #expect(try refusal().contains("offstage:"))
        server.change("/file") { ($0.garbage, $0.hasEndlessHead) = (nil, true) }
        #expect(try refusal().contains("header"))
        server.change("/file") {
            ($0.garbage, $0.hasEndlessHead) = ("HTTP/1.1 200 OK\r\nX-Long: ", false)
        }
        #expect(try refusal().contains("a header line without an end"))
        #expect(try bench.peakMemory(of: bench.networkProcess()) < Self.mostMemory)
    }

    /// A thousand times as large as what is sent.
    @Test(arguments: [false, true])
    func `what is compressed unasked is not unpacked`(isPart: Bool) throws {
        let scratch = ScratchDirectory()
        let bomb = try scratch.compressed([UInt8](repeating: 0, count: 128 << 20))
        if isPart { server.change("/file") { ($0.holdsAfter, $0.dropsAfter) = (65_536, 500_000) } }
        server.change("/file") { if !isPart { $0.compressed = bomb } }
        let id = try bench.enqueue()
        if isPart {
            try server.waitUntilHeld(1)
            server.change("/file") { $0.compressed = bomb }
            server.release()
        }
        try bench.waitForEnd(id)
        let isAsSent = try Files.read(bench.path("file"), limit: 1 << 26) == bomb
        #expect(isAsSent)
        #expect(try bench.names() == ["file"])
        #expect(try bench.peakMemory(of: bench.networkProcess()) < Self.mostMemory)
    }

    @Test func `fewer bytes than said are no whole file`() throws {
        server.change("/file") { ($0.lengthError, $0.holdsAfter) = (100, 500_000) }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        server.change("/file") { ($0.lengthError, $0.holdsAfter) = (0, nil) }
        server.release()
        try bench.waitForEnd(id)
        try bench.expectVersion(1)
        // What there was is of another length: it is of no use.
        #expect(server.requests.map { $0.fields["range"] } == [nil, "bytes=1048576-", nil])
    }

    @Test func `a slow server is waited for`() throws {
        server.change("/file") {
            $0.object.size = 1000
            $0.dripsBytes = 20
        }
        try bench.download(["-w"])
        try bench.expect(VersionedObject(version: 1, size: 1000))
    }

    // MARK: Parts

    private struct Part: Sendable {
        let name: String
        let change: @Sendable (inout FaultServer.Behaviour) -> Void
        init(_ name: String, _ change: @escaping @Sendable (inout FaultServer.Behaviour) -> Void) {
            (self.name, self.change) = (name, change)
        }
    }

    private static let parts = [
        Part("of another place") { $0.rangeShift = 1 },
        Part("of an earlier place") { $0.rangeShift = -1 },
        Part("of a longer whole") { $0.totalError = 1 },
        Part("in several parts") { $0.sendsSeveralParts = true },
        Part("of which nothing is there") { ($0.status, $0.statusCount) = (416, 1) },
        Part("that depends on something") { ($0.status, $0.statusCount) = (412, 1) },
        Part("which is all") { $0.honoursRange = false },
        Part("in chunks") { $0.isChunked = true },
        Part("that is small") { $0.partLimit = 100_000 },
    ]

    @Test(arguments: parts.indices)
    func `whatever a server says for the rest, the file is what it has`(index: Int) throws {
        let part = Self.parts[index]
        server.change("/file") { ($0.holdsAfter, $0.dropsAfter) = (600_000, 700_000) }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        server.change("/file") {
            ($0.holdsAfter, $0.dropsAfter) = (nil, nil)
            part.change(&$0)
        }
        server.release()
        try bench.waitForEnd(id)
        try bench.expectVersion(1)
        #expect(server.requests[1].fields["range"] == "bytes=700000-", "\(part.name)")
    }

    @Test func `an object that has become shorter is fetched anew`() throws {
        server.change("/file") { ($0.holdsAfter, $0.dropsAfter) = (600_000, 700_000) }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        let short = VersionedObject(version: 2, size: 1000)
        // It answers 416, with the tag that it has now.
        server.change("/file") {
            $0 = .init(short)
            $0.ignoresIfRange = true
        }
        server.release()
        try bench.waitForEnd(id)
        try bench.expect(short)
    }

    // MARK: Redirects

    @Test func `headers are not told to another host`() throws {
        let other = try FaultServer()
        other.set("/file", .init(VersionedObject(version: 5, size: 1000)))
        server.change("/file") { $0.redirect = other.url("/file") }
        try bench.download(
            ["-w", "--header", "Authorization: secret", "--header", "X-Own: secret"]
        )
        #expect(server.requests[0].fields["authorization"] == "secret")
        #expect(other.requests[0].fields["authorization"] == nil)
        #expect(other.requests[0].fields["x-own"] == nil)
        try bench.expect(VersionedObject(version: 5, size: 1000))
    }

    @Test func `a loop of redirects ends`() throws {
        server.change("/file") { $0.redirect = "/file" }
        #expect(try refusal().contains("more than 20 redirects"))
        #expect(server.requests.count == 21)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/file", "gopher://127.0.0.1/"])
    func `a redirect to what is not HTTP is refused`(target: String) throws {
        server.change("/file") { $0.redirect = target }
        #expect(try refusal().contains("not http or https"))
    }

    // MARK: TLS

    @Test func `a redirect from https to http is refused`() throws {
        let bench = try DownloadBench(as: FaultIdentity())
        server.set("/open", .init(VersionedObject(version: 5, size: 1000)))
        bench.server.change("/file") { $0.redirect = server.url("/open") }
        let outcome = try bench.download(["-w"], succeeds: false)
        #expect(outcome.errors.contains("from https to http"))
        #expect(server.requests.isEmpty)
        #expect(try bench.names() == [])
    }

    @Test func `a server whom nobody vouches for is not trusted`() throws {
        let bench = try DownloadBench(as: FaultIdentity())
        let other = try FaultServer(as: FaultIdentity())
        other.set("/file", .init(VersionedObject(version: 5, size: 1000)))
        let outcome = try bench.offstage("download", "-w", other.url("/file"))
        #expect(!outcome.succeeded && outcome.errors.contains("certificate"))
        #expect(other.requests.isEmpty)
        try bench.download(["-w"])
        try bench.expectVersion(1)
    }

    @Test func `an HTTP/2 server that goes away in the middle is asked for the rest`() throws {
        let bench = try DownloadBench(as: FaultIdentity())
        bench.server.goAway(after: 60_000, of: "/file")
        try bench.download(["-w"])
        try bench.expectVersion(1)
        #expect(bench.server.requests.map { $0.fields["range"] } == [nil, "bytes=60000-"])
    }

    // MARK: Captive portals

    private static let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Log in first."

    private func checksum() throws -> [String] {
        let scratch = ScratchDirectory()
        let object = try #require(server.object("/file"))
        scratch.write(object.all, to: "whole")
        let digits = try Command("sha256sum", scratch("whole")).run().output.prefix(64)
        return ["--checksum", "sha256:\(digits)"]
    }

    @Test func `the page of a captive portal does not replace what was there`() throws {
        try Files.replace(bench.path("file"), with: "old")
        let options = try ["-w", "--overwrite"] + checksum()
        server.change("/file") { $0.garbage = Self.page }
        let outcome = try bench.download(options, succeeds: false)
        #expect(outcome.errors.contains("SHA-256"))
        #expect(try Files.text(bench.path("file")) == "old")
        #expect(try bench.names() == ["file"])
        server.change("/file") { $0.garbage = nil }
        try bench.download(options)
        try bench.expectVersion(1)
    }

    @Test func `the page of a captive portal is not joined to what has come`() throws {
        try Files.replace(bench.path("file"), with: "old")
        server.change("/file") { ($0.holdsAfter, $0.dropsAfter) = (600_000, 700_000) }
        let id = try bench.enqueue(["--overwrite"] + checksum())
        try server.waitUntilHeld(1)
        #expect(try Files.text(bench.path("file")) == "old")
        server.change("/file") { $0.garbage = Self.page }
        server.release()
        try bench.waitForEnd(id)
        #expect(try bench.state(of: id)?["failure"] == "checksum")
        #expect(try Files.text(bench.path("file")) == "old")
        #expect(try bench.names() == ["file"])
    }
}
