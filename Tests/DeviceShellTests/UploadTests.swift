import Linux
import TestKit
import Testing
import Vocabulary

/// Uploads with everything real: command line, daemon, network process, and a server that breaks
/// off and forgets. What it has in the end is compared with the file, byte by byte.
struct UploadTests {
    private let server: FaultServer
    private let daemon: ScratchDaemon
    private let file = VersionedObject(version: 1, size: 1 << 20)
    private static let path = "/up"

    init() throws {
        server = try FaultServer()
        daemon = try ScratchDaemon(settings: "pause-after-start=0\n")
        try daemon.start()
        try write(file, to: "file")
    }

    // MARK: Whole files

    @Test(arguments: ["PUT", "POST", "PATCH"])
    func `a server is given the file`(method: String) throws {
        server.takeUploads(Self.path, .init())
        try upload(["-w", "--method", method, "--header", "X-Own: 1"])
        try expectFile()
        let request = try #require(server.requests.first)
        #expect(request.method == method && request.fields["x-own"] == "1")
        #expect(request.fields["content-length"] == "\(file.size)")
        #expect((request.fields["idempotency-key"] != nil) == (method != "PUT"))
        let list = try offstage("transfers").output
        #expect(list.contains("upload") && list.contains("finished"))
        #expect(try Files.list(home) == ["file"])
    }

    @Test func `several files go to their names, and an empty one is one`() throws {
        try Files.replace(home + "/a b", with: "")
        server.takeUploads("/in/file", .init())
        server.takeUploads("/in/a%20b", .init(interop: 8))
        let target = server.url("/in/")
        let outcome = try offstage("upload", "-w", target, home + "/file", home + "/a b")
        #expect(outcome.succeeded, "\(outcome.errors)\(daemon.log)")
        try expectFile(at: "/in/file")
        #expect(server.files("/in/a%20b") == [[]])
    }

    @Test(arguments: [403, 404, 413, 501]) func `a refusal is final`(status: Int) throws {
        var refusing = FaultServer.Upload()
        refusing.status = status
        server.takeUploads(Self.path, refusing)
        let outcome = try upload(["-w"], succeeds: false)
        #expect(outcome.errors.contains("\(status)"))
        #expect(server.files(Self.path) == [])
    }

    @Test func `a redirect is followed with the whole file, and headers stay at home`() throws {
        let other = try FaultServer()
        other.takeUploads(Self.path, .init())
        var leading = FaultServer.Upload()
        leading.redirect = other.url(Self.path)
        server.takeUploads(Self.path, leading)
        try upload(["-w", "--header", "Authorization: secret"])
        #expect(server.requests.first?.fields["authorization"] == "secret")
        #expect(other.requests.first?.fields["authorization"] == nil)
        #expect(other.files(Self.path) == [file.all])
    }

    // MARK: Interrupted ones

    @Test(arguments: ["PUT", "POST"])
    func `a connection that breaks costs nothing but what was on its way`(
        method: String
    ) throws {
        var breaking = FaultServer.Upload(interop: 8)
        breaking.dropsAfter = 600_000
        server.takeUploads(Self.path, breaking)
        try upload(["-w", "--method", method])
        try expectFile()
        #expect(server.requests.map(\.method) == [method, "HEAD", "PATCH"])
        #expect(server.requests.last?.fields["upload-offset"] == "600000")
    }

    @Test func `a server of the older draft is found with the second attempt`() throws {
        var breaking = FaultServer.Upload(interop: 6)
        breaking.dropsAfter = 600_000
        server.takeUploads(Self.path, breaking)
        try upload(["-w"])
        try expectFile()
        let versions = server.requests.map { $0.fields["upload-draft-interop-version"] }
        #expect(versions == ["8", "6", "6", "6"])
        #expect(server.requests.map(\.method) == ["PUT", "PUT", "HEAD", "PATCH"])
        // It is known from now on.
        try upload(["-w"])
        #expect(server.requests[4].fields["upload-draft-interop-version"] == "6")
    }

    @Test func `a server that goes back to the older draft is found with the second attempt`()
        throws
    {
        server.takeUploads(Self.path, .init(interop: 8))
        try upload(["-w"])
        var breaking = FaultServer.Upload(interop: 6)
        breaking.dropsAfter = 600_000
        server.takeUploads(Self.path, breaking)
        try upload(["-w"])
        let versions = server.requests.map { $0.fields["upload-draft-interop-version"] }
        #expect(versions == ["8", "8", "6", "6", "6"])
    }

