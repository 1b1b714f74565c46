internal import AppProtocol
internal import Vocabulary

/// The device as an app sees it, and its screen: what each daemon is asked and told anew.
struct DeviceTalk: Sendable {
    /// Somebody has looked: whoever runs the app next is asked, too.
    var isWatched = false
    /// The call that is under way; there is never a second one, but for the first after hello.
    var watching: CallNumber?
    /// A daemon that could not store it is asked again with the next tick.
    var watchesAgain = false
    /// Why this daemon has no conditions for apps.
    var refusal: CallError?
    /// Who waits for an answer.
    var lookers: [Client.Greeter] = []

    /// What the app wants of the idle timer.
    var idleTimerIsDisabled = false
    /// What the daemon knows of that, or has refused for good.
    var toldIdleTimer = false
    var isTellingIdleTimer = false
    var tellsIdleTimerAgain = false

    var repeats: Bool { watchesAgain || tellsIdleTimerAgain }

    /// Another connection, or none: nobody knows what was said on the last.
    mutating func forgetConnection() {
        (watching, watchesAgain, refusal) = (nil, false, nil)
        (toldIdleTimer, isTellingIdleTimer, tellsIdleTimerAgain) = (false, false, false)
    }
}

extension Client {
    // MARK: The conditions

    /// The caller is answered once. What changes later is told without being asked, to a process
    /// that has said hello.
    mutating func lookAtDevice(_ token: CallerToken, _ effects: inout [ClientEffect]) {
        guard link != .stopped else {
            return effects.append(.answer(token, .failure(.stopped)))
        }
        if let error = device.refusal {
            return effects.append(.answer(token, .failure(error)))
        }
        device.isWatched = true
        device.lookers.append(Greeter(token: token, ticksLeft: ticks))
        armTicker(&effects)
        // One that connects asks by itself.
        if link == .up { watchDevice(&effects) } else { connect(&effects) }
    }

    /// Asks, unless that is under way. A call from before hello watches nothing.
    mutating func watchDevice(_ effects: inout [ClientEffect]) {
        guard link == .up, device.isWatched, device.watching == nil, device.refusal == nil,
            !waiting.contains(where: \.isHello)
        else { return }
        let number = nextNumber()
        device.watching = number
        device.watchesAgain = false
        let call = App1.WatchConditions()
        send(.watchConditions(call), number, .watch(isGreeted: isGreeted), &effects)
    }

    /// `wasGreeted`: it was asked by a process that had said hello.
    mutating func watchedDevice(
        _ number: CallNumber,
        _ answer: Result<AppReply, CallError>,
        wasGreeted: Bool,
        _ effects: inout [ClientEffect]
    ) {
        // An answer from before hello is as good as any to who waits for one.
        if device.watching == number { device.watching = nil }
        switch answer {
        case .success(.conditions(let conditions)):
            effects.append(.conditions(conditions, isTold: wasGreeted))
        case .success: break
        case .failure(let error):
            switch error.reason {
            case .unsupported: device.refusal = error
            case .refused(.storage):
                device.watchesAgain = isGreeted
                if isGreeted { armTicker(&effects) }
            case .refused, .unreachable, .timedOut: break
            }
        }
        let lookers = device.lookers
        device.lookers = []
        for looker in lookers { effects.append(.answer(looker.token, answer)) }
    }

    // MARK: The screen

    mutating func setIdleTimer(_ isDisabled: Bool, _ effects: inout [ClientEffect]) {
        device.idleTimerIsDisabled = isDisabled
        tellIdleTimer(&effects)
    }

    /// Only the last word counts, and only one is under way.
    private mutating func tellIdleTimer(_ effects: inout [ClientEffect]) {
        let isDisabled = device.idleTimerIsDisabled
        // Also where there is nothing to be said any more: else the ticks would never end.
        device.tellsIdleTimerAgain = false
        guard link == .up, isGreeted, !device.isTellingIdleTimer,
            device.toldIdleTimer != isDisabled
        else { return }
        device.isTellingIdleTimer = true
        let call = App1.SetIdleTimer { $0.isDisabled = isDisabled }
        send(.setIdleTimer(call), nextNumber(), .idleTimer(isDisabled), &effects)
    }

    mutating func toldIdleTimer(
        _ isDisabled: Bool,
        _ answer: Result<AppReply, CallError>,
        _ effects: inout [ClientEffect]
    ) {
        device.isTellingIdleTimer = false
        if case .failure(let error) = answer, error.reason == .refused(.storage) {
            device.tellsIdleTimerAgain = true
            return armTicker(&effects)
        }
        // With an older daemon the desktop does as it likes; it is not asked for ever.
        device.toldIdleTimer = isDisabled
        tellIdleTimer(&effects)
    }

    // MARK: The connection

    /// The daemon knows this process as an app, and nothing of what it wants.
    mutating func greetedDevice(_ effects: inout [ClientEffect]) {
        let refusal = device.refusal
        device.forgetConnection()
        device.refusal = refusal
        watchDevice(&effects)
        tellIdleTimer(&effects)
    }

    /// The disk was full.
    mutating func repeatDevice(_ effects: inout [ClientEffect]) {
        if device.watchesAgain { watchDevice(&effects) }
        if device.tellsIdleTimerAgain { tellIdleTimer(&effects) }
    }

    /// Nobody may be kept waiting.
    mutating func failLookers(_ error: CallError, _ effects: inout [ClientEffect]) {
        let lookers = device.lookers
        device.lookers = []
        for looker in lookers { effects.append(.answer(looker.token, .failure(error))) }
    }
}
