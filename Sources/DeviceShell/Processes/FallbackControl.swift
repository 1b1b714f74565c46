package import DeviceCore
package import Linux
package import Vocabulary

/// The step in force, with signals for each launch that it could not take in: to move a process
/// out of a login session into the apps' scope takes rights that an ordinary user need not have.
package final class FallbackControl: ProcessControl {
    private let best: any ProcessControl
    private let signals: SignalControl
    private var bySignals: Set<LaunchID> = []

    package init(_ best: any ProcessControl, _ markers: LaunchMarkers) {
        self.best = best
        signals = SignalControl(markers, refused: [])
        // Those that an earlier daemon could not take in.
        for id in markers.launches() {
            guard let main = markers.process(of: id), main.isAlive,
                !best.processes(of: id).contains(main.pid)
            else { continue }
            bySignals.insert(id)
        }
    }

    package var step: ControlStep { best.step }

    private func control(of id: LaunchID) -> any ProcessControl {
        bySignals.contains(id) ? signals : best
    }

    package func launch(
        _ id: LaunchID,
        _ program: Program,
        _ limits: LaunchLimits
    ) throws(LinuxError) -> PidFD { try best.launch(id, program, limits) }

    package func prepare(_ id: LaunchID, _ limits: LaunchLimits) { best.prepare(id, limits) }
    package func removePrepared() { best.removePrepared() }
    package func prepareRemoval(of id: LaunchID) { control(of: id).prepareRemoval(of: id) }

    package func join(_ id: LaunchID, _ program: Program) throws(LinuxError) -> PidFD {
        try control(of: id).join(id, program)
    }

    package func hostNetwork(_ program: inout Program) { best.hostNetwork(&program) }

    package func adopt(_ id: LaunchID, pid: Int32, _ limits: LaunchLimits) throws(LinuxError) {
        do throws(LinuxError) {
            try best.adopt(id, pid: pid, limits)
        } catch {
            best.remove(id)
            try signals.adopt(id, pid: pid, limits)
            bySignals.insert(id)
        }
    }

    @discardableResult
    package func freeze(_ id: LaunchID) throws(LinuxError) -> Bool {
        try control(of: id).freeze(id)
    }

    package func thaw(_ id: LaunchID) throws(LinuxError) { try control(of: id).thaw(id) }

    package func signal(_ id: LaunchID, _ signal: Int32) throws(LinuxError) {
        try control(of: id).signal(id, signal)
    }

    package func kill(_ id: LaunchID) throws(LinuxError) { try control(of: id).kill(id) }

    package func weigh(_ id: LaunchID, _ weight: Weight) throws(LinuxError) {
        try control(of: id).weigh(id, weight)
    }

    package func limitMemory(_ id: LaunchID, _ bytes: Int64?) throws(LinuxError) {
        try control(of: id).limitMemory(id, bytes)
    }

    package func processes(of id: LaunchID) -> [Int32] { control(of: id).processes(of: id) }

    package func usage(of id: LaunchID) -> Usage? { control(of: id).usage(of: id) }

    package func memoryEnd(of id: LaunchID) -> MemoryEnd? { control(of: id).memoryEnd(of: id) }

    @discardableResult
    package func remove(_ id: LaunchID) -> Bool {
        guard control(of: id).remove(id) else { return false }
        bySignals.remove(id)
        return true
    }

    package func discover() -> [LaunchID] { bySignals.union(best.discover()).sorted() }

    package func launch(of pid: Int32) throws(LinuxError) -> LaunchID? {
        if let id = try best.launch(of: pid) { return id }
        guard !bySignals.isEmpty, let id = try signals.launch(of: pid) else { return nil }
        return bySignals.contains(id) ? id : nil
    }
}
