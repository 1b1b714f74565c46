import Linux
import TestKit
import Testing
import Vocabulary

/// Downloads that are interrupted, are no longer what they were, or that the user does without.
struct DownloadTests {
    private let bench: DownloadBench
    private let server: FaultServer
    private let daemon: ScratchDaemon

    init() throws {
        bench = try DownloadBench()
        (server, daemon) = (bench.server, bench.daemon)
    }

    // MARK: Whole files

    @Test func `a file arrives under the name of its URL, with the server's time`() throws {
        server.change("/file") {
            $0.fields = ["Last-Modified: Sun, 01 Mar 2026 12:00:00 GMT"]
        }
        try bench.download(["-w"])
        try bench.expectVersion(1)
        let status = try #require(Files.status(bench.path("file")))
        #expect(status.modified / 1_000_000_000 == 1_772_366_400)
        #expect(try bench.names() == ["file"])
        #expect(try bench.offstage("transfers").output.contains("finished"))
    }

    @Test func `a file that exists is kept, and replaced only when asked for`() throws {
        try Files.replace(bench.path("file"), with: "old")
        let refused = try bench.download(["-w"], succeeds: false)
        #expect(refused.errors.contains("there is a file file already; --overwrite"))
        #expect(try Files.text(bench.path("file")) == "old")
        try bench.download(["-w", "--overwrite"])
        try bench.expectVersion(1)
        #expect(try bench.names() == ["file"])
    }

