import AppProtocol
import DeviceCore
@testable import DeviceShell
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Whose process it is: what is not known is never taken for "nobody's".
struct IdentityTests {
    let one = LaunchID(1)

    @Test(arguments: ProcessBench.steps)
    func `a process of which nothing can be read is not outside every launch`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        let process = try bench.program("exec true").start()
        _ = try process.wait(block: true)
        #expect(throws: LinuxError.self) { try bench.control.launch(of: process.pid) }
    }

    @Test func `markers that cannot be listed make nobody a stranger`() throws {
        let bench = try ProcessBench(.signals)
        let directory = bench.markers.directory
        try Files.rename(directory, to: directory + ".away")
        defer { try? Files.rename(directory + ".away", to: directory) }
        #expect(throws: LinuxError.self) { try bench.control.launch(of: CurrentProcess.pid) }
    }

    @Test(arguments: ProcessBench.steps.filter { $0 != .signals })
    func `who left the group of a launch is still known by its parent`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        try bench.launch(1, "sh -c 'echo $$ > child; exec sleep 1000' & wait")
        let child = try #require(Int32(try bench.wait(for: "child").dropLast()))
        let mounts = try Mounts()
        switch step {
        case .cgroup2: try CgroupV2.of(CurrentProcess.pid, in: mounts)?.add(child)
        case .cgroup1: try CgroupV1Freezer.of(CurrentProcess.pid, in: mounts)?.add(child)
        case .signals: break
        }
        #expect(!bench.control.processes(of: one).contains(child))
        #expect(try bench.control.launch(of: child) == one)
        let identity = try #require(ProcessIdentity(of: child))
        try PidFD(of: identity).send(Signal.kill)
    }

    @Test func `a peer of whom nothing is known is refused, and asked about again`() throws {
        let server = try BusThread(ownerRefusal: Refusal(.notPermitted, reason: "not known"))
        let bus = try Bus.connect(toSocket: server.socket)
        for _ in 0..<2 {
            do {
                let answer = try AppBusTests.call(bus, "Status")
                Issue.record("answered \(answer)")
            } catch let error as BusError {
                #expect(error.reason == .refused(ControlErrorName.notPermitted.rawValue))
            }
        }
    }

    @Test func `a signal goes to the process that was meant, not to its number`() throws {
        let stranger = try Command("sleep", "1000").start()
        var meant = try #require(ProcessStatus(of: stranger.pid))
        meant.startTime -= 1
        try ProcessTable.send(Signal.kill, to: [meant])
        meant.startTime += 1
        try ProcessTable.send(Signal.terminate, to: [meant])
        #expect(try stranger.wait(block: true) == .signalled(15))
    }
}
