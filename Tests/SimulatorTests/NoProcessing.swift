import DeviceCore
import Simulator
import Vocabulary

/// A rule that is broken as soon as anything is processed.
final class NoProcessing: Invariant {
    let name = "no processing at all"

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        for look in turn.launches where look.launch?.wake?.trigger == .processing {
            return "launch \(look.id) is processing"
        }
        return nil
    }
}
