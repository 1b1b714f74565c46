import Linux
import TestKit
import Testing
import Vocabulary

/// Downloads with everything real: command line, daemon, network process, and a server that
/// misbehaves. What arrives is compared with what the server had, byte by byte.
struct DownloadTests {
    private let server: FaultServer
    private let daemon: ScratchDaemon
    private static let size: Int64 = 1 << 20

    init() throws {
        server = try FaultServer()
        daemon = try ScratchDaemon(settings: "pause-after-start=0\n")
        server.set("/file", .init(VersionedObject(version: 1, size: Self.size)))
        try daemon.start()
    }

    // MARK: Whole files

    @Test func `a file arrives under the name of its URL, with the server's time`() throws {
        server.change("/file") {
            $0.fields = ["Last-Modified: Sun, 01 Mar 2026 12:00:00 GMT"]
        }
        try download(["-w"])
        try expectVersion(1)
        let status = try #require(Files.status(path("file")))
        #expect(status.modified / 1_000_000_000 == 1_772_366_400)
        #expect(try names() == ["file"])
        #expect(try offstage("transfers").output.contains("finished"))
    }

    @Test func `the name of Content-Disposition leads to no other directory`() throws {
        server.change("/file") {
            $0.fields = ["Content-Disposition: attachment; filename=\"../../.bashrc\""]
        }
        try download(["-w"])
        #expect(try names() == ["bashrc"])
    }

    @Test func `a file that exists is kept, and replaced only when asked for`() throws {
        try Files.replace(path("file"), with: "old")
        let refused = try download(["-w"], succeeds: false)
        #expect(refused.errors.contains("there is a file of that name already"))
        #expect(try Files.text(path("file")) == "old")
        try download(["-w", "--overwrite"])
        try expectVersion(1)
        #expect(try names() == ["file"])
    }

    @Test func `a page of a captive portal does not replace what was there`() throws {
        try Files.replace(path("file"), with: "old")
        let sum = String(repeating: "ab", count: 32)
        let outcome = try download(
            ["-w", "--overwrite", "--checksum", "sha256:\(sum)"],
            succeeds: false
        )
        #expect(outcome.errors.contains("SHA-256"))
        #expect(try Files.text(path("file")) == "old")
        #expect(try names() == ["file"])
    }

    @Test(arguments: [404, 410, 403]) func `an error leaves no file`(status: Int) throws {
        server.change("/file") { $0.status = status }
        let outcome = try download(["-w"], succeeds: false)
        #expect(outcome.errors.contains("\(status)"))
        #expect(try names() == [])
    }

    @Test func `a server that is busy is asked again`() throws {
        server.change("/file") { ($0.status, $0.statusCount) = (503, 2) }
        try download(["-w"])
        try expectVersion(1)
        #expect(server.requests.count == 3)
    }

    // MARK: Interrupted ones

    @Test func `a connection that breaks costs nothing but what was on its way`() throws {
        server.change("/file") { $0.dropsAfter = 700_000 }
        try download(["-w"])
        try expectVersion(1)
        let ranges = server.requests.compactMap { $0.fields["range"] }
        #expect(ranges == ["bytes=700000-"])
        #expect(server.requests.last?.fields["if-range"] == "\"1\"")
    }

    @Test func `an object that changed in between is fetched anew`() throws {
        server.change("/file") { ($0.dropsAfter, $0.holdsAfter) = (700_000, 600_000) }
        let id = try enqueue()
        try server.waitUntilHeld(1)
        server.change("/file") { $0 = .init(VersionedObject(version: 2, size: Self.size)) }
        server.release()
        try waitForEnd(id)
        try expectVersion(2)
    }

    /// What `curl -C -` and `aria2c -c` take for the rest of the first one.
    @Test func `a part of another version is not joined, whatever the server says`() throws {
        server.change("/file") { ($0.dropsAfter, $0.holdsAfter) = (700_000, 600_000) }
        let id = try enqueue()
        try server.waitUntilHeld(1)
        server.change("/file") {
            $0 = .init(VersionedObject(version: 2, size: Self.size))
            $0.ignoresIfRange = true
        }
        server.release()
        try waitForEnd(id)
        try expectVersion(2)
    }

    @Test(arguments: [FaultServer.Tag.weak, .absent])
    func `without a strong validator it begins anew`(tag: FaultServer.Tag) throws {
        server.change("/file") { ($0.tag, $0.dropsAfter, $0.holdsAfter) = (tag, 700_000, 600_000) }
        let id = try enqueue()
        try server.waitUntilHeld(1)
        server.change("/file") { ($0.dropsAfter, $0.holdsAfter) = (nil, nil) }
        server.release()
        try waitForEnd(id)
        try expectVersion(1)
        #expect(server.requests.allSatisfy { $0.fields["range"] == nil })
    }

    @Test func `a server that sends only small parts is asked for the rest`() throws {
        server.change("/file") { ($0.dropsAfter, $0.partLimit) = (500_000, 300_000) }
        try download(["-w"])
        try expectVersion(1)
    }

