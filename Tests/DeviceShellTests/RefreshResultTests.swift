import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// What a plain command's run comes to, from the manifest to the line in the history.
struct RefreshResultTests {
    /// A command, what its manifest says of it, and the line that its run leaves.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var script: String
        var keys = ""
        var settings = ""
        var result: String
        var reason: String

        var testDescription: String { name }
    }

    /// Asked to end after a second; on a busy machine that may take a while.
    private static let timeToEnd = "wake-grant = 31s\nexpiry-warning = 30s"

    static let cases: [Case] = [
        Case(name: "exit 0", script: "exit 0", result: "new data", reason: "exit status 0"),
        Case(name: "exit 1", script: "exit 1", result: "failed", reason: "exit status 1"),
        Case(
            name: "NoDataExit",
            script: "exit 3",
            keys: "NoDataExit=2;3;",
            result: "no data",
            reason: "exit status 3"
        ),
        Case(
            name: "exit 75 without a word about it",
            script: "exit 75",
            result: "asked to be run again",
            reason: "exit status 75"
        ),
        Case(
            name: "RetryExit",
            script: "exit 9",
            keys: "RetryExit=9;",
            result: "asked to be run again",
            reason: "exit status 9"
        ),
        Case(
            name: "a RetryExit of its own takes the place of 75",
            script: "exit 75",
            keys: "RetryExit=9;",
            result: "failed",
            reason: "exit status 75"
        ),
        Case(
            name: "a file that changes",
            script: "echo more >> content",
            keys: "NewDataFrom=file:~/content",
            result: "new data",
            reason: "NewDataFrom changed"
        ),
        Case(
            name: "a file that does not",
            script: "cat content",
            keys: "NewDataFrom=file:~/content",
            result: "no data",
            reason: "NewDataFrom did not change"
        ),
        Case(
            name: "a file that appears",
            script: "echo first > fresh",
            keys: "NewDataFrom=file:~/fresh",
            result: "new data",
            reason: "NewDataFrom changed"
        ),
        Case(
            name: "a program that prints something else",
            script: "echo more >> content",
            keys: "NewDataFrom=command:wc -l content",
            result: "new data",
            reason: "NewDataFrom changed"
        ),
        Case(
            name: "a program that prints the same",
            script: "touch content",
            keys: "NewDataFrom=command:wc -l content",
            result: "no data",
            reason: "NewDataFrom did not change"
        ),
        Case(
            name: "a program that takes too long to say it",
            script: "exit 0",
            keys: "NewDataFrom=command:sleep 1000",
            settings: "probe-limit = 200ms",
            result: "no data",
            reason: "NewDataFrom: no answer within 200ms"
        ),
        Case(
            name: "FailedFrom that says so",
            script: "exit 0",
            keys: "FailedFrom=command:test -e missing",
            result: "failed",
            reason: "FailedFrom exited with 1"
        ),
        Case(
            name: "FailedFrom that is content, and NewDataFrom",
            script: "echo more >> content",
            keys: "FailedFrom=command:test -e content\nNewDataFrom=file:~/content",
            result: "new data",
            reason: "NewDataFrom changed"
        ),
        Case(
            name: "a crash",
            script: "kill -SEGV $$",
            result: "ended by SIGSEGV",
            reason: "SIGSEGV"
        ),
        Case(
            name: "too long, but it ends when asked to",
            script: "trap 'exit 1' TERM; while :; do sleep 0.1; done",
            settings: Self.timeToEnd,
            result: "expired: its time was over",
            reason: "its time was over"
        ),
        Case(
            name: "too long, but it has done its work when it is asked to end",
            script: "trap 'exit 0' TERM; while :; do sleep 0.1; done",
            settings: Self.timeToEnd,
            result: "new data",
            reason: "exit status 0"
        ),
        Case(
            name: "too long, and it does not listen",
            script: "trap '' TERM; while :; do sleep 0.1; done",
            settings: "wake-grant = 1s\nexpiry-warning = 500ms",
            result: "terminated: its time was over",
            reason: "its time was over"
        ),
    ]

    @Test(arguments: cases)
    func `the end of a refresh command is judged as its manifest says`(_ example: Case) throws {
        let bench = try DaemonBench(example.settings, starting: false)
        try bench.script("content", "one line")
        try bench.refresh("reader", example.script, example.keys)
        try bench.daemon.start()
        let run = try bench.nextRun("reader")
        #expect(run["result"] == .string(example.result))
        #expect(run["reason"] == .string(example.reason))
        #expect(run["trigger"] == "refresh")
        #expect(run["task"] == "refresh")
        #expect(run["resumed"] == false)
        #expect(try bench.app("reader")?["lastRun"]?["result"] == .string(example.result))
    }

    @Test func `a program that is not installed is a failure that says so`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.manifest("reader", "BackgroundModes=fetch;\nRefreshCommand=no-such-program")
        try bench.daemon.start()
        let run = try bench.nextRun("reader")
        #expect(run["result"] == "could not be started")
        #expect(run["reason"] == "no-such-program is not installed, or not in PATH")
    }

    @Test func `a script whose interpreter is not installed is a failure that says so`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.script("reader.sh", "#!/no/such/shell")
        let script = bench.daemon.scratch("home/reader.sh")
        try Files.setPermissions(script, 0o755)
        try bench.manifest("reader", "BackgroundModes=fetch;\nRefreshCommand=\(script)")
        try bench.daemon.start()
        let run = try bench.nextRun("reader")
        #expect(run["result"] == "could not be started")
        #expect(run["reason"] == .string("the interpreter of \(script) is not installed"))
    }

    @Test func `a command runs again after each interval, and leaves one line each time`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.refresh("reader", "echo run >> runs", "RefreshInterval=1s")
        try bench.daemon.start()
        try bench.wait(for: "runs") { $0 == "run\nrun\nrun\n" }
        _ = try bench.nextRun("reader", after: 2)
        let runs = try bench.runs("reader")
        #expect(Set(runs.compactMap { $0["launch"]?.integerValue }).count == runs.count)
        for run in runs { #expect(run["result"] == "new data") }
        #expect(runs.allSatisfy { ($0["seconds"]?.doubleValue ?? -1) >= 0 })
        #expect(bench.lines("runs").count <= runs.count + 1)
    }

    @Test func `without the mode in its manifest a command is never run`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.script("reader.sh", "echo run >> forbidden")
        try bench.manifest("reader", "RefreshCommand=sh reader.sh")
        try bench.refresh("other", "echo run >> allowed")
        try bench.daemon.start()
        _ = try bench.nextRun("other")
        #expect(bench.read("allowed") == "run\n")
        #expect(bench.read("forbidden") == "")
        #expect(try bench.runs("reader").isEmpty)
        let explanation = try bench.explain("reader")["sentence"]?.stringValue ?? ""
        #expect(explanation.contains("fetch"), "it names what is missing: \(explanation)")
        let refusal = try bench.refusal("Run", "reader", [:])
        #expect(refusal.name == "org.offstage.Error.NotFound")
    }

    @Test func `processing with its needs unmet waits and says for what`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.script("backup.sh", "echo done >> backed-up")
        try bench.manifest(
            "backup",
            "BackgroundModes=processing;\nProcessingCommand=sh backup.sh\nProcessingNeeds=power;"
        )
        try bench.daemon.start()
        _ = try bench.nextRun("backup")
        try bench.set("power", "off")
        try bench.submit("echo done >> submitted", id: "mine", ["power": true])
        let explanation = try bench.explain("command.mine")
        #expect(explanation["state"] == "waiting")
        let gates = explanation["holds"]?.listValue?.compactMap { $0["gate"]?.stringValue }
        #expect(gates == ["external-power"])
        #expect(bench.read("submitted") == "")
        try bench.set("power", "on")
        try bench.wait(for: "submitted")
        #expect(try bench.nextRun("command.mine")["result"] == "completed")
    }

    @Test func `failures in a row stand first in the status and run a command after so many`()
        throws
    {
        let bench = try DaemonBench(
            """
            back-off = 0s
            failures-before-command = 2
            failure-command = sh told.sh

            """,
            starting: false
        )
        try bench.script(
            "told.sh",
            "echo \"$OFFSTAGE_APP|$OFFSTAGE_FAILURES|$OFFSTAGE_REASON\" >> told"
        )
        try bench.refresh("reader", "exit 4", "RefreshInterval=1s")
        try bench.daemon.start()
        try bench.wait(for: "told")
        _ = try bench.nextRun("reader", after: 3)
        #expect(bench.read("told") == "reader|2|exit status 4\n", "once, not after each")
        let failing = try bench.ask("Status")["failing"]?[0]
        #expect(failing?["app"] == "reader")
        #expect((failing?["failures"]?["count"]?.integerValue ?? 0) >= 4)
        #expect(failing?["failures"]?["reason"] == "exit status 4")
        try bench.script("reader.sh", "exit 0")
        try bench.wait(until: "no failure any more") {
            try bench.ask("Status")["failing"] == .list([])
        }
    }

    @Test(arguments: ProcessBench.steps)
    func `a result that takes too long ends with all that it has started`(
        step: ControlStep.Kind
    ) throws {
        let bench = try DaemonBench(
            "probe-limit = 500ms\n",
            options: ["--step", step.rawValue.replacing(" ", with: "-")],
            starting: false
        )
        try bench.script("look.sh", "sleep 1000 & echo $! > child; wait")
        // The command runs all the same, and sees that nobody is left.
        try bench.refresh(
            "reader",
            "while grep -qs '^State:.*sleeping' /proc/$(cat child)/status; do sleep 0.1; done\n"
                + "echo run > run",
            "NewDataFrom=command:sh look.sh"
        )
        try bench.daemon.start()
        let child = try bench.process(from: "child")
        try Wait.untilGone(child)
        try bench.wait(for: "run")
        #expect(try bench.nextRun("reader")["result"] == "no data")
    }

    @Test func `what a program prints for a result is bounded, what it writes elsewhere is not`()
        throws
    {
        let bench = try DaemonBench("probe-limit = 1h\nwake-grant = 12h\n", starting: false)
        try bench.script("look.sh", "head -c 20000000 /dev/zero > own && cat count")
        try bench.script("flood.sh", "head -c 20000000 /dev/zero; echo $? > ended; exec sleep 1000")
        try bench.refresh("reader", "echo more >> count", "NewDataFrom=command:sh look.sh")
        try bench.refresh("flooding", "true", "NewDataFrom=command:sh flood.sh")
        try bench.daemon.start()
        #expect(try bench.nextRun("reader")["result"] == "new data")
        #expect(Files.status(bench.home("own"))?.size == 20_000_000)
        let run = try bench.nextRun("flooding")
        #expect(run["result"] == "no data")
        #expect(run["reason"] == "NewDataFrom: it printed more than 16 MB")
    }
}
