@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// What an app may not do in the background: it is ended by the real daemon, and told why.
struct LimitTests {
    /// `of`: whether the kernel keeps the memory limit on the step.
    private static func steps(limitingMemory wanted: Bool) -> [ControlStep.Kind] {
        ProcessBench.steps.filter {
            (try? ProcessBench($0).control.step.limitsMemory) == wanted
        }
    }

    private func bench(_ settings: String, _ step: ControlStep.Kind? = nil) throws -> DaemonBench {
        // Nobody's time is over before the limit is noticed, however busy the machine is.
        try DaemonBench(
            settings + "wake-grant = 12h\n",
            options: step.map { ["--step", $0.rawValue.replacing(" ", with: "-")] } ?? [],
            starting: false
        )
    }

    // MARK: Memory

    @Test(
        .enabled(if: !steps(limitingMemory: true).isEmpty, "no memory controller that we may use"),
        arguments: steps(limitingMemory: true)
    )
    func `a command that takes too much memory is killed by the kernel, with the reason`(
        step: ControlStep.Kind
    ) throws {
        let bench = try bench("", step)
        try bench.manifest(
            "greedy",
            "BackgroundModes=fetch;\nRefreshCommand=tail /dev/zero\nMemoryLimit=16M"
        )
        try bench.daemon.start()
        let limit = try bench.ask("Doctor").listValue?.first { $0["check"] == "memory limit" }
        #expect(limit?["found"] == "kept by the kernel")
        let run = try bench.nextRun("greedy")
        #expect(
            run["result"] == "terminated: it used more memory than a background app may",
            "\(run)"
        )
        let reason = run["reason"]?.stringValue ?? ""
        #expect(reason.hasPrefix("it had 1"), "\(run)")
        #expect(reason.hasSuffix("; MemoryLimit in its manifest allows 16 MiB"), "\(run)")
        #expect(try bench.answers())
    }

    @Test(arguments: ProcessBench.steps.filter { !steps(limitingMemory: true).contains($0) })
    func `where no kernel keeps the limit, what is measured above it is ended`(
        step: ControlStep.Kind
    ) throws {
        // Two samples of a window of 4 s are one second apart.
        let bench = try bench("cpu-window = 4s\nmemory-limit = 16M\n", step)
        try bench.refresh(
            "greedy",
            """
            echo $$ > pid
            text=$(head -c 40000000 /dev/zero | tr '\\0' x)
            while :; do sleep 0.1; done
            """
        )
        try bench.refresh("modest", "echo $$ > modest; while [ ! -e go ]; do sleep 0.1; done")
        try bench.daemon.start()
        let modest = try bench.process(from: "modest")
        let run = try bench.nextRun("greedy")
        #expect(run["result"] == "terminated: it used more memory than a background app may")
        let reason = run["reason"]?.stringValue ?? ""
        #expect(reason.hasSuffix("; the setting memory-limit allows 16 MiB"), "\(run)")
        try Wait.untilGone(try bench.process(ended: "pid"))
        #expect(modest.isAlive)
        try bench.daemon.scratch.write("home/go", "")
        #expect(try bench.nextRun("modest")["result"] == "new data")
    }

    /// It has given back what it took long before it ends.
    @Test(arguments: ProcessBench.steps)
    func `the history has the most memory that a run had, and says where that was only seen`(
        step: ControlStep.Kind
    ) throws {
        let bench = try bench("", step)
        let offstage = Products.path(of: "offstage")
        try bench.refresh(
            "large",
            """
            text=$(head -c 30000000 /dev/zero | tr '\\0' x)
            \(offstage) limits > limits || exit 9
            text=
            """
        )
        try bench.daemon.start()
        let run = try bench.nextRun("large")
        #expect(run["result"] == "new data", "\(run)")
        let memory = try #require(run["memory"]?.integerValue)
        #expect(memory > 30_000_000, "\(run)")
        #expect(memory < 190_000_000, "\(run)")
        let isSampled = run["memorySampled"] == true
        #expect(isSampled == Self.steps(limitingMemory: false).contains(step), "\(run)")
        var history = Command(offstage, "history", "large")
        history.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": bench.daemon.socket])
        #expect(try history.run().output.contains("≥ ") == isSampled)
    }

    /// What is cached of a file can be had back at any time.
    @Test(arguments: ProcessBench.steps)
    func `a run that reads a large file has not the memory of its limit`(
        step: ControlStep.Kind
    ) throws {
        let bench = try bench("", step)
        try bench.refresh("reader", "cat large > /dev/null", "MemoryLimit=16M")
        let file = bench.home("large")
        let isWritten = try Command(
            "sh",
            "-c",
            "head -c 50000000 /dev/zero > \(file) && sync \(file)"
                + " && dd if=\(file) iflag=nocache count=0"
        ).run()
        #expect(isWritten.succeeded, "\(isWritten)")
        try bench.daemon.start()
        let run = try bench.nextRun("reader")
        #expect(run["result"] == "new data", "\(run)")
        #expect((run["memory"]?.integerValue ?? 0) < 12 << 20, "\(run)")
    }

    /// It is not cached any more when the run ends, and may never have been looked at.
    @Test(arguments: ProcessBench.steps)
    func `a run that writes a large file and removes it has not the memory of the file`(
        step: ControlStep.Kind
    ) throws {
        let bench = try bench("", step)
        try bench.refresh("writer", "head -c 50000000 /dev/zero > large; rm large")
        try bench.daemon.start()
        let run = try bench.nextRun("writer")
        #expect(run["result"] == "new data", "\(run)")
        #expect((run["memory"]?.integerValue ?? 0) < 12 << 20, "\(run)")
        #expect(run["memory"] == nil || run["memorySampled"] == true, "\(run)")
    }

    /// Has 30 MB in a child, which is measured and ends.
    private static let largeChild =
        "(text=$(head -c 30000000 /dev/zero | tr '\\0' x);"
        + " \(Products.path(of: "offstage")) limits > limits; true)"

    /// A run that has a large child before kill -9 of the daemon, or under the next one.
    @Test(arguments: ProcessBench.steps, [true, false])
    func `what a child had is told in the end, whichever daemon saw it`(
        step: ControlStep.Kind,
        isBefore: Bool
    ) throws {
        let bench = try bench("", step)
        let child = Self.largeChild
        try bench.refresh(
            "large",
            """
            \(isBefore ? child : "")
            echo $$ > pid
            while [ ! -e go ]; do sleep 0.1; done
            \(isBefore ? "" : child)
            """
        )
        try bench.daemon.start()
        _ = try bench.process(from: "pid")
        // An answer says that what came before it is kept.
        try bench.ask("Status")
        try bench.restart()
        try bench.daemon.scratch.write("home/go", "")
        let run = try bench.nextRun("large")
        // What grows by less than a quarter is not kept at once.
        #expect((run["memory"]?.integerValue ?? 0) > 25_000_000, "\(run)")
    }

    // MARK: Processor

    @Test func `what keeps the processor busy is ended, but not processing that asked for power`()
        throws
    {
        // One per cent, so that it is above it however busy the machine is.
        let bench = try bench("cpu-window = 2s\ncpu-limit = 1\n")
        try bench.refresh("busy", "echo $$ > busy-pid; while :; do :; done")
        try bench.refresh("idle", "echo $$ > idle-pid; exec sleep 1000")
        try bench.script("backup.sh", "echo $$ > backup-pid; while :; do :; done")
        try bench.manifest(
            "backup",
            "BackgroundModes=processing;\nProcessingCommand=sh backup.sh\nProcessingNeeds=power;"
        )
        try bench.daemon.start()
        try bench.set("power", "on")
        let backup = try bench.process(from: "backup-pid")
        let idle = try bench.process(from: "idle-pid")
        let run = try bench.nextRun("busy")
        #expect(
            run["result"] == "terminated: it used more processor time than a background app may",
            "\(run)"
        )
        try Wait.untilGone(try bench.process(ended: "busy-pid"))
        #expect(idle.isAlive)
        #expect(backup.isAlive)
        #expect(try bench.running("backup")?["pid"]?.integerValue == Int64(backup.pid))
    }

    // MARK: Locks

    @Test(arguments: ProcessBench.steps)
    func `what is frozen with a lock that others may want is ended, with one of its own it stays`(
        step: ControlStep.Kind
    ) throws {
        let bench = try bench("lock-check-delay = 1s\nsuspend-delay = 0s\n", step)
        func script(_ name: String, locking file: String) throws {
            try bench.script(
                name + ".sh",
                "exec 9> \(file); flock 9; echo $$ > \(name)-pid; while :; do sleep 0.1; done"
            )
        }
        try script("backup", locking: "shared")
        try bench.manifest(
            "backup",
            """
            BackgroundModes=processing;
            ProcessingCommand=sh backup.sh
            ProcessingNeeds=power;
            WhenInterrupted=freeze
            """
        )
        try Files.makeDirectory(bench.home(".reader"))
        try script("reader", locking: ".reader/lock")
        try bench.installReader("sh reader.sh")
        try bench.daemon.start()
        let backup = try bench.process(from: "backup-pid")
        let shared = bench.home("shared")
        #expect(try !Command("flock", "--nonblock", shared, "true").run().succeeded)
        let reader = try bench.suspendReader(writing: "reader-pid")
        try bench.set("power", "off")
        try Wait.untilGone(backup)
        #expect(try Command("flock", shared, "true").run().succeeded, "others get it")
        let reason = "it held a file lock while suspended"
        try bench.wait(until: "the history says why") {
            try bench.history("backup").contains {
                $0["result"] == .string("terminated: " + reason)
            }
        }
        #expect(
            try bench.history("backup").contains { $0.description.contains("\(reason): \(shared)") }
        )
        #expect(try bench.isFrozen(reader), "it was looked at before the other")
        #expect(try bench.app("reader")?["state"] == "suspended")
    }

    // MARK: Launching

    @Test func `an app that is launched for work and never says so is ended by the watchdog`()
        throws
    {
        let bench = try bench("launch-watchdog = 1s\n")
        try bench.script("app.sh", "echo $$ > pid; while :; do sleep 0.1; done")
        try bench.manifest("silent", exec: "sh app.sh", "BackgroundModes=fetch;")
        try bench.daemon.start()
        try bench.ask("Simulate", "fetch", "silent", [:])
        let process = try bench.process(from: "pid")
        try Wait.untilGone(process)
        let run = try bench.nextRun("silent")
        #expect(run["result"] == "terminated: it did not finish launching in time", "\(run)")
    }

    // MARK: Pressure

    /// A cgroup v2 directory of ours with pressure files; nil where there is none.
    private static let group: String? = {
        guard let root = (try? Mounts())?.cgroup2 else { return nil }
        let group = CgroupV2(root + "/offstage-pressure-\(CurrentProcess.pid)")
        guard (try? group.create()) != nil else { return nil }
        defer { try? group.remove() }
        return Files.exists(group.path + "/cpu.pressure") ? group.path : nil
    }()

    /// A process that wants all of one processor.
    private func busy(in group: CgroupV2?) throws -> PidFD {
        var program = Program(
            "/usr/bin/taskset",
            arguments: ["taskset", "-c", "0", "sh", "-c", "while :; do :; done"],
            environment: Command.cleanEnvironment()
        )
        program.cgroup = group?.path
        return try program.start()
    }

    /// Memory cannot be made short for one test alone, the processor can: their files are alike.
    @Test(.enabled(if: group != nil, "no cgroup v2 tree with pressure files that we may use"))
    func `the pressure that the kernel tells of is the device's, and ends what is suspended`()
        throws
    {
        let group = CgroupV2(try #require(Self.group))
        try group.create()
        defer {
            try? group.kill()
            _ = try? Wait.until(kernelFile: group.path + "/cgroup.events") {
                $0.contains("populated 0")
            }
            try? group.remove()
        }
        let bench = try DaemonBench(
            "suspend-delay = 0s\n",
            options: ["--pressure", group.path + "/cpu.pressure"],
            starting: false
        )
        try bench.script("app.sh", "echo $$ > pid; while :; do sleep 0.1; done")
        try bench.installReader("sh app.sh")
        try bench.daemon.start()
        func memory() throws -> Value? {
            try bench.ask("Conditions").listValue?.first { $0["condition"] == "memory" }?["value"]
        }
        let reader = try bench.suspendReader(writing: "pid")
        #expect(try memory() == "normal")
        // Two that want the same processor: one of them always waits.
        let first = try busy(in: group)
        let second = try busy(in: group)
        try bench.wait(until: "some wait") { try memory() != "normal" }
        // One outside: for a part of the time both of them wait.
        let outside = try busy(in: nil)
        defer {
            try? outside.send(Signal.kill)
            _ = try? outside.wait(block: true)
        }
        try bench.wait(until: "all wait") { try memory() == "critical" }
        try Wait.untilGone(reader)
        try bench.wait(until: "the history says why") {
            try bench.history("reader").contains { $0["result"] == "terminated: memory is low" }
        }
        try group.kill()
        _ = try (first.wait(block: true), second.wait(block: true))
        try bench.wait(until: "it is over") { try memory() == "normal" }
    }
}
