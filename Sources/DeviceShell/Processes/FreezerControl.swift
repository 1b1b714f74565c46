package import DeviceCore
package import Linux
package import Vocabulary

/// A group of the v1 freezer per launch, with v1 memory and processor groups where there are any.
package final class FreezerControl: ProcessControl {
    let base: CgroupV1Freezer
    let resources: ResourceGroups
    private let refused: [String]
    private var foreground: Set<LaunchID> = []

    init(_ base: CgroupV1Freezer, _ resources: ResourceGroups, refused: [String]) {
        (self.base, self.resources, self.refused) = (base, resources, refused)
    }

    package var step: ControlStep {
        ControlStep(
            kind: .cgroup1,
            path: base.path,
            limitsMemory: resources.memory != nil,
            lost: ["a frozen app that is asked to end does so only once it is thawed"]
                + (resources.memory == nil ? [ControlStep.lostMemory] : [])
                + (resources.processor == nil ? [ControlStep.lostWeight] : []),
            refused: refused
        )
    }

    private func group(_ id: LaunchID) -> CgroupV1Freezer { base.child(LaunchName.of(id)) }

    package func launch(
        _ id: LaunchID,
        _ program: Program,
        _ limits: LaunchLimits
    ) throws(LinuxError) -> PidFD {
        try prepare(id, limits)
        return try start(program, id, limits.weight)
    }

    package func join(_ id: LaunchID, _ program: Program) throws(LinuxError) -> PidFD {
        if !group(id).exists { try prepare(id, LaunchLimits()) }
        return try start(program, id, foreground.contains(id) ? .foreground : .background)
    }

    private func start(
        _ program: Program,
        _ id: LaunchID,
        _ weight: Weight
    ) throws(LinuxError) -> PidFD {
        var program = program
        program.joining += [group(id).path] + resources.joining(id)
        // The daemon waits for execve: the weight of the background counts from then on.
        try weigh(id, .foreground)
        defer { try? weigh(id, weight) }
        return try program.start()
    }

    package func adopt(_ id: LaunchID, pid: Int32, _ limits: LaunchLimits) throws(LinuxError) {
        try prepare(id, limits)
        try group(id).add(pid)
        // It is in: without limits rather than half taken in.
        try? resources.add(pid, to: id)
    }

    private func prepare(_ id: LaunchID, _ limits: LaunchLimits) throws(LinuxError) {
        try group(id).create()
        try resources.create(id, limits)
        try weigh(id, limits.weight)
    }

    @discardableResult
    package func freeze(_ id: LaunchID) throws(LinuxError) -> Bool { try group(id).freeze() }

    package func thaw(_ id: LaunchID) throws(LinuxError) { try group(id).thaw() }

    package func signal(_ id: LaunchID, _ signal: Int32) throws(LinuxError) {
        try group(id).signalAll(signal)
    }

    package func kill(_ id: LaunchID) throws(LinuxError) { try group(id).kill() }

    package func weigh(_ id: LaunchID, _ weight: Weight) throws(LinuxError) {
        if weight == .foreground { foreground.insert(id) } else { foreground.remove(id) }
        let best = foreground.isEmpty ? Weight.background : .foreground
        try resources.weigh(id, weight, best: best)
    }

    package func processes(of id: LaunchID) -> [Int32] {
        (try? group(id).processes())?.filter { $0 > 0 } ?? []
    }

    package func usage(of id: LaunchID) -> Usage? {
        guard group(id).exists else { return nil }
        let pids = processes(of: id)
        let cpu = resources.processorTime(id).map { Interval(nanoseconds: $0) }
        return Usage(
            cpu: cpu ?? ProcessTable.processorTime(of: pids.compactMap { ProcessStatus(of: $0) }),
            memory: resources.memoryUsage(id) ?? ProcessTable.privateMemory(of: pids)
        )
    }

    package func ranOutOfMemory(_ id: LaunchID) -> Bool { (resources.memoryKills(id) ?? 0) > 0 }

    @discardableResult
    package func remove(_ id: LaunchID) -> Bool {
        foreground.remove(id)
        let group = group(id)
        if group.exists, group.isPopulated { try? group.kill() }
        do throws(LinuxError) {
            try group.remove()
            try resources.remove(id)
            return true
        } catch {
            return false
        }
    }

    package func discover() -> [LaunchID] {
        ((try? base.children()) ?? []).compactMap { LaunchName.id($0) }.sorted()
    }

    package func launch(of pid: Int32) throws(LinuxError) -> LaunchID? {
        let mounts = try Mounts()
        return try ProcessTable.nearest(to: pid) { (process) throws(LinuxError) in
            guard let group = try CgroupV1Freezer.of(process.pid, in: mounts) else { return nil }
            return LaunchName.id(of: group.path, below: base.path)
        }
    }
}
