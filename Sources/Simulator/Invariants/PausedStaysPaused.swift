import DeviceCore
import Vocabulary

/// While the user has paused background work until it is continued, none of it begins; a
/// developer's test excepted.
final class PausedStaysPaused: CallInvariant {
    let name = "paused work does not run"
    /// Nil: not paused, or not for certain. Else the apps that were tested since.
    private var testedSince: Set<AppID>?
    private var asked: Set<UInt64> = []
    /// In this turn, after its effects.
    private var isAnswered = false

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        guard case .user(let request, _) = event else { return }
        switch request {
        case .pause(let length, let date):
            (testedSince, isAnswered) = (nil, false)
            if length == nil, date == nil { asked.insert(token.number) }
        case .continue:
            (testedSince, isAnswered) = (nil, false)
            asked.removeAll()
        case .run(let app, _), .simulate(_, let app, _, _): testedSince?.insert(app)
        case .open, .leave, .close, .submit, .cancel, .cancelPending, .dismiss, .override,
            .transfer:
            break
        }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        if asked.remove(token.number) != nil, reply == .done { isAnswered = true }
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        defer {
            if isAnswered { testedSince = [] }
            isAnswered = false
        }
        guard let testedSince else { return nil }
        // What had begun is done, and apps are told again what they may not have heard.
        for assignment in turn.assigned where !testedSince.contains(assignment.app) {
            return "\(assignment.app) begins work, and all is paused"
        }
        for (launch, app) in turn.begunInBackground(world)
        where turn.started.contains(where: { $0.launch == launch }) && !testedSince.contains(app) {
            return "\(app) is started, and all is paused"
        }
        return nil
    }
}
