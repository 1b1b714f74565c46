internal import Glibc

/// A directory of the v1 freezer hierarchy.
package struct CgroupV1Freezer: Cgroup, Equatable {
    package let path: String

    package init(_ path: String) { self.path = path }

    package func child(_ name: String) -> CgroupV1Freezer { CgroupV1Freezer(path + "/" + name) }

    /// The group of a process; nil without a freezer.
    package static func of(_ pid: Int32, in mounts: Mounts) throws(LinuxError) -> CgroupV1Freezer? {
        guard let root = mounts.cgroup1("freezer"),
            let path = try CgroupMembership(of: pid).controllers["freezer"]
        else { return nil }
        return CgroupV1Freezer(path == "/" ? root : root + path)
    }

    package var canFreeze: Bool { has("freezer.state") }

    package var isFrozen: Bool { state == "FROZEN" }

    /// `THAWED`, `FREEZING` or `FROZEN`.
    private var state: String {
        let text = try? Files.text(path + "/freezer.state", limit: 64)
        return String((text ?? "").prefix { $0 != "\n" })
    }

    package func freeze() throws(LinuxError) -> Bool {
        try Files.set(path + "/freezer.state", to: "FROZEN")
        return CurrentProcess.confirm { isFrozen }
    }

    package func thaw() throws(LinuxError) { try Files.set(path + "/freezer.state", to: "THAWED") }

    /// Frozen first, so that none is born between the reading and the killing; a frozen process
    /// of this version dies only when it is thawed.
    package func kill() throws(LinuxError) {
        _ = try freeze()
        do throws(LinuxError) {
            try killAll()
        } catch {
            try thaw()
            throw error
        }
        try thaw()
    }

    package var isPopulated: Bool { ((try? processes()) ?? []).contains { $0 >= 0 } }
}

/// A directory of the v1 memory hierarchy.
package struct CgroupV1Memory: Equatable, Sendable {
    private let group: CgroupV1Freezer
    package var path: String { group.path }

    package init(_ path: String) { group = CgroupV1Freezer(path) }

    package func child(_ name: String) -> CgroupV1Memory { CgroupV1Memory(path + "/" + name) }

    package var exists: Bool { group.exists }
    package var canLimitMemory: Bool { group.has("memory.limit_in_bytes") }

    package func create() throws(LinuxError) { try group.create() }
    package func remove() throws(LinuxError) { try group.remove() }

    /// In bytes; nil takes the limit away.
    package func setMemoryLimit(_ bytes: Int64?) throws(LinuxError) {
        let text = bytes.map { "\($0)" } ?? "-1"
        let files = ["/memory.limit_in_bytes", "/memory.memsw.limit_in_bytes"]
        guard group.has("memory.memsw.limit_in_bytes") else {
            try Files.set(path + files[0], to: text)
            return
        }
        do throws(LinuxError) {
            try Files.set(path + files[0], to: text)
            try Files.set(path + files[1], to: text)
        } catch  where error.errno == .invalid {
            // The limit with swap may never be the lower one: raised first, lowered last.
            try Files.set(path + files[1], to: text)
            try Files.set(path + files[0], to: text)
        }
    }

    package var memory: Int64? { group.number(in: "memory.usage_in_bytes") }
    package var memoryPeak: Int64? { group.number(in: "memory.max_usage_in_bytes") }
    package func memoryParts(peak: Int64) -> MemoryParts? {
        let counts = group.values(["cache", "shmem", "pgpgin", "pgfault"], in: "memory.stat")
        guard let files = counts[0] else { return nil }
        let shared = counts[1] ?? 0
        var unfaulted: Int64 = 0
        if let charges = counts[2], let faults = counts[3] {
            let page = CurrentProcess.pageSize
            // The one adds up over the whole run, and the other knows of no huge pages.
            unfaulted = max(0, min((charges - faults) * page, peak - faults * page))
        }
        return MemoryParts(files: max(0, files - shared), shared: shared, unfaulted: unfaulted)
    }
    /// How many processes in it the kernel killed for want of memory, its own or the machine's.
    package var memoryKills: Int64? { group.value("oom_kill", in: "memory.oom_control") }
    /// How often it met its own limit, with swap or without. Kernels do not count what fails when
    /// both limits are the same: then it has been as large as it may be.
    package var memoryLimitHits: Int64? {
        guard let failures = group.number(in: "memory.failcnt") else { return nil }
        let hits = failures + (group.number(in: "memory.memsw.failcnt") ?? 0)
        let limit = group.number(in: "memory.limit_in_bytes")
        guard hits == 0, let limit, let peak = memoryPeak else { return hits }
        return peak < limit ? 0 : 1
    }
}

/// A directory of the v1 cpuacct or cpu hierarchy.
package struct CgroupV1Processor: Equatable, Sendable {
    private let group: CgroupV1Freezer
    package var path: String { group.path }

    package init(_ path: String) { group = CgroupV1Freezer(path) }

    package func child(_ name: String) -> CgroupV1Processor { CgroupV1Processor(path + "/" + name) }

    package func create() throws(LinuxError) { try group.create() }
    package func remove() throws(LinuxError) { try group.remove() }

    /// User and system time of all its processes, also those that ended, in nanoseconds.
    package var processorTime: Int64? { group.number(in: "cpuacct.usage") }

    package var canWeighProcessor: Bool { group.has("cpu.shares") }

    /// On the scale of v2: 1 to 10,000, 100 by default (1024 shares).
    package func setProcessorWeight(_ weight: Int) throws(LinuxError) {
        try Files.set(path + "/cpu.shares", to: "\(max(2, weight * 1024 / 100))")
    }
}
