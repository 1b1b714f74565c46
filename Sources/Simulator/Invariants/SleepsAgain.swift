import DeviceCore
import Vocabulary

/// A machine that sleeps is woken for work only when the settings allow it. It is sent back to
/// sleep only after such a wake, and while nobody is there. That the network goes down with it does
/// not take its alarm away.
final class SleepsAgain: EffectInvariant {
    let name = "the device wakes and sleeps as it may"

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        guard case .sleepAgain = effect else { return nil }
        if !world.wokeItself { return "sent to sleep, and it did not wake by itself" }
        if world.user.isActive { return "sent to sleep while it is used" }
        if world.isHeldAwake { return "sent to sleep while work runs" }
        return nil
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        guard let alarm = world.sleepState.alarm, world.armed.alarm == nil, !turn.wasKilled,
            !turn.wasRolledBack, !turn.beginsAnything,
            turn.entries.allSatisfy({ $0.event.isOfSleep })
        else { return nil }
        return "it prepares for sleep, and is not woken at \(alarm) any more"
    }

    func idled(_ world: World) -> String? {
        guard let alarm = world.armed.alarm else { return nil }
        switch world.settings.wakeFromSleep {
        case .on: return nil
        case .charger
        where world.sensing(.power) != .unknown && world.value(.power) == 1:
            return nil
        case .off, .charger: return "it would be woken at \(alarm), which the user does not want"
        }
    }
}
