import Linux
import TestKit
import Testing
import Vocabulary

/// Where downloads go: never through a name that a server gives or a link that somebody makes, and
/// onto a disk that may be full.
struct DestinationTests {
    private let bench: DownloadBench
    private let server: FaultServer

    init() throws {
        bench = try DownloadBench()
        server = bench.server
    }

    // MARK: Names

    private static let names = [
        ("../../.bashrc", "bashrc"), ("/etc/cron.d/own", "own"), ("..\\..\\own.exe", "own.exe"),
        ("..", "file"), (".", "file"), ("", "file"), ("own/", "own"), ("-rf", "rf"),
        ("a\u{1}b", "file"), (" ~/own ", "own"),
        (String(repeating: "n", count: 3000), String(repeating: "n", count: 200)),
    ]

    @Test(arguments: names.indices)
    func `the name of Content-Disposition leads to no other directory`(index: Int) throws {
        let (name, safe) = Self.names[index]
        server.change("/file") {
            let quoted = name.replacing("\\", with: "\\\\")
            $0.fields = ["Content-Disposition: attachment; filename=\"\(quoted)\""]
        }
        try bench.download(["-w"])
        #expect(try bench.names() == [safe])
    }

    @Test(arguments: [
        ("..%2F..%2Fown", "own"), ("%00own", "own"), ("own%0A", "own"), ("%E2%80%AEown", "own"),
        ("%2e%2e", "file"), ("%ff", "file"),
    ])
    func `nor does one that is written with percent signs`(name: String, safe: String) throws {
        server.change("/file") {
            $0.fields = ["Content-Disposition: attachment; filename*=UTF-8''\(name)"]
        }
        try bench.download(["-w"])
        #expect(try bench.names() == [safe])
    }

    // MARK: A directory that goes

    private func enqueueInDirectory() throws -> String {
        try Files.makeDirectory(bench.path("in"), permissions: 0o755)
        return try bench.enqueue(["-d", bench.path("in")])
    }

    private func renameDirectory() throws {
        #expect(try Command("mv", bench.path("in"), bench.path("out")).run().succeeded)
    }

    @Test func `a directory that gets another name ends what goes there before all of it came`()
        throws
    {
        // All of it would take longer than anybody waits.
        server.change("/file") { $0.dripsBytes = 20 }
        let id = try enqueueInDirectory()
        try Wait.until("bytes come") {
            try bench.state(of: id)?["received"]?.integerValue ?? 0 > 0
        }
        try renameDirectory()
        try bench.waitForEnd(id)
        #expect(try bench.state(of: id)?["failure"] == "file")
        #expect(try bench.names(in: "out") == [], "nothing is left of it")
    }

    @Test func `nothing is left where it was, also of what is complete`() throws {
        server.change("/file") { $0.holdsAfter = DownloadBench.size - 1 }
        let id = try enqueueInDirectory()
        try server.waitUntilHeld(1)
        try renameDirectory()
        server.release()
        try bench.waitForEnd(id)
        #expect(try bench.state(of: id)?["failure"] == "file")
        #expect(try bench.names(in: "out") == [])
    }

