import DeviceCore
import Vocabulary

/// Only so many runs go on side by side, and only one that is heavy.
final class SlotsKept: Invariant {
    let name = "run slots are kept"
    private var count = 0
    private var heavy = 0

    func restored(_ device: Device, _ world: World) -> String? {
        (count, heavy) = (0, 0)
        device.forEachRun { launch, _ in add(launch) }
        return nil
    }

    private func add(_ launch: Launch) {
        count += 1
        if launch.wake?.trigger == .processing
            || launch.deliveries.contains(where: { $0.trigger == .processing })
        {
            heavy += 1
        }
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        let before = (count, heavy)
        (count, heavy) = (0, 0)
        for launch in turn.running { add(launch) }
        let (more, moreHeavy) = (count > before.0, heavy > before.1)
        guard world.storeTrouble == nil, !turn.wasRolledBack else { return nil }
        if more, count > world.settings.runSlots {
            return "\(count) runs in \(world.settings.runSlots) slots"
        }
        if moreHeavy, heavy > 1 { return "\(heavy) processing runs side by side" }
        return nil
    }
}
