package import DeviceCore
package import Linux
package import Vocabulary

/// Why the kernel ended a program for want of memory.
package enum MemoryEnd: Sendable {
    /// It met its own limit.
    case limit
    /// Others left it none: the limit was never met.
    case machine
}

/// One way to start, freeze and end the processes of launches; which one is in force is found by
/// probing (cgroup v2, cgroup v1, signals). No policy: `AppProcesses` calls it for the core.
package protocol ProcessControl: AnyObject {
    /// For `offstage doctor`: the step in force, and what is lost with it.
    var step: ControlStep { get }

    /// Starts a program as the main process of a launch, in a fresh group of its own. The program
    /// must lead a session of its own (`newSession`).
    func launch(_ id: LaunchID, _ program: Program, _ limits: LaunchLimits) throws(LinuxError)
        -> PidFD
    /// Begins to make the groups that `launch` will need, beside what the caller does meanwhile.
    /// The limits are those that it will be given.
    func prepare(_ id: LaunchID, _ limits: LaunchLimits)
    /// Removes the groups of launches that were prepared and do not begin.
    func removePrepared()
    /// Starts to remove the groups of a launch while the caller goes on, unless something lives in
    /// them. `remove` must follow; until then the launch looks like one of another boot.
    func prepareRemoval(of id: LaunchID)
    /// Starts one more program in the group of a launch, for reading a result. The launch need not
    /// have begun.
    func join(_ id: LaunchID, _ program: Program) throws(LinuxError) -> PidFD
    /// Makes the network process begin in a group of its own beside those of the launches, so that
    /// what it takes is nobody else's. Does nothing without groups.
    func hostNetwork(_ program: inout Program)
    /// Moves a process that is not ours into the fresh group of a launch.
    func adopt(_ id: LaunchID, pid: Int32, _ limits: LaunchLimits) throws(LinuxError)

    /// True when all processes were seen to stand still; otherwise they will in a moment.
    @discardableResult
    func freeze(_ id: LaunchID) throws(LinuxError) -> Bool
    func thaw(_ id: LaunchID) throws(LinuxError)
    /// To every process of the launch.
    func signal(_ id: LaunchID, _ signal: Int32) throws(LinuxError)
    /// Ends every process of the launch, frozen or not.
    func kill(_ id: LaunchID) throws(LinuxError)
    func weigh(_ id: LaunchID, _ weight: Weight) throws(LinuxError)
    /// Bytes; nil: no limit. Does nothing where the kernel cannot.
    func limitMemory(_ id: LaunchID, _ bytes: Int64?) throws(LinuxError)
    /// Those that live, in no order.
    func processes(of id: LaunchID) -> [Int32]
    /// Nil: not measurable here, or no longer.
    func usage(of id: LaunchID) -> Usage?
    /// Why the kernel ended something in it for want of memory; nil: it did not.
    func memoryEnd(of id: LaunchID) -> MemoryEnd?
    /// Ends what is left and removes the group. False: something still dies, call again later.
    @discardableResult
    func remove(_ id: LaunchID) -> Bool
    /// Launches that this machine still knows, dead or alive, when the daemon starts.
    func discover() -> [LaunchID]
    /// The launch that a process belongs to now, by its group, else by the nearest of its ancestors
    /// that is in one; nil: it is outside every launch. Throws when that cannot be known. Never an
    /// identity by itself: the caller holds the process by pidfd and asks whether it still lives.
    func launch(of pid: Int32) throws(LinuxError) -> LaunchID?
}

package struct LaunchLimits: Equatable, Sendable {
    /// Bytes; nil: none.
    package var memory: Int64?
    package var weight: Weight

    package init(memory: Int64? = nil, weight: Weight = .background) {
        (self.memory, self.weight) = (memory, weight)
    }

    init(_ spec: ProcessSpec) { self.init(memory: spec.memoryLimit, weight: spec.weight) }
}

/// A step of process control, in words for `offstage doctor`.
package struct ControlStep: Equatable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case cgroup2 = "cgroup v2"
        case cgroup1 = "cgroup v1"
        case signals
    }

    package var kind: Kind
    /// The kernel's directory of all launches; empty for signals.
    package var path: String
    package var limitsMemory: Bool
    /// What does not work on this step; empty: everything does.
    package var lost: [String]
    /// Why the steps above this one are not in force, the best first.
    package var refused: [String] = []
    /// The kernel's directories that were made for all launches, and go with the last.
    package var directories: [String] = []

    package var name: String { kind.rawValue }

    /// Takes away the directories of a scope in which nothing lives; what still lives keeps its
    /// own, and so does another scope.
    func removeScope(besides other: ControlStep? = nil) {
        if kind == .cgroup2 { try? CgroupV2(path).child(Keeper.groupName).remove() }
        for path in [path] + directories where !path.isEmpty {
            try? CgroupV1Freezer(path).child(LaunchName.network).remove()
        }
        for path in directories where other?.directories.contains(path) != true {
            try? CgroupV1Freezer(path).remove()
        }
    }

    /// Those of its directories that somebody has taken away.
    var missing: [String] {
        let all = directories.contains(path) ? directories : [path] + directories
        return all.filter { !$0.isEmpty && !Files.exists($0) }
    }

    static let lostMemory = "memory limits are monitored, not enforced by the kernel"
    static let lostWeight = "background apps get no lower CPU weight"
}

