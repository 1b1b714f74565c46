import DeviceCore
import Vocabulary

/// The device is kept from sleeping exactly while a grant runs, and let go with the last (A11).
final class HeldForRuns: Invariant {
    let name = "the device is held awake only for runs"

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        guard !turn.wasKilled else { return nil }
        let runs = device.launches.filter {
            guard let wake = $0.launch.wake else { return false }
            return wake.end != .distantFuture
        }
        if world.isHeldAwake, runs.isEmpty { return "it is held awake for nothing" }
        if !world.isHeldAwake, let run = runs.first {
            return "launch \(run.launch.id) runs, and the device may fall asleep"
        }
        return nil
    }
}
