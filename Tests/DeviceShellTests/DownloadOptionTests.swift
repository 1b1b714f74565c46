import Linux
import TestKit
import Testing
import Vocabulary

/// What can be said of a download on the command line, with a real daemon, network process and
/// server.
struct DownloadOptionTests {
    private let server: FaultServer
    private let daemon: ScratchDaemon
    private static let size: Int64 = 1 << 20

    init() throws {
        server = try FaultServer()
        daemon = try ScratchDaemon(settings: "pause-after-start=0\n")
        server.set("/file", .init(VersionedObject(version: 1, size: Self.size)))
    }

    // MARK: Credentials

    @Test func `cookies of a file go to the hosts that it names`() throws {
        try daemon.start()
        let other = try FaultServer()
        other.set("/next", .init(VersionedObject(version: 1, size: Self.size)))
        server.change("/file") { $0.redirect = "http://localhost:\(other.port)/next" }
        let file = try daemon.scratch.write(
            "cookies",
            """
            # Netscape HTTP Cookie File
            127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tone
            #HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t1\told\tgone
            localhost\tFALSE\t/\tFALSE\t0\tsession\ttwo

            """
        )
        try download(["-w", "--cookies", file])
        #expect(server.requests[0].fields["cookie"] == "session=one")
        // What is of another site is not even told to the network process.
        #expect(other.requests[0].fields["cookie"] == nil)
        // A renewed one counts.
        server.change("/file") { $0.redirect = nil }
        try daemon.scratch.write("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tnew\n")
        try download(["-w", "--cookies", file, "-o", "again"])
        #expect(server.requests.last?.fields["cookie"] == "session=new")
    }

    @Test func `a file of cookies that is none is refused at once, with the line`() throws {
        try daemon.start()
        let file = try daemon.scratch.write("cookies", "session=one\n")
        let outcome = try download(["--cookies", file], succeeds: false)
        #expect(outcome.errors.contains("line 1 is no cookie"))
        #expect(outcome.errors.contains(file))
        #expect(outcome.errors.contains("(export the cookies in Netscape's format"))
        let missing = try download(["--cookies", file + "x"], succeeds: false)
        #expect(missing.errors.contains("there is no file"))
        #expect(try run(["transfers"]).output.contains("no transfers"))
    }

    @Test func `a file of cookies that has gone fails the attempt, and says so`() throws {
        try daemon.start()
        let file = try daemon.scratch.write("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tn\tv\n")
        let id = try enqueue(["--cookies", file, "--after", "1s"])
        try Files.remove(file)
        let ended = try waitForEnd(id)
        #expect(ended["failure"] == "credentials")
        #expect(ended["sentence"]?.stringValue?.contains("there is no such file") == true)
        #expect(server.requests.isEmpty)
    }

    @Test func `passwords of netrc are used only when asked for`() throws {
        try daemon.start()
        try daemon.scratch.write("home/.netrc", "machine 127.0.0.1 login me password secret\n")
        try download(["-w", "-o", "without"])
        #expect(server.requests[0].fields["authorization"] == nil)
        try download(["-w", "--netrc"])
        #expect(server.requests[1].fields["authorization"] == "Basic bWU6c2VjcmV0")
        let stored = try Files.read(daemon.scratch("state/offstage.db"), limit: 1 << 24)
        #expect(!String(decoding: stored, as: UTF8.self).contains("secret"))
    }

    @Test func `a netrc that is none is refused with the line and how to write it`() throws {
        try daemon.start()
        try daemon.scratch.write("home/.netrc", "machine 127.0.0.1 login\n")
        let outcome = try download(["--netrc"], succeeds: false)
        #expect(outcome.errors.contains("line 1 ends after login"), "\(outcome.errors)")
        #expect(outcome.errors.contains("(write entries as machine HOST login NAME"))
    }

