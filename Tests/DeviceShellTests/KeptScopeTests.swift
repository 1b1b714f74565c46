@testable import DeviceShell
import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

/// The state directory goes while no daemon lives, and another one may come in its place.
struct KeptScopeTests {
    private let one = LaunchID(1)

    /// A frozen launch of a daemon that is about to end, and its keeper.
    private final class Setup {
        let bench: ProcessBench
        let process: PidFD
        let keeper: ProcessIdentity
        var step: ControlStep { bench.control.step }

        /// `meanwhile` is done as long as the daemon lives.
        init(
            _ kind: ControlStep.Kind,
            _ meanwhile: (ProcessBench) throws -> Void
        ) throws {
            bench = try ProcessBench(kind)
            process = try bench.launch(1, "exec sleep 1000")
            try Wait.until("frozen", { [bench] in try bench.control.freeze(LaunchID(1)) })
            let lock = try DaemonLock(bench.lockPath)
            #expect(try lock.takeForDaemon())
            keeper = try bench.startKeeper(lock)
            try meanwhile(bench)
            // Here its lock goes, as if it had died.
            #expect(lock.place != .own)
        }

        var isFrozen: Bool { bench.isFrozen(process.pid) }

        func endLaunch() throws {
            try process.send(Signal.kill)
            // A frozen process of the first version dies only when it is thawed.
            try? bench.control.thaw(LaunchID(1))
            #expect(try process.wait(block: true) == .signalled(9))
        }
    }

    private static func delete(_ bench: ProcessBench) throws {
        try Files.remove(bench.lockPath)
        try Files.removeTree(bench.markers.directory)
    }

    /// A daemon begins in the place of a deleted state directory, with a keeper of its own. `step`:
    /// where it is, if it has said so already.
    private static func beginAnew(
        _ bench: ProcessBench,
        _ step: ControlStep? = nil
    ) throws -> SharedLock {
        try delete(bench)
        let lock = try DaemonLock(bench.lockPath)
        #expect(try lock.takeForDaemon())
        #expect(try lock.takeForKeeper())
        try bench.markers.open(bootID: Clocks.bootID())
        if let step { try bench.markers.record(step) }
        return SharedLock(lock)
    }

    @Test(arguments: ProcessBench.steps)
    func `what a daemon has that began anew in the same place is left alone`(
        step: ControlStep.Kind
    ) throws {
        var next: SharedLock?
        let setup = try Setup(step) { bench in
            next = try Self.beginAnew(bench, bench.control.step)
        }
        try Wait.untilGone(setup.keeper)
        #expect(setup.isFrozen)
        #expect(setup.step.missing == [])
        #expect(next != nil)
        try setup.endLaunch()
    }

    @Test(arguments: ProcessBench.steps)
    func `a state directory that was put in the place of the old one is kept`(
        step: ControlStep.Kind
    ) throws {
        let setup = try Setup(step) { bench in
            try Files.remove(bench.lockPath)
            _ = try DaemonLock(bench.lockPath)
        }
        try Wait.until("thawed", { !setup.isFrozen })
        let lock = try DaemonLock(setup.bench.lockPath)
        #expect(try lock.keeper() == setup.keeper)
        #expect(try lock.keeperLives())
        try setup.endLaunch()
        try Wait.untilGone(setup.keeper)
    }

    private static let groups = ProcessBench.steps.filter { $0 != .signals }

