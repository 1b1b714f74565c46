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
        for look in turn.launches {
            guard let launch = look.launch, let process = world.process(look.id), !process.isDead
            else { continue }
            if (launch.presence == .suspended) != process.isFrozen {
                return "launch \(look.id) is \(launch.presence.rawValue), "
                    + (process.isFrozen ? "and frozen" : "and not frozen")
            }
        }
        return nil
    }
}