    @Test func `a server that asks for a certificate gets it`() throws {
        let (certificate, key) = (daemon.scratch("client.pem"), daemon.scratch("client.key"))
        try SelfSignedCertificate.make(at: certificate, key: key, name: "client")
        let nginx = try Nginx(clients: certificate)
        nginx.put("file", VersionedObject(version: 1, size: Self.size))
        let authority = nginx.environment[0].split(separator: "=", maxSplits: 1)
        daemon.environment[String(authority[0])] = String(authority[1])
        try daemon.start()
        let refused = try run(["download", "-w", nginx.url("file")])
        #expect(!refused.succeeded && refused.errors.contains("400"), "\(refused.errors)")
        let keyless = try run(["download", "--cert", certificate, nginx.url("file")])
        #expect(keyless.errors.contains("it has no private key in PEM"))
        #expect(keyless.errors.hasSuffix("(give --key)\n"), "\(keyless.errors)")
        let outcome = try run(
            ["download", "-w", "--cert", certificate, "--key", key, nginx.url("file")]
        )
        #expect(outcome.succeeded, "\(outcome.errors)\(daemon.log)")
        try expectFile("file")
        let both = try Files.text(certificate) + Files.text(key)
        let file = try daemon.scratch.write("both.pem", both)
        let one = try run(["download", "-w", "--cert", file, "-o", "again", nginx.url("file")])
        #expect(one.succeeded, "\(one.errors)")
    }

    @Test func `a key that needs a passphrase is refused before it is needed`() throws {
        try daemon.start()
        let file = try daemon.scratch.write(
            "both.pem",
            "-----BEGIN CERTIFICATE-----\n-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
        )
        let outcome = try download(["--cert", file], succeeds: false)
        #expect(outcome.errors.contains("the key needs a passphrase"))
    }

    // MARK: Proxies

    @Test func `a proxy comes from the option, the setting or the environment, in this order`()
        throws
    {
        let proxies = try (0..<3).map { _ in try FaultServer() }
        for proxy in proxies {
            proxy.set("http://far.example/file", .init(VersionedObject(version: 1, size: 1000)))
        }
        let places = proxies.map { "http://127.0.0.1:\($0.port)" }
        daemon.environment["http_proxy"] = places[0]
        try daemon.start()
        func fetch(_ options: [String], _ name: String) throws {
            let words = ["download", "-w", "-o", name] + options + ["http://far.example/file"]
            let outcome = try run(words)
            #expect(outcome.succeeded, "\(outcome.errors)")
        }
        try fetch([], "a")
        #expect(proxies.map(\.requests.count) == [1, 0, 0])
        #expect(try run(["set", "transfer-proxy", places[1]]).succeeded)
        try fetch([], "b")
        #expect(proxies.map(\.requests.count) == [1, 1, 0])
        try fetch(["--proxy", places[2]], "c")
        #expect(proxies.map(\.requests.count) == [1, 1, 1])
        try download(["-w", "--proxy", ""])
        #expect(proxies.map(\.requests.count) == [1, 1, 1] && server.requests.count == 1)
    }

    // MARK: Files

    @Test func `a file that exists ends a download before its bytes have come`() throws {
        try daemon.start()
        server.change("/file") { $0.holdsAfter = 1000 }
        try daemon.scratch.write("home/file", "old")
        // The server holds the rest back until the end of the test.
        let outcome = try download(["-w"], succeeds: false)
        #expect(outcome.errors.contains("there is a file file already; --overwrite"))
        #expect(try Files.list(daemon.scratch("home")) == ["file"])
        server.release()
    }

    @Test func `neither standard output nor a pipe is a place for a file`() throws {
        try daemon.start()
        let output = try download(["-o", "-"], succeeds: false)
        #expect(output.errors.contains("the daemon makes the transfer"), "\(output.errors)")
        #expect(try Command("mkfifo", daemon.scratch("home/pipe")).run().succeeded)
        let pipe = try download(["--overwrite", "-o", "pipe"], succeeds: false)
        #expect(pipe.errors.contains("is a pipe, which is not replaced"), "\(pipe.errors)")
        #expect(Files.status(daemon.scratch("home/pipe"))?.kind == .pipe)
        #expect(server.requests.isEmpty)
    }

