import DeviceCore
import Vocabulary

/// The device is kept from sleeping while a run or a transfer is in progress, and let go with the
/// last (A11).
final class HeldForRuns: Invariant {
    let name = "the device is held awake only for runs"
    private var heldForNothingSince: AwakeTime?

    func rebooted() { heldForNothingSince = nil }

    func ended(_ turn: Turn, _ world: World) -> String? {
        guard !turn.wasKilled, world.storeTrouble == nil else {
            heldForNothingSince = nil
            return nil
        }
        let now = world.now
        // Nobody holds it between two daemons.
        if turn.isStart { heldForNothingSince = nil }
        guard world.isHeldAwake else {
            heldForNothingSince = nil
            if let id = world.network.runningTransfer {
                return "transfer \(id) runs, and the device may fall asleep"
            }
            for process in world.processes where process.isAtWork {
                return "launch \(process.launch) runs, and the device may fall asleep"
            }
            return nil
        }
        let hasWork =
            world.network.runningTransfer != nil
            || world.processes.contains(where: { $0.mayBeAtWork })
        if hasWork {
            heldForNothingSince = nil
            return nil
        }
        let since = heldForNothingSince ?? now.awake
        heldForNothingSince = since
        // A result may be read before a program runs, and after it has ended.
        let reading = world.settings.probeLimit * 3
        return now.awake - since > reading ? "it is held awake for nothing" : nil
    }
}

extension VirtualProcess {
    /// It does background work that it was given, and neither it nor a daemon has said that this is
    /// over.
    var isAtWork: Bool {
        guard !isFrozen, hasStarted, !isDead, !isToldToEnd, weight == .background else {
            return false
        }
        return command != nil || talk.work.contains { $0.begun != nil && $0.warned == nil }
    }

    fileprivate var mayBeAtWork: Bool { !isFrozen && !isDead && weight == .background }
}
