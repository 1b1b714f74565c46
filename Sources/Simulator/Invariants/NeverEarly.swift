import DeviceCore
import Vocabulary

/// Nothing begins before the date that its caller asked for.
final class NeverEarly: CallInvariant {
    let name = "never before the earliest date"
    private var asked: [UInt64: (token: String?, notBefore: WallTime)] = [:]
    private var byToken: [String: WallTime] = [:]
    private var earliest: [UInt64: WallTime] = [:]
    /// Those may be offered again after a clock was set back.
    private var begun: Set<UInt64> = []
    /// Dates that are so long from when they were asked for; a clock that is set moves them.
    private var spans: [(request: UInt64, span: Interval)] = []
    private var askedSpans: [UInt64: Interval] = [:]

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        guard let submission = event.submission else { return }
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

    func ended(_ turn: Turn, _ world: World) -> String? {
        for moment in turn.clockSetAt {
            for (request, span) in spans {
                earliest[request] = earliest[request].map { min($0, moment.wall + span) }
            }
        }
        // Decided here; it may be offered much later, by another daemon.
        guard !turn.wasRolledBack else { return nil }
        for assignment in turn.assigned {
            guard let notBefore = earliest[assignment.request],
                begun.insert(assignment.request).inserted
            else { continue }
            if turn.moment.wall < notBefore {
                let early = notBefore - turn.moment.wall
                return "request \(assignment.request) begins \(early) early"
            }
        }
        return nil
    }
}
