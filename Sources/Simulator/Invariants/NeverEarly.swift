import DeviceCore
import Vocabulary

/// Nothing begins before the date that its caller asked for.
final class NeverEarly: CallInvariant {
    let name = "never before the earliest date"
    private var asked: [UInt64: (token: String?, notBefore: WallTime)] = [:]
    private var byToken: [String: WallTime] = [:]
    private var earliest: [UInt64: WallTime] = [:]
    /// Those may be offered again after a clock was set back.
    private var begun: [UInt64: Bool] = [:]
    /// Dates that are so long from when they were asked for; a clock that is set moves them.
    private var spans: [(request: UInt64, span: Interval)] = []
    private var askedSpans: [UInt64: Interval] = [:]

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        let submission: Submission
        switch event {
        case .user(.submit(let mine), _), .app(_, .submit(let mine, _)): submission = mine
        case .started, .timer, .clockChanged, .manifests, .settings, .condition, .process, .app,
            .used, .triggered, .user, .storageRecovered, .stopping:
            return
        }
        if submission.earliest == nil { askedSpans[token.number] = submission.after }
        guard let notBefore = submission.earliest ?? submission.after.map({ now.wall + $0 }) else {
            return
        }
        asked[token.number] = (submission.token, notBefore)
        if let name = submission.token, byToken[name] == nil { byToken[name] = notBefore }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        let span = askedSpans.removeValue(forKey: token.number)
        guard let ask = asked.removeValue(forKey: token.number),
            let request = reply.request, earliest[request] == nil
        else { return }
        if let span { spans.append((request, span)) }
        // Asked again after a kill: the first time counts.
        earliest[request] = min(ask.notBefore, ask.token.flatMap { byToken[$0] } ?? ask.notBefore)
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        for entry in turn.entries where entry.event == .clockChanged {
            for (request, span) in spans {
                earliest[request] = earliest[request].map { min($0, entry.moment.wall + span) }
            }
        }
        for effect in turn.performed {
            guard case .spawn(let launch, _) = effect,
                let request = device.launch(launch)?.launch.requestID
            else { continue }
            if let text = begins(request, at: turn.moment) { return text }
        }
        // Decided here; it may be offered much later, by another daemon.
        for case .put(.launch(let record)) in turn.changes where !turn.wasRolledBack {
            for delivery in record.launch.deliveries {
                guard let request = delivery.request else { continue }
                if let text = begins(request, at: turn.moment) { return text }
            }
        }
        return nil
    }

    private func begins(_ request: RequestID, at now: Moment) -> String? {
        guard let notBefore = earliest[request.number], begun[request.number] == nil else {
            return nil
        }
        if now.wall < notBefore { return "request \(request) begins \(notBefore - now.wall) early" }
        begun[request.number] = true
        return nil
    }
}

extension Reply {
    /// The number of the request that was made.
    var request: UInt64? {
        if case .requested(let task) = self { task.request.number } else { nil }
    }
}
