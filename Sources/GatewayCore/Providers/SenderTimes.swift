package import Vocabulary

/// What is spoken on a connection of a sender, and whether somebody waits for an answer there.
package enum SenderSpeech: Equatable, Sendable {
    /// TLS is being set up, or nothing has been said.
    case nothing
    case http2(open: Int)
    /// `isIdle`: no request has begun to come, and none waits.
    case http1(isAnswering: Bool, isIdle: Bool)
}

/// What is done about a connection that takes its time.
package enum SenderStep: Equatable, Sendable {
    case close(SenderDeparture)
    /// Its goodbye is to be said; `isLate`: the last word, even if somebody waits for an answer.
    case sayGoodbye(isLate: Bool)
    /// Requests of HTTP/2 that began before this instant, and are not whole or not taken, end.
    case cutRequests(startedBefore: BootTime)
    /// It is to be sent away.
    case sendAway(Reason)
}

/// The next thing that is said to a provider of HTTP/2 who is to go.
package enum SenderGoodbye: Equatable, Sendable {
    /// A GOAWAY that still lets all requests in which are on their way.
    case announce
    /// A PING. Its answer comes after all that the provider sent before it read the GOAWAY.
    case ask
    /// The last GOAWAY.
    case end(Reason)
}

/// How long one connection of a sender may take for what, and how it ends.
package struct SenderTimes: Sendable {
    private let start: BootTime
    /// When something came last.
    package var lastActivity: BootTime
    /// Since when a request of HTTP/1.1 has been coming, and is not whole.
    private var requestStart: BootTime?
    /// Since when the peer takes nothing of what is to be sent. Meanwhile nothing is read: it
    /// cannot ask for more than it takes.
    private var blockedSince: BootTime?
    /// No more requests are to come.
    package private(set) var isEnding = false
    /// To be said once nobody waits for an answer, since some take it for the end; and since when.
    private var goodbye: (reason: Reason, since: BootTime)?
    private var farewell = Farewell.untold
    /// Since when all is said, and what comes is thrown away.
    private var lingersSince: BootTime?

    private enum Farewell {
        case untold
        case announced
        case asked(since: BootTime)
        case heard
    }

    private static let lingerTime = Interval.seconds(10)
    /// During a shutdown a silent connection is closed after this: nothing of it can be lost.
    private static let silentTime = Interval.seconds(1)
    /// Whoever keeps sending gets its goodbye in between.
    private static let goodbyeTime = Interval.seconds(3)

    package init(at now: BootTime) { (start, lastActivity) = (now, now) }

    // MARK: What happens

    package var isBlocked: Bool { blockedSince != nil }

    /// `isTaking`: the peer takes what is to be sent, or took some of it just now.
    package mutating func takes(_ isTaking: Bool, at now: BootTime) {
        blockedSince = isTaking ? nil : blockedSince ?? now
    }

    /// A request of HTTP/1.1 is whole.
    package mutating func tookRequest() { requestStart = nil }

    /// Bytes that came may be the start of a request. While one is being answered, they wait.
    package mutating func heard(_ speech: SenderSpeech) {
        switch speech {
        case .http1(isAnswering: false, isIdle: false):
            requestStart = requestStart ?? lastActivity
        case .http1, .http2, .nothing: requestStart = nil
        }
    }

    package var isLingering: Bool { lingersSince != nil }
    /// Something is still to be said to a peer that is to go.
    package var owesGoodbye: Bool { goodbye != nil }

    /// All is said.
    package mutating func lingers(at now: BootTime) { lingersSince = lingersSince ?? now }

    /// It cannot be understood, or has had its last answer.
    package mutating func ends() { isEnding = true }

    /// It is to go. False: it was told so before.
    package mutating func sendAway(_ reason: Reason, at now: BootTime) -> Bool {
        guard !isEnding else { return false }
        isEnding = true
        goodbye = (reason, now)
        return true
    }

    /// The answer to `ask` came. True: it was waited for.
    package mutating func answered() -> Bool {
        guard case .asked = farewell else { return false }
        farewell = .heard
        return true
    }

    /// What is said now; nil: nothing. `isLate`: it is time for the last word.
    package mutating func nextGoodbye(
        open: Int,
        isLate: Bool,
        at now: BootTime
    ) -> SenderGoodbye? {
        guard let reason = goodbye?.reason, isLate || open == 0 else { return nil }
        if reason == .shutdown, !isLate {
            switch farewell {
            case .untold:
                farewell = .announced
                return .announce
            case .announced:
                farewell = .asked(since: now)
                return .ask
            case .asked: return nil
            case .heard: break
            }
        }
        goodbye = nil
        return .end(reason)
    }

    // MARK: What takes too long

    /// A handshake, a request that does not end, an answer that is not taken, silence. `isQueued`:
    /// it waits for its turn, so that its silence is not its own.
    package mutating func steps(
        _ speech: SenderSpeech,
        isTrusted: Bool,
        isQueued: Bool,
        isDraining: Bool,
        _ limits: SenderLimits,
        at now: BootTime
    ) -> [SenderStep] {
        let silence = isQueued ? .zero : now - lastActivity
        if let lingersSince {
            let isOver = isDraining && silence >= Self.silentTime
            return isOver || now - lingersSince > Self.lingerTime ? [.close(.closed)] : []
        }
        var steps: [SenderStep] = []
        if case .asked(let since) = farewell, now - since >= Self.silentTime {
            farewell = .heard
            steps.append(.sayGoodbye(isLate: false))
        } else if let goodbye, now - goodbye.since > Self.goodbyeTime {
            steps.append(.sayGoodbye(isLate: true))
        }
        if let blockedSince, now - blockedSince > limits.stallTime {
            return steps + [.close(.tooSlow)]
        }
        let late = now - limits.requestTime
        let patience = isTrusted ? limits.idleTime : limits.proofTime
        switch speech {
        case .nothing:
            let isSilent = isEnding && silence >= Self.silentTime
            if isSilent || now - start > limits.handshakeTime { steps.append(.close(.closed)) }
        case .http1(let isAnswering, let isIdle):
            if !isAnswering, !isIdle, let requestStart, requestStart < late {
                steps.append(.close(.tooSlow))
            } else if isIdle, silence > (isEnding ? Self.silentTime : patience) {
                steps.append(.close(.closed))
            }
        case .http2(let open):
            steps.append(.cutRequests(startedBefore: late))
            if open == 0, silence > patience { steps.append(.sendAway(.idleTimeout)) }
        }
        return steps
    }
}
