import DeviceCore
import Vocabulary

/// Each run leaves one line in the history: each time that a command runs, and each delivery that
/// an app began; no more and no less.
final class OneLine: EffectInvariant, ProcessInvariant {
    let name = "each run leaves exactly one line"
    private var runs: [LaunchID: Run] = [:]
    /// Those of them that are not released.
    private var live: [LaunchID] = []
    private var released: [LaunchID] = []
    /// Commands and apps that a reboot ended.
    private var cut: [LaunchID] = []

    private struct Run {
        var isCommand = false
        /// How often the command ran: from its start, and in further windows.
        var times = 0
        /// A daemon may have died before it thawed what it has on record as thawed.
        var maybe = 0
        /// Deliveries that are on record, and those that the app was told to begin.
        var given = 0
        var begun: Set<DeliveryID> = []
        var lines = 0
        var failures = 0
    }

    private func change(_ launch: LaunchID, _ body: (inout Run) -> Void) {
        if runs[launch] == nil { live.append(launch) }
        body(&runs[launch, default: Run()])
    }

    func rebooted() { cut = live }

    func restored(_ world: World) -> String? {
        cut.removeAll { !world.store.contains(RecordKey(.launch, "\($0)")) }
        return nil
    }

    func ran(_ process: VirtualProcess, _ world: World) {
        if process.command != nil { change(process.launch) { $0.times += 1 } }
    }

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        if case .release(let launch) = effect { released.append(launch) }
        // It ended as its time did, and went on in its next window before anyone knew.
        if case .thaw(let launch) = effect, world.process(launch)?.isDead == true {
            runs[launch]?.maybe += 1
        }
        return nil
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        for assignment in turn.assigned {
            change(assignment.launch) {
                $0.isCommand = assignment.delivery == nil
                if !$0.isCommand { $0.given += 1 }
            }
        }
        // What followed it, when the daemon was killed, nobody knows.
        for launch in turn.thawed where !turn.ended.contains(launch) && !turn.wasKilled {
            runs[launch]?.times += 1
        }
        for (launch, delivery) in turn.toldToGo { runs[launch]?.begun.insert(delivery) }
        for line in turn.lines {
            guard case .wake(let report) = line.entry else { continue }
            change(report.launch) {
                $0.lines += 1
                if report.result == .failed { $0.failures += 1 }
            }
            if let text = excess(report.launch) { return text }
        }
        if turn.wasKilled {
            for launch in live where runs[launch]?.isCommand == true {
                if runs[launch]?.lines != 0 { runs[launch]?.maybe += 1 }
            }
        }
        // While the store fails, lines wait with what they tell of.
        guard !turn.wasKilled, !turn.wasRolledBack else { return nil }
        guard !released.isEmpty || !cut.isEmpty else { return nil }
        defer { forgetEnded() }
        for launch in released + cut {
            if let text = lack(launch, world) { return text }
        }
        return nil
    }

    private func forgetEnded() {
        for launch in released + cut { runs[launch] = nil }
        live.removeAll { runs[$0] == nil }
        released.removeAll()
        cut.removeAll()
    }

    private func excess(_ launch: LaunchID) -> String? {
        guard let run = runs[launch] else { return nil }
        // What never began leaves one if it could not; of what an app has no handler for, nothing
        // else is on record.
        let most = run.isCommand ? max(1, run.times) + run.maybe : run.given + run.failures
        return run.lines > most ? "launch \(launch) has \(run.lines) lines, for \(most) runs" : nil
    }

    private func lack(_ launch: LaunchID, _ world: World) -> String? {
        guard let run = runs[launch] else { return nil }
        let least = run.isCommand ? run.times : run.begun.count
        return run.lines < least
            ? "launch \(launch) has \(run.lines) lines, for \(least) runs" : nil
    }
}
