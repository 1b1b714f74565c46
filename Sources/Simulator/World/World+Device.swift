import AppProtocol
import ClientCore
import DeviceCore
import Vocabulary

/// Apps look at the device, and keep its screen on: what the library does beside its core.
extension World {
    /// The daemon knows the process: what was asked on an earlier connection is asked again.
    func lookAtDevice(_ client: VirtualClient) {
        guard client.holder == nil, !isQuiet else { return }
        watchDevice(client)
        if client.disablesIdleTimer, isThere(client) { tellIdleTimer(client) }
    }

    func watchDevice(_ client: VirtualClient) {
        let call = App1.WatchConditions()
        feed(.call(.watchConditions(call), .now, client.token(for: .device)), client)
    }

    func toldOfDevice(_ answer: Result<AppReply, CallError>, _ client: VirtualClient) {
        if case .success(.conditions(let conditions)) = answer { client.device = conditions }
        if answer.isRefusedForStorage { again(.watchDevice(client), client.process) }
    }

    func setIdleTimer(_ isDisabled: Bool, _ process: VirtualProcess) {
        guard let client = process.clients.first, !process.link.isHung else { return }
        client.disablesIdleTimer = isDisabled
        tellIdleTimer(client)
    }

    func tellIdleTimer(_ client: VirtualClient) {
        let call = App1.SetIdleTimer { $0.isDisabled = client.disablesIdleTimer }
        feed(.call(.setIdleTimer(call), .now, client.token(for: .idleTimer)), client)
    }

    /// The disk was full: in a second.
    func again(_ action: Action, _ process: VirtualProcess) {
        process.add(action, after: .seconds(1), at: clock.elapsed)
    }
}

extension Result<AppReply, CallError> {
    var isRefusedForStorage: Bool {
        if case .failure(let error) = self { error.reason == .refused(.storage) } else { false }
    }
}
