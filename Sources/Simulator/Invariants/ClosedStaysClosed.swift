import DeviceCore
import Vocabulary

/// What the user closed does not run until it is opened again, or a developer tests it.
final class ClosedStaysClosed: CallInvariant {
    let name = "closed apps do not run"
    private var closed: Set<AppID> = []
    private var asked: [UInt64: AppID] = [:]
    /// In this turn, after its effects.
    private var answered: [AppID] = []

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        guard case .user(let request, _) = event else { return }
        switch request {
        case .close(let app): asked[token.number] = app
        case .open(let app, _, _), .simulate(_, let app, _, _): closed.remove(app)
        case .submit(let submission):
            if let name = submission.identifier { closed.remove(AppID("command.\(name)")) }
        case .leave, .run, .cancel, .cancelPending, .dismiss, .pause, .continue, .override,
            .transfer:
            break
        }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        guard let app = asked.removeValue(forKey: token.number), reply == .done else { return }
        answered.append(app)
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        defer {
            closed.formUnion(answered)
            answered.removeAll()
        }
        for entry in turn.entries {
            if case .used(let app) = entry.event { closed.remove(app) }
        }
        for start in turn.started where closed.contains(start.app) {
            return "\(start.app) was closed, and is started"
        }
        return nil
    }
}