    @Test func `a daemon that is killed goes on where it was`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try enqueue()
        try server.waitUntilHeld(1)
        try daemon.kill()
        server.change("/file") { $0.holdsAfter = nil }
        server.release()
        try daemon.start()
        try waitForEnd(id)
        try expectVersion(1)
        #expect(try names() == ["file"])
    }

    @Test func `a network process that is killed is replaced`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try enqueue()
        try server.waitUntilHeld(1)
        let process = try #require(try daemon.networkProcess())
        try PidFD(of: process).send(Signal.kill)
        server.change("/file") { $0.holdsAfter = nil }
        server.release()
        try waitForEnd(id)
        try expectVersion(1)
    }

    // MARK: Servers that should not be

    @Test func `garbage, endless heads and wrong lengths end in an error`() throws {
        server.change("/file") { $0.garbage = "this is not HTTP\r\n\r\n" }
        #expect(try download(["-w"], succeeds: false).errors.contains("offstage:"))
        server.change("/file") { ($0.garbage, $0.hasEndlessHead) = (nil, true) }
        #expect(try download(["-w"], succeeds: false).errors.contains("header"))
        #expect(try names() == [])
    }

    @Test func `headers are not told to another host`() throws {
        let other = try FaultServer()
        other.set("/file", .init(VersionedObject(version: 5, size: 1000)))
        server.change("/file") { $0.redirect = other.url("/file") }
        try download(["-w", "--header", "Authorization: secret", "--header", "X-Own: secret"])
        #expect(server.requests[0].fields["authorization"] == "secret")
        #expect(other.requests[0].fields["authorization"] == nil)
        #expect(other.requests[0].fields["x-own"] == nil)
        try expect(VersionedObject(version: 5, size: 1000))
    }

    @Test func `a loop of redirects ends`() throws {
        server.change("/file") { $0.redirect = "/file" }
        let outcome = try download(["-w"], succeeds: false)
        #expect(outcome.errors.contains("more than 20 redirects"))
        #expect(server.requests.count == 21)
    }

    @Test func `a redirect to a file of this machine is refused`() throws {
        server.change("/file") { $0.redirect = "file:///etc/passwd" }
        let outcome = try download(["-w"], succeeds: false)
        #expect(outcome.errors.contains("not http or https"))
        #expect(try names() == [])
    }

    // MARK: What the user does

    @Test func `a cancelled download leaves nothing`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try enqueue()
        try server.waitUntilHeld(1)
        _ = try offstage("transfers", "--cancel", id)
        try waitForEnd(id)
        #expect(try names() == [])
        server.release()
        #expect(try offstage("transfers", "--clear").succeeded)
        #expect(try offstage("transfers").output.contains("no transfers"))
    }

    @Test func `a directory that is a link by now is not followed`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        try Files.makeDirectory(daemon.scratch("home/real"))
        let outcome = try offstage("download", "-d", daemon.scratch("home/real"), url)
        #expect(outcome.succeeded)
        try server.waitUntilHeld(1)
        try Files.rename(daemon.scratch("home/real"), to: daemon.scratch("home/moved"))
        _ = try Command("ln", "-s", daemon.scratch("home"), daemon.scratch("home/real")).run()
        server.release()
        let id = try #require(outcome.output.split(separator: " ").dropFirst().first?.dropLast())
        try waitForEnd(String(id))
        #expect(!Files.exists(daemon.scratch("home/file")))
    }

    // MARK: Helpers

    private var url: String { server.url("/file") }
    private func path(_ name: String) -> String { daemon.scratch("home/" + name) }

    private func names() throws -> [String] { try Files.list(daemon.scratch("home")).sorted() }

    @discardableResult
    private func offstage(_ words: String...) throws -> Command.Outcome {
        try run(words)
    }

    private func run(_ words: [String]) throws -> Command.Outcome { try daemon.offstage(words) }

    @discardableResult
    private func download(
        _ options: [String],
        succeeds: Bool = true
    ) throws -> Command.Outcome {
        let outcome = try run(["download"] + options + [url])
        #expect(outcome.succeeded == succeeds, "\(outcome.output)\(outcome.errors)\(daemon.log)")
        return outcome
    }

    /// Its number.
    private func enqueue() throws -> String {
        let outcome = try download([])
        return String(outcome.output.dropFirst("transfer ".count).prefix { $0 != ":" })
    }

    private func waitForEnd(_ id: String) throws {
        try Wait.until("transfer \(id) ends") {
            let list = try ValueJSON.parse(offstage("transfers", "--json").output).listValue ?? []
            return list.contains { $0["id"]?.integerValue == Int64(id) && $0["ended"] != nil }
        }
    }

    private func expectVersion(_ version: UInt64) throws {
        try expect(VersionedObject(version: version, size: Self.size))
    }

    private func expect(_ object: VersionedObject) throws {
        let bytes = try Files.read(path("file"), limit: 1 << 24)
        #expect(bytes.count == object.size)
        #expect(bytes == object.all, "it is not version \(object.version)")
    }
}
