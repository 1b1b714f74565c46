import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// What holds on every step of process control that works here.
struct ProcessControlTests {
    let one = LaunchID(1)

    @Test(arguments: ProcessBench.steps)
    func `a launch runs to its end in a place of its own and leaves nothing`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        let process = try bench.launch(1, "exec sleep 1000")
        #expect(bench.control.processes(of: one).contains(process.pid))
        #expect(try bench.control.launch(of: process.pid) == one)
        #expect(try bench.control.launch(of: CurrentProcess.pid) == nil)
        #expect(bench.markers.process(of: one) == ProcessIdentity(of: process.pid))
        #expect(bench.control.discover() == [one])
        try bench.control.kill(one)
        #expect(try process.wait(block: true) == .signalled(9))
        try Wait.until("group removed", { bench.control.remove(one) })
        #expect(bench.control.processes(of: one).isEmpty)
        if step != .signals { #expect(bench.control.discover().isEmpty) }
    }

    @Test(arguments: ProcessBench.steps)
    func `a launch begins in the groups that were made ahead`(step: ControlStep.Kind) throws {
        let bench = try ProcessBench(step)
        let limit: Int64 = 300 << 20
        bench.control.prepare(one, LaunchLimits(memory: limit))
        let process = try bench.launch(1, "exec sleep 1000", memory: limit)
        #expect(bench.control.processes(of: one) == [process.pid])
    }

    @Test(arguments: ProcessBench.steps)
    func `groups that were made ahead go with a launch that does not begin`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        for number in 0..<20 as Range<UInt64> {
            bench.control.prepare(LaunchID(number), LaunchLimits(memory: 300 << 20))
            if number % 2 == 0 { #expect(bench.control.remove(LaunchID(number))) }
        }
        bench.control.removePrepared()
        #expect(bench.control.discover().isEmpty)
        // A result is read in the group of a launch that has yet to begin.
        let reader = try bench.control.join(LaunchID(30), bench.program("exec sleep 1000"))
        bench.control.prepare(LaunchID(30), LaunchLimits())
        bench.control.removePrepared()
        #expect(bench.control.processes(of: LaunchID(30)) == [reader.pid])
        bench.control.prepare(one, LaunchLimits())
        let process = try bench.launch(1, "exec sleep 1000")
        #expect(bench.control.processes(of: one) == [process.pid])
    }

    @Test(arguments: ProcessBench.steps)
    func `what is removed ahead is empty, and removed once more in vain`(step: ControlStep.Kind)
        throws
    {
        let bench = try ProcessBench(step)
        let ended = try bench.launch(1, "exit 0")
        let living = try bench.launch(2, "exec sleep 1000")
        try Wait.until("the end", { ended.hasExited })
        for launch in [one, LaunchID(2)] { bench.control.prepareRemoval(of: launch) }
        if step != .signals {
            try Wait.until("the group is gone", { bench.control.discover() == [LaunchID(2)] })
        }
        #expect(bench.control.processes(of: LaunchID(2)) == [living.pid])
        #expect(bench.control.remove(one))
        // It does not go back to what the commit that failed had ended.
        #expect(bench.control.remove(one))
        try Wait.until("the other is gone", { bench.control.remove(LaunchID(2)) })
        #expect(living.hasExited == true)
    }

    @Test(arguments: ProcessBench.steps)
    func `the processor time of a frozen launch does not change at all`(step: ControlStep.Kind)
        throws
    {
        let bench = try ProcessBench(step)
        let process = try bench.launch(1, "(while :; do :; done) & while :; do :; done")
        try bench.waitUntilBusy(one)
        try Wait.until("both processes there", { bench.control.processes(of: one).count == 2 })
        try Wait.until("frozen", { try bench.control.freeze(one) })
        let before = try #require(bench.control.usage(of: one)?.cpu)
        try bench.letOthersWork()
        #expect(bench.control.usage(of: one)?.cpu == before)
        try bench.control.thaw(one)
        try bench.waitUntilBusy(one, beyond: before)
        #expect(process.hasExited == false)
    }

