import AppProtocol
import DeviceCore
import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// A test daemon whose clock a developer moves on, with real programs.
struct VirtualClockTests {
    private static let options = ["--virtual-clock"]

    private func bench(_ settings: String = "") throws -> DaemonBench {
        try DaemonBench(settings, options: Self.options)
    }

    /// Runs end before the clock goes on, unless a test says otherwise.
    @discardableResult
    private func advance(
        _ bench: DaemonBench,
        by span: Interval,
        patience: Interval = .hours(1)
    ) throws -> Value {
        try bench.ask(
            "Advance",
            .double(span.seconds),
            ["patience": .double(patience.seconds)]
        )
    }

    private func command(_ bench: DaemonBench, _ words: String...) -> Command {
        var command = Command([Products.path(of: "offstage")] + words)
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": bench.daemon.socket])
        return command
    }

    private func time(_ value: Value?) throws -> WallTime {
        try #require(value?.stringValue.flatMap { WallTime(rfc3339: $0) })
    }

    private func now(_ bench: DaemonBench) throws -> WallTime {
        try time(bench.ask("Status")["now"])
    }

    // MARK: What the clock brings

    @Test func `what is asked for tomorrow runs when the clock is moved to it, and not before`()
        throws
    {
        let bench = try bench()
        try bench.submit("echo ran >> ran", id: "tomorrow", ["after": 43_200])
        let earliest = try time(bench.ask("Tasks", "command.tomorrow")[0]?["earliest"])
        var report = try advance(bench, by: .hours(11))
        #expect(report["runs"] == 0 && report["launches"] == 0)
        #expect(bench.read("ran") == "")
        let before = try now(bench)
        report = try advance(bench, by: .hours(2))
        #expect(report["runs"] == 1 && report["launches"] == 1 && report["running"] == 0)
        #expect(try time(report["from"]) >= before)
        #expect(try time(report["now"]) - time(report["from"]) >= .hours(2) - .seconds(1))
        #expect(bench.read("ran") == "ran\n", "it has ended by then")
        let run = try #require(try bench.runs("command.tomorrow").first)
        #expect(run["result"] == "completed")
        // At its time, not at the end of the span.
        #expect(try time(run["at"]) >= earliest)
        #expect(try time(run["at"]) - earliest < .minutes(30))
    }

    @Test func `a time of day that is typed is the next one of its clock`() throws {
        let bench = try bench()
        try advance(bench, by: .days(2))
        let before = try now(bench)
        let outcome = try command(bench, "pause", "12:00", "--json").run()
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        let until = try time(ValueJSON.parse(outcome.output)["until"])
        #expect(until > before && until - before <= .hours(25), "\(outcome.output)")
        #expect(try time(bench.ask("Status")["paused"]?["until"]) == until)
    }

    // MARK: Sleep

    @Test func `a device that sleeps runs nothing, and its grants stand still`() throws {
        let bench = try bench("wake-from-sleep = off\n")
        try bench.submit("exec sleep 1000", id: "long", kind: "refresh")
        try bench.wait(until: "it runs") { try bench.running("command.long") != nil }
        try bench.submit("echo ran >> ran", id: "due", kind: "refresh", ["after": 3600])
        let before = try now(bench)
        let outcome = try command(bench, "simulate", "sleep", "2h").run()
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        #expect(!outcome.output.contains("woke"), "\(outcome.output)")
        #expect(try now(bench) - before >= .hours(2))
        // Due meanwhile: looked at when it wakes.
        try bench.wait(for: "ran")
        #expect(try bench.running("command.long") != nil, "its grant counts time awake")
        // The same time awake is its end; the clock of the next daemon knows which was which.
        try bench.kill()
        try bench.daemon.start()
        #expect(try now(bench) - before >= .hours(2))
        #expect(try bench.running("command.long") != nil)
        _ = try advance(bench, by: .minutes(2), patience: .zero)
        #expect(try bench.nextRun("command.long")["result"]?.stringValue != nil)
    }

    @Test func `the alarm for work that is due ends the sleep`() throws {
        let bench = try bench("wake-from-sleep = on\n")
        try bench.submit("echo ran >> ran", id: "due", kind: "refresh", ["after": 3600])
        let before = try now(bench)
        let report = try bench.ask("Advance", 86_400, ["asleep": true])
        let slept = try time(report["now"]) - before
        #expect(slept >= .minutes(59) && slept < .hours(3), "\(slept)")
        #expect(report["wokenFor"] == "command.due")
        #expect(try time(report["woken"]) <= time(report["now"]))
        try bench.wait(for: "ran")
    }

