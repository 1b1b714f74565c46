import DeviceCore
import Vocabulary

/// Only so many runs go on side by side, and only one that is heavy.
final class SlotsKept: Invariant {
    let name = "run slots are kept"
    private var count = 0
    private var heavy = 0

    func restored(_ device: Device, _ world: World) -> String? {
        _ = recount(device)
        return nil
    }

    private func recount(_ device: Device) -> (more: Bool, moreHeavy: Bool) {
        var all = 0
        var processing = 0
        device.forEachRun { launch, wake in
            all += 1
            if wake.trigger == .processing
                || launch.deliveries.contains(where: { $0.trigger == .processing })
            {
                processing += 1
            }
        }
        defer { (count, heavy) = (all, processing) }
        return (all > count, processing > heavy)
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        let (more, moreHeavy) = recount(device)
        guard world.storeTrouble == nil, !turn.wasRolledBack else { return nil }
        if more, count > world.settings.runSlots {
            return "\(count) runs in \(world.settings.runSlots) slots"
        }
        if moreHeavy, heavy > 1 { return "\(heavy) processing runs side by side" }
        return nil
    }
}
