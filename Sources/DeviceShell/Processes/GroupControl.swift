package import DeviceCore
package import Linux
package import Vocabulary

/// A cgroup directory per launch, in a scope of the apps' own: `SCOPE/launch-ID`, with groups of
/// v1 hierarchies beside it for what its own kind does not limit.
package final class GroupControl<Group: AppGroup>: ProcessControl {
    let base: Group
    let resources: ResourceGroups
    /// Controllers that the groups of launches have: the probe has handed them on, and nobody does
    /// later.
    private let handed: [String]
    /// Whether the scope has a weight against the rest of the machine.
    private let weighsBase: Bool
    private let refused: [String]
    /// Whether nobody else made the scope for us.
    private let ownsBase: Bool
    private var foreground: Set<LaunchID> = []
    /// The most memory of each kind that was seen.
    private var partsMost: [LaunchID: (files: Int64, shared: Int64)] = [:]
    /// As last set; nil: not yet.
    private var scopeWeight: Weight?
    /// Makes and removes groups while the loop does something else.
    private let thread = WorkThread(named: "offstage-groups")
    /// Groups that are being made.
    private var prepared: [LaunchID: ThreadOutcome<Result<Bool, LinuxError>>] = [:]
    /// Groups that are being removed; false: not all of them are gone.
    private var leaving: [LaunchID: ThreadOutcome<Bool>] = [:]

    package convenience init(_ base: Group) { self.init(base, ResourceGroups(), refused: []) }

    init(
        _ base: Group,
        _ resources: ResourceGroups,
        refused: [String],
        ownsBase: Bool = true
    ) {
        (self.base, self.resources, self.refused) = (base, resources, refused)
        self.ownsBase = ownsBase
        handed = base.handedOn
        weighsBase = base.canWeighProcessor
    }

    package var step: ControlStep {
        let isLimited = limitsMemory || resources.memory != nil
        let isWeighed = weighsProcessor || resources.processor != nil
        return ControlStep(
            kind: Group.kind,
            path: base.path,
            limitsMemory: isLimited,
            lost: Group.lost + (isLimited ? [] : [ControlStep.lostMemory])
                + (isWeighed ? [] : [ControlStep.lostWeight]),
            refused: refused,
            directories: (ownsBase ? [base.path] : []) + resources.paths
        )
    }

    private var limitsMemory: Bool { handed.contains("memory") }
    private var weighsProcessor: Bool { handed.contains("cpu") }

    private func group(_ id: LaunchID) -> Group { base.child(LaunchName.of(id)) }

    package func launch(
        _ id: LaunchID,
        _ program: Program,
        _ limits: LaunchLimits
    ) throws(LinuxError) -> PidFD {
        let isFresh = try create(id, limits)
        let target = try isFresh ? group(id) : another(below: id)
        // A fresh group has the weight of the foreground.
        if isFresh { foreground.insert(id) } else { try weigh(id, .foreground) }
        return try start(program, id, in: target, limits.weight)
    }

    package func join(_ id: LaunchID, _ program: Program) throws(LinuxError) -> PidFD {
        if !group(id).exists { try create(id, LaunchLimits()) }
        let weight = weight(of: id)
        try weigh(id, .foreground)
        return try start(program, id, in: try another(below: id), weight)
    }

    package func hostNetwork(_ program: inout Program) {
        do throws(LinuxError) {
            let group = base.child(LaunchName.network)
            try group.create()
            try resources.host(LaunchName.network, &program)
            group.receive(&program)
        } catch {
            // It runs where the daemon does.
        }
    }

    private func start(
        _ program: Program,
        _ id: LaunchID,
        in target: Group,
        _ weight: Weight
    ) throws(LinuxError) -> PidFD {
        var program = program
        target.receive(&program)
        program.joining += resources.joining(id)
        // The daemon waits for execve: the weight of the background counts from then on.
        try weighScope()
        defer { try? weigh(id, weight) }
        do throws(LinuxError) {
            return try program.start()
        } catch {
            // What is left of the group goes with `remove`.
            if target != group(id) { try? target.remove() }
            throw error
        }
    }

    /// Where another program of a launch goes. Names are never used again while it is there.
    private func another(below id: LaunchID) throws(LinuxError) -> Group {
        guard Group.mustBeFresh else { return group(id) }
        var number = 1
        while try !group(id).child("\(number)").create() { number += 1 }
        return group(id).child("\(number)")
    }

    package func adopt(_ id: LaunchID, pid: Int32, _ limits: LaunchLimits) throws(LinuxError) {
        try make(id, limits)
        try group(id).add(pid)
        // It is in: without limits rather than half taken in.
        try? resources.add(pid, to: id)
    }

    /// Makes the launch's groups and sets what the kernel offers there.
    package func make(_ id: LaunchID, _ limits: LaunchLimits) throws(LinuxError) {
        try create(id, limits)
        try weigh(id, limits.weight)
    }

    /// False when the launch had a group already, whose limits are set all the same.
    @discardableResult
    private func create(_ id: LaunchID, _ limits: LaunchLimits) throws(LinuxError) -> Bool {
        if let isFresh = prepared.removeValue(forKey: id) { return try isFresh.wait().get() }
        return try newGroups.create(id, limits)
    }

    private var newGroups: NewGroups<Group> {
        NewGroups(base: base, handed: handed, resources: resources)
    }

    package func prepare(_ id: LaunchID, _ limits: LaunchLimits) {
        let groups = newGroups
        prepared[id] = try? thread.begin { groups.result(id, limits) }
    }

    package func removePrepared() {
        for (id, isFresh) in prepared.sorted(by: { $0.key < $1.key }) {
            // What was there before stays: a result may be read in it.
            if case .success(false) = isFresh.wait() { prepared[id] = nil } else { remove(id) }
        }
    }

    package func prepareRemoval(of id: LaunchID) {
        // After a commit that failed it is asked for once more.
        guard leaving[id] == nil else { return }
        let (group, resources) = (group(id), resources)
        leaving[id] = try? thread.begin {
            do throws(LinuxError) {
                try Files.removeDirectory(group.path)
                try resources.remove(id)
                return true
            } catch {
                return false
            }
        }
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
        if weighsProcessor { try group(id).setProcessorWeight(weight.processorWeight) }
        try resources.weigh(id, weight)
        try weighScope()
    }

    package func limitMemory(_ id: LaunchID, _ bytes: Int64?) throws(LinuxError) {
        if limitsMemory { try group(id).setMemoryLimit(bytes) }
        try resources.limitMemory(id, bytes)
    }

    /// All launches together weigh as much as the best of them.
    private func weighScope() throws(LinuxError) {
        guard best != scopeWeight else { return }
        if weighsBase { try base.setProcessorWeight(best.scopeWeight) }
        try resources.weighScope(best)
        scopeWeight = best
    }

    private func weight(of id: LaunchID) -> Weight {
        foreground.contains(id) ? .foreground : .background
    }

    private var best: Weight { foreground.isEmpty ? .background : .foreground }

    package func processes(of id: LaunchID) -> [Int32] {
        (try? group(id).processes())?.filter { $0 > 0 } ?? []
    }

    package func usage(of id: LaunchID) -> Usage? {
        let group = group(id)
        let cpu = (group.processorTime ?? resources.processorTime(id))
            .map { Interval(nanoseconds: $0) }
        guard cpu != nil || group.exists else { return nil }
        let charged = limitsMemory ? group.memory : resources.memoryUsage(id)
        let peak = limitsMemory ? group.memoryPeak : resources.memoryPeak(id)
        let pids = cpu == nil || charged == nil || peak == nil ? processes(of: id) : []
        let files = memoryOfFiles(id, peak: max(charged ?? 0, peak ?? 0))
        var usage = Usage(
            cpu: cpu ?? ProcessTable.processorTime(of: pids.compactMap { ProcessStatus(of: $0) }),
            memory: charged.map { max(0, $0 - files.now) } ?? ProcessTable.privateMemory(of: pids)
        )
        guard let peak else {
            usage.peak = max(usage.memory, ProcessTable.largestPeak(of: pids))
            usage.isPeakSampled = true
            return usage
        }
        // How much was cached at the time of the peak nobody knows: no more than ever.
        usage.peak = max(usage.memory, peak - files.most)
        usage.isPeakSampled = files.most > peak / 8
        return usage
    }

    /// What the kernel charges to a launch for the files that it has read and written: now, and the
    /// most that is known of. A file that was removed is cached no more, and nobody may have looked
    /// while it was: then the page faults tell. What was written into a `tmpfs` or a memfd came
    /// without them too, and is memory: as far as it was seen. Of a small launch it is not asked
    /// for.
    private func memoryOfFiles(_ id: LaunchID, peak: Int64) -> (now: Int64, most: Int64) {
        let seen = partsMost[id] ?? (files: 0, shared: 0)
        guard peak >= 4 << 20 else { return (0, seen.files) }
        let told =
            limitsMemory
            ? group(id).memoryParts(peak: peak) : resources.memoryParts(id, peak: peak)
        let parts = told ?? MemoryParts()
        let files = max(seen.files, parts.files)
        let shared = max(seen.shared, parts.shared)
        let most = max(files, parts.unfaulted - shared)
        // Of what it had when it met its limit nothing could be had back.
        if most > peak / 8, memoryEnd(of: id) == .limit { return (parts.files, 0) }
        partsMost[id] = (files, shared)
        return (parts.files, most)
    }

    package func memoryEnd(of id: LaunchID) -> MemoryEnd? {
        let group = group(id)
        guard group.memoryKills ?? resources.memoryKills(id) ?? 0 > 0 else { return nil }
        return (group.memoryLimitHits ?? resources.memoryLimitHits(id)) == 0 ? .machine : .limit
    }

    @discardableResult
    package func remove(_ id: LaunchID) -> Bool {
        _ = prepared.removeValue(forKey: id)?.wait()
        foreground.remove(id)
        partsMost[id] = nil
        try? weighScope()
        if leaving.removeValue(forKey: id)?.wait() == true { return true }
        do throws(LinuxError) {
            try empty(group(id))
            try resources.remove(id)
            return true
        } catch {
            return false
        }
    }

    /// Mostly nothing is left in it, and one call is enough.
    private func empty(_ group: Group) throws(LinuxError) {
        do throws(LinuxError) {
            try Files.removeDirectory(group.path)
        } catch {
            if group.isPopulated { try? group.kill() }
            try group.remove()
        }
    }

    package func discover() -> [LaunchID] {
        ((try? base.children()) ?? []).compactMap { LaunchName.id($0) }.sorted()
    }

    package func launch(of pid: Int32) throws(LinuxError) -> LaunchID? {
        let mounts = try Mounts()
        return try ProcessTable.nearest(to: pid) { (process) throws(LinuxError) in
            guard let group = try Group.of(process.pid, in: mounts) else { return nil }
            return LaunchName.id(of: group.path, below: base.path)
        }
    }
}

