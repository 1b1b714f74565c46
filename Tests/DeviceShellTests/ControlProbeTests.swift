@testable import DeviceShell
import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

/// Finding the step: what is tried, what is said about it, and what an ordinary user gets.
struct ControlProbeTests {
    @Test func `the best step that works is taken, and says why better ones are not`() throws {
        let scratch = ScratchDirectory()
        let control = try ProcessBench.probe(nil, scratch.path).choose()
        defer { ProcessBench.removeScope(of: control) }
        #expect(control.step.kind == ProcessBench.steps.first)
        let better = ControlStep.Kind.allCases.prefix { $0 != control.step.kind }
        #expect(control.step.refused.count == better.count)
        for (reason, kind) in zip(control.step.refused, better) {
            #expect(reason.hasPrefix(kind.rawValue + ": "))
        }
    }

    @Test func `signals always work, and say what is lost`() throws {
        let step = try ProcessBench.probe(.signals, ScratchDirectory().path).choose().step
        #expect(step.name == "signals")
        #expect(step.path == "" && !step.limitsMemory)
        #expect(step.lost.contains(ControlStep.lostMemory))
        #expect(step.lost.contains(ControlStep.lostWeight))
    }

    private static let hasTrees: Bool = {
        let mounts = try? Mounts()
        return mounts?.cgroup2 != nil && mounts?.cgroup1("freezer") != nil
    }()

    @Test(
        .enabled(if: hasTrees, "no cgroup trees of both versions"),
        arguments: [ControlStep.Kind.cgroup2, .cgroup1]
    )
    func `a scope that is no cgroup is refused with its path`(step: ControlStep.Kind) throws {
        let scratch = ScratchDirectory()
        let probe = ProcessBench.probe(step, scratch.path, scope: scratch("scope"))
        let failure = #expect(throws: ProbeFailure.self) { _ = try probe.choose() }
        #expect(failure?.reason.hasPrefix("\(step.rawValue): freeze \(scratch("scope")):") == true)
    }

    @Test func `the name of a scope belongs to its state directory`() {
        let name = ControlProbe.name(forState: "/home/a/.local/state/offstage")
        #expect(name == ControlProbe.name(forState: "/home/a/.local/state/offstage"))
        #expect(name != ControlProbe.name(forState: "/home/b/.local/state/offstage"))
        #expect(name.hasPrefix("offstage-") && !name.contains("/"))
    }

    @Test(.enabled(if: ProcessBench.steps.contains(.cgroup2), "no cgroup v2 tree that we may use"))
    func `processes put into the scope itself go into a leaf`() throws {
        let root = try #require(try Mounts().cgroup2)
        let scope = CgroupV2(root + "/offstage-test-scope-\(CurrentProcess.pid)")
        try scope.create()
        var program = Program("/bin/sleep", arguments: ["sleep", "1000"], environment: [])
        program.cgroup = scope.path
        let keeper = try program.start()
        let bench = try ProcessBench(.cgroup2, scope: scope.path)
        #expect(bench.control.step.path == scope.path)
        #expect(try scope.child("keeper").processes() == [keeper.pid])
        #expect(try Files.text(scope.path + "/cgroup.procs") == "")
        #expect(bench.control.discover() == [])
        try keeper.send(Signal.kill)
        #expect(try keeper.wait(block: true) == .signalled(9))
    }

    @Test(.enabled(if: ProcessBench.steps.contains(.cgroup2), "no cgroup v2 tree that we may use"))
    func `launches of a step that was in force before are moved in and go on`() throws {
        let scratch = ScratchDirectory()
        let old = try ProcessBench(.signals, in: scratch)
        let process = try old.launch(1, "while :; do :; done")
        try Wait.until("stopped", { try old.control.freeze(LaunchID(1)) })
        let new = try ProcessBench(.cgroup2, in: scratch)
        #expect(new.control.discover() == [LaunchID(1)])
        #expect(try new.control.launch(of: process.pid) == LaunchID(1))
        try new.waitUntilBusy(LaunchID(1))
        try new.control.kill(LaunchID(1))
        #expect(try process.wait(block: true) == .signalled(9))
    }

    @Test(.enabled(if: ProcessBench.steps.contains(.cgroup2), "no cgroup v2 tree that we may use"))
    func `launches are found where an earlier daemon put them`() throws {
        let scratch = ScratchDirectory()
        let root = try #require(try Mounts().cgroup2)
        let elsewhere = root + "/offstage-test-elsewhere-\(CurrentProcess.pid)"
        let old = try ProcessBench(.cgroup2, in: scratch, scope: elsewhere)
        let process = try old.launch(1, "exec sleep 1000")
        let again = try ProcessBench.probe(nil, scratch.path).choose()
        #expect(again.step.path == elsewhere)
        #expect(again.processes(of: LaunchID(1)) == [process.pid])
        try again.kill(LaunchID(1))
        #expect(try process.wait(block: true) == .signalled(9))
        #expect(again.remove(LaunchID(1)))
    }

