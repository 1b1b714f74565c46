import DeviceCore
import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Frozen and thawed: by the plug, by the user who leaves and comes back; judged by the kernel.
struct InterruptionTests {
    private static let busy = "echo $$ >> pid; while :; do :; done"

    private static let backup = """
        BackgroundModes=processing;
        ProcessingCommand=sh backup.sh
        ProcessingNeeds=power;
        WhenInterrupted=freeze
        """

    @Test(arguments: ProcessBench.steps)
    func `pulling the plug freezes a command, and plugging in lets it go on`(
        step: ControlStep.Kind
    ) throws {
        let bench = try DaemonBench(
            options: ["--step", step.rawValue.replacing(" ", with: "-")],
            starting: false
        )
        try bench.script("backup.sh", Self.busy)
        try bench.manifest("backup", Self.backup)
        try bench.daemon.start()
        #expect(bench.step == step)
        let process = try bench.process(from: "pid")
        #expect(try !bench.isFrozen(process))
        try bench.set("power", "off")
        try bench.waitUntilFrozen(process)
        let time = ProcessStatus(of: process.pid)?.processorTime
        try bench.letOthersWork()
        #expect(ProcessStatus(of: process.pid)?.processorTime == time, "not a tick")
        let line = try bench.nextRun("backup")
        #expect(line["result"] == "interrupted: external power is gone")
        let seconds = try #require(line["seconds"]?.doubleValue)
        #expect(seconds >= 0)
        let explanation = try bench.explain("backup")
        #expect(explanation["state"] == "interrupted")
        #expect(explanation["holds"]?[0]?["gate"] == "external-power")
        #expect(try bench.running("backup")?["frozen"] == true)
        try bench.set("power", "on")
        try bench.waitUntilFrozen(process, false)
        try Wait.until(
            "busy again",
            { (ProcessStatus(of: process.pid)?.processorTime ?? 0) > (time ?? 0) }
        )
        #expect(bench.lines("pid").count == 1, "the same run")
        #expect(try bench.running("backup")?["pid"]?.integerValue == Int64(process.pid))
    }

    /// It is asked what it has once in each window, as a timer may.
    @Test(arguments: ProcessBench.steps)
    func `each window of a run says what memory and time it had`(
        step: ControlStep.Kind
    ) throws {
        let bench = try DaemonBench(
            options: ["--step", step.rawValue.replacing(" ", with: "-")],
            starting: false
        )
        try bench.script(
            "backup.sh",
            """
            hold() {
                text=$(head -c $1 /dev/zero | tr '\\0' x)
                \(Products.path(of: "offstage")) limits > limits || exit 9
                text=
            }
            hold 60000000
            echo $$ > pid
            while [ ! -e go ]; do sleep 0.1; done
            hold 20000000
            """
        )
        try bench.manifest("backup", Self.backup)
        try bench.daemon.start()
        let process = try bench.process(from: "pid")
        try bench.set("power", "off")
        try bench.waitUntilFrozen(process)
        let first = try bench.nextRun("backup")
        #expect(first["result"] == "interrupted: external power is gone")
        let most = try #require(first["memory"]?.integerValue, "\(first)")
        #expect(most > 60_000_000, "\(first)")
        #expect((first["cpuSeconds"]?.doubleValue ?? 0) > 0, "\(first)")
        try bench.daemon.scratch.write("home/go", "")
        try bench.set("power", "on")
        let second = try bench.nextRun("backup", after: 1)
        #expect(second["result"] == "completed", "\(second)")
        let memory = try #require(second["memory"]?.integerValue, "\(second)")
        #expect(memory > 20_000_000 && memory < most, "\(second)")
        #expect(second["memorySampled"] == true, "\(second)")
    }