/// Names of the directories of launches.
package enum LaunchName {
    private static let prefix = "launch-"
    /// Of the network process.
    static let network = "network"

    static func of(_ id: LaunchID) -> String { prefix + "\(id.number)" }

    package static func id(_ name: some StringProtocol) -> LaunchID? {
        guard name.hasPrefix(prefix) else { return nil }
        return UInt64(name.dropFirst(prefix.count)).map { LaunchID($0) }
    }

    /// The launch whose directory in `base` holds `path` or is it.
    static func id(of path: String, below base: String) -> LaunchID? {
        guard path.hasPrefix(base + "/") else { return nil }
        let rest = path.utf8.dropFirst(base.utf8.count + 1)
        return id(String(decoding: rest.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self))
    }
}

/// Shares of the processor, on the scale of cgroup v2: 100 is what everyone else has.
extension Weight {
    var processorWeight: Int {
        switch self {
        case .foreground: 100
        case .background: 10
        }
    }

    /// Of all apps together against the rest of the machine, when this is the best among them.
    var scopeWeight: Int {
        switch self {
        case .foreground: 100
        case .background: 5
        }
    }
}

/// What can be known of processes without any group.
enum ProcessTable {
    static func all() -> [ProcessStatus] {
        ((try? Files.list("/proc")) ?? []).compactMap { Int32($0) }
            .compactMap { ProcessStatus(of: $0) }
    }

    /// To these and to none that has got one of their numbers meanwhile. Those that ended are
    /// passed over. Throws after all have been tried.
    static func send(_ signal: Int32, to processes: [ProcessStatus]) throws(LinuxError) {
        var failure: LinuxError?
        for process in processes where process.pid > 1 {
            do throws(LinuxError) {
                try PidFD(of: process.identity).send(signal)
            } catch  where error.errno != .noProcess {
                failure = error
            } catch {
                continue
            }
        }
        if let failure { throw failure }
    }

    /// What is found of a process, else of the nearest of its ancestors of which something is.
    /// Throws when one of them cannot be asked: that is no "nothing".
    static func nearest<Found>(
        to pid: Int32,
        _ find: (ProcessStatus) throws(LinuxError) -> Found?
    ) throws(LinuxError) -> Found? {
        var next = try ProcessStatus(reading: pid)
        var restarts = 0
        while true {
            if let found = try find(next) { return found }
            guard next.parent > 1 else { return nil }
            do throws(LinuxError) {
                next = try ProcessStatus(reading: next.parent)
            } catch {
                // The ancestor ended just now; its children have another parent.
                guard error.errno == .noEntry || error.errno == .noProcess, restarts < 8 else {
                    throw error
                }
                restarts += 1
                next = try ProcessStatus(reading: pid)
            }
        }
    }

    /// Of the living and of the children they have collected, in nanoseconds.
    static func processorTime(of processes: [ProcessStatus]) -> Interval {
        Interval(
            nanoseconds: processes.reduce(0) {
                $0 + $1.processorTime + $1.childrenProcessorTime
            }
        )
    }

    /// Resident pages that are not of files, in bytes.
    static func privateMemory(of pids: [Int32]) -> Int64 {
        pids.reduce(0) { sum, pid in
            guard let text = try? Files.text("/proc/\(pid)/statm", limit: 256) else { return sum }
            let fields = text.split(separator: " ").prefix(3).compactMap { Int64($0) }
            guard fields.count == 3 else { return sum }
            return sum + (fields[1] - fields[2]) * CurrentProcess.pageSize
        }
    }

    /// The most that one of them had resident since it was executed, without the pages of files;
    /// 0: none lives. All of them together had that at least.
    static func largestPeak(of pids: [Int32]) -> Int64 {
        pids.reduce(0) { peak, pid in
            guard let text = try? Files.text("/proc/\(pid)/status", limit: 8192),
                let resident = kilobytes("VmHWM", in: text)
            else { return peak }
            return max(peak, (resident - (kilobytes("RssFile", in: text) ?? 0)) << 10)
        }
    }

    private static func kilobytes(_ name: String, in status: String) -> Int64? {
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        let number = line?.split { $0 == " " || $0 == "\t" }.dropFirst().first
        return number.flatMap { Int64($0) }.flatMap { $0 < 1 << 40 ? $0 : nil }
    }
}