    @Test(arguments: ProcessBench.steps)
    func `a launch that starts program after program is frozen at any moment`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        let process = try bench.launch(
            1,
            "while :; do date +%N > pulse.new; mv pulse.new pulse; done"
        )
        for _ in 0..<30 {
            let seen = (try? bench.scratch.read("pulse")) ?? ""
            try bench.wait(for: "pulse") { $0 != seen }
            try Wait.until("frozen", { try bench.control.freeze(one) })
            try bench.control.thaw(one)
        }
        try bench.control.kill(one)
        #expect(try process.wait(block: true) == .signalled(9))
    }

    @Test(arguments: ProcessBench.steps)
    func `kill ends every process of a launch, frozen or not, children included`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        let process = try bench.launch(
            1,
            "sleep 1000 & (sleep 1000 & sleep 1000) & echo x > up; wait"
        )
        try bench.wait(for: "up")
        try Wait.until("all there", { bench.control.processes(of: one).count >= 4 })
        let all = bench.control.processes(of: one).compactMap { ProcessIdentity(of: $0) }
        try bench.control.freeze(one)
        try bench.control.kill(one)
        try Wait.untilGone(all)
        #expect(try process.wait(block: true) ?? .unknown != .exited(0))
        #expect(bench.control.processes(of: one).isEmpty)
    }

    @Test(arguments: ProcessBench.steps)
    func `a signal reaches every process of a launch`(step: ControlStep.Kind) throws {
        let bench = try ProcessBench(step)
        let script =
            "trap 'echo $NAME >> ended; exit 0' TERM; touch $NAME; "
            + "while :; do sleep 1000 & wait; done"
        let process = try bench.launch(
            1,
            "export NAME=child; (\(script)) & export NAME=parent; \(script)"
        )
        try bench.wait(for: "child") { _ in true }
        try bench.wait(for: "parent") { _ in true }
        try bench.control.signal(one, Signal.terminate)
        let text = try bench.wait(for: "ended") { $0.split(separator: "\n").count == 2 }
        #expect(Set(text.split(separator: "\n")) == ["child", "parent"])
        #expect(try process.wait(block: true) == .exited(0))
    }

    @Test(arguments: ProcessBench.steps)
    func `a program that cannot be run is an error and leaves nothing`(step: ControlStep.Kind)
        throws
    {
        let bench = try ProcessBench(step)
        let program = Program("/no/such/program", arguments: ["x"], environment: [])
        #expect(throws: LinuxError("execve", "/no/such/program", .noEntry)) {
            _ = try bench.launch(1, program)
        }
        #expect(bench.control.processes(of: one).isEmpty)
        #expect(bench.control.remove(one))
        #expect(bench.markers.failure(of: one) == .execute(LinuxError("execve", "", .noEntry)))
        let again = try bench.launch(2, "exit 0")
        #expect(try again.wait(block: true) == .exited(0))
    }

    @Test(arguments: ProcessBench.steps)
    func `further programs join a launch, before it begins and after it was killed`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        let before = try bench.control.join(one, bench.program("exit 4"))
        #expect(try before.wait(block: true) == .exited(4))
        let process = try bench.launch(1, "sleep 1000")
        let beside = try bench.control.join(one, bench.program("sleep 1000"))
        #expect(try bench.control.launch(of: beside.pid) == one)
        #expect(Set(bench.control.processes(of: one)).isSuperset(of: [process.pid, beside.pid]))
        try bench.control.kill(one)
        #expect(try process.wait(block: true) == .signalled(9))
        #expect(try beside.wait(block: true) == .signalled(9))
        let after = try bench.control.join(one, bench.program("exit 5"))
        #expect(try after.wait(block: true) == .exited(5))
        // A killed process whose parent was killed too keeps its group until it is reaped.
        try Wait.until("removed", { bench.control.remove(one) })
    }

    @Test(arguments: ProcessBench.steps)
    func `a process that runs already is taken into a launch`(step: ControlStep.Kind) throws {
        let bench = try ProcessBench(step)
        let process = try bench.program("while :; do :; done").start()
        try bench.markers.mark(one, try #require(ProcessIdentity(of: process.pid)))
        try bench.control.adopt(one, pid: process.pid, LaunchLimits())
        #expect(try bench.control.launch(of: process.pid) == one)
        #expect(bench.control.processes(of: one) == [process.pid])
        try Wait.until("frozen", { try bench.control.freeze(one) })
        try bench.control.kill(one)
        #expect(try process.wait(block: true) == .signalled(9))
    }

    @Test(arguments: ProcessBench.steps)
    func `the kernel's memory limit is told from other ends`(step: ControlStep.Kind) throws {
        let bench = try ProcessBench(step)
        guard bench.control.step.limitsMemory else {
            #expect(bench.control.step.lost.contains(ControlStep.lostMemory))
            return
        }
        let greedy = Program("/usr/bin/tail", arguments: ["tail", "/dev/zero"], environment: [])
        let process = try bench.launch(1, greedy, memory: 16 << 20)
        #expect(try process.wait(block: true) == .signalled(9))
        #expect(bench.control.memoryEnd(of: one) == .limit)
        let other = try bench.launch(2, "kill -9 $$", memory: 64 << 20)
        #expect(try other.wait(block: true) == .signalled(9))
        #expect(bench.control.memoryEnd(of: LaunchID(2)) == nil)
    }

    @Test(arguments: ProcessBench.steps)
    func `usage counts the memory and the time of all processes`(step: ControlStep.Kind) throws {
        let bench = try ProcessBench(step)
        let process = try bench.launch(
            1,
            "head -c 20000000 /dev/zero | tail -c 20000000 > out; echo x > done; sleep 1000"
        )
        try bench.wait(for: "done")
        try bench.waitUntilBusy(one)
        let usage = try #require(bench.control.usage(of: one))
        #expect(usage.memory > 0)
        try bench.control.kill(one)
        #expect(try process.wait(block: true) == .signalled(9))
        #expect(bench.control.usage(of: LaunchID(99)) == nil)
    }

    @Test(arguments: ProcessBench.steps)
    func `launches are kept apart`(step: ControlStep.Kind) throws {
        let bench = try ProcessBench(step)
        let first = try bench.launch(1, "exec sleep 1000")
        let second = try bench.launch(2, "exec sleep 1000")
        #expect(bench.control.discover() == [LaunchID(1), LaunchID(2)])
        #expect(bench.control.processes(of: one) == [first.pid])
        try bench.control.kill(one)
        #expect(try first.wait(block: true) == .signalled(9))
        #expect(second.hasExited == false)
        #expect(bench.control.processes(of: LaunchID(2)) == [second.pid])
    }

    @Test(arguments: ProcessBench.steps)
    func `locks that a frozen launch holds outside its own directories are found`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        try Files.makeDirectory(bench.scratch("own"))
        let process = try bench.launch(
            1,
            "exec 8> shared 9> own/lock; flock 8; flock 9; echo x > locked; exec sleep 1000"
        )
        try bench.wait(for: "locked")
        try bench.control.freeze(one)
        let pids = bench.control.processes(of: one)
        #expect(
            FrozenLocks.held(by: pids, outside: [bench.scratch("own")]) == [bench.scratch("shared")]
        )
        #expect(FrozenLocks.held(by: pids, outside: [bench.scratch.path]) == [])
        #expect(FrozenLocks.held(by: pids, outside: [], limit: 1).count == 1)
        try Files.remove(bench.scratch("shared"))
        #expect(FrozenLocks.held(by: pids, outside: [bench.scratch("own")]) == [])
        try bench.control.kill(one)
        #expect(try process.wait(block: true) == .signalled(9))
    }

    @Test(arguments: ProcessBench.steps)
    func `a process with a session of its own is frozen and ended as long as its parent lives`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        let process = try bench.launch(
            1,
            "setsid sh -c 'echo $$ > other; while :; do :; done' & wait"
        )
        let pid = try #require(Int32(try bench.wait(for: "other").dropLast()))
        let other = try #require(ProcessIdentity(of: pid))
        #expect(try bench.control.launch(of: pid) == one)
        try Wait.until("frozen", { try bench.control.freeze(one) })
        let time = ProcessStatus(of: pid)?.processorTime
        try bench.letOthersWork()
        #expect(ProcessStatus(of: pid)?.processorTime == time)
        try bench.control.kill(one)
        try Wait.untilGone(other)
        #expect(try process.wait(block: true) == .signalled(9))
    }

    @Test func `a number that somebody else has by now is left alone by signals`() throws {
        let bench = try ProcessBench(.signals)
        let stranger = try bench.program("exec sleep 1000").start()
        var wrong = try #require(ProcessIdentity(of: stranger.pid))
        wrong.startTime -= 1
        try bench.markers.mark(one, wrong)
        #expect(bench.control.processes(of: one).isEmpty)
        #expect(try bench.control.launch(of: stranger.pid) == nil)
        try bench.control.kill(one)
        #expect(bench.control.remove(one))
        #expect(stranger.hasExited == false)
        try stranger.send(Signal.kill)
        #expect(try stranger.wait(block: true) == .signalled(9))
    }

    @Test(arguments: ProcessBench.steps.filter { $0 != .signals })
    func `a process that left its session and its parent is frozen all the same`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        let process = try bench.launch(
            1,
            "setsid -f sh -c 'echo $$ > escaped; while :; do :; done'; sleep 1000"
        )
        let pid = try #require(Int32(try bench.wait(for: "escaped").dropLast()))
        #expect(bench.control.processes(of: one).contains(pid))
        try Wait.until("frozen", { try bench.control.freeze(one) })
        let time = ProcessStatus(of: pid)?.processorTime
        try bench.letOthersWork()
        #expect(ProcessStatus(of: pid)?.processorTime == time)
        let escaped = try #require(ProcessIdentity(of: pid))
        try bench.control.kill(one)
        try Wait.untilGone(escaped)
        #expect(try process.wait(block: true) == .signalled(9))
    }

    /// Those that can weigh a group.
    private static let weighing = ProcessBench.steps.filter { step in
        (try? ProcessBench(step))?.control.step.lost.contains(ControlStep.lostWeight) == false
    }

    @Test(.enabled(if: !weighing.isEmpty, "no processor controller"), arguments: weighing)
    func `background launches weigh less, and more again in the foreground`(step: ControlStep.Kind)
        throws
    {
        let bench = try ProcessBench(step)
        let process = try bench.launch(1, "sleep 1000")
        func weights() -> [Int64?] {
            let resources =
                (bench.control as? CgroupControl)?.resources
                ?? (bench.control as? FreezerControl)?.resources
            guard let scope = resources?.processor?.path else { return [] }
            return [scope, scope + "/launch-1"].map {
                Int64((try? Files.text($0 + "/cpu.shares"))?.dropLast() ?? "")
            }
        }
        #expect(weights() == [51, 102])
        try bench.control.weigh(one, .foreground)
        #expect(weights() == [1024, 1024])
        try bench.control.weigh(one, .background)
        #expect(weights() == [51, 102])
        try bench.control.kill(one)
        #expect(try process.wait(block: true) == .signalled(9))
    }
}
