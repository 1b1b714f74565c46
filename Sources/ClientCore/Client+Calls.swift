internal import AppProtocol
internal import Vocabulary

/// A call that has been sent and not answered.
struct WaitingCall: Sendable {
    enum Sender: Sendable {
        case caller(CallerToken)
        /// One of those that are kept.
        case keeper
        /// `told`: the ends that it tells.
        case hello(told: [DeliveryID])
        case completion(DeliveryID)
        /// `isGreeted`: after hello.
        case watch(isGreeted: Bool)
        case idleTimer(Bool)
        case nobody
    }

    let number: CallNumber
    let sender: Sender
    /// Nil: it is waited for as long as there is a connection.
    var ticksLeft: Int?
}

/// A call that stays until it is answered.
struct KeptCall: Sendable {
    let number: CallNumber
    let call: App1
    let token: CallerToken
}

/// Calls to the daemon, and their answers.
extension Client {
    /// What is kept for a daemon that may never come, besides changes of tasks.
    private static let keptLimit = 1024

    mutating func perform(
        _ call: App1,
        _ persistence: Persistence,
        _ token: CallerToken,
        _ effects: inout [ClientEffect]
    ) {
        guard link != .stopped else {
            return effects.append(.answer(token, .failure(.stopped)))
        }
        switch persistence {
        case .now:
            if link == .up { return sendNow(call, token, &effects) }
            unsent.append((call, token))
            connect(&effects)
        case .kept:
            guard kept.count < Self.keptLimit || call.isFewAtATime else {
                return effects.append(.answer(token, .failure(.tooMuchKept)))
            }
            let call = KeptCall(number: nextNumber(), call: call, token: token)
            kept.append(call)
            // One that connects sends what is kept.
            if link == .up {
                send(call.call, call.number, .keeper, &effects)
            } else {
                connect(&effects)
            }
        }
    }

    mutating func sendNow(
        _ call: App1,
        _ token: CallerToken,
        _ effects: inout [ClientEffect]
    ) {
        send(call, nextNumber(), .caller(token), ticks: ticks, &effects)
        armTicker(&effects)
    }

    mutating func send(
        _ call: App1,
        _ number: CallNumber,
        _ sender: WaitingCall.Sender,
        ticks: Int? = nil,
        _ effects: inout [ClientEffect]
    ) {
        waiting.append(WaitingCall(number: number, sender: sender, ticksLeft: ticks))
        effects.append(.send(number, call))
    }

    mutating func nextNumber() -> CallNumber {
        lastNumber += 1
        return CallNumber(number: lastNumber)
    }

    // MARK: Answers

    mutating func answered(
        _ number: CallNumber,
        _ answer: Result<AppReply, CallError>,
        _ effects: inout [ClientEffect]
    ) {
        if let index = waiting.firstIndex(where: { $0.number == number }) {
            settle(waiting.remove(at: index), answer, &effects)
        } else if let index = givenUp.firstIndex(where: { $0.number == number }) {
            effects.append(.answerLate(givenUp.remove(at: index).token, try? answer.get()))
        }
    }

    mutating func settle(
        _ call: WaitingCall,
        _ answer: Result<AppReply, CallError>,
        _ effects: inout [ClientEffect]
    ) {
        switch call.sender {
        case .caller(let token): effects.append(.answer(token, answer))
        case .keeper:
            // It stays until the daemon has answered, with yes or no.
            if answer.isLost { return }
            guard let index = kept.firstIndex(where: { $0.number == call.number }) else { return }
            effects.append(.answer(kept.remove(at: index).token, answer))
        case .hello(let told): greeted(answer, told: told, &effects)
        case .completion(let delivery):
            if answer.isLost { return }
            deliveries.removeAll { $0.id == delivery }
        case .watch(let isGreeted):
            watchedDevice(call.number, answer, wasGreeted: isGreeted, &effects)
        case .idleTimer(let isDisabled): toldIdleTimer(isDisabled, answer, &effects)
        case .nobody: break
        }
    }

    // MARK: Time

    mutating func armTicker(_ effects: inout [ClientEffect]) {
        guard !isTicking else { return }
        isTicking = true
        effects.append(.armTicker)
    }

    mutating func tick(_ effects: inout [ClientEffect]) {
        isTicking = false
        if greetsAgain, !waiting.contains(where: \.isHello) { hello(&effects) }
        repeatDevice(&effects)
        for index in waiting.indices {
            if let left = waiting[index].ticksLeft { waiting[index].ticksLeft = left - 1 }
        }
        for index in greeters.indices { greeters[index].ticksLeft -= 1 }
        for index in device.lookers.indices { device.lookers[index].ticksLeft -= 1 }
        let late = waiting.filter(\.isLate).sorted { $0.number < $1.number }
        let lateGreeters = (greeters + device.lookers).filter { $0.ticksLeft <= 0 }
        waiting.removeAll(where: \.isLate)
        greeters.removeAll { $0.ticksLeft <= 0 }
        device.lookers.removeAll { $0.ticksLeft <= 0 }
        if !greeters.isEmpty || !device.lookers.isEmpty || device.repeats
            || waiting.contains(where: { $0.ticksLeft != nil })
        {
            armTicker(&effects)
        }
        for greeter in lateGreeters { effects.append(.answer(greeter.token, .failure(.late))) }
        for call in late {
            guard case .caller(let token) = call.sender else { continue }
            givenUp.append((call.number, token))
            effects.append(.giveUp(token, .late))
        }
    }
}

extension App1 {
    /// Who makes it waits for answers before it makes more, so it needs no limit here.
    fileprivate var isFewAtATime: Bool { if case .changeTasks = self { true } else { false } }
}

extension WaitingCall {
    var isHello: Bool { if case .hello = sender { true } else { false } }
    fileprivate var isLate: Bool { ticksLeft.map { $0 <= 0 } ?? false }
}

extension Result<AppReply, CallError> {
    /// Nobody knows whether the daemon has heard it.
    fileprivate var isLost: Bool {
        if case .failure(let error) = self { error.reason == .unreachable } else { false }
    }
}
