import DeviceCore
import Vocabulary

/// What the user closed does not run until it is opened again; a developer's test excepted.
final class ClosedStaysClosed: CallInvariant {
    let name = "closed apps do not run"
    private var closed: [AppID: Bool] = [:]
    private var asked: [UInt64: AppID] = [:]
    /// In this turn, after its effects.
    private var answered: [AppID] = []

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        guard case .user(let request, _) = event else { return }
        switch request {
        case .close(let app): asked[token.number] = app
        case .open(let app, _): closed[app] = nil
        case .submit(let submission):
            if let name = submission.identifier { closed[AppID("command.\(name)")] = nil }
        case .leave, .run, .cancel, .cancelPending, .pause, .continue, .override, .simulate: break
        }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        guard let app = asked.removeValue(forKey: token.number), reply == .done else { return }
        answered.append(app)
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        defer {
            for app in answered { closed[app] = true }
            answered.removeAll()
        }
        for entry in turn.entries {
            if case .used(let app) = entry.event { closed[app] = nil }
        }
        for effect in turn.performed {
            guard case .spawn(let id, let spec) = effect, closed[spec.app] == true else {
                continue
            }
            if device.launch(id)?.launch.isTest == true { continue }
            return "\(spec.app) was closed, and is started"
        }
        return nil
    }
}

extension Launch {
    /// A developer's: a simulated run, or a launch into the background for nothing in particular.
    var isTest: Bool { wake.map { $0.mode == .simulated } ?? (presence == .background) }
}