    @Test func `a list has comments, empty lines and spaces`() throws {
        try daemon.start()
        server.set("/other", .init(VersionedObject(version: 2, size: 1000)))
        let list = "# two\n\n  \(url)  \r\n\(server.url("/other"))\n"
        let path = try daemon.scratch.write("list", list)
        let outcome = try run(["download", "-w", "-i", path])
        #expect(outcome.succeeded, "\(outcome.errors)")
        #expect(try Files.list(daemon.scratch("home")).sorted() == ["file", "other"])
    }

    // MARK: Moving

    @Test(arguments: [false, true])
    func `what is larger than the limit fails, whether its size is told or not`(isTold: Bool)
        throws
    {
        try daemon.scratch.write("offstage.conf", "download-limit=2M\n")
        try daemon.start()
        server.change("/file") {
            $0 = .init(VersionedObject(version: 1, size: 2 * Self.size + 1))
            $0.isChunked = !isTold
        }
        let outcome = try download(["-w", "-o", "large"], succeeds: false)
        #expect(outcome.errors.contains("download-limit is 2 MiB"), "\(outcome.errors)")
        #expect(try list().map { $0["failure"] } == ["tooLarge"])
        #expect(try Files.list(daemon.scratch("home")).filter { $0.hasSuffix(".part") } == [])
    }

    @Test func `a running download goes on in another directory`() throws {
        try daemon.start()
        server.change("/file") { ($0.holdsAfter, $0.dropsAfter) = (600_000, 700_000) }
        let id = try enqueue([])
        try server.waitUntilHeld(1)
        try Wait.until("its bytes are there") {
            try self.transfer(id)?["received"]?.integerValue ?? 0 > 0
        }
        try Files.makeDirectory(daemon.scratch("home/films"))
        server.change("/file") { ($0.holdsAfter, $0.dropsAfter) = (nil, nil) }
        let moved = try run(["move", "-d", "films", "-o", "film", id])
        #expect(moved.succeeded, "\(moved.errors)")
        server.release()
        #expect(try waitForEnd(id)["state"] == "finished")
        try expectFile("films/film")
        #expect(try Files.list(daemon.scratch("home")) == ["films"])
        #expect(try Files.list(daemon.scratch("home/films")) == ["film"])
        // Only the rest was fetched again.
        #expect(server.requests.last?.fields["range"] != nil)
        let late = try run(["move", "--first", id])
        #expect(!late.succeeded && late.errors.contains("has ended"))
    }

    @Test func `a download is not moved onto a file, unless that is to be replaced`() throws {
        try daemon.start()
        #expect(try run(["set", "network", "off"]).succeeded)
        let id = try enqueue(["-o", "a"])
        try Files.makeDirectory(daemon.scratch("home/films"))
        for name in ["home/keep", "home/films/a"] { try daemon.scratch.write(name, "mine") }
        for words in [["-o", "keep"], ["-d", "films"]] {
            let moved = try run(["move"] + words + [id])
            #expect(!moved.succeeded, "\(words)")
            #expect(moved.errors.contains("there is a file of that name already"), "\(moved)")
            #expect(moved.errors.contains("another name, or --overwrite"), "\(moved)")
        }
        #expect(try transfer(id)?["file"] == "a")
        #expect(try run(["move", "-o", "other", id]).succeeded)
        #expect(try run(["move", "-o", "keep", "--overwrite", id]).succeeded)
        #expect(try transfer(id)?["file"] == "keep")
    }

