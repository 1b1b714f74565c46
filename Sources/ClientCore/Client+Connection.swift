internal import AppProtocol
internal import Vocabulary

/// The connection: made, lost, made again, and hello on each.
extension Client {
    mutating func connect(_ effects: inout [ClientEffect]) {
        guard link == .down else { return }
        link = .connecting
        effects.append(.connect)
    }

    mutating func connected(_ effects: inout [ClientEffect]) {
        guard link == .connecting else { return }
        link = .up
        effects.append(.reachable)
        if greets { hello(&effects) }
        watchDevice(&effects)
        for call in kept { send(call.call, call.number, .keeper, &effects) }
        let unsent = unsent
        self.unsent = []
        for (call, token) in unsent { sendNow(call, token, &effects) }
    }

    mutating func notConnected(_ error: CallError, _ effects: inout [ClientEffect]) {
        guard link == .connecting else { return }
        link = .down
        // Told before what was asked fails.
        effects.append(.unreachable)
        let unsent = unsent
        self.unsent = []
        for (_, token) in unsent { effects.append(.answer(token, .failure(error))) }
        failGreeters(error, &effects)
        failLookers(error, &effects)
    }

    mutating func disconnected(_ effects: inout [ClientEffect]) {
        guard link == .up else { return }
        link = .down
        fail(.lost, &effects)
        effects.append(.watch)
    }

    /// Nobody may be kept waiting.
    mutating func stop(_ effects: inout [ClientEffect]) {
        guard link != .stopped else { return }
        link = .stopped
        fail(.stopped, &effects)
        let (unsent, kept) = (unsent, kept)
        (self.unsent, self.kept) = ([], [])
        for (_, token) in unsent { effects.append(.answer(token, .failure(.stopped))) }
        for call in kept { effects.append(.answer(call.token, .failure(.stopped))) }
    }

    /// What was on its way has no answer any more.
    private mutating func fail(_ error: CallError, _ effects: inout [ClientEffect]) {
        working = []
        (greetsAgain, isGreeted) = (false, false)
        let (givenUp, failed) = (givenUp, waiting.sorted { $0.number < $1.number })
        (self.givenUp, waiting) = ([], [])
        for (_, token) in givenUp { effects.append(.answerLate(token, nil)) }
        for call in failed { settle(call, .failure(error), &effects) }
        device.forgetConnection()
        failGreeters(error, &effects)
        failLookers(error, &effects)
    }

    // MARK: Hello

    mutating func greet(_ token: CallerToken, _ effects: inout [ClientEffect]) {
        guard link != .stopped else {
            return effects.append(.answer(token, .failure(.stopped)))
        }
        greets = true
        greeters.append(Greeter(token: token, ticksLeft: ticks))
        armTicker(&effects)
        // One that connects says hello by itself.
        if link == .up { hello(&effects) } else { connect(&effects) }
    }

    mutating func finishedLaunching(_ registered: [String], _ effects: inout [ClientEffect]) {
        self.registered = registered
        // Should the connection be lost, the next hello says it.
        guard link == .up else { return }
        let call = App1.FinishedLaunching { $0.registered = registered }
        send(.finishedLaunching(call), nextNumber(), .nobody, &effects)
    }

    mutating func hello(_ effects: inout [ClientEffect]) {
        var call = App1.Hello { $0.version = App1.version }
        var told: [DeliveryID] = []
        if let registered {
            var running: [DeliveryID] = []
            var finished: [App1.Finished] = []
            for delivery in deliveries.sorted(by: { $0.id < $1.id }) {
                switch delivery.progress {
                // The next daemon offers it again, or knows of the receipt and says only go.
                case .accepted: break
                case .running: running.append(delivery.id)
                case .finished(let result):
                    finished.append(App1.Finished(delivery.id, result))
                    told.append(delivery.id)
                }
            }
            (call.running, call.finished) = (running, finished)
            call.registered = registered
        }
        send(.hello(call), nextNumber(), .hello(told: told), &effects)
    }

    mutating func greeted(
        _ answer: Result<AppReply, CallError>,
        told: [DeliveryID],
        _ effects: inout [ClientEffect]
    ) {
        switch answer {
        case .success(let reply):
            guard case .greeting(var greeting) = reply else { return }
            (greetsAgain, isGreeted) = (false, true)
            deliveries.removeAll { told.contains($0.id) }
            takeOpening(of: &greeting)
            effects.append(.greeted(greeting))
            let greeters = greeters
            self.greeters = []
            for greeter in greeters {
                effects.append(.answer(greeter.token, .success(.greeting(greeting))))
            }
            greetedDevice(&effects)
        case .failure(let error):
            switch error.reason {
            case .refused(.storage):
                // Else it would be nobody to the daemon for as long as the connection holds.
                if !greetsAgain { effects.append(.log(error.text)) }
                greetsAgain = true
                armTicker(&effects)
            case .unsupported: effects.append(.log(error.text))
            case .refused:
                effects.append(
                    .log("the daemon does not know this process as an app: \(error.text)")
                )
            case .unreachable, .timedOut: break
            }
            failGreeters(error, &effects)
            // Any process of an app may look.
            if !device.lookers.isEmpty { watchDevice(&effects) }
        }
    }

    /// What an app is launched for it learns from the first greeting, if it waits for that: later
    /// ones tell where it is. Anything else is told by `OpenURLs`.
    private mutating func takeOpening(of greeting: inout Greeting) {
        guard lastOpening == nil, !greeters.isEmpty else {
            (greeting.urls, greeting.opening) = (nil, nil)
            lastOpening = lastOpening ?? 0
            return
        }
        lastOpening = greeting.opening ?? 0
    }

    private mutating func failGreeters(_ error: CallError, _ effects: inout [ClientEffect]) {
        let greeters = greeters
        self.greeters = []
        for greeter in greeters { effects.append(.answer(greeter.token, .failure(error))) }
    }
}
