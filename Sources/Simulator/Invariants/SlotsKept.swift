import DeviceCore
import Vocabulary

/// Only so many runs go on side by side, and only one that is heavy. What a developer tests is not
/// kept waiting.
final class SlotsKept: Invariant {
    let name = "run slots are kept"

    func ended(_ turn: Turn, _ world: World) -> String? {
        guard world.storeTrouble == nil, !turn.wasRolledBack, !turn.wasKilled else { return nil }
        let tested = turn.tested
        let begun = turn.begunInBackground(world).filter { !tested.contains($0.app) }
        guard !begun.isEmpty else { return nil }
        var running: [LaunchID] = []
        var heavy: [LaunchID] = []
        for process in world.processes {
            // What was thawed for work that it has no handler for is not at work.
            let isNew =
                turn.started.contains { $0.launch == process.launch && $0.weight == .background }
                || turn.offered.contains { $0.launch == process.launch }
            guard isNew || process.isAtWork else { continue }
            running.append(process.launch)
            let isHeavy =
                process.command == .processing
                || process.talk.work.contains { $0.isProcessing && $0.warned == nil }
            if isHeavy { heavy.append(process.launch) }
        }
        if running.count > world.settings.runSlots {
            return "\(running) run in \(world.settings.runSlots) slots"
        }
        let isHeavyNew = begun.contains { heavy.contains($0.launch) }
        return heavy.count > 1 && isHeavyNew
            ? "processing side by side: \(heavy)" : nil
    }
}
