import ClientCore
import DeviceCore
import Vocabulary

/// Whatever is lost on the way, the handler of a delivery is called once at the most.
final class HandlersOnce: ClientInvariant {
    let name = "a handler runs once"
    private var begun: Set<DeliveryID> = []

    func took(_ event: ClientEvent, _ client: VirtualClient, _ world: World) {}

    func performed(_ effect: ClientEffect, _ client: VirtualClient, _ world: World) -> String? {
        guard case .run(let work) = effect, !begun.insert(work.delivery).inserted else {
            return nil
        }
        return "the handler of delivery \(work.delivery) is called again"
    }
}