    @Test func `the command line moves the clock, and says what ran`() throws {
        let bench = try bench()
        try bench.submit("true", id: "soon", ["after": 3600])
        let outcome = try command(bench, "simulate", "advance", "2h", "--patience", "1h").run()
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("It is "))
        #expect(outcome.output.hasSuffix("\n1 program started, 1 background run ended.\n"))
        let json = try command(bench, "simulate", "advance", "1d", "--json").run()
        let report = try ValueJSON.parse(json.output)
        #expect(report["runs"] == 0)
        #expect(try time(report["now"]) - Clocks.now().wall > .hours(25))
        let status = try command(bench, "status").run().output
        #expect(status.hasPrefix("For the daemon it is "))
        #expect(status.contains(": its clock is 1 d 2 h ahead\n"), "\(status)")
    }

    @Test func `a task that repeats runs each time, through a week`() throws {
        let bench = try bench()
        try bench.submit("echo >> ran", id: "daily", ["every": 86_400])
        try bench.wait(for: "ran")
        _ = try bench.nextRun("command.daily")
        let report = try advance(bench, by: .days(7) + .hours(1))
        #expect(report["runs"] == 7)
        #expect(bench.read("ran") == String(repeating: "\n", count: 8))
        let times = try bench.runs("command.daily").map { try time($0["at"]) }
        for (later, earlier) in zip(times, times.dropFirst()) {
            #expect(later - earlier >= .days(1) - .seconds(1))
        }
    }

    @Test func `the clock stands while a run goes on`() throws {
        let bench = try bench()
        #expect(try Command("mkfifo", bench.home("gate")).run().succeeded)
        try bench.submit(
            "echo begun > begun; read word < gate; echo $word > got",
            id: "long",
            kind: "refresh",
            ["after": 3600]
        )
        let output = bench.home("output")
        let client = try command(bench, "simulate", "advance", "24h", "--patience", "1h", "--json")
            .start(logging: output)
        try bench.wait(for: "begun")
        let run = try #require(try bench.ask("Status")["running"]?[0])
        #expect(try now(bench) - time(run["since"]) < .seconds(30), "within its grant")
        let other = try bench.refusal("Advance", 60, [:])
        #expect(other.name == ControlErrorName.held.rawValue)
        #expect(other.text.hasPrefix("the clock is being advanced already"))
        try Files.set(bench.home("gate"), to: "on\n")
        try Wait.until(readable: client.descriptor.number, "the end of the day")
        #expect(try client.wait(block: true) == .exited(0))
        #expect(try ValueJSON.parse(Files.text(output))["runs"] == 1)
        #expect(bench.read("got") == "on\n")
        #expect(try bench.runs("command.long").first?["result"] == "new data")
    }

    /// A server goes by no clock of ours: the clock would be at the deadline before it answers.
    @Test func `the clock stands while a file is fetched, for as long as the patience`() throws {
        let server = try FaultServer()
        var slow = FaultServer.Behaviour(VersionedObject(version: 1, size: 100_000))
        slow.holdsAfter = 1000
        for path in ["/waited-for", "/given-up"] { server.set(path, slow) }
        let bench = try bench()
        func transfer() throws -> Value {
            let list = try ValueJSON.parse(command(bench, "transfers", "--json").run().output)
            return try #require(list.listValue?.last)
        }
        func download(_ path: String) throws {
            let (file, url) = (bench.home("file"), server.url(path))
            let asked = try command(bench, "download", "--after", "1h", "-o", file, url).run()
            #expect(asked.succeeded, "\(asked.errors)")
        }
        try download("/waited-for")
        let client = try command(bench, "simulate", "advance", "5h", "--patience", "1h")
            .start(logging: bench.home("output"))
        try server.waitUntilHeld(1)
        server.release()
        try Wait.until(readable: client.descriptor.number, "the end of the span")
        #expect(try client.wait(block: true) == .exited(0), "\(bench.read("output"))")
        let fetched = try transfer()
        #expect(fetched["state"] == "finished", "\(fetched)")
        #expect(try Files.read(bench.home("file")) == slow.object.all)
        let took = try time(fetched["ended"]) - time(fetched["submitted"])
        #expect(took >= .hours(1) && took < .hours(2), "\(took)")
        try Files.remove(bench.home("file"))
        try download("/given-up")
        try advance(bench, by: .days(7) + .minutes(65), patience: .zero)
        try bench.wait(until: "it has failed") { try transfer()["failure"] == "timedOut" }
    }

    // MARK: Grants

    /// Longer than any test lasts.
    private static let grant = "wake-grant = 12h\n"

    @Test func `a grant ends by the virtual clock, and the program may react in real time`() throws
    {
        let bench = try bench(Self.grant)
        try bench.submit(
            "trap 'echo asked > asked; kill $!; exit 3' TERM; sleep 10000 & "
                + "echo begun > begun; wait",
            id: "endless",
            kind: "refresh"
        )
        try bench.wait(for: "begun")
        let report = try advance(bench, by: .hours(24), patience: .zero)
        #expect(report["runs"] == 1 && report["running"] == 0)
        #expect(bench.read("asked") == "asked\n")
        let run = try #require(try bench.runs("command.endless").first)
        #expect(run["stop"] == "timeout", "\(run)")
        let seconds = try #require(run["seconds"]?.doubleValue)
        #expect(seconds >= 43_195 && seconds < 43_260)
    }

    @Test func `a linked app is told that its time is over, and completes`() throws {
        let sample = try SampleApp.colorFeed(
            seconds: "3600",
            settings: Self.grant,
            options: Self.options
        )
        try suspend(sample)
        try sample.launch(SampleApp.refresh)
        try sample.wait(for: "refresh started")
        try advance(sample.bench, by: .hours(13), patience: .zero)
        try sample.wait(for: "refresh expired")
        try sample.wait(for: "refresh completed success=false colours=0")
        let run = try sample.bench.nextRun(sample.name)
        #expect(run["stop"] == "timeout", "\(run)")
    }

    // MARK: Linked apps

    private func suspend(_ sample: SampleApp) throws {
        try sample.open(saying: "registered refresh=true dbcleaning=true")
        try sample.leave()
        try sample.wait(for: "scheduled refresh")
        try sample.wait(for: "scheduled cleaning")
        try sample.waitUntilSuspended()
    }

    @Test func `a linked app is refreshed all day, and its dates count from the virtual time`()
        throws
    {
        let sample = try SampleApp.colorFeed(seconds: "0", options: Self.options)
        try sample.bench.set("refreshes-per-day", "6")
        try suspend(sample)
        let report = try advance(sample.bench, by: .days(1))
        let runs = try #require(report["runs"]?.integerValue)
        #expect(runs >= 3 && runs <= 12, "\(runs)")
        try sample.wait(for: "refresh completed success=true colours=\(3 * runs)")
        // It asks for the next one when it is refreshed, a quarter of an hour later.
        let last = try time(sample.bench.runs(sample.name).first?["at"])
        let earliest = try time(try sample.task(SampleApp.refresh)?["earliest"])
        #expect(earliest - last > .minutes(13) && earliest - last < .minutes(17))
    }

    @Test func `an app that is left before it has launched is refreshed all day as well`() throws {
        let sample = try SampleApp.colorFeed(
            seconds: "0",
            settings: "suspend-delay = 10min\n",
            options: Self.options
        )
        try sample.bench.set("refreshes-per-day", "6")
        // As `offstage open colorfeed; offstage leave colorfeed; offstage simulate advance 24h`.
        try sample.bench.ask("Open", .string(sample.name), [:])
        try sample.leave()
        let report = try advance(sample.bench, by: .days(1))
        #expect(sample.lines.contains("scheduled refresh"), "\(sample.lines)")
        #expect(try #require(report["runs"]?.integerValue) >= 3, "\(report)")
    }

    @Test func `a week in which nobody opens it ends the refreshes of an app`() throws {
        let sample = try SampleApp.colorFeed(seconds: "0", options: Self.options)
        try sample.bench.set("refreshes-per-day", "2")
        try suspend(sample)
        #expect(try #require(advance(sample.bench, by: .days(8))["runs"]?.integerValue) >= 4)
        let holds = try sample.bench.explain(sample.name)["holds"]?.listValue ?? []
        #expect(holds.contains { $0["gate"] == "unused" }, "\(holds)")
        #expect(try advance(sample.bench, by: .days(7))["runs"] == 0)
        try sample.bench.ask("Open", .string(sample.name), [:])
        try sample.leave()
        try sample.waitUntilSuspended()
        #expect(try #require(advance(sample.bench, by: .days(2))["runs"]?.integerValue) >= 1)
    }

    @Test func `dates and deadlines that an app says and hears are in real time`() throws {
        let bench = try DaemonBench(options: Self.options, starting: false)
        let stage = try LinkedApp.Stage(
            bench,
            "feed",
            "BackgroundModes=fetch;\nPermittedTaskIdentifiers=news;",
            entry: "NoDisplay=true"
        )
        try bench.daemon.start()
        try advance(bench, by: .days(3))
        let app = try stage.open(registered: ["news"])
        let date = (Clocks.now().wall + .hours(1)).secondsSince1970
        try app.call("Submit", "news", ["kind": "refresh", "earliest": .double(date)])
        let pending = try #require(app.call("Pending")[0][0]?["earliest"]?.doubleValue)
        #expect(abs(pending - date) < 1)
        let earliest = try time(bench.ask("Tasks", "feed")[0]?["earliest"])
        #expect(earliest - (try now(bench)) > .minutes(30))
        try bench.ask("Leave", "feed", [:])
        let entering = try app.next("EnterBackground")
        func left(_ deadline: Value?) throws -> Double {
            try #require(deadline?.doubleValue) - Double(Clocks.now().awake.nanoseconds) / 1e9
        }
        #expect(try (0...180).contains(left(entering.options["deadline"])))
        let task = try app.call("BeginTask", "save", ["expires": true])
        #expect(try (0...180).contains(left(task[1]["deadline"])))
        #expect(try (0...180).contains(left(app.call("Limits")[0]["deadline"])))
    }

    // MARK: The daemon

    @Test func `a daemon that is started again continues at its virtual time`() throws {
        let bench = try bench()
        try advance(bench, by: .days(30))
        let before = try now(bench)
        try bench.restart()
        #expect(try now(bench) >= before)
        // And goes on by itself.
        try bench.submit("echo ran > ran", id: "soon", ["after": 1])
        try bench.wait(for: "ran")
        _ = try bench.stop()
        bench.daemon.options = []
        #expect {
            try bench.daemon.start()
        } throws: {
            "\($0)".contains("belongs to daemons with a virtual clock")
        }
        try bench.daemon.scratch.write("state/virtual-clock", "soon\n")
        bench.daemon.options = Self.options
        #expect {
            try bench.daemon.start()
        } throws: {
            "\($0)".contains("does not say how far the virtual clock is ahead")
        }
    }

    @Test func `the state directory of a daemon with a real clock gets no virtual one`() throws {
        let bench = try DaemonBench()
        try bench.daemon.kill()
        bench.daemon.options = Self.options
        #expect {
            try bench.daemon.start()
        } throws: {
            "\($0)".contains("belongs to a daemon with a real clock")
        }
        #expect(!Files.exists(bench.daemon.scratch("state/virtual-clock")))
    }

    @Test func `the clock stops when whoever moves it goes, and the daemon serves all meanwhile`()
        throws
    {
        let bench = try bench()
        try bench.submit("echo >> ran", id: "often", ["every": 60])
        let client = try command(bench, "simulate", "advance", "3000d", "--patience", "1h")
            .start(logging: bench.home("output"))
        for number in 0..<3 { _ = try bench.nextRun("command.often", after: number) }
        #expect(try bench.answers())
        try client.send(Signal.kill)
        _ = try client.wait(block: true)
        try Wait.until("the clock stops", { (try? advance(bench, by: .seconds(1))) != nil })
        #expect(try now(bench) - Clocks.now().wall < .days(2999))
    }

    @Test func `the machine's own clock is not moved`() throws {
        let bench = try DaemonBench()
        let refusal = try bench.refusal("Advance", 60, [:])
        #expect(refusal.name == ControlErrorName.notPermitted.rawValue)
        let text =
            "this daemon runs on the machine's own clock (start one with --virtual-clock)"
        #expect(refusal.text == text)
        let outcome = try command(bench, "simulate", "advance", "1h").run()
        #expect(outcome.status == .exited(1))
        #expect(outcome.errors.contains(text))
        #expect(!Files.exists(bench.daemon.scratch("state/virtual-clock")))
    }

    @Test func `no time to advance by, or more than a clock has, is refused`() throws {
        let bench = try bench()
        for seconds in [0.0, -1, 1e12] {
            let refusal = try bench.refusal("Advance", .double(seconds), [:])
            #expect(refusal.name == ControlErrorName.invalid.rawValue)
        }
        try advance(bench, by: .days(20_000))
        let refusal = try bench.refusal("Advance", .double(20_000 * 86_400), [:])
        #expect(refusal.text.hasPrefix("the clock would be more than 100 years ahead"))
    }

    @Test(arguments: ["", "/.local/state/offstage", "/.local//state/x/../offstage/", "/link"])
    func `the usual state directory gets no virtual clock`(state: String) throws {
        let scratch = ScratchDirectory()
        try Files.makeDirectory(scratch(".local/state/x"), permissions: 0o700, parents: true)
        if state == "/link" {
            try Files.makeDirectory(scratch(".local/state/offstage"), permissions: 0o700)
            let made = try Command(
                "ln",
                "-s",
                scratch(".local/state/offstage"),
                scratch("link")
            ).run()
            #expect(made.succeeded)
        }
        // One that would start is ended.
        var command = Command("timeout", "60", Products.path(of: "offstaged"))
        command.arguments += ["--virtual-clock", "--runtime", scratch("run")]
        if !state.isEmpty { command.arguments += ["--state", scratch.path + state] }
        command.environment = Command.cleanEnvironment(["HOME": scratch.path])
        let outcome = try command.run()
        #expect(outcome.status == .exited(2))
        #expect(outcome.errors.hasPrefix("offstaged: --virtual-clock: "), "\(outcome.errors)")
        #expect(outcome.errors.contains("is the usual state directory"))
        #expect(!Files.exists(scratch(".local/state/offstage/lock")))
    }
}
