import DeviceCore
import Simulator
import Vocabulary

/// A rule that is broken as soon as anything is processed.
final class NoProcessing: Invariant {
    let name = "no processing at all"

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        for id in turn.launches where device.launch(id)?.launch.wake?.trigger == .processing {
            return "launch \(id) is processing"
        }
        return nil
    }
}