    @Test func `without the draft PUT is sent again as a whole`() throws {
        var breaking = FaultServer.Upload()
        breaking.dropsAfter = 600_000
        breaking.holdsAfter = 500_000
        server.takeUploads(Self.path, breaking)
        let id = try enqueue()
        try server.waitUntilHeld(1)
        server.takeUploads(Self.path, .init())
        server.release()
        try waitForEnd(id)
        try expectFile()
    }

    @Test(arguments: ["POST", "PATCH"])
    func `without the draft only PUT is sent again unasked`(method: String) throws {
        var losing = FaultServer.Upload()
        losing.losesAnswer = true
        server.takeUploads(Self.path, losing)
        let outcome = try upload(["-w", "--method", method], succeeds: false)
        #expect(outcome.errors.contains("the server may have the file"))
        try expectFile()
        #expect(server.requests.count == 1)
    }

    @Test func `nor is an empty file`() throws {
        try Files.replace(home + "/file", with: "")
        var losing = FaultServer.Upload()
        losing.losesAnswer = true
        server.takeUploads(Self.path, losing)
        let outcome = try upload(["-w", "--method", "POST"], succeeds: false)
        #expect(outcome.errors.contains("the server may have the file"))
        #expect(server.files(Self.path) == [[]] && server.requests.count == 1)
    }

    @Test func `with leave for it POST is sent again under the same key`() throws {
        var losing = FaultServer.Upload()
        losing.losesAnswer = true
        server.takeUploads(Self.path, losing)
        let id = try enqueue(["--method", "POST", "--idempotent"])
        try server.waitForRequests(2)
        server.takeUploads(Self.path, .init())
        try waitForEnd(id)
        let keys = Set(server.requests.compactMap { $0.fields["idempotency-key"] })
        #expect(keys.count == 1 && server.requests.count > 1)
    }

    @Test(arguments: ["PUT", "POST"])
    func `an answer that is lost is asked for`(method: String) throws {
        var losing = FaultServer.Upload(interop: 8)
        losing.losesAnswer = true
        server.takeUploads(Self.path, losing)
        try upload(["-w", "--method", method])
        try expectFile()
    }

    @Test func `an upload that the server forgot begins anew by PUT, and fails by POST`() throws {
        for method in ["PUT", "POST"] {
            var holding = FaultServer.Upload(interop: 8)
            (holding.dropsAfter, holding.holdsAfter) = (600_000, 500_000)
            server.takeUploads("/" + method, holding)
            let held = server.heldCount
            let id = try enqueue(["--method", method], to: "/" + method)
            try server.waitUntilHeld(held + 1)
            var forgetting = FaultServer.Upload(interop: 8)
            forgetting.forgets = true
            server.takeUploads("/" + method, forgetting)
            server.release()
            try waitForEnd(id)
        }
        try expectFile(at: "/PUT")
        #expect(server.files("/POST") == [])
        #expect(try offstage("transfers").output.contains("no longer knows the upload"))
    }

    @Test func `a limit of the server is kept`() throws {
        var small = FaultServer.Upload(interop: 8)
        small.limit = 300_000
        server.takeUploads(Self.path, small)
        try upload(["-w", "--method", "POST"])
        try expectFile()
        let lengths = server.requests.dropFirst().compactMap { $0.fields["content-length"] }
        #expect(lengths == ["300000", "300000", "300000", "148576"])
    }

    // MARK: Kills

    @Test(arguments: [true, false])
    func `who is killed goes on where the server was`(killsDaemon: Bool) throws {
        var holding = FaultServer.Upload(interop: 8)
        holding.holdsAfter = 600_000
        server.takeUploads(Self.path, holding)
        let id = try enqueue(["--method", "POST"])
        try server.waitUntilHeld(1)
        try waitForResource(id)
        try kill(daemon: killsDaemon)
        server.takeUploads(Self.path, .init(interop: 8))
        server.cutUploads()
        server.release()
        if killsDaemon { try daemon.start() }
        try waitForEnd(id)
        try expectFile()
        #expect(server.requests.map(\.method) == ["POST", "HEAD", "PATCH"])
    }