    @Test(arguments: groups)
    func `without a state directory apps are thawed, and nothing of them is left`(
        step: ControlStep.Kind
    ) throws {
        let setup = try Setup(step, Self.delete)
        try Wait.until("thawed", { !setup.isFrozen })
        #expect(setup.keeper.isAlive, "a launch lives")
        try setup.endLaunch()
        try Wait.untilGone(setup.keeper)
        for path in setup.step.directories { #expect(!Files.exists(path), "\(path)") }
        #expect(!Files.exists(setup.bench.lockPath))
    }

    /// Another scope, as where systemd still holds the one of the same name.
    @Test(.enabled(if: ProcessBench.steps.contains(.cgroup1), "no freezer that we may use"))
    func `a daemon that began anew in another scope leaves the keeper its own`() throws {
        let root = try #require(try Mounts().cgroup1("freezer"))
        let theirs = CgroupV1Freezer(root + "/offstage-test-theirs-\(CurrentProcess.pid)")
        try theirs.create()
        defer { try? theirs.remove() }
        var next: SharedLock?
        let setup = try Setup(.cgroup1) { bench in
            var step = bench.control.step
            step.path = theirs.path
            step.directories[0] = theirs.path
            next = try Self.beginAnew(bench, step)
        }
        try Wait.until("thawed", { !setup.isFrozen })
        try setup.endLaunch()
        try Wait.untilGone(setup.keeper)
        #expect(!Files.exists(setup.step.path))
        // Both have the same ones beside it.
        for path in setup.step.directories.dropFirst() { #expect(Files.exists(path), "\(path)") }
        #expect(theirs.exists && next != nil)
    }

    /// What a daemon does that has begun, and has not said yet where its scope is.
    enum NextStep: CaseIterable { case hasSameScope, hasAnotherScope, ends }

    @Test(arguments: groups, NextStep.allCases)
    func `a daemon that has just begun is waited for until it says where it is, or ends`(
        step: ControlStep.Kind,
        nextStep: NextStep
    ) throws {
        var next: SharedLock?
        let setup = try Setup(step) { bench in next = try Self.beginAnew(bench) }
        // Its patience is over by then, many times.
        let before = try looks(of: setup.keeper)
        try Wait.until("it has looked again", { try looks(of: setup.keeper) > before + 20 })
        #expect(setup.isFrozen && setup.keeper.isAlive)
        #expect(next != nil)
        var theirs = setup.step
        switch nextStep {
        case .hasSameScope: break
        case .hasAnotherScope: (theirs.path, theirs.directories) = (theirs.path + "-theirs", [])
        case .ends: next = nil
        }
        if nextStep != .ends { try setup.bench.markers.record(theirs) }
        if nextStep == .hasSameScope {
            try Wait.untilGone(setup.keeper)
            #expect(setup.isFrozen && setup.step.missing == [])
            return try setup.endLaunch()
        }
        try Wait.until("thawed", { !setup.isFrozen })
        #expect(setup.keeper.isAlive, "a launch lives")
        try setup.endLaunch()
        try Wait.untilGone(setup.keeper)
        for path in setup.step.directories { #expect(!Files.exists(path), "\(path)") }
    }

    /// How often a process has waited for something.
    private func looks(of process: ProcessIdentity) throws -> Int {
        let status = try Files.text("/proc/\(process.pid)/status", limit: 8192)
        let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return try #require(line?.split(separator: "\t").last.flatMap { Int($0) })
    }

    @Test func `a deadline is known as it was read last`() throws {
        let bench = try ProcessBench(.signals)
        let process = try bench.launch(1, "exec sleep 1000")
        let now = Clocks.now().awake
        try bench.markers.setDeadline(one, now + .hours(1))
        var deadlines = Deadlines()
        deadlines.read(bench.markers)
        // Groups hold the launch together without its marker; here the control remembers it.
        try Files.removeTree(bench.markers.directory)
        #expect(deadlines.keep(by: bench.control, at: now) == now + .hours(1) - .seconds(5))
        _ = deadlines.keep(by: bench.control, at: now + .hours(1))
        #expect(try process.wait(block: true) == .signalled(9))
    }

    @Test(arguments: groups)
    func `directories that somebody took away are missed, and made again`(
        step: ControlStep.Kind
    ) throws {
        let bench = try ProcessBench(step)
        ProcessBench.removeScope(of: bench.control)
        #expect(bench.control.step.missing == bench.control.step.directories)
        let process = try bench.launch(1, "echo ran; exec sleep 1000", memory: 200 << 20)
        #expect(bench.control.step.missing == [])
        #expect(try bench.control.launch(of: process.pid) == one)
        #expect(bench.control.processes(of: one) == [process.pid])
    }

    @Test(.enabled(if: ProcessBench.steps.contains(.cgroup1), "no freezer that we may use"))
    func `the daemon says what is missing until it has made it again`() throws {
        let bench = try DaemonBench(options: ["--step", "cgroup-v1"])
        let markers = LaunchMarkers(bench.daemon.scratch("state/launches"))
        let step = try #require(markers.recordedStep())
        func check() throws -> (isOK: Bool?, text: String) {
            let check = try bench.ask("Doctor").listValue?.first {
                $0["check"] == "process control"
            }
            return (check?["ok"]?.boolValue, "\(check ?? .null)")
        }
        for path in step.directories { try Files.removeDirectory(path) }
        let missed = try check()
        #expect(missed.isOK == false, "\(missed.text)")
        for path in step.directories { #expect(missed.text.contains(path), "\(missed.text)") }
        try bench.submit("echo ran > ran", id: "after")
        #expect(try bench.wait(for: "ran") == "ran\n")
        #expect(step.missing == [])
        #expect(try check().text.contains("removed") == false)
    }
}

/// A lock that is held as long as this value is there.
private final class SharedLock {
    private let lock: DaemonLock

    init(_ lock: consuming DaemonLock) { self.lock = lock }
}