/// What makes the groups of launches, in any thread.
private struct NewGroups<Group: AppGroup>: Sendable {
    let base: Group
    let handed: [String]
    let resources: ResourceGroups

    func create(_ id: LaunchID, _ limits: LaunchLimits) throws(LinuxError) -> Bool {
        let group = base.child(LaunchName.of(id))
        var isFresh = false
        func make() throws(LinuxError) {
            if try group.create() { isFresh = true }
            if let bytes = limits.memory, handed.contains("memory") {
                try group.setMemoryLimit(bytes)
            }
            try resources.create(id, limits)
        }
        do throws(LinuxError) {
            try make()
        } catch  where error.errno == .noEntry || error.errno == .noDevice {
            // What holds the groups is empty while nothing runs, so anybody can take it away.
            try makeScope()
            try make()
        }
        return isFresh
    }

    /// What the probe had made.
    private func makeScope() throws(LinuxError) {
        try base.create()
        try base.enable(handed)
        for path in resources.paths { try Files.makeDirectory(path, permissions: 0o755) }
    }

    func result(_ id: LaunchID, _ limits: LaunchLimits) -> Result<Bool, LinuxError> {
        do throws(LinuxError) {
            return .success(try create(id, limits))
        } catch {
            return .failure(error)
        }
    }
}
