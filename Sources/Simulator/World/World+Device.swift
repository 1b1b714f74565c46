import ClientCore
import DeviceCore
import Vocabulary

/// Apps look at the device, and keep its screen on.
extension World {
    /// Every app looks once: after that it is told, by this daemon and by each later one.
    func lookAtDevice(_ client: VirtualClient) {
        guard client.holder == nil, !isQuiet, !client.hasLooked else { return }
        client.hasLooked = true
        feed(.lookAtDevice(client.token(for: .nothing)), client)
    }

    func setIdleTimer(_ isDisabled: Bool, _ process: VirtualProcess) {
        guard let client = process.clients.first, !process.link.isHung else { return }
        client.disablesIdleTimer = isDisabled
        client.idleTimerSetAt = clock.elapsed
        feed(.setIdleTimer(disabled: isDisabled), client)
    }
}
