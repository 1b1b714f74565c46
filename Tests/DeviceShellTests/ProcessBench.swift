@testable import DeviceShell
import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

/// Process control on a step of choice, in a scratch directory, as the daemon would use it.
final class ProcessBench {
    let scratch: ScratchDirectory
    let markers: LaunchMarkers
    let control: any ProcessControl
    private var launches: Set<LaunchID> = []

    /// The steps that work for whoever runs the tests.
    static let steps: [ControlStep.Kind] = ControlStep.Kind.allCases.filter { kind in
        let scratch = ScratchDirectory()
        let probe = ControlProbe(
            name: "offstage-usable-\(CurrentProcess.pid)",
            markers: LaunchMarkers(scratch.path),
            only: kind
        )
        guard let control = try? probe.choose() else { return false }
        removeScope(of: control)
        return true
    }

    convenience init(_ kind: ControlStep.Kind, scope: String? = nil) throws {
        try self.init(kind, in: ScratchDirectory(), scope: scope)
    }

    init(_ kind: ControlStep.Kind, in scratch: ScratchDirectory, scope: String? = nil) throws {
        #expect(Orphans.areOurs)
        self.scratch = scratch
        markers = LaunchMarkers(scratch("launches"))
        try markers.open(bootID: Clocks.bootID())
        control = try Self.probe(kind, scratch.path, scope: scope).choose()
        try markers.record(control.step)
    }

    static func probe(
        _ kind: ControlStep.Kind?,
        _ directory: String,
        scope: String? = nil
    ) -> ControlProbe {
        ControlProbe(
            name: ControlProbe.name(forState: directory),
            markers: LaunchMarkers(directory + "/launches"),
            scope: scope,
            only: kind
        )
    }

    deinit {
        for id in Set(control.discover()).union(launches) {
            let pids = control.processes(of: id)
            try? control.kill(id)
            try? Wait.untilGone(pids.compactMap { ProcessIdentity(of: $0) })
            control.remove(id)
        }
        Self.removeScope(of: control)
    }

    static func removeScope(of control: any ProcessControl) {
        if let v2 = control as? CgroupControl { try? v2.base.remove() }
        if let v1 = control as? FreezerControl { try? v1.base.remove() }
        let resources =
            (control as? CgroupControl)?.resources ?? (control as? FreezerControl)?.resources
        try? resources?.memory?.remove()
        try? resources?.processor?.remove()
        try? resources?.accounting?.remove()
    }

    func program(_ script: String) -> Program {
        var program = Program(
            "/bin/sh",
            arguments: ["sh", "-c", script],
            environment: Command.cleanEnvironment()
        )
        program.directory = scratch.path
        return program
    }

    /// Launches a shell script, with its marker, as the daemon does.
    @discardableResult
    func launch(
        _ number: UInt64,
        _ script: String,
        memory: Int64? = nil,
        weight: Weight = .background
    ) throws -> PidFD { try launch(number, program(script), memory: memory, weight: weight) }

    func launch(
        _ number: UInt64,
        _ program: Program,
        memory: Int64? = nil,
        weight: Weight = .background
    ) throws -> PidFD {
        let id = LaunchID(number)
        launches.insert(id)
        let marker = try markers.create(id)
        var program = program
        program.marker = marker.number
        return try control.launch(id, program, LaunchLimits(memory: memory, weight: weight))
    }

    /// Whether the kernel lets launch 1 do nothing, whose main process this is.
    func isFrozen(_ pid: Int32) -> Bool {
        let name = LaunchName.of(LaunchID(1))
        if let v2 = control as? CgroupControl { return v2.base.child(name).isFrozen }
        if let v1 = control as? FreezerControl { return v1.base.child(name).isFrozen }
        return ProcessStatus(of: pid)?.standsStill ?? false
    }

    // MARK: The keeper

    var lockPath: String { scratch("lock") }

    /// As a daemon that has the lock does it; the keeper acts at once when there is none any more.
    func ensureKeeper(
        _ lock: borrowing DaemonLock,
        _ wakeLock: WakeLock? = nil
    ) throws -> Keeper.Running {
        try Keeper.ensure(
            executable: Products.path(of: "offstaged"),
            lock: lock,
            markers: markers,
            control: control,
            wakeLock: wakeLock,
            patience: .milliseconds(1)
        )
    }

    /// A new one, once it has signed.
    func startKeeper(
        _ lock: borrowing DaemonLock,
        _ wakeLock: WakeLock? = nil
    ) throws -> ProcessIdentity {
        let running = try ensureKeeper(lock, wakeLock)
        #expect(running.isOurs == true)
        let identity = try #require(ProcessIdentity(of: running.process.pid))
        try Wait.until(file: lock.path, "a keeper") { _ in (try? lock.keeper()) == identity }
        #expect(try lock.keeperLives())
        return identity
    }

    /// Lets time pass in which a busy process would show: another one counts for a while.
    func letOthersWork() throws {
        #expect(
            try Command("sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done").run()
                .succeeded
        )
    }

    /// Waits until a launch has used more processor time than `before`.
    func waitUntilBusy(_ id: LaunchID, beyond before: Interval = .zero) throws {
        try Wait.until("launch \(id) busy", { (control.usage(of: id)?.cpu ?? .zero) > before })
    }

    /// Waits for a file that the launch writes.
    @discardableResult
    func wait(for name: String, _ isWanted: (String) -> Bool = { $0.hasSuffix("\n") }) throws
        -> String
    {
        try Wait.until(file: scratch(name), "written by the app", isWanted)
    }
}

extension ProcessStatus {
    /// It has been stopped. In the middle of a vfork it waits in the kernel for its child, which
    /// is stopped before its exec.
    var standsStill: Bool {
        isStopped
            || isUninterruptible && ProcessTable.all().contains { $0.parent == pid && $0.isStopped }
    }
}