    @Test func `transfers are paused, resumed, moved and cancelled by their numbers`() throws {
        try daemon.start()
        #expect(try run(["set", "network", "off"]).succeeded)
        let ids = try ["a", "b", "c"].map { try enqueue(["-o", $0]) }
        #expect(try run(["pause", ids[0], ids[1]]).succeeded)
        #expect(try transfer(ids[0])?["state"] == "paused")
        let explained = try run(["explain", ids[0], ids[2]]).output
        #expect(explained.hasPrefix("transfer \(ids[0]) is paused until it is resumed.\n"))
        #expect(explained.contains("\n\ntransfer \(ids[2]) waits: ") && explained.contains("GATE"))
        #expect(explained.contains("\n  From: \(server.url("/file"))\n  To:   "), "\(explained)")
        #expect(explained.hasSuffix("home/c\n"))
        #expect(try run(["explain", "99"]).status == .exited(3))
        #expect(try run(["resume", ids[0]]).succeeded)
        #expect(try transfer(ids[0])?["state"] == "waiting")
        #expect(try run(["move", "--first", ids[2]]).succeeded)
        let order = try list().compactMap { $0["id"]?.integerValue }.map(String.init)
        #expect(order == [ids[2], ids[0], ids[1]])
        #expect(try run(["cancel", ids[1], ids[2]]).succeeded)
        #expect(try waitForEnd(ids[1])["state"] == "cancelled")
        let kept = try run(["transfers", "--clear", ids[0]])
        #expect(kept.errors == "offstage: transfer \(ids[0]) has not ended, and is kept\n")
        let again = try run(["cancel", ids[0], ids[1]])
        #expect(again.succeeded)
        #expect(again.errors == "offstage: transfer \(ids[1]) has ended already\n")
        #expect(try run(["pause", "2", "2h"]).errors.contains("unexpected argument \"2h\""))
        #expect(try run(["resume", "99"]).status == .exited(3))
        #expect(try run(["move", ids[0]]).status == .exited(2))
    }

    // MARK: Waiting

    @Test func `who interrupts the command interrupts no download`() throws {
        try daemon.start()
        server.change("/file") { $0.holdsAfter = 600_000 }
        var command = command(["download", "-w", url])
        command.newSession = true
        let process = try command.start(logging: daemon.scratch("output"))
        try server.waitUntilHeld(1)
        try process.send(Signal.interrupt)
        try Wait.until(readable: process.descriptor.number, "end of the command")
        #expect(try process.wait(block: true) == .signalled(Signal.interrupt))
        #expect(try daemon.scratch.read("output").contains("the transfer 1 goes on"))
        server.release()
        #expect(try waitForEnd("1")["state"] == "finished")
        try expectFile("file")
    }

    @Test func `a watch that nobody sees prints what has become of all`() throws {
        try daemon.start()
        try download([])
        let watched = try run(["transfers", "--watch"])
        #expect(watched.succeeded && watched.output.contains("finished"), "\(watched)")
        let json = try run(["transfers", "--watch", "--json"]).output
        #expect(try ValueJSON.parse(json)[0]?["state"] == "finished")
    }

    // MARK: Helpers

    private var url: String { server.url("/file") }

    private func command(_ words: [String]) -> Command {
        var command = Command(
            [Products.path(of: "offstage")] + words + ["--socket", daemon.socket]
        )
        command.directory = daemon.scratch("home")
        command.environment = Command.cleanEnvironment(["HOME": daemon.scratch("home")])
        return command
    }

    private func run(_ words: [String]) throws -> Command.Outcome { try command(words).run() }

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
    private func enqueue(_ options: [String]) throws -> String {
        let outcome = try download(options)
        return String(outcome.output.dropFirst("transfer ".count).prefix { $0 != ":" })
    }

    private func list() throws -> [Value] {
        try ValueJSON.parse(run(["transfers", "--json"]).output).listValue ?? []
    }

    private func transfer(_ id: String) throws -> Value? {
        try list().first { $0["id"]?.integerValue == Int64(id) }
    }

    private func waitForEnd(_ id: String) throws -> Value {
        try Wait.until("transfer \(id) ends") { try transfer(id)?["ended"] != nil }
        return try #require(try transfer(id))
    }

    private func expectFile(_ name: String) throws {
        let bytes = try Files.read(daemon.scratch("home/" + name), limit: 1 << 24)
        let isSame = bytes == VersionedObject(version: 1, size: Self.size).all
        #expect(isSame, "\(name) is another file")
    }
}
