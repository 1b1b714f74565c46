import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// A process that may not be moved into the apps' scope, as one of a login session: controlled by
/// signals. The scope is a directory in which the kernel takes in nobody.
struct FallbackTests {
    let one = LaunchID(1)

    private func control(_ bench: ProcessBench) throws -> FallbackControl {
        try Files.makeDirectory(bench.scratch("scope"))
        return FallbackControl(CgroupControl(CgroupV2(bench.scratch("scope"))), bench.markers)
    }

    @Test func `who cannot be taken in is frozen, thawed and ended by signals`() throws {
        let bench = try ProcessBench(.signals)
        let control = try control(bench)
        let caller = try bench.program("while :; do :; done").start()
        let identity = try #require(ProcessIdentity(of: caller.pid))
        try control.adopt(one, pid: caller.pid, LaunchLimits())
        try bench.markers.mark(one, identity)
        #expect(try control.launch(of: caller.pid) == one)
        #expect(try control.launch(of: CurrentProcess.pid) == nil)
        #expect(control.processes(of: one) == [caller.pid])
        #expect(try control.freeze(one))
        #expect(ProcessStatus(of: caller.pid)?.isStopped == true)
        // After a restart of the daemon, and for the keeper.
        let next = try self.control(bench)
        #expect(next.discover() == [one])
        try next.thaw(one)
        #expect(ProcessStatus(of: caller.pid)?.isStopped == false)
        try next.signal(one, Signal.terminate)
        #expect(try caller.wait(block: true) == .signalled(15))
        try Wait.until("removed", { next.remove(one) })
        #expect(next.discover() == [])
    }

    @Test func `who is gone cannot be taken in`() throws {
        let bench = try ProcessBench(.signals)
        let control = try control(bench)
        let process = try bench.program("exec true").start()
        _ = try process.wait(block: true)
        #expect(throws: LinuxError.self) {
            try control.adopt(one, pid: process.pid, LaunchLimits())
        }
        #expect(control.discover() == [])
    }
}
