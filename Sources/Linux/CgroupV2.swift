internal import Glibc

/// A directory of the cgroup v2 tree. What a kernel or a parent does not offer is a missing file.
package struct CgroupV2: Cgroup, Equatable {
    package let path: String

    package init(_ path: String) { self.path = path }

    package func child(_ name: String) -> CgroupV2 { CgroupV2(path + "/" + name) }

    /// The cgroup of a process; nil without a v2 tree.
    package static func of(_ pid: Int32, in mounts: Mounts) throws(LinuxError) -> CgroupV2? {
        guard let root = mounts.cgroup2, let path = try CgroupMembership(of: pid).unified
        else { return nil }
        return CgroupV2(path == "/" ? root : root + path)
    }

    package var canFreeze: Bool { has("cgroup.freeze") }

    /// Whether a process lives in it or below.
    package var isPopulated: Bool { value("populated", in: "cgroup.events") == 1 }

    /// Whether everything in it stands still. Stays true of an emptied one.
    package var isFrozen: Bool { value("frozen", in: "cgroup.events") == 1 }

    package func freeze() throws(LinuxError) -> Bool {
        try Files.set(path + "/cgroup.freeze", to: "1")
        return CurrentProcess.confirm { isFrozen }
    }

    package func thaw() throws(LinuxError) { try Files.set(path + "/cgroup.freeze", to: "0") }

    /// On newer kernels (6.18 for one) every process born into it from then on dies at once: a
    /// cgroup is for one launch.
    package func kill() throws(LinuxError) {
        do throws(LinuxError) {
            try Files.set(path + "/cgroup.kill", to: "1")
        } catch  where error.errno == .noEntry && exists {
            // Before Linux 5.14: nobody can be born while all are frozen.
            _ = try freeze()
            try killAll()
        }
    }

    /// User and system time of all its processes, also those that ended, in nanoseconds.
    package var processorTime: Int64? { value("usage_usec", in: "cpu.stat").map { $0 * 1000 } }

    // MARK: Controllers

    /// Controllers that it may hand on to its children.
    package var controllers: [String] {
        let text = try? Files.text(path + "/cgroup.controllers", limit: 4096)
        return (text ?? "").split { $0 == " " || $0 == "\n" }.map(String.init)
    }

    /// Controllers that its children have.
    package var handedOn: [String] {
        let text = try? Files.text(path + "/cgroup.subtree_control", limit: 4096)
        return (text ?? "").split { $0 == " " || $0 == "\n" }.map(String.init)
    }

    /// Hands controllers on to the children. Throws `busy` while it holds processes itself.
    package func enable(_ controllers: [String]) throws(LinuxError) {
        guard !controllers.isEmpty else { return }
        try Files.set(
            path + "/cgroup.subtree_control",
            to: controllers.map { "+" + $0 }.joined(separator: " ")
        )
    }

    package var canLimitMemory: Bool { has("memory.max") }

    /// In bytes; nil takes the limit away.
    package func setMemoryLimit(_ bytes: Int64?) throws(LinuxError) {
        try Files.set(path + "/memory.max", to: bytes.map { "\($0)" } ?? "max")
        // Swapping past the limit would only make it slow, and half an app is of no use.
        for (file, value) in [
            ("/memory.swap.max", bytes == nil ? "max" : "0"), ("/memory.oom.group", "1"),
        ] where Files.exists(path + file) {
            try Files.set(path + file, to: value)
        }
    }

    package var memory: Int64? { number(in: "memory.current") }
    package var memoryPeak: Int64? { number(in: "memory.peak") }
    package func memoryParts(peak: Int64) -> MemoryParts? {
        let keys = [
            "file", "slab_reclaimable", "shmem", "pgfault", "thp_fault_alloc", "thp_collapse_alloc",
        ]
        let counts = values(keys, in: "memory.stat")
        guard let files = counts[0] else { return nil }
        let shared = counts[2] ?? 0
        let page = CurrentProcess.pageSize
        // A huge page is what one page of page table entries maps.
        let huge = ((counts[4] ?? 0) + (counts[5] ?? 0)) * (page / 8)
        return MemoryParts(
            files: max(0, files + (counts[1] ?? 0) - shared),
            shared: shared,
            unfaulted: counts[3].map { max(0, peak - ($0 + huge) * page) } ?? 0
        )
    }
    /// How many processes in it the kernel killed for want of memory, its own or the machine's.
    package var memoryKills: Int64? { value("oom_kill", in: "memory.events") }
    /// How often it needed more than its own limit, and nothing could be had back.
    package var memoryLimitHits: Int64? { value("oom", in: "memory.events") }

    package var canWeighProcessor: Bool { has("cpu.weight") }

    /// Its share of the processor against its siblings: 1 to 10,000, 100 by default.
    package func setProcessorWeight(_ weight: Int) throws(LinuxError) {
        try Files.set(path + "/cpu.weight", to: "\(weight)")
    }
}
