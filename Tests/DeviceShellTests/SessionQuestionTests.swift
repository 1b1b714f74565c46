import Foundation
import Linux
import TestKit
import Testing
import Vocabulary

/// What transfers ask their apps, with everything real: the library, the daemon, the network
/// process, and a server that wants to know who asks.
struct SessionQuestionTests {
    private let server: FaultServer
    private let folder = ScratchDirectory()
    private let object = VersionedObject(version: 1, size: 50_000)
    private static let path = "/in"
    private static let password = "open sesame"
    /// Of `me` and that.
    private static let basic = "bWU6b3BlbiBzZXNhbWU="

    init() throws { server = try FaultServer() }

    private func app(
        _ guarded: FaultServer.Guard,
        _ environment: String = "ANSWER=open sesame"
    ) throws -> SampleApp {
        var behaviour = FaultServer.Behaviour(object)
        behaviour.guarded = guarded
        server.set(Self.path, behaviour)
        let app = try SampleApp(
            "SessionPeer",
            "",
            environment: "SERVER=\(server.url(Self.path));FILE=\(folder("file"));\(environment);"
        )
        try app.bench.set("network", "on")
        try app.bench.set("metered", "off")
        try app.bench.set("power", "on")
        return app
    }

    private func hasFile() -> Bool {
        (try? Files.read(folder("file"), limit: 1 << 20)) == object.all
    }

    private func explained(_ app: SampleApp) throws -> String {
        let all = try app.bench.ask("Transfers").listValue ?? []
        return all.first?["sentence"]?.stringValue ?? "none"
    }

    @Test func `an app says a name and a password, to Basic and to Digest`() throws {
        for (scheme, secret, method) in [
            (FaultServer.Guard.Scheme.basic, Self.basic, "HTTPBasic"),
            (.digest(requests: 1), Self.password, "HTTPDigest"),
        ] {
            let app = try app(FaultServer.Guard(scheme, secret))
            try app.open(saying: "begun")
            try app.wait(for: "it ended")
            #expect(app.lines.contains("challenged \(method) files 0"))
            #expect(app.lines.contains("status 200"))
            #expect(hasFile(), "\(method)")
            try Files.remove(folder("file"))
        }
    }

    @Test func `a nonce that is too old asks nobody again`() throws {
        // Good for one request, which breaks off: the next one is told that it is too old.
        let app = try app(FaultServer.Guard(.digest(requests: 1), Self.password))
        server.change(Self.path) { $0.dropsAfter = 20_000 }
        try app.open(saying: "begun")
        try server.waitForRequests(2)
        server.change(Self.path) { $0.dropsAfter = nil }
        try app.wait(for: "it ended")
        #expect(hasFile())
        #expect(app.lines.count { $0.hasPrefix("challenged") } == 1)
    }

    @Test func `a wrong password is asked for again, until the app takes the refusal`() throws {
        let answer = folder("answer")
        let app = try app(FaultServer.Guard(.basic, Self.basic), "ANSWER=\(answer)")
        try Files.replace(answer, with: "wrong")
        try app.open(saying: "begun")
        try app.wait(for: "challenged HTTPBasic files 1")
        try Files.replace(answer, with: "default")
        try app.wait(for: "it ended")
        #expect(app.lines.contains("status 401"))
        #expect(try Files.read(folder("file"), limit: 10).isEmpty, "the page of the server")
    }

    @Test func `a task whose app wants to know nothing of it ends as cancelled`() throws {
        let app = try app(FaultServer.Guard(.basic, Self.basic), "ANSWER=cancel")
        try app.open(saying: "begun")
        try app.wait(for: "it failed -999")
        #expect(!Files.exists(folder("file")))
    }

