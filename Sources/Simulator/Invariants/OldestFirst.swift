import DeviceCore
import Vocabulary

/// When memory is short, suspended apps end in order of last use (A10).
final class OldestFirst: Invariant {
    let name = "memory is taken from the longest unused first"

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        for effect in turn.performed {
            guard case .kill(let id) = effect, let (app, launch) = device.launch(id) else {
                continue
            }
            guard let ending = launch.ending else {
                return "launch \(id) is killed, which nobody decided"
            }
            guard ending.reason == .memoryPressure, launch.presence == .suspended else { continue }
            let used = device.apps[app].record.lastUsed ?? .distantPast
            for (index, other) in device.launches
            where other.presence == .suspended && other.ending == nil
                && device.apps[index].record.lastUsed ?? .distantPast < used
            {
                return "launch \(id) is ended before \(other.id), which was used earlier"
            }
        }
        return nil
    }
}
