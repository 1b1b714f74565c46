import Linux
import TestKit
import Testing

/// Cgroups of this machine where it lets us make them.
struct CgroupTests {
    static let mounts = try? Mounts()
    static let second = mounts?.cgroup2.map { $0 + "/offstage-test-\(CurrentProcess.pid)" }
    static let first = mounts?.cgroup1("freezer").map {
        $0 + "/offstage-test-\(CurrentProcess.pid)"
    }
    static let firstMemory = mounts?.cgroup1("memory").map {
        $0 + "/offstage-test-\(CurrentProcess.pid)"
    }
    static let canUseSecond = usable(second)
    static let canUseFirst = usable(first) && usable(firstMemory)

    static func usable(_ path: String?) -> Bool {
        guard let path, (try? Files.makeDirectory(path, permissions: 0o755)) != nil else {
            return false
        }
        return (try? Files.removeDirectory(path)) != nil
    }

    func sleeper() -> Program {
        Program("/bin/sleep", arguments: ["sleep", "1000"], environment: [])
    }

    func busy() -> Program {
        Program("/bin/sh", arguments: ["sh", "-c", "while :; do :; done"], environment: [])
    }

    /// Something else counts for a while: time in which a busy process would have been busy.
    func work() throws {
        let work = Command("sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")
        #expect(try work.run().succeeded)
    }

    func waitUntilBusy(beyond before: Int64 = 0, of time: () -> Int64?) throws {
        try Wait.until("busy", { (time() ?? 0) > before }, step: work)
    }

    /// `freeze` itself only looks for a moment whether all stand still.
    func freeze(_ group: CgroupV2) throws {
        _ = try group.freeze()
        try Wait.until(kernelFile: group.path + "/cgroup.events") { $0.contains("frozen 1") }
        #expect(try group.freeze())
    }

