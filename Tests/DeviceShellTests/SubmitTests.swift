import Linux
import TestKit
import Testing
import Vocabulary

/// Asking for commands over the socket, and taking it back.
struct SubmitTests {
    @Test func `a submitted command runs once, in its directory, with its arguments exact`() throws
    {
        let bench = try DaemonBench()
        let arguments = ["", "two words", "a\nb", "$HOME * \\ '\"", "ü–𝄞", "-x"]
        try Files.makeDirectory(bench.home("there"))
        let answer = try bench.ask(
            "Submit",
            [
                "kind": "refresh", "id": "exact", "directory": .string(bench.home("there")),
                "command": .list(
                    [
                        "sh", "-c", "pwd > where; printf '%s\\0' \"$@\" > arguments; echo > done",
                        "sh",
                    ]
                        + arguments.map { .string($0) }
                ),
            ]
        )
        #expect(answer["app"] == "command.exact")
        try bench.wait(for: "there/done")
        #expect(bench.read("there/where") == bench.home("there") + "\n")
        #expect(bench.read("there/arguments") == arguments.map { $0 + "\0" }.joined())
        #expect(try bench.nextRun("command.exact")["result"] == "new data")
        #expect(try bench.ask("Tasks", "command.exact") == .list([]), "it ran, once")
    }

    @Test func `what is kept of an app that is gone does not hide the command of that name`() throws
    {
        let bench = try DaemonBench()
        try bench.set("power", "off")
        try bench.refresh("backup", "echo run")
        try bench.wait(until: "found") { try bench.app("backup") != nil }
        _ = try bench.nextRun("backup")
        try Files.remove(bench.daemon.scratch("data/applications/backup.desktop"))
        try bench.wait(until: "gone") { try bench.app("backup") == nil }
        let gone = try bench.refusal("Explain", "backup", [:])
        #expect(gone.text.hasPrefix("no app of that name: backup"), "\(gone)")
        try bench.submit("echo saved", id: "backup", ["power": true])
        for _ in 1...2 {
            #expect(try bench.explain("backup")["app"] == "command.backup")
            #expect(try bench.ask("Logs", "backup", [:])["app"] == "command.backup")
            let dismissed = try bench.refusal("Dismiss", "backup", [:])
            #expect(dismissed.text.contains("no failure to dismiss: command.backup"))
            try bench.restart()
        }
        // The app comes back, and is meant again.
        try bench.refresh("backup", "echo run")
        try bench.wait(until: "back") { try bench.app("backup") != nil }
        #expect(try bench.explain("backup")["app"] == "backup")
    }

    @Test func `after is the earliest date, and explained with its time`() throws {
        let bench = try DaemonBench()
        try bench.submit("echo early >> later", id: "later", ["after": 7200])
        try bench.submit("echo now >> now", id: "now")
        try bench.wait(for: "now")
        let task = try bench.ask("Tasks", "command.later")[0]
        // Of one day or of two.
        let wait = try seconds(task?["earliest"]) - seconds(task?["submitted"])
        #expect((wait + 86_400) % 86_400 == 7200)
        // The run slot of what has just written may not be free yet.
        try bench.wait(until: "only its date holds it") {
            try bench.explain("command.later")["holds"]?[0]?["gate"] == "earliest"
        }
        let explanation = try bench.explain("command.later")
        #expect(explanation["next"] == task?["earliest"])
        #expect(bench.read("later") == "")
    }

    /// The seconds of the day of a time as the daemon writes it.
    private func seconds(_ time: Value?) throws -> Int {
        let clock = try #require(time?.stringValue).dropFirst(11).prefix(8)
        let parts = clock.split(separator: ":").compactMap { Int($0) }
        try #require(parts.count == 3)
        return parts[0] * 3600 + parts[1] * 60 + parts[2]
    }

