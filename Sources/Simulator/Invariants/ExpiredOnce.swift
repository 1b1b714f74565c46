import DeviceCore
import Vocabulary

/// The expiration handler is called once, and before the end. An app that connects again is told
/// again, since nobody knows what it has heard; its library calls the handler once.
final class ExpiredOnce: EffectInvariant {
    let name = "expiration handlers are called once, before the end"
    /// When, and over which of its app's connections.
    private var told: [UInt64: (at: AwakeTime, connection: Int)] = [:]
    /// No daemon, or no store, could tell anybody anything until then.
    private var graceUntil = AwakeTime(nanoseconds: .min)

    func rebooted() { graceUntil = AwakeTime(nanoseconds: .min) }

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        guard case .tell(let launch, .expire(let id, _, _)) = effect else { return nil }
        let connection = world.process(launch)?.link.connections ?? 0
        if let before = told[id.number] {
            guard before.connection != connection else {
                return "delivery \(id) of launch \(launch) is expired twice"
            }
            told[id.number]?.connection = connection
        } else {
            told[id.number] = (now.awake, connection)
        }
        return nil
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        if turn.isStart || turn.wasRolledBack || world.storeTrouble != nil {
            graceUntil = turn.moment.awake + .seconds(12)
        }
        guard !turn.wasKilled, turn.moment.awake > graceUntil else { return nil }
        for effect in turn.performed {
            guard case .kill(let id) = effect, let (_, launch) = device.launch(id),
                launch.ending?.reason == .neverCompleted, launch.isConnected
            else { continue }
            for delivery in launch.deliveries
            where delivery.state == .running && delivery.end <= turn.moment.awake {
                // A timer may be late, but then the warning is late, too.
                guard let time = told[delivery.id.number]?.at else {
                    return "launch \(id) is ended, and \(delivery.id) was never told"
                }
                if turn.moment.awake - time < .seconds(1) {
                    return "delivery \(delivery.id) had \(turn.moment.awake - time) to finish"
                }
            }
        }
        return nil
    }
}
