import DeviceCore
import Simulator
import Vocabulary

/// A rule that is broken as soon as anything is processed.
final class NoProcessing: Invariant {
    let name = "no processing at all"

    func ended(_ turn: Turn, _ world: World) -> String? {
        turn.assigned.first { $0.trigger == .processing }.map { "\($0.app) is processing" }
    }
}