    @Test(.enabled(if: canUseSecond, "no cgroup v2 tree that we may use"))
    func `a process is born in its cgroup, freezes, thaws and dies with it`() throws {
        let group = CgroupV2(try #require(Self.second) + "-life")
        try group.create()
        defer { try? group.remove() }
        let born = group
        var program = busy()
        program.cgroup = born.path
        let process = try program.start()
        #expect(try CgroupV2.of(process.pid, in: Mounts()) == group)
        #expect(try group.processes() == [process.pid])
        #expect(group.isPopulated)
        try waitUntilBusy { group.processorTime }
        try freeze(group)
        let time = try #require(group.processorTime)
        try work()
        #expect(ProcessStatus(of: process.pid)?.hasEnded == false)
        #expect(group.processorTime == time)
        try group.thaw()
        try Wait.until(kernelFile: group.path + "/cgroup.events") { $0.contains("frozen 0") }
        try waitUntilBusy(beyond: time) { group.processorTime }
        try freeze(group)
        #expect(throws: LinuxError("rmdir", group.path, .busy)) { try group.remove() }
        try group.kill()
        try Wait.until(readable: process.descriptor.number)
        #expect(try process.wait(block: true) == .signalled(9))
        #expect(!group.isPopulated)
        try group.remove()
        #expect(!group.exists)
    }

    @Test(.enabled(if: canUseSecond, "no cgroup v2 tree that we may use"))
    func `what is born in a fresh cgroup lives, though one of its name was killed`() throws {
        let group = CgroupV2(try #require(Self.second) + "-trap")
        try group.create()
        defer { try? group.remove() }
        try group.kill()
        try group.remove()
        try group.create()
        var program = sleeper()
        program.cgroup = group.path
        let process = try program.start()
        #expect(process.hasExited == false)
        try group.kill()
        #expect(try process.wait(block: true) == .signalled(9))
    }

    @Test(.enabled(if: canUseSecond, "no cgroup v2 tree that we may use"))
    func `cgroups below are counted, and removed deepest first`() throws {
        let group = CgroupV2(try #require(Self.second) + "-deep")
        try group.create()
        try group.child("a").create()
        try group.child("a").child("b").create()
        defer { try? group.remove() }
        let born = group.child("a").child("b")
        var program = sleeper()
        program.cgroup = born.path
        let process = try program.start()
        #expect(try group.processes() == [process.pid])
        #expect(try group.children() == ["a"])
        try group.kill()
        #expect(try process.wait(block: true) == .signalled(9))
        try group.remove()
        #expect(!group.exists)
    }

    @Test(.enabled(if: canUseFirst, "no v1 freezer that we may use"))
    func `the v1 freezer has the process before it runs, freezes, thaws and kills it`() throws {
        let group = CgroupV1Freezer(try #require(Self.first))
        try group.create()
        defer { try? group.remove() }
        var program = Program(
            "/bin/sh",
            arguments: ["sh", "-c", "cat /proc/self/cgroup; while :; do :; done"],
            environment: []
        )
        var output = try Pipe()
        program.joining = [group.path]
        program.output = output.writing?.number
        let process = try program.start()
        output.writing = nil
        let end = output.reading.take()!
        try Wait.until(readable: end.number)
        let seen = String(decoding: try end.read(upTo: 4096), as: UTF8.self)
        let name = group.path.split(separator: "/").last ?? ""
        #expect(CgroupMembership(seen).controllers["freezer"] == "/\(name)")
        #expect(try group.processes().contains(process.pid))
        func used() -> Int64? { ProcessStatus(of: process.pid)?.processorTime }
        try waitUntilBusy(of: used)
        try Wait.until("frozen", { try group.freeze() }) { try work() }
        let time = try #require(used())
        try work()
        #expect(used() == time)
        try group.thaw()
        try waitUntilBusy(beyond: time, of: used)
        try group.kill()
        #expect(try process.wait(block: true) == .signalled(9))
        #expect(!group.isPopulated)
    }

    @Test(.enabled(if: canUseFirst, "no v1 memory controller that we may use"))
    func `the v1 memory limit kills and counts it`() throws {
        let group = CgroupV1Memory(try #require(Self.firstMemory))
        try group.create()
        defer { try? group.remove() }
        try group.setMemoryLimit(16 << 20)
        var program = Program("/usr/bin/tail", arguments: ["tail", "/dev/zero"], environment: [])
        program.joining = [group.path]
        let process = try program.start()
        #expect(try process.wait(block: true) == .signalled(9))
        #expect(try #require(group.memoryKills) >= 1)
        #expect(try #require(group.memoryPeak) <= 16 << 20)
        try group.setMemoryLimit(nil)
    }

    /// The file is gone with what was cached of it; the memory of a program comes by page faults.
    @Test(
        .enabled(if: canUseFirst, "no v1 memory controller that we may use"),
        arguments: [
            ("head -c 40000000 /dev/zero > file; rm file", 34_000_000...60_000_000),
            ("text=$(head -c 10000000 /dev/zero | tr '\\0' x)", 0...2_000_000),
        ] as [(String, ClosedRange<Int64>)]
    )
    func `what came without a page fault was cached of files`(
        script: String,
        expected: ClosedRange<Int64>
    ) throws {
        let scratch = ScratchDirectory()
        // Its own: others run beside it.
        let name = try #require(scratch.path.split(separator: "/").last)
        let group = CgroupV1Memory("\(try #require(Self.firstMemory))-\(name)")
        try group.create()
        defer { try? group.remove() }
        var program = Program("/bin/sh", arguments: ["sh", "-c", script], environment: [])
        program.directory = scratch.path
        program.joining = [group.path]
        // They may have to be read from the disk, which is charged to who needs them first.
        #expect(try Command("sh", "-c", "head -c 1 /dev/zero | tr 0 1").run().succeeded)
        let process = try program.start()
        #expect(try process.wait(block: true) == .exited(0))
        let peak = try #require(group.memoryPeak)
        let parts = try #require(group.memoryParts(peak: peak))
        #expect(expected.contains(parts.unfaulted), "\(parts) of \(peak)")
    }

    /// A run that caches and drops one file after another has been charged for all of them.
    @Test func `what v1 counted over a whole run is at most what a peak leaves room for`() throws {
        let scratch = ScratchDirectory()
        try scratch.write("app/memory.stat", "cache 700\nshmem 200\npgpgin 1000\npgfault 400\n")
        let group = CgroupV1Memory(scratch("app"))
        let page = CurrentProcess.pageSize
        func parts(unfaulted: Int64) -> MemoryParts {
            MemoryParts(files: 500, shared: 200, unfaulted: unfaulted * page)
        }
        #expect(group.memoryParts(peak: 450 * page) == parts(unfaulted: 50))
        #expect(group.memoryParts(peak: 300 * page) == parts(unfaulted: 0))
        // Huge pages: one fault each.
        #expect(group.memoryParts(peak: 5000 * page) == parts(unfaulted: 600))
        try scratch.write("app/memory.stat", "")
        #expect(group.memoryParts(peak: 450 * page) == nil)
    }

    @Test func `a process that cannot be placed is not started`() throws {
        let scratch = ScratchDirectory()
        let marker = try FileDescriptor(opening: scratch("marker"), [.writing, .create])
        var program = sleeper()
        // A directory that takes the place of a cgroup which refuses.
        try Files.makeDirectory(scratch("group"))
        #expect(try Command("ln", "-s", "/dev/full", scratch("group/tasks")).run().succeeded)
        program.joining = [scratch("group")]
        program.marker = marker.number
        #expect(throws: LinuxError("tasks", "/bin/sleep", .noSpace)) {
            _ = try program.start()
        }
        #expect(try scratch.read("marker") == "")
    }

    @Test func `controllers are used by their files, in a tree of plain files`() throws {
        let scratch = ScratchDirectory()
        for (name, text) in [
            "memory.max": "max\n", "memory.swap.max": "max\n", "memory.current": "4096\n",
            "memory.peak": "8192\n", "memory.events": "low 0\nmax 3\noom 1\noom_kill 2\n",
            "memory.stat": "anon 10\nfile 700\nshmem 200\nslab_reclaimable 30\n"
                + "pgfault 512\nthp_fault_alloc 1\nthp_collapse_alloc 2\n",
            "cpu.weight": "100\n", "cpu.stat": "usage_usec 15\nuser_usec 10\n",
            "cgroup.controllers": "cpu memory\n", "cgroup.subtree_control": "",
            "cgroup.events": "populated 1\nfrozen 0\n",
        ] {
            try scratch.write("app/" + name, text)
        }
        let group = CgroupV2(scratch("app"))
        #expect(group.canLimitMemory && group.canWeighProcessor && !group.canFreeze)
        #expect((group.memory, group.memoryPeak, group.memoryKills) == (4096, 8192, 2))
        #expect(group.memoryLimitHits == 1)
        let faulted = (512 + 3 * CurrentProcess.pageSize / 8) * CurrentProcess.pageSize
        #expect(
            group.memoryParts(peak: faulted + 700)
                == MemoryParts(files: 530, shared: 200, unfaulted: 700)
        )
        #expect(group.memoryParts(peak: faulted - 1)?.unfaulted == 0)
        #expect(group.processorTime == 15_000)
        #expect(group.controllers == ["cpu", "memory"])
        #expect(group.isPopulated && !group.isFrozen)
        try group.setMemoryLimit(1 << 20)
        try group.setProcessorWeight(20)
        try group.enable(group.controllers)
        #expect(try scratch.read("app/memory.max") == "1048576")
        #expect(try scratch.read("app/memory.swap.max") == "0")
        #expect(try scratch.read("app/cpu.weight") == "20")
        #expect(try scratch.read("app/cgroup.subtree_control") == "+cpu +memory")
        try group.setMemoryLimit(nil)
        #expect(try scratch.read("app/memory.max") == "max")
    }

    @Test func `mounts are found by type and controller, escapes undone`() {
        let mounts = Mounts(
            """
            cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu,cpuacct 0 0
            cgroup /sys/fs/cgroup/freezer cgroup rw,freezer 0 0
            cgroup2 /run/my\\040tree cgroup2 rw 0 0
            broken
            """
        )
        #expect(mounts.cgroup2 == "/run/my tree")
        #expect(mounts.cgroup1("cpuacct") == "/sys/fs/cgroup/cpu")
        #expect(mounts.cgroup1("memory") == nil)
    }

    @Test func `membership tells the unified tree from the others`() {
        let membership = CgroupMembership("4:memory:/a\n1:cpu,cpuacct:/b:c\n0::/user.slice/x\n")
        #expect(membership.unified == "/user.slice/x")
        #expect(membership.controllers == ["memory": "/a", "cpu": "/b:c", "cpuacct": "/b:c"])
        #expect(CgroupMembership("9:name=systemd:/\n").unified == nil)
    }

    @Test func `pressure is read, and a trigger can be set with a window of two seconds`() throws {
        let text =
            "some avg10=1.50 avg60=0.25 avg300=0.00 total=123456\n"
            + "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
        let pressure = try #require(Pressure(text))
        #expect(pressure.some.average10 == 1.5)
        #expect(pressure.some.totalMicroseconds == 123_456)
        #expect(pressure.full?.totalMicroseconds == 7)
        #expect(Pressure("nonsense") == nil)
    }

    private static let memoryPressure = Pressure.path(of: .memory)

    @Test(.enabled(if: Files.exists(memoryPressure), "this kernel measures no pressure"))
    func `pressure is read, and a trigger waits for it`() throws {
        let path = Self.memoryPressure
        _ = try Pressure(of: .memory)
        let trigger = try PressureTrigger(path: path, stall: 150_000, window: 2_000_000)
        #expect(!Poll.ready(trigger.descriptor.number, for: .priority, milliseconds: 0))
        #expect(throws: LinuxError("write", path, .invalid)) {
            _ = try PressureTrigger(path: path, stall: 3_000_000, window: 2_000_000)
        }
    }
}