    @Test func `what needs protected data waits while the screen is locked`() throws {
        let bench = try DaemonBench()
        try bench.ask("Set", "locked", "on", [:])
        try bench.submit("echo run >> vault", id: "vault", ["unlocked": true])
        try bench.submit("echo run >> open", id: "open")
        try bench.wait(for: "open")
        let explanation = try bench.explain("command.vault")
        #expect(explanation["holds"]?[0]?["gate"] == "data-protection")
        #expect(explanation["sentence"]?.stringValue?.contains("the device is locked") == true)
        #expect(try bench.ask("Tasks", "command.vault")[0]?["needs"] == .list(["unlocked"]))
        #expect(bench.read("vault") == "")
        try bench.ask("Set", "locked", "off", [:])
        try bench.wait(for: "vault")
    }

    @Test func `every asks again after each run`() throws {
        let bench = try DaemonBench()
        try bench.submit("echo run >> runs", id: "often", ["every": 60])
        try bench.wait(for: "runs")
        _ = try bench.nextRun("command.often")
        let task = try bench.ask("Tasks", "command.often")[0]
        #expect(task?["everySeconds"] == 60.0)
        #expect(task?["state"] == "waiting")
        let refusal = try bench.refusal(
            "Submit",
            ["kind": "refresh", "command": ["true"], "every": 1]
        )
        #expect(refusal.name == "org.offstage.Error.Invalid")
        #expect(refusal.text.contains("at least a minute"))
    }

    @Test func `the same token is answered as the first time and asks for nothing more`() throws {
        let bench = try DaemonBench()
        let token: ValueMap = ["token": "once"]
        let first = try bench.submit("echo run >> runs", id: "once", token)
        _ = try bench.nextRun("command.once")
        #expect(try bench.submit("echo run >> runs", id: "once", token) == first)
        try bench.restart()
        #expect(try bench.submit("echo run >> runs", id: "once", token) == first)
        try bench.submit("echo run >> other", id: "other")
        _ = try bench.nextRun("command.other")
        #expect(bench.read("runs") == "run\n")
        #expect(try bench.ask("Tasks", "command.once") == .list([]))
        let second = try bench.submit("echo run >> runs", id: "once", ["token": "twice"])
        #expect(second != first)
        try bench.wait(for: "runs") { $0 == "run\nrun\n" }
    }

    @Test func `the same identifier replaces what is pending`() throws {
        let bench = try DaemonBench()
        try bench.submit("echo old >> which", id: "same", ["after": 3600])
        try bench.submit("echo new >> which", id: "same")
        try bench.wait(for: "which")
        _ = try bench.nextRun("command.same")
        #expect(bench.read("which") == "new\n")
        #expect(try bench.ask("Tasks", "command.same") == .list([]))
    }

    @Test func `what is cancelled never runs, and the history says so`() throws {
        let bench = try DaemonBench()
        try bench.submit("echo run >> never", id: "gone", ["after": 3600])
        try bench.ask("Cancel", "command.gone", [:])
        #expect(try bench.ask("Tasks", "command.gone") == .list([]))
        #expect(try bench.history("command.gone").first?["reason"] == "cancelled")
        let again = try bench.refusal("Cancel", "command.gone", [:])
        #expect(again.name == "org.offstage.Error.NotFound")
    }

    @Test func `cancelling what runs ends it`() throws {
        let bench = try DaemonBench()
        try bench.submit("echo $$ > pid; exec sleep 1000", id: "long")
        let process = try bench.process(from: "pid")
        try bench.ask("Cancel", "command.long", [:])
        try Wait.untilGone(process)
        #expect(try bench.nextRun("command.long")["result"] == "expired: it was cancelled")
        #expect(try bench.ask("Tasks", "command.long") == .list([]))
    }

