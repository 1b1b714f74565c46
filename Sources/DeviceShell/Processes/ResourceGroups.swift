import DeviceCore
import Linux
import Vocabulary

/// Groups of v1 hierarchies that limit and count beside the freezer, or beside a v2 tree whose
/// controllers v1 holds. Each is absent where it cannot be used.
struct ResourceGroups: Sendable {
    var memory: CgroupV1Memory?
    var processor: CgroupV1Processor?
    var accounting: CgroupV1Processor?

    var paths: [String] {
        [memory?.path, processor?.path, accounting?.path].compactMap(\.self)
    }

    func create(_ id: LaunchID, _ limits: LaunchLimits) throws(LinuxError) {
        let name = LaunchName.of(id)
        if let group = memory?.child(name) {
            try group.create()
            if let bytes = limits.memory { try group.setMemoryLimit(bytes) }
        }
        try processor?.child(name).create()
        try accounting?.child(name).create()
    }

    /// Where a program of a launch goes before it runs, for `Program.joining`.
    func joining(_ id: LaunchID) -> [String] {
        let name = LaunchName.of(id)
        return [
            memory?.child(name).path, processor?.child(name).path, accounting?.child(name).path,
        ].compactMap(\.self)
    }

    /// A group of no launch, in which a program begins.
    func host(_ name: String, _ program: inout Program) throws(LinuxError) {
        try memory?.child(name).create()
        try processor?.child(name).create()
        try accounting?.child(name).create()
        program.joining += [
            memory?.child(name).path, processor?.child(name).path, accounting?.child(name).path,
        ].compactMap(\.self)
    }

    func add(_ pid: Int32, to id: LaunchID) throws(LinuxError) {
        for path in joining(id) { try Files.set(path + "/cgroup.procs", to: "\(pid)") }
    }

    func weigh(_ id: LaunchID, _ weight: Weight) throws(LinuxError) {
        try processor?.child(LaunchName.of(id)).setProcessorWeight(weight.processorWeight)
    }

    func limitMemory(_ id: LaunchID, _ bytes: Int64?) throws(LinuxError) {
        try memory?.child(LaunchName.of(id)).setMemoryLimit(bytes)
    }

    /// All launches together against the rest of the machine.
    func weighScope(_ best: Weight) throws(LinuxError) {
        try processor?.setProcessorWeight(best.scopeWeight)
    }

    func memoryUsage(_ id: LaunchID) -> Int64? { memory?.child(LaunchName.of(id)).memory }
    func memoryPeak(_ id: LaunchID) -> Int64? { memory?.child(LaunchName.of(id)).memoryPeak }
    func memoryParts(_ id: LaunchID, peak: Int64) -> MemoryParts? {
        memory?.child(LaunchName.of(id)).memoryParts(peak: peak)
    }
    func memoryLimitHits(_ id: LaunchID) -> Int64? {
        memory?.child(LaunchName.of(id)).memoryLimitHits
    }
    func memoryKills(_ id: LaunchID) -> Int64? { memory?.child(LaunchName.of(id)).memoryKills }
    func processorTime(_ id: LaunchID) -> Int64? {
        accounting?.child(LaunchName.of(id)).processorTime
    }

    func remove(_ id: LaunchID) throws(LinuxError) {
        let name = LaunchName.of(id)
        try memory?.child(name).remove()
        try processor?.child(name).remove()
        try accounting?.child(name).remove()
    }
}