    @Test func `the run that was frozen completes in its next window, marked as resumed`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.script(
            "backup.sh",
            "echo $$ >> pid; while [ ! -e go ]; do sleep 0.1; done; echo done > done"
        )
        try bench.manifest("backup", Self.backup)
        try bench.daemon.start()
        let process = try bench.process(from: "pid")
        try bench.set("power", "off")
        try bench.waitUntilFrozen(process)
        try bench.daemon.scratch.write("home/go", "")
        try bench.letOthersWork()
        #expect(bench.read("done") == "")
        try bench.set("power", "auto")
        try bench.wait(for: "done")
        let line = try bench.nextRun("backup", after: 1)
        #expect(line["result"] == "completed")
        #expect(line["resumed"] == true)
        #expect(bench.lines("pid").count == 1)
    }

    @Test func `without freeze an interrupted command is asked to end, and is pending again`()
        throws
    {
        let bench = try DaemonBench(starting: false)
        try bench.script(
            "backup.sh",
            "trap 'echo asked >> asked; exit 1' TERM; echo $$ >> pid; while :; do sleep 0.1; done"
        )
        try bench.manifest(
            "backup",
            "BackgroundModes=processing;\nProcessingCommand=sh backup.sh\nProcessingNeeds=power;"
        )
        try bench.daemon.start()
        let process = try bench.process(from: "pid")
        try bench.set("power", "off")
        try Wait.untilGone(process)
        #expect(bench.read("asked") == "asked\n")
        #expect(try bench.nextRun("backup")["result"] == "expired: external power is gone")
        #expect(try bench.explain("backup")["state"] == "waiting")
        try bench.set("power", "on")
        try bench.wait(for: "pid") { $0.split(separator: "\n").count == 2 }
    }

    @Test func `a user who comes back interrupts processing, but no refresh`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.script("backup.sh", Self.busy)
        try bench.manifest(
            "backup",
            "BackgroundModes=processing;\nProcessingCommand=sh backup.sh\nWhenInterrupted=freeze"
        )
        try bench.refresh(
            "reader",
            "echo $$ > reader-pid; while [ ! -e go ]; do sleep 0.1; done; echo done > read"
        )
        try bench.daemon.start()
        let backup = try bench.process(from: "pid")
        let reader = try bench.process(from: "reader-pid")
        try bench.set("idle", "off")
        try bench.waitUntilFrozen(backup)
        #expect(try bench.nextRun("backup")["result"] == "interrupted: the device is in use")
        #expect(try !bench.isFrozen(reader))
        try bench.daemon.scratch.write("home/go", "")
        try bench.wait(for: "read")
        #expect(try bench.nextRun("reader")["result"] == "new data")
    }

    @Test func `values by hand win over sensors until auto, and survive the daemon`() throws {
        let bench = try DaemonBench()
        func battery() throws -> Value? {
            try bench.ask("Conditions").listValue?.first { $0["condition"] == "battery" }
        }
        #expect(try battery()?["sensing"] == "none")
        try bench.set("battery", "15")
        #expect(try battery()?["number"] == 15)
        #expect(try battery()?["source"] == "set by hand")
        try bench.set("power", "off")
        try bench.submit("echo run >> runs", id: "mine")
        #expect(try bench.explain("command.mine")["holds"]?[0]?["gate"] == "battery")
        try bench.restart()
        #expect(try battery()?["number"] == 15)
        #expect(bench.read("runs") == "")
        try bench.set("battery", "auto")
        try bench.wait(for: "runs")
    }

    // MARK: The app itself

    private func opened(_ keys: String = "", _ settings: String = "") throws -> DaemonBench {
        let bench = try DaemonBench("suspend-delay = 0s\n" + settings, starting: false)
        try bench.script("app.sh", "echo $$ >> app-pid; while :; do :; done")
        try bench.script("refresh.sh", "echo run >> runs")
        try bench.manifest(
            "reader",
            exec: "sh app.sh",
            entry: "NoDisplay=true",
            "BackgroundModes=fetch;\n" + keys
        )
        try bench.daemon.start()
        return bench
    }

    @Test func `leaving suspends an app, opening brings the same process back`() throws {
        let bench = try opened()
        try bench.ask("Open", "reader", [:])
        let process = try bench.process(from: "app-pid")
        #expect(try bench.app("reader")?["state"] == "foreground")
        try bench.ask("Leave", "reader", [:])
        try bench.waitUntilFrozen(process)
        #expect(try bench.app("reader")?["state"] == "suspended")
        let time = ProcessStatus(of: process.pid)?.processorTime
        try bench.letOthersWork()
        #expect(ProcessStatus(of: process.pid)?.processorTime == time, "not a tick")
        try bench.ask("Open", "reader", [:])
        try bench.waitUntilFrozen(process, false)
        #expect(try bench.app("reader")?["state"] == "foreground")
        #expect(bench.lines("app-pid").count == 1)
        let uses = try bench.history("reader").compactMap { $0["what"]?.stringValue }
        #expect(uses == ["opened", "left", "opened"])
    }

    @Test func `closing ends an app and all its background work until it is opened again`() throws {
        let bench = try opened("RefreshCommand=sh refresh.sh\nRefreshInterval=1s")
        try bench.wait(for: "runs")
        try bench.ask("Open", "reader", [:])
        let process = try bench.process(from: "app-pid")
        try bench.ask("Leave", "reader", [:])
        try bench.waitUntilFrozen(process)
        try bench.ask("Close", "reader", [:])
        try Wait.untilGone(process)
        try bench.wait(until: "closed") { try bench.app("reader")?["state"] == "closed" }
        let explanation = try bench.explain("reader")
        #expect(explanation["holds"]?[0]?["gate"] == "closed-by-user")
        #expect(try bench.refusal("Run", "reader", [:]).name == "org.offstage.Error.Held")
        let runs = bench.lines("runs").count
        try bench.restart()
        #expect(try bench.explain("reader")["holds"]?[0]?["gate"] == "closed-by-user")
        #expect(bench.lines("runs").count == runs)
        try bench.ask("Open", "reader", [:])
        try bench.wait(for: "app-pid") { $0.split(separator: "\n").count == 2 }
        #expect(try bench.app("reader")?["closed"] == nil)
    }

    @Test func `a caller that attaches to what cannot be started is told so`() throws {
        let bench = try DaemonBench()
        let place = bench.home("absent")
        try bench.manifest("reader", exec: place, "BackgroundModes=fetch;")
        var command = Command(Products.path(of: "offstage"), "open", "--attach", "reader")
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": bench.daemon.socket])
        let outcome = try command.run()
        #expect(outcome.errors.hasPrefix("offstage: \(place) is not there\nFix"), "\(outcome)")
        #expect(!outcome.succeeded)
    }

    @Test func `a caller that attaches becomes the app, is frozen and thawed`() throws {
        let bench = try opened()
        var command = Command(Products.path(of: "offstage"), "open", "--attach", "reader")
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": bench.daemon.socket])
        command.directory = bench.home("")
        let caller = try command.start(logging: bench.daemon.scratch("offstage.log"))
        defer {
            try? caller.send(Signal.kill)
            _ = try? caller.wait(block: true)
        }
        let process = try bench.process(from: "app-pid")
        #expect(process.pid == caller.pid, "the same process, running the app")
        #expect(try bench.running("reader")?["pid"]?.integerValue == Int64(caller.pid))
        let other = try bench.refusal("Open", "reader", ["attach": 1])
        #expect(other.name.hasPrefix("org.offstage.Error."))
        try bench.ask("Leave", "reader", [:])
        try bench.waitUntilFrozen(process)
        try bench.ask("Open", "reader", [:])
        try bench.waitUntilFrozen(process, false)
        try caller.send(Signal.kill)
        try bench.wait(until: "its end is seen") {
            try bench.app("reader")?["state"] == "not running"
        }
        #expect(bench.lines("app-pid").count == 1, "nothing else was started")
    }

    @Test(arguments: ["exec", "file"])
    func `use of a program without our library is seen`(how: String) throws {
        let bench = try DaemonBench(starting: false)
        try bench.daemon.scratch.write(
            "home/reader",
            "#!/bin/sh\necho used > used-now\nread line < wait\n",
            permissions: 0o755
        )
        try bench.manifest(
            "reader",
            exec: "true",
            "BackgroundModes=fetch;\nUseFrom=\(how):~/\(how == "exec" ? "reader" : "used-now")"
        )
        try bench.daemon.scratch.write("home/used-now", "")
        try bench.daemon.start()
        #expect(try bench.app("reader")?["lastUsed"] == nil)
        #expect(try Command("mkfifo", bench.home("wait")).run().succeeded)
        var command = Command(bench.home("reader"))
        command.directory = bench.home("")
        let process = try command.start()
        defer {
            try? process.send(Signal.kill)
            _ = try? process.wait(block: true)
        }
        try bench.wait(until: "use seen") { try bench.app("reader")?["lastUsed"] != nil }
        #expect(try bench.history("reader").contains { $0["what"] == "seen" })
    }

    @Test func `our own runs of a program are no use of it`() throws {
        let bench = try DaemonBench(starting: false)
        try bench.daemon.scratch.write(
            "home/reader",
            "#!/bin/sh\necho run >> runs\n",
            permissions: 0o755
        )
        try bench.manifest(
            "reader",
            "BackgroundModes=fetch;\nRefreshCommand=\(bench.home("reader"))\n"
                + "UseFrom=exec:~/reader"
        )
        try bench.daemon.start()
        _ = try bench.nextRun("reader")
        #expect(try bench.app("reader")?["lastUsed"] == nil)
    }
}