    @Test func `a pause ends what runs and holds everything until it is over`() throws {
        let bench = try DaemonBench()
        try bench.submit("echo $$ > pid; exec sleep 1000", id: "running")
        let process = try bench.process(from: "pid")
        try bench.ask("Pause", ["seconds": 7200])
        try Wait.untilGone(process)
        #expect(
            try bench.nextRun("command.running")["result"]
                == "expired: background work was paused"
        )
        try bench.submit("echo run >> runs", id: "held")
        #expect(try bench.explain("command.held")["holds"]?[0]?["gate"] == "paused")
        #expect(try bench.ask("Status")["paused"]?["until"] != nil)
        try bench.restart()
        #expect(try bench.explain("command.held")["holds"]?[0]?["gate"] == "paused")
        #expect(bench.read("runs") == "")
        try bench.ask("Cancel", "command.running", [:])
        try bench.ask("Continue", [:])
        try bench.wait(for: "runs")
    }

    @Test func `a short pause ends by itself`() throws {
        let bench = try DaemonBench()
        let begin = Clocks.boot()
        try bench.ask("Pause", ["seconds": 2])
        try bench.submit("echo run >> runs", id: "held")
        try bench.wait(for: "runs")
        #expect(Clocks.boot() - begin >= .seconds(2), "not before it is over")
    }

    @Test
    func `a run can be user-initiated, and a launch simulated, past the gates that only save`()
        throws
    {
        let bench = try DaemonBench()
        try bench.set("idle", "off")
        try bench.submit("echo run >> runs", id: "mine")
        #expect(try bench.explain("command.mine")["holds"]?[0]?["gate"] == "device-in-use")
        try bench.ask("Simulate", "launch", "command.mine", [:])
        let test = try bench.nextRun("command.mine")
        #expect(test["simulated"] == true)
        #expect(try bench.ask("Tasks", "command.mine")[0]?["state"] == "waiting", "still pending")
        try bench.ask("Run", "command.mine", [:])
        let run = try bench.nextRun("command.mine", after: 1)
        #expect(run["simulated"] == false)
        #expect(bench.read("runs") == "run\nrun\n")
    }

    @Test func `a simulated expiry asks a running command to end`() throws {
        let bench = try DaemonBench()
        try bench.submit(
            "trap 'echo asked > asked; exit 1' TERM; echo > up; while :; do sleep 0.1; done",
            id: "long"
        )
        try bench.wait(for: "up")
        try bench.ask("Simulate", "expire", "command.long", [:])
        try bench.wait(for: "asked")
        #expect(try bench.nextRun("command.long")["result"] == "expired: a simulated expiry")
    }

    static let mistakes: [(Value, String)] = [
        (["kind": "refresh"], "there is no command to run"),
        (["command": ["true"]], "the kind is missing"),
        (["kind": "later", "command": ["true"]], "kind is not one of refresh, processing"),
        (["kind": "refresh", "command": "true"], "command is not a list"),
        (["kind": "refresh", "command": ["true"], "id": "a/b"], "a name has up to 64 letters"),
        (["kind": "refresh", "command": ["true"], "id": "ü"], "letters (a to z and A to Z)"),
        (
            ["kind": "refresh", "command": ["true"], "after": -1],
            "after is not a number of seconds"
        ),
        (["kind": "refresh", "command": ["true"], "after": .double(.nan)], "after is not"),
        (
            ["kind": "refresh", "command": ["true"], "directory": "here"],
            "not an absolute path"
        ),
        (["kind": "refresh", "command": ["true"], "environment": ["X"]], "is not NAME=value"),
        (
            ["kind": "refresh", "command": ["true"], "network": "yes"],
            "network is not true or false"
        ),
        (
            ["kind": "refresh", "command": ["true"], "power": true],
            "a refresh does not support this condition: power"
        ),
        (
            [
                "kind": "refresh", "command": ["true"],
                "environment": ["OFFSTAGE_APP=command.other"],
            ],
            "one that Offstage sets itself: OFFSTAGE_APP"
        ),
        (
            ["kind": "refresh", "command": ["true"], "sudo": true],
            "there is no option of that name"
        ),
    ]

    @Test(arguments: mistakes)
    func `a submission with a mistake is refused by name and changes nothing`(
        _ options: Value,
        _ words: String
    ) throws {
        let bench = try DaemonBench()
        let refusal = try bench.refusal("Submit", options)
        #expect(refusal.name == "org.offstage.Error.Invalid")
        #expect(refusal.text.contains(words), "\(refusal.text)")
        #expect(try bench.ask("Tasks", "") == .list([]))
        #expect(try bench.ask("Apps") == .list([]))
    }
}