    @Test(arguments: [true, false])
    func `without the draft a kill makes no second POST`(killsDaemon: Bool) throws {
        var holding = FaultServer.Upload()
        holding.holdsAfter = 600_000
        server.takeUploads(Self.path, holding)
        let id = try enqueue(["--method", "POST"])
        try server.waitUntilHeld(1)
        try kill(daemon: killsDaemon)
        server.release()
        if killsDaemon { try daemon.start() }
        try waitForEnd(id)
        #expect(server.requests.count == 1)
        #expect(try offstage("transfers").output.contains("the server may have the file"))
    }

    @Test func `bytes of another version are not added to what was sent before a kill`() throws {
        var holding = FaultServer.Upload(interop: 8)
        holding.holdsAfter = 600_000
        server.takeUploads(Self.path, holding)
        let id = try enqueue(["--method", "POST"])
        try server.waitUntilHeld(1)
        try waitForResource(id)
        // A daemon that lives would begin again at its own time.
        try daemon.kill()
        try make(.sameTime)
        server.takeUploads(Self.path, .init(interop: 8))
        server.cutUploads()
        server.release()
        try daemon.start()
        try waitForEnd(id)
        #expect(server.files(Self.path) == [])
        #expect(try state(of: id)?["failure"] == .string("source"))
        #expect(try offstage("transfers").output.contains("has changed since the upload was asked"))
        #expect(!server.requests.contains { $0.method == "PATCH" })
    }

    // MARK: The file

    private enum Change: CaseIterable {
        case longer, sameSize, sameTime, replaced, removed, link, pipe

        /// The file itself stays as it was.
        var isOfPath: Bool {
            switch self {
            case .longer, .sameSize, .sameTime: false
            case .replaced, .removed, .link, .pipe: true
            }
        }
    }

    /// The number of an upload of which the server has the beginning.
    private func pausedUpload() throws -> String {
        var holding = FaultServer.Upload(interop: 8)
        holding.holdsAfter = 600_000
        server.takeUploads(Self.path, holding)
        let id = try enqueue()
        try server.waitUntilHeld(1)
        #expect(try offstage("transfers", "--pause", id).succeeded)
        server.cutUploads()
        server.release()
        try Wait.until("it is paused") { try state(of: id)?["state"] == .string("paused") }
        return id
    }

    @Test(arguments: Change.allCases)
    private func `a file that is another by now is not sent`(change: Change) throws {
        let id = try pausedUpload()
        try make(change)
        // The next daemon has only the path.
        if change.isOfPath { try daemon.restart() }
        #expect(try offstage("transfers", "--resume", id).succeeded)
        try waitForEnd(id)
        #expect(server.files(Self.path) == [])
        #expect(try state(of: id)?["failure"] == .string("source"))
    }

    @Test(arguments: Change.allCases.filter(\.isOfPath))
    private func `a file that is elsewhere by now is sent all the same`(change: Change) throws {
        let id = try pausedUpload()
        try make(change)
        #expect(try offstage("transfers", "--resume", id).succeeded)
        try waitForEnd(id)
        try expectFile()
    }

    @Test func `its file is open until an upload has ended, and no longer`() throws {
        var holding = FaultServer.Upload()
        holding.holdsAfter = 0
        server.takeUploads(Self.path, holding)
        let finished = try enqueue()
        try server.waitUntilHeld(1)
        #expect(try openFiles() == ["file"])
        server.release()
        try waitForEnd(finished)
        #expect(try openFiles() == [])
        let cancelled = try enqueue()
        try server.waitUntilHeld(2)
        #expect(try openFiles() == ["file"])
        try offstage("transfers", "--cancel", cancelled)
        try waitForEnd(cancelled)
        #expect(try openFiles() == [])
        server.release()
    }

    private func make(_ change: Change) throws {
        let path = home + "/file"
        switch change {
        case .longer: try write(VersionedObject(version: 1, size: file.size + 1), to: "file")
        case .sameSize: try write(VersionedObject(version: 2, size: file.size), to: "file")
        case .sameTime:
            let stamp = home + "/stamp"
            _ = try Command("touch", "-r", path, stamp).run()
            let before = Files.status(path)?.identity
            try write(VersionedObject(version: 2, size: file.size), to: "file")
            _ = try Command("touch", "-r", stamp, path).run()
            #expect(before != nil && Files.status(path)?.identity == before)
        case .replaced:
            try write(file, to: "other")
            _ = try Command("touch", "-r", path, home + "/other").run()
            try Files.rename(home + "/other", to: path)
        case .removed: try Files.remove(path)
        case .link:
            try Files.rename(path, to: home + "/moved")
            _ = try Command("ln", "-s", home + "/moved", path).run()
        case .pipe:
            try Files.remove(path)
            _ = try Command("mkfifo", path).run()
        }
    }

