import DeviceCore
import Vocabulary

/// A suspended app is frozen, which is why its processor time does not change at all, and it is
/// sent nothing.
final class SuspendedSilent: EffectInvariant {
    let name = "suspended apps use nothing and are sent nothing"

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        guard case .tell(let launch, let message) = effect, let process = world.process(launch),
            process.isFrozen
        else { return nil }
        return "launch \(launch) is frozen and told \(message)"
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        guard !turn.wasKilled else { return nil }
        for id in turn.launches {
            guard let process = world.process(id), !process.isDead,
                let (_, launch) = device.launch(id)
            else { continue }
            if (launch.presence == .suspended) != process.isFrozen {
                return "launch \(id) is \(launch.presence.rawValue), "
                    + (process.isFrozen ? "and frozen" : "and not frozen")
            }
        }
        return nil
    }
}
