package import DeviceCore
package import Linux
package import Vocabulary

/// Signals to the session that a launch's first process leads, and to what descends from it.
/// Needs nothing of the kernel; the step for where no group may be made.
package final class SignalControl: ProcessControl {
    private let markers: LaunchMarkers
    private let refused: [String]
    /// Roots of a launch beside the one in its marker: programs that joined it.
    private var joined: [LaunchID: [ProcessIdentity]] = [:]
    /// Those that were found in a launch once are of it for as long as they live.
    private var seen: [LaunchID: Set<ProcessIdentity>] = [:]
    private var tags: LaunchTags

    package init(_ markers: LaunchMarkers, refused: [String]) {
        (self.markers, self.refused) = (markers, refused)
        tags = LaunchTags(markers)
    }

    package var step: ControlStep {
        ControlStep(
            kind: .signals,
            path: "",
            limitsMemory: false,
            lost: [
                "a process that left its app's session, gave up its environment and lost its "
                    + "parent is not found by its launch",
                "apps are stopped by SIGSTOP: their parents notice it and any SIGCONT undoes it",
                ControlStep.lostMemory,
                ControlStep.lostWeight,
                "the usage of helper processes counts only once their parent has reaped them",
            ],
            refused: refused
        )
    }

    package func prepare(_ id: LaunchID, _ limits: LaunchLimits) {}
    package func removePrepared() {}
    package func prepareRemoval(of id: LaunchID) {}
    package func hostNetwork(_ program: inout Program) {}

    package func launch(
        _ id: LaunchID,
        _ program: Program,
        _ limits: LaunchLimits
    ) throws(LinuxError) -> PidFD { try join(id, program) }

    package func join(_ id: LaunchID, _ program: Program) throws(LinuxError) -> PidFD {
        let process = try program.start()
        if let root = process.identity { joined[id, default: []].append(root) }
        return process
    }

    package func adopt(_ id: LaunchID, pid: Int32, _ limits: LaunchLimits) throws(LinuxError) {
        guard let root = ProcessIdentity(of: pid) else {
            throw LinuxError("adopt", "process \(pid)", .noProcess)
        }
        joined[id, default: []].append(root)
    }

    /// Repeats until nobody new is found: a process may have forked just before it was stopped.
    @discardableResult
    package func freeze(_ id: LaunchID) throws(LinuxError) -> Bool {
        var stopped: Set<Int32> = []
        for _ in 0..<8 {
            let fresh = members(id).filter { stopped.insert($0.pid).inserted }
            if fresh.isEmpty { break }
            try ProcessTable.send(Signal.stop, to: fresh)
        }
        return CurrentProcess.confirm {
            members(id).allSatisfy { $0.isStopped || $0.isUninterruptible || $0.hasEnded }
        }
    }

    package func thaw(_ id: LaunchID) throws(LinuxError) {
        try ProcessTable.send(Signal.proceed, to: living(id))
    }

    package func signal(_ id: LaunchID, _ signal: Int32) throws(LinuxError) {
        try ProcessTable.send(signal, to: living(id))
    }

    package func kill(_ id: LaunchID) throws(LinuxError) {
        // Stopped first, so that none is born between the reading and the killing; one that is not
        // ours to stop keeps nobody alive.
        _ = try? freeze(id)
        try ProcessTable.send(Signal.kill, to: living(id))
    }

    package func weigh(_ id: LaunchID, _ weight: Weight) throws(LinuxError) {}

    package func limitMemory(_ id: LaunchID, _ bytes: Int64?) throws(LinuxError) {}

    package func processes(of id: LaunchID) -> [Int32] {
        living(id).map(\.pid)
    }

    private func living(_ id: LaunchID) -> [ProcessStatus] { members(id).filter { !$0.hasEnded } }

    package func usage(of id: LaunchID) -> Usage? {
        let members = members(id)
        guard !members.isEmpty else { return nil }
        let pids = members.map(\.pid)
        var usage = Usage(
            cpu: ProcessTable.processorTime(of: members),
            memory: ProcessTable.privateMemory(of: pids)
        )
        usage.peak = max(usage.memory, ProcessTable.largestPeak(of: pids))
        usage.isPeakSampled = true
        return usage
    }

    package func memoryEnd(of id: LaunchID) -> MemoryEnd? { nil }

    @discardableResult
    package func remove(_ id: LaunchID) -> Bool {
        if !processes(of: id).isEmpty { try? kill(id) }
        let isEmpty = processes(of: id).isEmpty
        if isEmpty { (joined[id], seen[id]) = (nil, nil) }
        return isEmpty
    }

    package func discover() -> [LaunchID] {
        let tagged = tags.launches(of: ProcessTable.all()).values
        return Set(markers.launches()).union(tagged).subtracting([LaunchTags.ofNone]).sorted()
    }

    package func launch(of pid: Int32) throws(LinuxError) -> LaunchID? {
        // Upwards from the process: its session and its ancestors against all roots.
        var owners: [Int32: LaunchID] = [:]
        for id in try markers.known() + joined.keys {
            if let main = try markers.main(of: id), main.isAlive { owners[main.pid] = id }
            for root in joined[id] ?? [] where root.isAlive { owners[root.pid] = id }
        }
        let own = try ProcessTable.nearest(to: pid) { (process) throws(LinuxError) in
            owners[process.pid] ?? owners[process.session]
                ?? seen.first { $0.value.contains(process.identity) }?.key
        }
        if let own { return own }
        // Its tag says what it likes: only of one that no ancestor tells of any more.
        return try ProcessTable.nearest(to: pid) { (process) throws(LinuxError) in
            tags.launch(of: process.identity).flatMap { $0 == LaunchTags.ofNone ? nil : $0 }
        }
    }

    private func roots(_ id: LaunchID) -> [ProcessIdentity] {
        let known = joined[id] ?? []
        guard let main = markers.process(of: id), !known.contains(main) else { return known }
        return known + [main]
    }

    /// The sessions of the roots, what is tagged, what was found before, and whatever descends from
    /// one of those; the dead that nobody has reaped included.
    private func members(_ id: LaunchID) -> [ProcessStatus] {
        let roots = roots(id).filter { root in
            // A number that is taken by somebody else cannot be while its session lives.
            ProcessStatus(of: root.pid).map { $0.startTime == root.startTime } ?? true
        }
        let all = ProcessTable.all()
        let tagged = tags.launches(of: all)
        let before = seen[id] ?? []
        var found = all.filter { process in
            if tagged[process.identity] == id || before.contains(process.identity) { return true }
            return roots.contains {
                process.pid == $0.pid
                    || (process.session == $0.pid && process.startTime >= $0.startTime)
            }
        }
        var pids = Set(found.map(\.pid))
        var rest = all.filter { !pids.contains($0.pid) }
        while true {
            let children = rest.filter { pids.contains($0.parent) }
            if children.isEmpty { break }
            found += children
            pids.formUnion(children.map(\.pid))
            rest.removeAll { pids.contains($0.pid) }
        }
        let living = found.filter { !$0.hasEnded }
        seen[id] = living.isEmpty ? nil : Set(living.map(\.identity))
        return found
    }
}
