import DeviceCore
import Vocabulary

/// No timer is ever armed for the past, and none fires on and on without anything coming of it.
final class TimerSane: EffectInvariant {
    let name = "the timer does not spin"
    private var idleSince: Moment?
    private var idle = 0

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        guard case .arm(let timers) = effect, let time = timers.first, time <= now.boot else {
            return nil
        }
        return "armed for \(now.boot - time) ago"
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        let isIdle =
            turn.isOfTimers && turn.deeds == 0 && !turn.wasRolledBack
            && world.storeTrouble == nil
        guard isIdle, !turn.entries.isEmpty else {
            idleSince = nil
            idle = 0
            return nil
        }
        let since = idleSince ?? turn.moment
        idleSince = since
        idle += 1
        guard idle >= 30 else { return nil }
        let span = turn.moment.boot - since.boot
        (idleSince, idle) = (nil, 0)
        return span < .minutes(1) ? "30 timers within \(span), and nothing came of them" : nil
    }
}
