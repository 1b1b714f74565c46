import DeviceCore
import Vocabulary

/// The device is kept from sleeping exactly while a grant runs, and let go with the last (A11).
final class HeldForRuns: Invariant {
    let name = "the device is held awake only for runs"

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        guard !turn.wasKilled else { return nil }
        let run = turn.running.last { $0.wake?.end != .distantFuture }?.id
        if world.isHeldAwake, run == nil { return "it is held awake for nothing" }
        if !world.isHeldAwake, let run {
            return "launch \(run) runs, and the device may fall asleep"
        }
        return nil
    }
}