    @Test func `a POST that the server has refused is sent again with the password`() throws {
        let app = try app(
            FaultServer.Guard(.digest(requests: 1), Self.password),
            "ANSWER=open sesame;DO=upload"
        )
        server.change(Self.path) { $0.upload = FaultServer.Upload() }
        try Files.replace(folder("file"), with: "some text")
        try app.open(saying: "begun")
        try app.wait(for: "a file ended")
        #expect(app.lines.contains("status 201"))
        #expect(app.lines.contains("challenged HTTPDigest files 0"))
        #expect(
            server.files(Self.path).map { String(decoding: $0, as: UTF8.self) } == ["some text"]
        )
    }

    @Test func `header fields that are too old are renewed once`() throws {
        let app = try app(FaultServer.Guard(.token, "fresh"), "TOKEN=fresh")
        try app.open(saying: "begun")
        try app.wait(for: "it ended")
        #expect(app.lines.contains("renews after 401") && hasFile())
        #expect(server.requests.map { $0.fields["token"] } == [nil, "fresh"])
        // What the session has for all its tasks goes with it still.
        #expect(server.requests.allSatisfy { $0.fields["x-session"] == "1" })
    }

    @Test func `header fields that are refused again are not renewed for ever`() throws {
        let app = try app(FaultServer.Guard(.token, "other"), "TOKEN=fresh")
        try app.open(saying: "begun")
        try app.wait(for: "it ended")
        #expect(app.lines.contains("status 401"))
        #expect(app.lines.count { $0 == "renews after 401" } == 1)
    }

    @Test func `an app that is closed when the server asks is launched for the answer`() throws {
        let app = try app(FaultServer.Guard(.basic, Self.basic))
        server.change(Self.path) { $0.holdsHead = true }
        try app.open(saying: "begun")
        try server.waitUntilHeld(1)
        let process = try app.process()
        try app.leave()
        try PidFD(of: process).send(Signal.kill)
        try Wait.until("it is gone") { try app.bench.running(app.name) == nil }
        server.change(Self.path) { $0.holdsHead = false }
        server.release()
        try app.wait(for: "all delivered")
        #expect(app.lines.contains("rejoined"))
        #expect(app.lines.contains("challenged HTTPBasic files 0"))
        // The next launch would be held apart from this one.
        try app.bench.ask("Open", .string(app.name), [:])
        try app.wait(for: "it ended")
        #expect(hasFile())
    }

    @Test func `a daemon that is killed while a task waits has the answer all the same`() throws {
        let answer = folder("answer")
        let app = try app(FaultServer.Guard(.basic, Self.basic), "ANSWER=\(answer)")
        try app.open(saying: "begun")
        try app.wait(for: "challenged HTTPBasic files 0")
        let sentence = try explained(app)
        #expect(sentence.contains("its app has to answer a challenge of 127.0.0.1"), "\(sentence)")
        try app.bench.kill()
        try app.bench.daemon.start()
        try Wait.until("it waits again") {
            try explained(app).contains("its app has to answer a challenge")
        }
        #expect(server.requests.count == 1, "it went on without an answer")
        try Files.replace(answer, with: Self.password)
        try app.wait(for: "it ended")
        #expect(hasFile())
        #expect(app.lines.count { $0.hasPrefix("challenged") } == 1, "it was asked twice")
    }

    @Test func `a password is on no disk, and a daemon that starts anew asks for it again`() throws
    {
        let answer = folder("answer")
        try Files.replace(answer, with: Self.password)
        // Its environment is on record.
        let app = try app(FaultServer.Guard(.basic, Self.basic), "ANSWER=\(answer)")
        server.change(Self.path) { $0.holdsAfter = 20_000 }
        try app.open(saying: "begun")
        try server.waitUntilHeld(1)
        try app.bench.kill()
        for path in try Self.files(below: app.bench.daemon.scratch("state")) {
            let bytes = try Files.read(path, limit: 64 << 20)
            #expect(!Self.holds(bytes, Self.password) && !Self.holds(bytes, Self.basic), "\(path)")
        }
        server.change(Self.path) { $0.holdsAfter = nil }
        server.release()
        try app.bench.daemon.start()
        try app.wait(for: "it ended")
        #expect(app.lines.count { $0.hasPrefix("challenged") } == 2)
        #expect(hasFile())
    }

    private static func files(below path: String) throws -> [String] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.map { "\(path)/\($0)" }.filter { Files.status($0)?.kind == .file }
    }

    private static func holds(_ bytes: [UInt8], _ text: String) -> Bool {
        Data(bytes).range(of: Data(text.utf8)) != nil
    }

    @Test func `a task begins at its date as its app says then`() throws {
        let app = try app(FaultServer.Guard(.token, "fresh"), "DO=later")
        try app.open(saying: "begun")
        try app.wait(for: "it ended")
        #expect(app.lines.contains("its date has come") && hasFile())
        #expect(server.requests.map { $0.fields["token"] } == ["fresh"])
    }
}
