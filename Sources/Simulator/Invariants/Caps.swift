import DeviceCore
import Vocabulary

/// At most one refresh and ten processing requests of an app are pending.
final class Caps: Invariant {
    let name = "no app has more pending than it may"
    private var next = 0

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        guard device.apps.endIndex > 0 else { return nil }
        next = (next + 1) % device.apps.endIndex
        if let text = check(next, device, world.settings) { return text }
        for entry in turn.entries {
            guard let id = entry.event.submitter, let index = device.apps.index(of: id) else {
                continue
            }
            if let text = check(index, device, world.settings) { return text }
        }
        return nil
    }

    private func check(_ index: Int, _ device: Device, _ settings: Settings) -> String? {
        guard let app = device.apps.at(index) else { return nil }
        let pending = app.requests.filter {
            $0.origin == .submitted && $0.isPending && $0.mode == .normal
        }
        for (index, request) in pending.enumerated()
        where pending[..<index].contains(where: { $0.identifier == request.identifier }) {
            return "\(app.id) has \(request.identifier) pending twice"
        }
        let refreshes = pending.filter { $0.trigger == .refresh }.count
        if refreshes > settings.pendingRefreshes {
            return "\(app.id): \(refreshes) refreshes"
        }
        let processing = pending.count - refreshes
        if processing > settings.pendingProcessing {
            return "\(app.id): \(processing) processing requests"
        }
        return nil
    }
}

extension Event {
    var submitter: AppID? {
        switch self {
        case .user(.submit(let submission), _), .app(_, .submit(let submission, _)):
            submission.app ?? submission.identifier.map { AppID("command.\($0)") }
        case .started, .timer, .clockChanged, .manifests, .settings, .condition, .process, .app,
            .used, .triggered, .user, .storageRecovered, .stopping:
            nil
        }
    }
}
