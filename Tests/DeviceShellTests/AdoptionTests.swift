@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Apps outlive the daemon, and the next one takes them over.
struct AdoptionTests {
    private static let waiting = """
        echo $$ >> pid; while [ ! -e go ]; do sleep 0.1; done; echo done >> done
        """

    @Test(arguments: ProcessBench.steps)
    func `a running command goes on across a kill of the daemon, and ends as the kernel tells`(
        step: ControlStep.Kind
    ) throws {
        let bench = try DaemonBench(options: ["--step", step.rawValue.replacing(" ", with: "-")])
        try bench.submit(Self.waiting, id: "long")
        let process = try bench.process(from: "pid")
        try bench.kill()
        #expect(process.isAlive)
        try bench.daemon.start()
        #expect(try bench.running("command.long")?["pid"]?.integerValue == Int64(process.pid))
        #expect(try bench.explain("command.long")["state"] == "running")
        try bench.restart()
        try bench.daemon.scratch.write("home/go", "")
        try bench.wait(for: "done")
        let run = try bench.nextRun("command.long")
        let isUnknown = run["result"] == "unknown" && run["reason"] == "it exited unobserved"
        #expect(run["result"] == "completed" || !ProcessEnds.areTold && isUnknown, "\(run)")
        try bench.restart()
        #expect(try bench.ask("Tasks", "command.long") == .list([]))
        #expect(bench.read("done") == "done\n")
        #expect(bench.lines("pid").count == 1, "it ran once")
        #expect(try bench.runs("command.long").count == 1)
    }

    @Test(.enabled(if: ProcessEnds.areTold, "this kernel tells ends to parents only"))
    func `a command that fails after a start of the daemon has failed, and is tried again`() throws
    {
        let bench = try DaemonBench()
        try bench.submit(Self.waiting + "; exit 3", id: "long", ["every": 86_400])
        let process = try bench.process(from: "pid")
        try bench.restart()
        #expect(process.isAlive)
        try bench.daemon.scratch.write("home/go", "")
        let run = try bench.nextRun("command.long")
        #expect(run["reason"] == "exit status 3", "\(run)")
        #expect(try bench.explain("command.long")["holds"]?[0]?["gate"] == "back-off")
    }

    @Test func `a command that ends while no daemon lives is recorded as unknown, once`() throws {
        let bench = try DaemonBench()
        try bench.submit(Self.waiting, id: "long", ["every": 3600])
        let process = try bench.process(from: "pid")
        try bench.kill()
        try bench.daemon.scratch.write("home/go", "")
        try Wait.untilGone(process)
        try bench.daemon.start()
        #expect(try bench.nextRun("command.long")["result"] == "unknown")
        #expect(try bench.explain("command.long")["holds"]?[0]?["gate"] == "earliest")
        try bench.restart()
        #expect(try bench.runs("command.long").count == 1)
        #expect(bench.lines("pid").count == 1)
    }

    @Test func `a command that was asked to end while no daemon lived is ended by the next`() throws
    {
        let bench = try DaemonBench("stop-timeout = 1d\n")
        try bench.submit(
            "trap 'echo asked >> asked' TERM; echo $$ > pid; while :; do sleep 0.1; done",
            id: "stubborn"
        )
        let process = try bench.process(from: "pid")
        try bench.ask("Cancel", "command.stubborn", [:])
        try bench.wait(for: "asked")
        try bench.restart()
        try bench.wait(for: "asked") { $0 == "asked\nasked\n" }
        #expect(process.isAlive, "it was given a day for it")
        let refusal = try bench.refusal("Close", "command.stubborn", [:])
        #expect(refusal.text.contains("offstage cancel command.stubborn"))
        try PidFD(of: process).send(Signal.kill)
        try Wait.untilGone(process)
        #expect(try bench.nextRun("command.stubborn")["result"] == "expired: it was cancelled")
    }

    private static let backup = """
        BackgroundModes=processing;
        ProcessingCommand=sh backup.sh
        ProcessingNeeds=power;
        WhenInterrupted=freeze
        """

