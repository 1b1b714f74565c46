import Vocabulary

/// What the provider of a push is told that asked what became of it.
package enum LogAnswer: Equatable, Sendable {
    case told(LogRow, topic: String)
    case refused(Reason)
}

extension GatewayDriver {
    /// Somebody who waits for what the log has.
    struct Lookup: Sendable {
        let question: LogQuestion
        let call: CallID
    }

    mutating func lookUp(
        _ question: LogQuestion,
        _ call: CallID,
        into actions: inout [GatewayAction]
    ) {
        lookups.append(Lookup(question: question, call: call))
        actions.append(.ask(.log(question.push)))
    }

    mutating func takeLog(
        _ answer: StoreAnswer,
        of push: PushNumber,
        into actions: inout [GatewayAction]
    ) {
        guard let place = lookups.firstIndex(where: { $0.question.push == push }) else { return }
        let lookup = lookups.remove(at: place)
        let told = self.answer(to: lookup.question, answer)
        if case .refused(let reason) = told { senders.refused(reason) }
        actions.append(.tell(lookup.call, told))
    }

    /// Only its sender learns that there was such a push.
    private func answer(to question: LogQuestion, _ answer: StoreAnswer) -> LogAnswer {
        guard case .log(let row) = answer else { return .refused(.serviceUnavailable) }
        guard let row, row.head.provider == question.provider else {
            return .refused(.badMessageID)
        }
        if leavingApps[row.head.app] != nil { return .refused(.serviceUnavailable) }
        guard let bundle = apps.bundle(of: row.head.app) else { return .refused(.badMessageID) }
        return .told(row, topic: bundle)
    }

    /// The log need not know for longer what became of a push: numbers are times.
    func oldestLog(at now: Moment) -> PushNumber {
        let oldest = now.wall - gateway.limits.logAge
        return PushNumber(UInt64(max(0, oldest.nanoseconds / 1000)))
    }
}