    @Test func `a file that changes while it is sent does not become whole on the server`() throws {
        var holding = FaultServer.Upload()
        holding.holdsAfter = 65_536
        server.takeUploads(Self.path, holding)
        try write(VersionedObject(version: 1, size: 64 << 20), to: "file")
        let id = try enqueue()
        try server.waitUntilHeld(1)
        try write(VersionedObject(version: 2, size: 64 << 20), to: "file")
        server.release()
        try waitForEnd(id)
        #expect(server.files(Self.path) == [])
        #expect(try state(of: id)?["failure"] == .string("source"))
    }

    @Test func `what is no file is refused at once`() throws {
        let target = server.url(Self.path)
        for name in ["", "/missing"] {
            #expect(try !offstage("upload", target, home + name).succeeded)
        }
        #expect(try !offstage("upload", "ftp://a/b", home + "/file").succeeded)
        #expect(try !offstage("upload", target, home + "/file", home + "/file").succeeded)
        let header = try offstage(
            "upload",
            "--header",
            "Upload-Offset: 5",
            target,
            home + "/file"
        )
        #expect(header.errors.contains("Offstage's own"))
        #expect(try offstage("transfers").output.contains("no transfers"))
    }

    @Test func `the server is asked to forget what is cancelled`() throws {
        var holding = FaultServer.Upload(interop: 8)
        holding.holdsAfter = 500_000
        server.takeUploads(Self.path, holding)
        let id = try enqueue(["--header", "X-Own: 1"])
        try server.waitUntilHeld(1)
        try waitForResource(id)
        try offstage("transfers", "--cancel", id)
        try server.waitForRequests(2)
        server.release()
        let request = try #require(server.requests.last)
        #expect(request.method == "DELETE" && request.path == "/made/0")
        #expect(request.fields["upload-draft-interop-version"] == "8")
        #expect(request.fields["x-own"] == "1")
        #expect(server.files(Self.path) == [])
    }

    // MARK: Helpers

    private var home: String { daemon.scratch("home") }

    /// Of the home directory, those that the daemon has open.
    private func openFiles() throws -> [String] {
        let pid = try #require(daemon.identity).pid
        let place = "/proc/\(pid)/fd"
        let targets = try Files.list(place).compactMap { Files.linkTarget("\(place)/\($0)") }
        return targets.filter { $0.hasPrefix(home + "/") }.map { Files.name(of: $0) }
    }

    private func write(_ object: VersionedObject, to name: String) throws {
        try FileDescriptor(opening: home + "/" + name, [.writing, .create, .truncate])
            .writeAll(object.all.span)
    }

    private func kill(daemon killsDaemon: Bool) throws {
        if killsDaemon { return try daemon.kill() }
        let process = try #require(try daemon.networkProcess())
        try PidFD(of: process).send(Signal.kill)
    }

    @discardableResult
    private func offstage(_ words: String...) throws -> Command.Outcome {
        try daemon.offstage(words)
    }

    @discardableResult
    private func upload(
        _ options: [String],
        succeeds: Bool = true,
        to path: String = path
    ) throws -> Command.Outcome {
        let words = ["upload"] + options + [server.url(path), home + "/file"]
        let outcome = try daemon.offstage(words)
        #expect(outcome.succeeded == succeeds, "\(outcome.output)\(outcome.errors)\(daemon.log)")
        return outcome
    }

    /// Its number.
    private func enqueue(_ options: [String] = [], to path: String = path) throws -> String {
        let outcome = try upload(options, to: path)
        return String(outcome.output.dropFirst("transfer ".count).prefix { $0 != ":" })
    }

    private func state(of id: String) throws -> Value? { try daemon.transfer(id) }

    private func waitForEnd(_ id: String) throws {
        try Wait.until("transfer \(id) ends") { try state(of: id)?["ended"] != nil }
    }

    /// The daemon shows that bytes were sent; what the server made was told before.
    private func waitForResource(_ id: String) throws {
        try Wait.until("transfer \(id) sends") {
            try state(of: id)?["received"]?.integerValue ?? 0 > 0
        }
    }

    private func expectFile(at path: String = path) throws {
        let files = server.files(path)
        #expect(files.count == 1)
        let isSame = files.first == file.all
        #expect(isSame, "it is not the file")
    }
}
