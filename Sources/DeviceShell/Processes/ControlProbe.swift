import Linux

/// Finds the best way to hold apps together that works here, by trying each, from own cgroup v2
/// directories to signals.
package struct ControlProbe: Sendable {
    /// Tells the scopes of several daemons apart; of letters, digits and `-`.
    package var name: String
    package var markers: LaunchMarkers
    /// The scope given by the user or made by the service manager; nil: find one.
    package var scope: String?
    /// Only this step, for tests and for those who know better; nil: the best.
    package var only: ControlStep.Kind?

    package init(
        name: String,
        markers: LaunchMarkers,
        scope: String? = nil,
        only: ControlStep.Kind? = nil
    ) {
        (self.name, self.markers, self.scope, self.only) = (name, markers, scope, only)
    }

    /// A name for the scope that belongs to a state directory: the same after a restart, another
    /// one for each daemon.
    package static func name(forState directory: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in directory.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "offstage-" + String(hash, radix: 36)
    }

    /// The step in force. Signals always work; a step that was asked for and does not work is an
    /// error that says why.
    package func choose() throws(ProbeFailure) -> any ProcessControl {
        let control = try find()
        bringIn(to: control)
        return control
    }

    private func find() throws(ProbeFailure) -> any ProcessControl {
        var refused: [String] = []
        let mounts = (try? Mounts()) ?? Mounts("")
        if let old = recorded(), let control = try? at(old.kind, old.path, mounts) {
            return control
        }
        for kind in ControlStep.Kind.allCases where only == nil || only == kind {
            do throws(ProbeFailure) {
                return try at(kind, nil, mounts, refused)
            } catch {
                refused.append("\(kind.rawValue): \(error.reason)")
            }
        }
        throw ProbeFailure(reason: refused.joined(separator: "; "))
    }

    private func at(
        _ kind: ControlStep.Kind,
        _ path: String?,
        _ mounts: Mounts,
        _ refused: [String] = []
    ) throws(ProbeFailure) -> any ProcessControl {
        switch kind {
        case .cgroup2: try second(path, mounts, refused)
        case .cgroup1: try first(path, mounts, refused)
        case .signals: SignalControl(markers, refused: refused)
        }
    }

    /// Where launches of an earlier daemon still live, though this one may have been started from
    /// somewhere else.
    private func recorded() -> ControlStep? {
        guard scope == nil, only == nil, let step = markers.recordedStep(),
            !step.path.isEmpty, let names = try? Files.list(step.path),
            names.contains(where: { LaunchName.id($0) != nil })
        else { return nil }
        return step
    }

    /// Launches that live outside this step's groups, from a step that was in force before, are
    /// moved in.
    private func bringIn(to control: any ProcessControl) {
        guard control.step.kind != .signals else { return }
        let known = SignalControl(markers, refused: [])
        for id in markers.launches() {
            guard let main = markers.process(of: id), main.isAlive,
                (try? control.launch(of: main.pid)) != id
            else { continue }
            for pid in known.processes(of: id) {
                // One that ended meanwhile need not move.
                try? control.adopt(id, pid: pid, LaunchLimits())
                try? CurrentProcess.send(Signal.proceed, to: pid)
            }
        }
    }

    // MARK: cgroup v2

    private func second(
        _ known: String?,
        _ mounts: Mounts,
        _ refused: [String]
    ) throws(ProbeFailure) -> any ProcessControl {
        guard let root = mounts.cgroup2 else { throw ProbeFailure(reason: "not mounted") }
        var failure = ProbeFailure(reason: "no cgroup to try")
        for path in known.map({ [$0] }) ?? candidates(root, ownCgroup(mounts)) {
            let group = CgroupV2(path)
            do throws(LinuxError) {
                try group.create()
                guard group.canFreeze else {
                    throw LinuxError("freeze", path, .notSupported)
                }
                try settle(group, root)
                try tryBirth(in: group)
                let missing = resources(
                    mounts,
                    memory: !group.handedOn.contains("memory"),
                    processor: !group.handedOn.contains("cpu"),
                    accounting: false
                )
                return CgroupControl(group, missing, refused: refused, ownsBase: scope == nil)
            } catch {
                failure = ProbeFailure(reason: error.description)
                // Takes away only what is empty.
                if scope == nil { try? Files.removeDirectory(path) }
            }
        }
        throw failure
    }

    private func ownCgroup(_ mounts: Mounts) -> String? {
        (try? CgroupV2.of(CurrentProcess.pid, in: mounts))?.path
    }

    /// Beside our own cgroup, so that what ends our service leaves the apps alone; below it; at
    /// the top.
    private func candidates(_ root: String, _ own: String?) -> [String] {
        if let scope { return [scope] }
        var paths: [String] = []
        if let own, own != root {
            paths.append(Files.directory(of: own) + "/" + name)
            paths.append(own + "/" + name)
        }
        paths.append(root + "/" + name)
        return paths
    }

    /// Processes that the service manager put into the scope itself go into a leaf, since a
    /// cgroup that hands controllers on may hold no process; then the controllers are handed on.
    private func settle(_ group: CgroupV2, _ root: String) throws(LinuxError) {
        let text = try Files.text(group.path + "/cgroup.procs", limit: 1 << 20)
        let strays = text.split(separator: "\n").compactMap { Int32($0) }
        if !strays.isEmpty {
            let leaf = group.child(Keeper.groupName)
            try leaf.create()
            for pid in strays { try leaf.add(pid) }
        }
        let wanted = ["cpu", "memory"]
        let parent = CgroupV2(Files.directory(of: group.path))
        if scope == nil, parent.path == root {
            // At the top nobody has done it for us; where somebody has, this changes nothing.
            try? parent.enable(parent.controllers.filter { wanted.contains($0) })
        }
        // Without them the limits are lost, as the step then says.
        try? group.enable(group.controllers.filter { wanted.contains($0) })
    }

    /// Whether a process may be born there: asked of the kernel with a program that cannot be run.
    private func tryBirth(in group: CgroupV2) throws(LinuxError) {
        Sweep.trials(in: group.path)
        let trial = group.child("trial-\(CurrentProcess.pid)")
        try trial.create()
        defer { try? trial.remove() }
        var program = Program("/", arguments: ["trial"], environment: [])
        program.cgroup = trial.path
        try expectExecuteFailure(program)
    }

    // MARK: cgroup v1

    private func first(
        _ known: String?,
        _ mounts: Mounts,
        _ refused: [String]
    ) throws(ProbeFailure) -> any ProcessControl {
        guard let root = mounts.cgroup1("freezer") else {
            throw ProbeFailure(reason: "no freezer mounted")
        }
        let own = (try? CgroupV1Freezer.of(CurrentProcess.pid, in: mounts))?.path
        var failure = ProbeFailure(reason: "no cgroup to try")
        for path in (known ?? scope).map({ [$0] }) ?? freezerCandidates(root, own) {
            let group = CgroupV1Freezer(path)
            do throws(LinuxError) {
                try group.create()
                guard group.canFreeze else {
                    throw LinuxError("freeze", path, .notSupported)
                }
                try tryJoining(group.path)
                let groups = resources(mounts, memory: true, processor: true, accounting: true)
                return FreezerControl(group, groups, refused: refused, ownsBase: scope == nil)
            } catch {
                failure = ProbeFailure(reason: error.description)
                if scope == nil { try? Files.removeDirectory(path) }
            }
        }
        throw failure
    }

    private func freezerCandidates(_ root: String, _ own: String?) -> [String] {
        guard let own, own != root else { return [root + "/" + name] }
        return [own + "/" + name, root + "/" + name]
    }

    private func tryJoining(_ path: String) throws(LinuxError) {
        Sweep.trials(in: path)
        let trial = CgroupV1Freezer(path + "/trial-\(CurrentProcess.pid)")
        try trial.create()
        defer { try? trial.remove() }
        var program = Program("/", arguments: ["trial"], environment: [])
        program.joining = [trial.path]
        try expectExecuteFailure(program)
    }

    private func expectExecuteFailure(_ program: Program) throws(LinuxError) {
        do throws(LinuxError) {
            let process = try program.start()
            try? process.send(Signal.kill)
            _ = try process.wait(block: true)
        } catch  where error.operation == "execve" {
            return
        }
    }

    /// The v1 groups that can be used here, of those asked for.
    private func resources(
        _ mounts: Mounts,
        memory: Bool,
        processor: Bool,
        accounting: Bool
    ) -> ResourceGroups {
        func usable(_ isWanted: Bool, _ controller: String) -> String? {
            guard isWanted, let root = mounts.cgroup1(controller) else { return nil }
            let membership = try? CgroupMembership(of: CurrentProcess.pid)
            let own = membership?.controllers[controller].map { $0 == "/" ? root : root + $0 }
            for path in freezerCandidates(root, own) {
                do throws(LinuxError) {
                    try Files.makeDirectory(path, permissions: 0o755)
                    try tryJoining(path)
                    return path
                } catch {
                    try? Files.removeDirectory(path)
                }
            }
            return nil
        }
        return ResourceGroups(
            memory: usable(memory, "memory").map { CgroupV1Memory($0) },
            processor: usable(processor, "cpu").map { CgroupV1Processor($0) },
            accounting: usable(accounting, "cpuacct").map { CgroupV1Processor($0) }
        )
    }
}

/// Why a step cannot be used here.
package struct ProbeFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package var reason: String
    package var description: String { reason }
}
