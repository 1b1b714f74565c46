import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

struct LaunchMarkersTests {
    let scratch = ScratchDirectory()

    @Test func `an empty marker is a program that was never tried`() throws {
        let markers = LaunchMarkers(scratch("launches"))
        try markers.open(bootID: "boot")
        #expect(markers.launches() == [])
        _ = try markers.create(LaunchID(7))
        #expect(markers.process(of: LaunchID(7)) == nil)
        #expect(markers.process(of: LaunchID(8)) == nil)
        let own = try #require(ProcessIdentity(of: CurrentProcess.pid))
        try markers.mark(LaunchID(12), own)
        #expect(markers.process(of: LaunchID(12)) == own)
        #expect(markers.launches() == [LaunchID(7), LaunchID(12)])
        try markers.remove(LaunchID(7))
        try markers.remove(LaunchID(7))
        #expect(markers.launches() == [LaunchID(12)])
    }

    /// A daemon was killed between the start of a process and the process's marker.
    @Test func `a child that is late for its marker is found, or is never executed`() throws {
        let markers = LaunchMarkers(scratch("launches"))
        try markers.open(bootID: "boot")
        func start(_ id: LaunchID, whenMarkerIsOpen settle: () throws -> Void) throws -> PidFD {
            let marker = try markers.create(id)
            try settle()
            var program = Program("/bin/sleep", arguments: ["sleep", "1000"], environment: [])
            program.marker = marker.number
            return try program.start()
        }
        let found = try start(LaunchID(1)) {}
        defer { try? found.send(Signal.kill) }
        #expect(try markers.settle(LaunchID(1))?.pid == found.pid)
        #expect(throws: LinuxError.self) {
            _ = try start(LaunchID(2)) {
                let nobody = try markers.settle(LaunchID(2))
                #expect(nobody == nil)
            }
        }
        #expect(StartFailure(markers: markers, of: LaunchID(2), nil)?.cause == .storage)
        #expect(try markers.settle(LaunchID(3)) == nil, "it has no marker")
        // The next start may have the number of one that never was.
        let next = try start(LaunchID(2)) {}
        defer { try? next.send(Signal.kill) }
        #expect(markers.process(of: LaunchID(2))?.pid == next.pid)
    }

    @Test(arguments: ["", "12", "12 34", "12 x\n", "0 5\n", "-3 5\n", "12 34 56\n", "a\n12 34\n"])
    func `a marker that is not whole counts as empty`(text: String) throws {
        let markers = LaunchMarkers(scratch.path)
        try scratch.write("launch-1", text)
        #expect(markers.process(of: LaunchID(1)) == nil)
    }

    @Test func `markers of another boot are forgotten, those of this one kept`() throws {
        let markers = LaunchMarkers(scratch("launches"))
        try markers.open(bootID: "first")
        try markers.mark(LaunchID(1), ProcessIdentity(pid: 1, startTime: 1))
        try markers.open(bootID: "first")
        #expect(markers.launches() == [LaunchID(1)])
        try markers.open(bootID: "second")
        #expect(markers.launches() == [])
    }

    @Test func `the step in force is kept with its path`() throws {
        let markers = LaunchMarkers(scratch.path)
        #expect(markers.recordedStep() == nil)
        var step = ControlStep(kind: .cgroup1, path: "/a b/c", limitsMemory: true, lost: [])
        step.directories = ["/a b/c", "/d"]
        try markers.record(step)
        #expect(markers.recordedStep()?.kind == .cgroup1)
        #expect(markers.recordedStep()?.path == "/a b/c")
        #expect(markers.recordedStep()?.directories == ["/a b/c", "/d"])
        try scratch.write("step", "unknown\n/x\n")
        #expect(markers.recordedStep() == nil)
    }
}