    /// The memory limit of an ordinary user needs controllers in the v2 tree, which a machine
    /// whose v1 hierarchies hold them cannot show: here the files of the kernel are plain ones.
    @Test func `limits are written where the kernel offers them`() throws {
        let scratch = ScratchDirectory()
        try scratch.write("cgroup.subtree_control", "cpu memory\n")
        try scratch.write("cpu.weight", "100\n")
        for name in ["launch-1", "launch-2"] {
            for (file, text) in [
                "memory.max": "max\n", "memory.swap.max": "max\n", "memory.oom.group": "0\n",
                "memory.current": "12345\n", "memory.peak": "23456\n",
                "memory.events": "oom 1\noom_kill 1\n",
                "cpu.weight": "100\n", "cpu.stat": "usage_usec 70\n", "cgroup.freeze": "0\n",
                "cgroup.events": "populated 1\nfrozen 1\n", "cgroup.procs": "",
            ] { try scratch.write("\(name)/\(file)", text) }
        }
        let control = CgroupControl(CgroupV2(scratch.path))
        #expect(control.step.limitsMemory && control.step.lost.isEmpty)
        try control.make(LaunchID(1), LaunchLimits(memory: 200 << 20, weight: .background))
        #expect(try scratch.read("launch-1/memory.max") == "\(200 << 20)")
        #expect(try scratch.read("launch-1/memory.swap.max") == "0")
        #expect(try scratch.read("launch-1/memory.oom.group") == "1")
        try control.limitMemory(LaunchID(1), nil)
        #expect(try scratch.read("launch-1/memory.max") == "max")
        #expect(try scratch.read("launch-1/memory.swap.max") == "max")
        #expect(try scratch.read("launch-1/cpu.weight") == "10")
        #expect(try scratch.read("cpu.weight") == "5")
        try control.make(LaunchID(2), LaunchLimits(weight: .foreground))
        #expect(try scratch.read("launch-2/memory.max") == "max\n")
        #expect(try scratch.read("launch-2/cpu.weight") == "100")
        #expect(try scratch.read("cpu.weight") == "100")
        var usage = Usage(cpu: Interval(nanoseconds: 70_000), memory: 12345)
        usage.peak = 23456
        #expect(control.usage(of: LaunchID(1)) == usage)
        #expect(control.memoryEnd(of: LaunchID(1)) == .limit)
        #expect(try control.freeze(LaunchID(1)))
        #expect(try scratch.read("launch-1/cgroup.freeze") == "1")
        try control.weigh(LaunchID(2), .background)
        #expect(try scratch.read("cpu.weight") == "5")
        // Ended by the kernel though its own limit was never met.
        try scratch.write("launch-1/memory.events", "oom 0\noom_kill 1\n")
        #expect(control.memoryEnd(of: LaunchID(1)) == .machine)
        try scratch.write("launch-1/memory.events", "oom 0\noom_kill 0\n")
        #expect(control.memoryEnd(of: LaunchID(1)) == nil)
    }

    @Test func `what is cached of files is not its memory, and makes the peak uncertain`() throws {
        let scratch = ScratchDirectory()
        try scratch.write("cgroup.subtree_control", "memory\n")
        for launch in 1...2 {
            try scratch.write("launch-\(launch)/cpu.stat", "usage_usec 70\n")
            try scratch.write("launch-\(launch)/memory.events", "oom 0\noom_kill 0\n")
        }
        let control = CgroupControl(CgroupV2(scratch.path))
        func usage(
            launch: UInt64 = 1,
            charged: Int64,
            peak: Int64,
            files: Int64,
            shared: Int64 = 0,
            faulted: Int64? = nil
        ) throws -> Usage? {
            let group = "launch-\(launch)"
            try scratch.write(group + "/memory.current", "\(charged << 20)\n")
            try scratch.write(group + "/memory.peak", "\(peak << 20)\n")
            let faults = faulted.map { "pgfault \(($0 << 20) / CurrentProcess.pageSize)\n" } ?? ""
            let cached = "file \((files + shared) << 20)\nshmem \(shared << 20)\n"
            try scratch.write(group + "/memory.stat", cached + faults)
            return control.usage(of: LaunchID(launch))
        }
        func expected(_ memory: Int64, _ peak: Int64, isSampled: Bool) -> Usage {
            var usage = Usage(cpu: Interval(nanoseconds: 70_000), memory: memory << 20)
            (usage.peak, usage.isPeakSampled) = (peak << 20, isSampled)
            return usage
        }
        // A file was cached and removed, and nobody looked meanwhile.
        #expect(
            try usage(charged: 4, peak: 80, files: 0, faulted: 12)
                == expected(4, 12, isSampled: true)
        )
        #expect(
            try usage(charged: 4, peak: 80, files: 0, faulted: 100)
                == expected(4, 80, isSampled: false)
        )
        #expect(
            try usage(charged: 60, peak: 80, files: 1) == expected(59, 79, isSampled: false)
        )
        #expect(
            try usage(charged: 199, peak: 200, files: 190) == expected(9, 10, isSampled: true)
        )
        // What was cached may have been the peak, also when its file is gone.
        #expect(
            try usage(charged: 8, peak: 200, files: 0) == expected(8, 10, isSampled: true)
        )
        // What was written into a memfd is memory, though it took no page fault, and stays so.
        #expect(
            try usage(launch: 2, charged: 70, peak: 80, files: 0, shared: 60, faulted: 12)
                == expected(70, 72, isSampled: false)
        )
        #expect(
            try usage(launch: 2, charged: 4, peak: 80, files: 0, faulted: 12)
                == expected(4, 72, isSampled: false)
        )
        // Had anything been left that it could have had back, it would not have met its limit.
        try scratch.write("launch-1/memory.events", "oom 1\noom_kill 1\n")
        #expect(
            try usage(charged: 0, peak: 200, files: 0) == expected(0, 200, isSampled: false)
        )
    }
}