    @Test(arguments: [("077", 0o600), ("002", 0o664)] as [(String, UInt32)])
    func `a file has the permissions that the umask of its user leaves, from the first byte`(
        mask: String,
        permissions: UInt32
    ) throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let words = ["download", bench.url, "--socket", daemon.socket]
        let script = "umask \(mask); exec \"$0\" \"$@\""
        var command = Command(["sh", "-c", script, Products.path(of: "offstage")] + words)
        command.directory = bench.path("")
        let outcome = try command.run()
        #expect(outcome.succeeded, "\(outcome.errors)")
        let id = String(outcome.output.dropFirst("transfer ".count).prefix { $0 != ":" })
        try server.waitUntilHeld(1)
        let part = Files.status(bench.path(".offstage-\(id).part"))
        #expect(part?.permissions == permissions)
        server.release()
        try bench.waitForEnd(id)
        try bench.expectVersion(1)
        #expect(Files.status(bench.path("file"))?.permissions == permissions)
    }

    @Test(arguments: [404, 410, 403]) func `an error leaves no file`(status: Int) throws {
        server.change("/file") { $0.status = status }
        let outcome = try bench.download(["-w"], succeeds: false)
        #expect(outcome.errors.contains("\(status)"))
        #expect(try bench.state(of: "1")?["status"]?.integerValue == Int64(status))
        #expect(try bench.names() == [])
    }

    @Test func `a server that is busy is asked again`() throws {
        server.change("/file") { ($0.status, $0.statusCount) = (503, 2) }
        try bench.download(["-w"])
        try bench.expectVersion(1)
        #expect(server.requests.count == 3)
    }

    // MARK: Interrupted ones

    /// Some servers say this of each file that ends with `.gz`.
    @Test(arguments: [false, true])
    func `what is compressed goes on under its own tag`(isWeak: Bool) throws {
        server.change("/file") {
            $0.fields = ["Content-Encoding: x-gzip"]
            if isWeak { $0.tag = .weak }
            ($0.dropsAfter, $0.holdsAfter) = (700_000, 600_000)
        }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        server.change("/file") { ($0.dropsAfter, $0.holdsAfter) = (nil, nil) }
        server.release()
        try bench.waitForEnd(id)
        try bench.expectVersion(1)
        let ranges = server.requests.map { $0.fields["range"] }
        #expect(ranges == [nil, isWeak ? nil : "bytes=700000-"])
    }

    @Test func `a connection that breaks costs nothing but what was on its way`() throws {
        server.change("/file") { $0.dropsAfter = 700_000 }
        try bench.download(["-w"])
        try bench.expectVersion(1)
        let ranges = server.requests.compactMap { $0.fields["range"] }
        #expect(ranges == ["bytes=700000-"])
        #expect(server.requests.last?.fields["if-range"] == "\"1\"")
    }

    @Test func `an object that changed in between is fetched anew`() throws {
        server.change("/file") { ($0.dropsAfter, $0.holdsAfter) = (700_000, 600_000) }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        server.change("/file") { $0 = .init(VersionedObject(version: 2, size: DownloadBench.size)) }
        server.release()
        try bench.waitForEnd(id)
        try bench.expectVersion(2)
    }

    /// What `curl -C -` and `aria2c -c` take for the rest of the first one.
    @Test func `a part of another version is not joined, whatever the server says`() throws {
        server.change("/file") { ($0.dropsAfter, $0.holdsAfter) = (700_000, 600_000) }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        server.change("/file") {
            $0 = .init(VersionedObject(version: 2, size: DownloadBench.size))
            $0.ignoresIfRange = true
        }
        server.release()
        try bench.waitForEnd(id)
        try bench.expectVersion(2)
    }

    @Test(arguments: [FaultServer.Tag.weak, .absent])
    func `without a strong validator it begins anew`(tag: FaultServer.Tag) throws {
        server.change("/file") { ($0.tag, $0.dropsAfter, $0.holdsAfter) = (tag, 700_000, 600_000) }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        server.change("/file") { ($0.dropsAfter, $0.holdsAfter) = (nil, nil) }
        server.release()
        try bench.waitForEnd(id)
        try bench.expectVersion(1)
        #expect(server.requests.allSatisfy { $0.fields["range"] == nil })
    }

    @Test func `a server that sends only small parts is asked for the rest`() throws {
        server.change("/file") { ($0.dropsAfter, $0.partLimit) = (500_000, 300_000) }
        try bench.download(["-w"])
        try bench.expectVersion(1)
    }

    @Test func `a daemon that is killed goes on where it was`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        try daemon.kill()
        server.change("/file") { $0.holdsAfter = nil }
        server.release()
        try daemon.start()
        try bench.waitForEnd(id)
        try bench.expectVersion(1)
        #expect(try bench.names() == ["file"])
    }

    /// It may have bytes in hand that it still writes.
    @Test func `a network process that outlives its daemon is waited for`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        let process = try bench.networkProcess()
        try PidFD(of: process).send(Signal.stop)
        defer { try? PidFD(of: process).send(Signal.kill) }
        try daemon.kill()
        server.change("/file") { $0.holdsAfter = nil }
        server.release()
        try daemon.start()
        try Wait.until("it waits for the other process") {
            let sentence = try bench.state(of: id)?["sentence"]?.stringValue
            return sentence?.contains("another process still has its unfinished file") == true
        }
        #expect(server.requests.count == 1)
        try PidFD(of: process).send(Signal.kill)
        try Wait.untilGone(process)
        try bench.waitForEnd(id)
        try bench.expectVersion(1)
        #expect(try bench.names() == ["file"])
    }

    @Test func `a network process that is killed is replaced`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        let process = try #require(try daemon.networkProcess())
        try PidFD(of: process).send(Signal.kill)
        server.change("/file") { $0.holdsAfter = nil }
        server.release()
        try bench.waitForEnd(id)
        try bench.expectVersion(1)
    }

    /// The store forgets the first version, and the process dies before it may overwrite it: what
    /// is in the file is of no version that anybody knows.
    @Test func `a network process that is killed before it may begin anew leaves one version`()
        throws
    {
        // Its bytes show that the process has looked at all that there was to be read.
        server.set("/other", .init(VersionedObject(version: 9, size: 4 << 20)))
        server.change("/other") { ($0.holdsAfter, $0.dripsBytes) = (65_536, 65_536) }
        server.change("/file") { ($0.dropsAfter, $0.holdsAfter) = (700_000, 600_000) }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        let other = try bench.enqueue(from: "/other")
        try server.waitUntilHeld(2)
        server.change("/file") {
            $0 = .init(VersionedObject(version: 2, size: DownloadBench.size))
            ($0.holdsHead, $0.honoursRange) = (true, false)
        }
        server.release("/file")
        try server.waitUntilHeld(3)
        let process = try bench.networkProcess()
        let (answered, begun) = (server.answered, server.requests.count)
        try daemon.send(Signal.stop)
        server.change("/file") { ($0.holdsHead, $0.honoursRange) = (false, true) }
        server.release("/file")
        try server.waitForAnswers(answered + 1)
        let partial = bench.path(".offstage-\(other).part")
        let size = Files.status(partial)?.size ?? 0
        server.release("/other")
        try Wait.until("it has read on") { Files.status(partial)?.size ?? 0 >= size + 3 * 65_536 }
        try PidFD(of: process).send(Signal.kill)
        try Wait.untilGone(process)
        try daemon.send(Signal.proceed)
        try bench.waitForEnd(id)
        try bench.expectVersion(2)
        let again = server.requests[begun...].filter { $0.path == "/file" }
        #expect(again.count == 1 && again.first?.fields["range"] == nil)
    }

    @Test func `what is not done in a week is over, also if the clock jumps there`() throws {
        let bench = try DownloadBench(options: ["--virtual-clock"])
        bench.server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try bench.enqueue()
        try bench.server.waitUntilHeld(1)
        #expect(try bench.offstage("simulate", "advance", "8d").succeeded)
        try bench.waitForEnd(id)
        #expect(try bench.state(of: id)?["failure"] == "timedOut")
        #expect(try bench.names() == [])
    }

    // MARK: What the user does

    @Test func `a cancelled download leaves nothing`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        _ = try bench.offstage("transfers", "--cancel", id)
        try bench.waitForEnd(id)
        #expect(try bench.names() == [])
        server.release()
        #expect(try bench.offstage("transfers", "--clear").succeeded)
        #expect(try bench.offstage("transfers").output.contains("no transfers"))
    }
}
