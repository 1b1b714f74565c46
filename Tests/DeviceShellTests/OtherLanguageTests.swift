import AppProtocol
import Linux
import TestKit
import Testing
import Vocabulary

/// Linked apps in another language, on the libraries that it has, in both directions (K5).
struct OtherLanguageTests {
    private static let root =
        #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(3).joined(separator: "/")

    private static func has(_ module: String) -> Bool {
        (try? Command("/usr/bin/python3", "-c", "import \(module)").run().succeeded) == true
    }

    private func playRefresh(_ script: String) throws {
        let bench = try DaemonBench(starting: false)
        try bench.daemon.scratch.write("home/client.py", script)
        let document = Self.root + "/docs/dbus/\(AppObject1.name).xml"
        try bench.manifest(
            "client",
            exec: "/usr/bin/python3 \(bench.home("client.py")) \(document)",
            entry: "NoDisplay=true",
            "BackgroundModes=fetch;\nPermittedTaskIdentifiers=news;"
        )
        try bench.daemon.start()
        // It waits until the user asks for it.
        try bench.set("power", "off")
        try bench.set("battery", "5")
        try bench.ask("Open", "client", [:])
        try bench.wait(for: "steps") { $0.contains("ready client\n") }
        #expect(bench.lines("steps") == ["org.offstage.Error.NotPermitted", "ready client"])
        try bench.ask("Leave", "client", [:])
        try bench.ask("Run", "client", [:])
        let run = try bench.nextRun("client")
        #expect(run["result"] == "new data" && run["task"] == "news", "\(bench.report)")
        #expect(bench.lines("steps").suffix(2) == ["offer refresh news", "pending 0"])
        let pid = try #require(bench.running("client")?["pid"]?.integerValue)
        try bench.waitUntilFrozen(try #require(ProcessIdentity(of: Int32(pid))))
    }

    @Test(.enabled(if: has("dbus") && has("gi"), "python3-dbus or python3-gi is not installed"))
    func `an app on dbus-python is woken and completes`() throws {
        try playRefresh(ClientScripts.dbusPython)
    }

    @Test(.enabled(if: has("gi"), "python3-gi is not installed"))
    func `an app on GDBus is woken and completes, by the document of its object`() throws {
        try playRefresh(ClientScripts.gdbus)
    }

    @Test(.enabled(if: has("jeepney"), "python3-jeepney is not installed"))
    func `an app on jeepney is woken and completes`() throws {
        try playRefresh(ClientScripts.jeepney)
    }

    @Test(.enabled(if: has("dasbus"), "python3-dasbus is not installed"))
    func `an app on dasbus is woken and completes`() throws {
        try playRefresh(ClientScripts.dasbus)
    }

    private static let feed = "org.example.PythonFeed"

    /// A daemon that is not started, with the manifest of the example.
    private static func feedBench() throws -> DaemonBench {
        let folder = root + "/Examples/python-feed"
        let bench = try DaemonBench(starting: false)
        let text = try Files.text("\(folder)/\(feed).desktop")
        let exec = text.split(separator: "\n").first { $0.hasPrefix("Exec=") } ?? ""
        try bench.daemon.write(
            manifest: feed,
            text.replacing(exec, with: "Exec=/usr/bin/python3 \(folder)/feed.py")
        )
        return bench
    }

    /// The end to write to, once the other is read.
    private static func writer(_ pipe: String) throws -> FileDescriptor {
        var number: Int32 = -1
        try Wait.until("the feed is read") {
            do {
                number = try FileDescriptor(opening: pipe, [.writing, .nonBlocking]).release()
                return true
            } catch {
                return false
            }
        }
        return FileDescriptor(owning: number)
    }

    @Test(.enabled(if: has("dbus_fast"), "python3-dbus-fast is not installed"))
    func `the Python example tells the next daemon what has ended while there was none`() throws {
        let name = Self.feed
        let bench = try Self.feedBench()
        // Read as slowly as the test wants.
        let pipe = bench.daemon.scratch("pipe")
        #expect(try Command("mkfifo", pipe).run().succeeded)
        bench.daemon.environment = ["FEED_URL": "file://" + pipe]
        try bench.daemon.start()
        try bench.set("power", "off")
        try bench.set("battery", "5")
        try bench.ask("Open", .string(name), [:])
        try bench.wait(until: "submitted") {
            try bench.ask("Tasks", .string(name)).listValue?.count == 1
        }
        let pid = try #require(bench.running(name)?["pid"])
        try bench.ask("Leave", .string(name), [:])
        try bench.ask("Run", .string(name), [:])
        let end = try Self.writer(pipe)
        try bench.kill()
        try end.writeAll("<rss><channel><item><title>One</title></item></channel></rss>")
        try end.close()
        let titles = ".local/share/python-feed/titles"
        try Wait.until("the titles") { bench.read(titles) == "One\n" }
        try bench.daemon.start()
        let run = try bench.nextRun(name)
        #expect(run["result"] == "new data", "\(bench.report)")
        #expect(try bench.running(name)?["pid"] == pid)
        try bench.ask("Simulate", "launch", .string(name), [:])
        try Self.writer(pipe).close()
        // No document: said, and completed all the same.
        #expect(try bench.nextRun(name, after: 1)["result"] == "failed", "\(bench.report)")
        #expect(try bench.running(name)?["pid"] == pid)
        let logs = try bench.ask("Logs", .string(name), [:])["text"]?.stringValue ?? ""
        #expect(logs.hasPrefix("the feed was not fetched: ParseError"), "\(logs)")
        #expect(try #require(bench.runs(name).first)["reason"] == "reported by the app")
    }

    @Test(.enabled(if: has("dbus_fast"), "python3-dbus-fast is not installed"))
    func `the Python example says that it was not told of a feed`() throws {
        let bench = try Self.feedBench()
        try bench.daemon.start()
        try bench.ask("Open", .string(Self.feed), [:])
        var logs = ""
        try bench.wait(until: "ended") {
            logs = try bench.ask("Logs", .string(Self.feed), [:])["text"]?.stringValue ?? ""
            return try bench.running(Self.feed) == nil
        }
        #expect(logs.hasPrefix("FEED_URL is not set"), "\(logs)")
    }

    @Test(.enabled(if: has("dbus_fast"), "python3-dbus-fast is not installed"))
    func `the Python example fetches its feed when it is woken, and asks for the next time`() throws
    {
        let name = Self.feed
        let bench = try Self.feedBench()
        let feed = bench.daemon.scratch("feed.xml")
        func publish(_ titles: String...) throws {
            let items = titles.map { "<item><title>\($0)</title></item>" }.joined()
            try Files.replace(feed, with: "<rss><channel>\(items)</channel></rss>")
        }
        bench.daemon.environment = ["FEED_URL": "file://" + feed]
        try publish("One")
        try bench.daemon.start()
        try bench.set("power", "off")
        try bench.set("battery", "5")
        try bench.ask("Open", .string(name), [:])
        try bench.wait(until: "submitted") {
            try bench.ask("Tasks", .string(name)).listValue?.count == 1
        }
        try bench.ask("Leave", .string(name), [:])
        try bench.ask("Run", .string(name), [:])
        #expect(try bench.nextRun(name)["result"] == "new data", "\(bench.report)")
        #expect(bench.read(".local/share/python-feed/titles") == "One\n")
        // It has asked for the next: never before that.
        let task = try #require(bench.ask("Tasks", .string(name))[0])
        #expect(task["state"] == "waiting")
        try bench.ask("Simulate", "launch", .string(name), [:])
        #expect(try bench.nextRun(name, after: 1)["result"] == "no data")
        try publish("Two", "One")
        try bench.ask("Simulate", "launch", .string(name), [:])
        #expect(try bench.nextRun(name, after: 2)["result"] == "new data")
        #expect(bench.read(".local/share/python-feed/titles") == "Two\nOne\n")
        let pid = try #require(bench.running(name)?["pid"]?.integerValue)
        try bench.waitUntilFrozen(try #require(ProcessIdentity(of: Int32(pid))))
    }

    @Test(.enabled(if: has("dbus_fast"), "python3-dbus-fast is not installed"))
    func `the Python example has the episodes of a feed fetched, and learns how each ended`() throws
    {
        let server = try FaultServer()
        let bench = try DaemonBench(starting: false)
        let items = ["/one.mp3", "/two%20b.mp3", "/none.mp3"].map {
            "<item><enclosure url=\"\(server.url($0))\"/></item>"
        }
        let feed = try bench.daemon.scratch.write(
            "feed.xml",
            "<rss><channel>\(items.joined())</channel></rss>"
        )
        for name in ["/one.mp3", "/two%20b.mp3"] {
            server.set(name, .init(VersionedObject(version: 1, size: 1000)))
        }
        try bench.daemon.start()
        for (name, value) in [("network", "on"), ("metered", "off"), ("power", "on")] {
            try bench.set(name, value)
        }
        // Everything else that a discretionary one waits for.
        try bench.set("idle", "on")
        func run(_ words: String...) throws -> Command.Outcome {
            let script = Self.root + "/Examples/python-downloads/episodes.py"
            var command = Command(["/usr/bin/python3", script] + words)
            command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": bench.daemon.socket])
            return try command.run()
        }
        let first = try run("--wait", "file://" + feed, bench.daemon.scratch("home"))
        #expect(first.status == .exited(1), "\(first)\(bench.report)")
        #expect(first.output.contains("1: finished") && first.output.contains("3: failed"))
        #expect(first.output.contains("404"), "\(first)")
        #expect(try Files.list(bench.daemon.scratch("home")).sorted() == ["one.mp3", "two b.mp3"])
        #expect(first.errors.isEmpty, "\(first.errors)")
        // What has failed is asked for again, as often as it fails.
        let second = try run("--wait", "file://" + feed, bench.daemon.scratch("home"))
        #expect(second.output.contains("4: failed"), "\(second)")
        // What is on its way is not.
        try bench.set("power", "off")
        server.set("/none.mp3", .init(VersionedObject(version: 1, size: 1000)))
        server.set("/f%C3%BCnf.mp3", .init(VersionedObject(version: 1, size: 1000)))
        let secret = server.url("/f%C3%BCnf.mp3").replacing("http://", with: "http://me:own@")
        let more = "<item><enclosure url=\"\(secret)\"/></item>"
        try bench.daemon.scratch.write(
            "feed.xml",
            "<rss><channel>\(items.joined())\(more)</channel></rss>"
        )
        for _ in 0..<2 {
            let third = try run("file://" + feed, bench.daemon.scratch("home"))
            #expect(third.output.hasPrefix("5: "), "\(third)")
            #expect(third.output.contains("6: http://me:***@"), "\(third)")
        }
        try bench.set("power", "on")
        let last = bench.daemon.scratch("home/none.mp3")
        let named = bench.daemon.scratch("home/f\u{fc}nf.mp3")
        try Wait.until("both are there") { Files.exists(last) && Files.exists(named) }
        let fourth = try run("file://" + feed, bench.daemon.scratch("home"))
        #expect(fourth.output == "there is nothing new\n")
    }

    @Test(.enabled(if: has("dbus_fast"), "python3-dbus-fast is not installed"))
    func `the Python example says in a line what it cannot go on with`() throws {
        let server = try FaultServer()
        let scratch = ScratchDirectory()
        let item = "<item><enclosure url=\"http://127.0.0.1:9/a\"/></item>"
        let feed = "file://" + (try scratch.write("feed.xml", "<rss>\(item)</rss>"))
        for (feed, directory, words) in [
            (feed, scratch("missing"), "missing is not a directory"),
            (server.url("/none"), scratch.path, "cannot be read: HTTP Error 404"),
            (feed, scratch.path, "no daemon answers at \(scratch("socket"))"),
        ] {
            let script = Self.root + "/Examples/python-downloads/episodes.py"
            var command = Command(["/usr/bin/python3", script, feed, directory])
            command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": scratch("socket")])
            let outcome = try command.run()
            #expect(outcome.status == .exited(1))
            #expect(outcome.errors.hasPrefix("episodes.py: "), "\(outcome)")
            #expect(outcome.errors.contains(words), "\(outcome)")
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome)")
        }
    }
}
