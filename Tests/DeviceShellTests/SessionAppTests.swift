import DeviceCore
@testable import DeviceShell
import Foundation
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Transfers of a linked app with everything real: the library, the daemon, the network process,
/// and a server that does what servers should not.
struct SessionAppTests {
    private let server: FaultServer
    private let folder = ScratchDirectory()
    private static let path = "/in"

    init() throws { server = try FaultServer() }

    private func app(_ environment: String) throws -> SampleApp {
        let app = try SampleApp(
            "SessionPeer",
            "",
            environment: "SERVER=\(server.url(Self.path));\(environment)"
        )
        try app.bench.set("network", "on")
        try app.bench.set("metered", "off")
        try app.bench.set("power", "on")
        return app
    }

    // MARK: Uploads

    private func upload(_ upload: FaultServer.Upload, _ file: VersionedObject) throws -> SampleApp {
        server.takeUploads(Self.path, upload)
        let path = folder("file")
        try FileDescriptor(opening: path, [.writing, .create]).writeAll(file.all.span)
        return try app("DO=upload;FILE=\(path);")
    }

    @Test func `a running app sends its file and hears what the server says to it`() throws {
        let file = VersionedObject(version: 1, size: 100_000)
        var taking = FaultServer.Upload()
        taking.body = "taken"
        let app = try upload(taking, file)
        try app.open(saying: "begun")
        try app.wait(for: "a file ended")
        #expect(app.lines.contains("answer 201 taken"))
        #expect(app.lines.contains("sent of 100000"))
        let isSame = server.files(Self.path) == [file.all]
        #expect(isSame, "it is not the file")
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.fields["x-session"] == "1")
        // Acknowledged: nothing is kept. The file is the app's own.
        try Wait.until("nothing is left") {
            try app.bench.ask("Transfers").listValue?.isEmpty == true
        }
        #expect(Files.exists(folder("file")))
    }

    @Test func `an upload goes on without its app, and wakes it once`() throws {
        var holding = FaultServer.Upload(interop: 8)
        (holding.holdsAfter, holding.body) = (400_000, "late")
        let app = try upload(holding, VersionedObject(version: 1, size: 1 << 20))
        try app.open(saying: "begun")
        try server.waitUntilHeld(1)
        try app.leave()
        try app.waitUntilSuspended()
        // Neither the app nor the daemon sees the end of it.
        try app.bench.kill()
        // What was on its way is lost.
        server.cutUploads()
        holding.holdsAfter = nil
        server.takeUploads(Self.path, holding)
        server.release()
        try app.bench.daemon.start()
        try app.wait(for: "all delivered")
        #expect(app.lines.contains("answer 201 late"))
        #expect(app.lines.count { $0 == "rejoined" } == 1)
        // What holds for the session held for the requests of the next daemon too.
        #expect(server.requests.count > 1)
        #expect(server.requests.allSatisfy { $0.fields["x-session"] == "1" })
        #expect(server.files(Self.path).count == 1)
    }

    /// Its app has asked for it, and it waits for a network.
    private func waitingUpload(of file: VersionedObject) throws -> SampleApp {
        let app = try upload(FaultServer.Upload(), file)
        try app.bench.set("network", "off")
        try app.open(saying: "begun")
        try Wait.until("an upload") { try app.bench.ask("Transfers").listValue?.count == 1 }
        return app
    }

    @Test func `a file that changes is not sent, and the app is told why`() throws {
        let app = try waitingUpload(of: VersionedObject(version: 1, size: 1000))
        try FileDescriptor(opening: folder("file"), [.writing, .truncate]).writeAll("another")
        try app.bench.set("network", "on")
        try app.wait(for: "a file failed -3001")
        #expect(server.files(Self.path).isEmpty)
    }

    @Test func `a file that its app removes meanwhile is sent`() throws {
        let file = VersionedObject(version: 1, size: 1000)
        let app = try waitingUpload(of: file)
        try Files.remove(folder("file"))
        try app.bench.set("network", "on")
        try app.wait(for: "a file ended")
        let isSame = server.files(Self.path) == [file.all]
        #expect(isSame, "it is not the file")
    }

    // MARK: Resume data

    private static let long = VersionedObject(version: 1, size: 12 << 20)

    /// It has gone on, and ended.
    private func pausing(
        _ change: (inout FaultServer.Behaviour) -> Void = { _ in }
    ) throws -> SampleApp {
        var holding = FaultServer.Behaviour(Self.long)
        holding.holdsAfter = 6 << 20
        change(&holding)
        server.set(Self.path, holding)
        let app = try app("DO=pause;FILE=\(folder("file"));")
        try app.open(saying: "begun")
        try app.wait(for: "goes on")
        server.change(Self.path) { $0.holdsAfter = nil }
        // The second request may have been on its way before that, and be held too.
        try Wait.until("it has ended\n\(app.lines)") {
            server.release()
            return app.lines.contains("again ended")
        }
        return app
    }

    /// An answer to `If-Range` need not say again what the first one has said.
    @Test func `a task that was paused has the answer that its whole file would have`() throws {
        let app = try pausing {
            ($0.fields, $0.isBrief) = (["Content-Type: application/pdf"], true)
        }
        #expect(server.requests.last?.fields["range"] != nil)
        let end = try #require(app.lines.firstIndex(of: "again ended"))
        #expect(app.lines[..<end].suffix(2) == ["status 200", "has 12582912 of application/pdf"])
    }

    @Test func `a download that its app pauses goes on with the bytes that had come`() throws {
        let app = try pausing()
        #expect(app.lines.contains("it failed -999"))
        #expect(app.lines.contains("resumed true of \(12 << 20)"))
        let ranges = server.requests.compactMap { $0.fields["range"] }
        #expect(ranges.count == 1 && ranges.first != "bytes=0-", "\(ranges)")
        let isSame = try Files.read(folder("file"), limit: 13 << 20) == Self.long.all
        #expect(isSame, "it is not the file")
        try Wait.until("nothing is left") {
            try app.bench.ask("Transfers").listValue?.isEmpty == true
        }
        let spool = app.bench.daemon.scratch("state/transfers/sessionpeer")
        #expect(try Files.list(spool) == [])
    }

    // MARK: Events in a loop

    private func reading() throws -> SampleApp {
        var holding = FaultServer.Behaviour(VersionedObject(version: 1, size: 100_000))
        holding.holdsAfter = 50_000
        server.set(Self.path, holding)
        let app = try app("DO=read;FILE=\(folder("file"));")
        try app.open(saying: "begun")
        try server.waitUntilHeld(1)
        return app
    }

    private func isFetched() throws -> Bool {
        try Files.read(folder("file"), limit: 1 << 20) == server.object(Self.path)?.all
    }

    @Test func `an app that ends before it is done with a file is told of it again`() throws {
        let app = try reading()
        let process = try app.process()
        server.release()
        try app.wait(for: "dies")
        try Wait.untilGone(process)
        try Wait.until("the daemon knows") {
            let pid = try app.bench.running(app.name)?["pid"]?.integerValue
            return pid != Int64(process.pid)
        }
        try app.open(saying: "it ended")
        #expect(app.lines.count { $0 == "fetched" } == 1)
        #expect(try isFetched())
        // The loop has asked for the next one: that acknowledges it.
        try Wait.until("nothing is left") {
            try app.bench.ask("Transfers").listValue?.isEmpty == true
        }
    }

    @Test func `a loop is told last that it has all that was missed`() throws {
        try folder.write("file.seen", "")
        let app = try reading()
        try app.leave()
        try app.waitUntilSuspended()
        server.release()
        try app.wait(for: "all delivered")
        #expect(try isFetched())
        let told = ["rejoined", "fetched", "it ended", "all delivered"]
        #expect(app.lines.filter { told.contains($0) } == told)
    }

    // MARK: What holds for a session

    private func download(_ environment: String, holds: Bool) throws -> SampleApp {
        var behaviour = FaultServer.Behaviour(VersionedObject(version: 1, size: 20_000))
        behaviour.holdsAfter = holds ? 10_000 : nil
        server.set(Self.path, behaviour)
        return try app("\(environment)FILE=\(folder("file"));")
    }

    private func transfers(_ app: SampleApp) throws -> [Value] {
        try app.bench.ask("Transfers").listValue ?? []
    }

    @Test func `progress is told of a file that comes at once, too`() throws {
        let app = try download("DO=progress;", holds: false)
        try app.open(saying: "begun")
        try app.wait(for: "it ended")
        let wrote = try #require(app.lines.lastIndex(of: "wrote 20000 of 20000"))
        #expect(wrote < app.lines.firstIndex(of: "fetched") ?? 0)
    }

    @Test func `an app that forgoes launches hears of its file when its user opens it`() throws {
        let app = try download("QUIET=1;", holds: true)
        try app.open(saying: "begun")
        try server.waitUntilHeld(1)
        try app.leave()
        try app.waitUntilSuspended()
        server.release()
        try app.bench.wait(until: "the file is here") {
            try transfers(app).first?["state"] == "finished"
        }
        #expect(try app.bench.runs(app.name).isEmpty && !app.lines.contains("rejoined"))
        try app.open(saying: "it ended")
        #expect(try isFetched() && !app.lines.contains("rejoined"))
    }

    @Test func `a network that its session does not allow is not used, after a restart neither`()
        throws
    {
        let app = try download("CHEAP=1;", holds: false)
        try app.bench.set("metered", "on")
        func waits() throws -> Bool {
            let sentence = try transfers(app).first?["sentence"]?.stringValue
            return sentence?.contains("metered") == true
        }
        try app.open(saying: "begun")
        try app.bench.wait(until: "it waits") { try waits() }
        try app.bench.kill()
        try app.bench.daemon.start()
        try app.bench.set("metered", "on")
        #expect(try waits() && server.requests.isEmpty)
        try app.bench.set("metered", "off")
        try app.wait(for: "it ended")
        #expect(try isFetched())
    }

    @Test func `a task has its description and its request in the next process too`() throws {
        var holding = FaultServer.Upload(interop: 8)
        holding.holdsAfter = 50_000
        let app = try upload(holding, VersionedObject(version: 1, size: 100_000))
        try app.open(saying: "begun")
        try server.waitUntilHeld(1)
        let process = try app.process()
        try PidFD(of: process).send(Signal.kill)
        try Wait.untilGone(process)
        try app.open(saying: "has a file, a POST with its own")
        server.release()
        try app.wait(for: "a file ended")
        #expect(server.requests.first?.fields["x-own"] == "its own")
    }

    // MARK: Cookies

    @Test func `a cookie that came with one answer goes with the next request`() throws {
        var setting = FaultServer.Behaviour(VersionedObject(version: 1, size: 1_000))
        setting.fields = ["Set-Cookie: id=7; Path=/; Max-Age=600"]
        server.set(Self.path, setting)
        let app = try app("DO=cookies;FILE=\(folder("file"));")
        try app.open(saying: "begun")
        try app.wait(for: "second ended")
        #expect(server.requests.map { $0.fields["cookie"] } == [nil, "id=7"])
    }

    // MARK: What an app may send

    private func refusal(_ descriptor: Int32) -> Refusal? {
        let own = ProcessIdentity(of: CurrentProcess.pid)
        let process = ProcessID(pid: own?.pid ?? 0, startTime: own?.startTime ?? 0)
        do throws(Refusal) {
            _ = try UploadSource.file(Int64(descriptor), of: process)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a file is taken that a process has open for reading, and no other`() throws {
        let path = try folder.write("file", "some text")
        let reading = try FileDescriptor(opening: path, .reading)
        #expect(refusal(reading.number) == nil)
        let both = try FileDescriptor(opening: path, .both)
        #expect(refusal(both.number) == nil)
        let writing = try FileDescriptor(opening: path, .writing)
        #expect(refusal(writing.number)?.reason == "this is not open for reading")
        let knowing = try FileDescriptor(knowing: path)
        #expect(refusal(knowing.number)?.reason == "this is not open for reading")
        let directory = try FileDescriptor(opening: folder.path, [.reading, .directory])
        #expect(refusal(directory.number)?.reason == "this is no file")
        #expect(refusal(9999)?.reason == "this is no file")
        try Files.remove(path)
        #expect(refusal(reading.number)?.reason == "this file is not to be found by its path")
    }

    @Test func `it is known by its own place, whatever link it was opened by`() throws {
        try Files.makeDirectory(folder("real"), permissions: 0o700)
        let path = try folder.write("real/file", "some text")
        try FileManager.default.createSymbolicLink(
            atPath: folder("link"),
            withDestinationPath: folder("real")
        )
        let descriptor = try FileDescriptor(opening: folder("link") + "/file", .reading)
        let own = try #require(ProcessIdentity(of: CurrentProcess.pid))
        let process = ProcessID(pid: own.pid, startTime: own.startTime)
        let found = try UploadSource.file(Int64(descriptor.number), of: process)
        let (file, identity) = (found.file, found.identity)
        #expect(file.path == Files.resolved(path))
        #expect(identity == Files.status(path)?.identity)
    }

    @Test func `of an open file only what the kernel says in one piece is believed`() {
        let text = "pos:\t0\nflags:\t0100000\nmnt_id:\t29\nino:\t1057\nlock:\t1: x\n"
        let record = OpenFileRecord(text: text)
        #expect(record.isReadable && record.isSameFile(as: record))
        let other = OpenFileRecord(text: text.replacing("1057", with: "1058"))
        #expect(!record.isSameFile(as: other))
        let elsewhere = OpenFileRecord(text: text.replacing("29", with: "30"))
        #expect(!record.isSameFile(as: elsewhere))
    }
}