    /// A daemon with a backup that ticks into a file, frozen for want of power.
    private func frozen(_ step: ControlStep.Kind) throws -> (DaemonBench, ProcessIdentity) {
        let bench = try DaemonBench(
            options: ["--step", step.rawValue.replacing(" ", with: "-")],
            starting: false
        )
        try bench.script(
            "backup.sh",
            "echo $$ >> pid; while :; do echo tick >> ticks; sleep 0.1; done"
        )
        try bench.manifest("backup", Self.backup)
        try bench.daemon.start()
        let process = try bench.process(from: "pid")
        try bench.set("power", "off")
        try bench.waitUntilFrozen(process)
        return (bench, process)
    }

    /// Those of this daemon.
    private func keepers(_ bench: DaemonBench) -> [Int32] {
        ((try? Files.list("/proc")) ?? []).compactMap { Int32($0) }.filter { pid in
            let line = (try? Files.text("/proc/\(pid)/cmdline", limit: 65_536)) ?? ""
            return line.contains("--keeper\0") && line.contains(bench.daemon.scratch.path + "/")
        }
    }

    @Test(arguments: ProcessBench.steps)
    func `what is frozen stays frozen across a kill of the daemon, and thaws when it may`(
        step: ControlStep.Kind
    ) throws {
        let (bench, process) = try frozen(step)
        let ticks = bench.lines("ticks").count
        try bench.kill()
        #expect(try bench.isFrozen(process))
        try bench.daemon.start()
        #expect(try bench.isFrozen(process))
        #expect(try bench.running("backup")?["frozen"] == true)
        #expect(bench.lines("ticks").count == ticks)
        try bench.set("power", "on")
        try bench.wait(for: "ticks") { $0.split(separator: "\n").count > ticks }
        #expect(bench.lines("pid").count == 1)
    }

    @Test(arguments: ProcessBench.steps)
    func `the keeper thaws when no daemon comes back, and the next one freezes again`(
        step: ControlStep.Kind
    ) throws {
        let (bench, process) = try frozen(step)
        let ticks = bench.lines("ticks").count
        // Before it: the keeper sees the end sooner than the test.
        let killed = Clocks.boot()
        try bench.kill()
        #expect(keepers(bench).count == 1)
        try bench.wait(for: "ticks") { $0.split(separator: "\n").count > ticks }
        #expect(Clocks.boot() - killed >= Keeper.patience, "not before its patience is over")
        try bench.daemon.start()
        try bench.waitUntilFrozen(process)
        #expect(try bench.explain("backup")["state"] == "interrupted")
        #expect(keepers(bench).count == 1)
        #expect(bench.lines("pid").count == 1)
    }

    @Test func `there is exactly one keeper, however often the daemon starts`() throws {
        let bench = try DaemonBench()
        let first = keepers(bench)
        #expect(first.count == 1)
        for _ in 0..<3 { try bench.restart() }
        #expect(keepers(bench) == first)
        let end = try bench.stop()
        #expect(end == .exited(0))
        // With nothing to keep it goes with the daemon.
        #expect(keepers(bench).isEmpty)
        try bench.daemon.start()
        #expect(keepers(bench).count == 1)
    }

    @Test func `a keeper that is killed is replaced`() throws {
        let bench = try DaemonBench()
        let first = try #require(keepers(bench).first.flatMap { ProcessIdentity(of: $0) })
        try PidFD(of: first).send(Signal.kill)
        try Wait.until(file: bench.daemon.scratch("state/lock"), "another keeper") { _ in
            bench.keeper.map { $0 != first } ?? false
        }
        #expect(keepers(bench).count == 1)
        #expect(try bench.answers())
    }

    @Test func `a keeper ends when neither a daemon nor a launch is left`() throws {
        let bench = try DaemonBench()
        let keeper = try #require(keepers(bench).first.flatMap { ProcessIdentity(of: $0) })
        try bench.submit(Self.waiting, id: "long")
        let process = try bench.process(from: "pid")
        let end = try bench.stop()
        #expect(end == .exited(0))
        #expect(process.isAlive, "an orderly end leaves the apps alone as well")
        try bench.daemon.scratch.write("home/go", "")
        try Wait.untilGone([process, keeper])
        try bench.daemon.start()
        #expect(keepers(bench).count == 1)
        #expect(try bench.nextRun("command.long")["result"] == "unknown")
    }
}
