import DeviceCore
import Vocabulary

/// Only so many runs go on side by side, and only one that is heavy. What a developer launches
/// straight into the background runs nothing (C12).
final class SlotsKept: Invariant {
    let name = "run slots are kept"
    /// Launches that have had their slot for some turns when their program starts, after the
    /// reading of its result source, or is offered work.
    private var begunBefore: Set<LaunchID> = []

    func ended(_ turn: Turn, _ world: World) -> String? {
        // What goes on was looked at when it began.
        guard turn.beginsAnything else { return nil }
        let offered = turn.offered.map(\.launch)
        let goingOn = (turn.started.map(\.launch) + offered)
            .filter { begunBefore.remove($0) != nil }
        begunBefore.formUnion(turn.probed.map(\.launch))
        for start in turn.started
        where world.process(start.launch)?.command == nil && !offered.contains(start.launch) {
            begunBefore.insert(start.launch)
        }
        guard world.storeTrouble == nil, !turn.wasRolledBack, !turn.wasKilled else { return nil }
        let launched = turn.started.filter {
            turn.launchedInBackground.contains($0.app) && world.process($0.launch)?.command == nil
        }.map(\.launch)
        let begun = turn.begunInBackground(world)
            .filter { !launched.contains($0.launch) && !goingOn.contains($0.launch) }
        guard !begun.isEmpty else { return nil }
        var running: [LaunchID] = []
        var heavy: [LaunchID] = []
        for process in world.processes where !launched.contains(process.launch) {
            // What was thawed for work that it has no handler for, or that is over, is not at work.
            let isNew =
                turn.started.contains { $0.launch == process.launch && $0.weight == .background }
                || process.talk.work.contains { work in
                    turn.offered.contains { $0.delivery == work.id }
                }
            guard isNew || process.isAtWork else { continue }
            running.append(process.launch)
            if process.isHeavy(in: turn) { heavy.append(process.launch) }
        }
        if running.count > world.settings.runSlots {
            return "\(running) run in \(world.settings.runSlots) slots"
        }
        let isHeavyNew = begun.contains { heavy.contains($0.launch) }
        return heavy.count > 1 && isHeavyNew
            ? "processing side by side: \(heavy)" : nil
    }
}

extension VirtualProcess {
    /// It is processing, or was offered it in this turn.
    fileprivate func isHeavy(in turn: Turn) -> Bool {
        if command == .processing { return true }
        for work in talk.work where work.isProcessing && work.warned == nil {
            if work.begun != nil || turn.offered.contains(where: { $0.delivery == work.id }) {
                return true
            }
        }
        return false
    }
}