    /// As that of a disk that is not mounted when the machine has started.
    @Test func `a directory that is not there as the daemon starts is waited for`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try enqueueInDirectory()
        try server.waitUntilHeld(1)
        try bench.daemon.kill()
        server.change("/file") { $0.holdsAfter = nil }
        server.release()
        try renameDirectory()
        try bench.daemon.start()
        try Wait.until("it waits for its directory") {
            let state = try bench.state(of: id)
            let sentence = state?["sentence"]?.stringValue ?? ""
            return state?["state"] == "waiting" && sentence.contains("is not there")
        }
        #expect(try Command("mv", bench.path("out"), bench.path("in")).run().succeeded)
        #expect(try bench.offstage("resume", id).succeeded)
        try bench.waitForEnd(id)
        #expect(try bench.names(in: "in") == ["file"])
    }

    /// The daemon hears of its end before it has looked for the directory.
    @Test func `nor of what the network process had begun as it died`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try enqueueInDirectory()
        try server.waitUntilHeld(1)
        let network = try PidFD(of: bench.networkProcess())
        try network.send(Signal.stop)
        _ = try bench.state(of: id)
        try renameDirectory()
        #expect(try bench.names(in: "out").count == 1)
        try network.send(Signal.kill)
        try bench.waitForEnd(id)
        #expect(try bench.state(of: id)?["failure"] == "file")
        #expect(try bench.names(in: "out") == [])
    }

    @Test func `nor of what fails while another directory has the name`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        try Files.makeDirectory(bench.path("in"), permissions: 0o755)
        let sum = String(repeating: "0", count: 64)
        let id = try bench.enqueue(["-d", bench.path("in"), "--checksum", sum])
        try server.waitUntilHeld(1)
        try exchangeDirectories(id)
        server.release()
        try bench.waitForEnd(id)
        #expect(try bench.state(of: id)?["failure"] == "checksum")
        #expect(try bench.names(in: "in") == [] && bench.names(in: "out") == [])
    }

    /// So that nobody looks between the two steps.
    private func exchangeDirectories(_ id: String) throws {
        let network = try PidFD(of: bench.networkProcess())
        try network.send(Signal.stop)
        _ = try bench.state(of: id)
        try renameDirectory()
        try Files.makeDirectory(bench.path("in"), permissions: 0o755)
        try network.send(Signal.proceed)
    }

    @Test func `a new directory of the name gets all of it, and the old one keeps no part`() throws
    {
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try enqueueInDirectory()
        try server.waitUntilHeld(1)
        try exchangeDirectories(id)
        server.change("/file") { $0.holdsAfter = nil }
        server.release()
        try bench.waitForEnd(id)
        #expect(try bench.names(in: "in") == ["file"])
        #expect(try bench.names(in: "out") == [])
        let found = try Files.read(bench.path("in/file"), limit: 1 << 21)
        #expect(found == server.object("/file")?.all)
    }

    // MARK: Links

    private func makeVictim() throws -> String {
        try bench.daemon.scratch.write("victim", "precious")
    }

    private func link(_ target: String, as name: String, hard: Bool = false) throws {
        let words = ["ln"] + (hard ? [] : ["-s"]) + [target, bench.path(name)]
        #expect(try Command(words).run().succeeded)
    }

    private func expectUntouched(_ victim: String) throws {
        #expect(try Files.text(victim) == "precious")
    }

    @Test func `a destination that is a link is not followed`() throws {
        let victim = try makeVictim()
        try link(victim, as: "file")
        try link(bench.daemon.scratch("nothing"), as: "dangling")
        for name in ["file", "dangling"] {
            let outcome = try bench.download(["-w", "-o", bench.path(name)], succeeds: false)
            #expect(outcome.errors.contains("already"), "\(name): \(outcome.errors)")
        }
        try expectUntouched(victim)
        #expect(!Files.exists(bench.daemon.scratch("nothing")))
        // It takes the place of the link, and not of what that leads to.
        try bench.download(["-w", "--overwrite"])
        try bench.expectVersion(1)
        try expectUntouched(victim)
        #expect(Files.linkTarget(bench.path("file")) == nil)
    }

    @Test(arguments: [false, true])
    func `a destination that becomes a link is not followed`(overwrites: Bool) throws {
        let victim = try makeVictim()
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try bench.enqueue(overwrites ? ["--overwrite"] : [])
        try server.waitUntilHeld(1)
        try link(victim, as: "file")
        server.release()
        try bench.waitForEnd(id)
        try expectUntouched(victim)
        if overwrites {
            try bench.expectVersion(1)
        } else {
            #expect(try bench.state(of: id)?["failure"] == "exists")
        }
        #expect(try bench.names() == ["file"])
    }

    /// Its name can be guessed.
    @Test(arguments: [false, true])
    func `the unfinished file is no link to another one`(hard: Bool) throws {
        let victim = try makeVictim()
        let first = try bench.enqueue()
        try bench.waitForEnd(first)
        let next = try #require(Int(first)) + 1
        try link(victim, as: ".offstage-\(next).part", hard: hard)
        let outcome = try bench.offstage("download", "-w", "-o", bench.path("other"), bench.url)
        try expectUntouched(victim)
        #expect(outcome.succeeded == hard, "\(outcome.errors)")
        if outcome.succeeded {
            try bench.expect(VersionedObject(version: 1, size: DownloadBench.size), at: "other")
        }
    }

    @Test func `an unfinished file that becomes a link is not gone on with`() throws {
        let victim = try makeVictim()
        server.change("/file") { ($0.holdsAfter, $0.dropsAfter) = (600_000, 700_000) }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        try bench.offstage("transfers", "--pause", id)
        try bench.waitUntilPaused(id)
        server.release()
        let partial = ".offstage-\(id).part"
        try Files.remove(bench.path(partial))
        try link(victim, as: partial)
        try bench.offstage("transfers", "--resume", id)
        try bench.waitForEnd(id)
        try expectUntouched(victim)
        #expect(try bench.state(of: id)?["failure"] == "file")
        #expect(try bench.names() == [])
    }

    @Test(arguments: [false, true])
    func `what is put in place of the unfinished file is not taken for it`(
        isLink: Bool
    ) throws {
        let victim = try makeVictim()
        server.change("/file") { $0.holdsAfter = 600_000 }
        let id = try bench.enqueue()
        try server.waitUntilHeld(1)
        let partial = ".offstage-\(id).part"
        try Files.rename(bench.path(partial), to: bench.path("moved"))
        if isLink {
            try link(victim, as: partial)
        } else {
            try Files.replace(bench.path(partial), with: "another")
        }
        server.change("/file") { $0.holdsAfter = nil }
        server.release()
        try bench.waitForEnd(id)
        try bench.expectVersion(1)
        try expectUntouched(victim)
        #expect(try bench.names() == ["file", "moved"])
        #expect(Files.linkTarget(bench.path("file")) == nil)
    }

    @Test func `a directory that is a link by now is not followed`() throws {
        server.change("/file") { $0.holdsAfter = 600_000 }
        try Files.makeDirectory(bench.path("real"))
        let id = try bench.enqueue(["-d", bench.path("real")])
        try server.waitUntilHeld(1)
        try Files.rename(bench.path("real"), to: bench.path("moved"))
        try link(bench.daemon.scratch("home"), as: "real")
        server.release()
        try bench.waitForEnd(id)
        #expect(!Files.exists(bench.path("file")))
    }

    // MARK: Disks

    @Test(
        .enabled(if: SmallDisk.isPossible, "only root can mount a small file system"),
        arguments: [false, true]
    )
    func `on a full disk it waits, says so, and goes on when there is room`(
        isFull: Bool
    ) throws {
        try Files.makeDirectory(bench.path("disk"), permissions: 0o700)
        let disk = try #require(SmallDisk(at: bench.path("disk"), megabytes: 4))
        defer { disk.unmount() }
        // Its length is not known: it is begun, and full on the way.
        server.change("/file") {
            $0.object.size = isFull ? DownloadBench.size : 3 << 20
            ($0.isChunked, $0.holdsAfter) = (!isFull, isFull ? nil : 65_536)
        }
        if isFull { try disk.fill() }
        let id = try bench.enqueue(["-d", bench.path("disk")])
        if !isFull {
            try server.waitUntilHeld(1)
            try disk.fill()
            server.change("/file") { $0.holdsAfter = nil }
            server.release()
        }
        let words = isFull ? "the disk has too little room" : "the disk is full"
        try Wait.until("it says that the disk is full") {
            let state = try bench.state(of: id)
            return state?["state"] == "waiting"
                && state?["sentence"]?.stringValue?.contains(words) == true
        }
        #expect(try bench.offstage("explain", "user.downloads").output.contains(words))
        disk.free()
        try bench.waitForEnd(id)
        let object = try #require(server.object("/file"))
        try bench.expect(object, at: "disk/file")
        #expect(try bench.names(in: "disk") == ["file"])
    }
}
