import AppProtocol
import AppTranslation
import ClientCore
import DeviceCore
import Vocabulary

/// Drives the clients of linked apps: performs the effects of the library's core, and carries
/// messages on connections, in both directions and in order.
extension World {
    // MARK: The core

    func feed(_ event: ClientEvent, _ client: VirtualClient) {
        client.events.append(event)
        guard !client.isFeeding else { return }
        client.isFeeding = true
        defer { client.isFeeding = false }
        while !client.events.isEmpty {
            let event = client.events.removeFirst()
            watch.took(event, client, self)
            client.client.take(event, into: &client.effects)
            if let clientBug { client.effects = client.effects.flatMap(clientBug) }
            // What comes of one waits in `events`.
            for effect in client.effects where isThere(client) {
                watch.performed(effect, client, self)
                perform(effect, client)
            }
            client.effects.removeAll(keepingCapacity: true)
        }
        follow(client.process)
    }

    func isThere(_ client: VirtualClient) -> Bool { !client.isGone && !client.process.isDead }

    private func perform(_ effect: ClientEffect, _ client: VirtualClient) {
        let process = client.process
        switch effect {
        case .connect: connect(client)
        case .watch:
            client.search.sign()
            feed(.look, client)
        case .send(let number, let call): say(.call(number, call), client)
        case .reply(let number): answer(number, .done, client)
        case .refuse(let number, _, let text): answer(number, .refused(text), client)
        case .armTicker: process.add(.tick(client), after: .seconds(1), at: clock.elapsed)
        case .answer(let token, let answer): answered(token, answer, client)
        case .giveUp(let token, let error): answered(token, .failure(error), client, isLast: false)
        case .answerLate(let token, let reply): answeredLate(token, reply, client)
        case .reachable: beginActivitiesAgain(client)
        case .unreachable, .log: break
        case .greeted(let greeting):
            process.link.isForeground = greeting.state == .foreground
            joinSession(client)
            lookAtDevice(client)
        case .run(let work): begin(work.delivery, work.identifier, process)
        case .expire(let delivery, _): expire(delivery, process)
        case .expireTask(let number, _): expireTask(number, client)
        case .enterBackground(_, _, let number): enterBackground(number, client)
        case .enterForeground(let number):
            process.link.isForeground = true
            feed(.done(number), client)
        case .becomeActive(let number):
            feed(.done(number), client)
            greet(process)
        case .openURLs(_, let number): feed(.done(number), client)
        case .memoryWarning: process.memory = min(process.memory, 150 << 20)
        case .changed: break
        case .conditions(let conditions, let isTold): client.device = isTold ? conditions : nil
        case .conditionsChanged(let conditions): client.device = conditions
        case .taskProgressed(_, let progress): progressed(progress, client)
        case .taskAsked(_, let question): asked(question, client)
        case .taskEnded(_, let end, let number):
            taskEnded(number, client)
            goOn(with: end, client)
        }
    }

    private func connect(_ client: VirtualClient) {
        guard daemonIsAlive, !client.isCutOff else {
            let error = CallError(.unreachable, "nobody listens")
            let next = client.search.failed(error, isThere: false, at: now.boot)
            if let next {
                client.process.add(.search(client), after: next - now.boot, at: clock.elapsed)
            }
            return feed(.notConnected(error), client)
        }
        client.search.succeeded()
        if client.connect() > 1 { swarm.count(.disconnect) }
        feed(.connected, client)
    }

    // MARK: To the daemon

    private func answer(_ number: IncomingNumber, _ answer: AppAnswer, _ client: VirtualClient) {
        guard let index = client.heard.firstIndex(where: { $0.number == number }) else { return }
        let kind = client.heard.remove(at: index).kind
        say(.answer(number, kind, answer), client)
    }

    func say(_ word: AppWord, _ client: VirtualClient) {
        guard let connection = client.connection else { return }
        if cuts(word.message, .unsent, client, connection) { return }
        carry(word, client, connection)
    }

    private func carry(_ word: AppWord, _ client: VirtualClient, _ connection: Int) {
        let index = client.process.app
        let delay = Interval(nanoseconds: plans[index].random.within(200_000...3_000_000))
        client.lastArrival = max(client.lastArrival, clock.elapsed + delay)
        agenda.add(.said(Said(client, connection, word)), at: client.lastArrival)
    }

    /// The end of a program, or of its connection, of which it says nothing.
    func hangUp(_ client: VirtualClient) {
        guard let connection = client.connection else { return }
        client.disconnect()
        carry(.hangUp, client, connection)
    }

    // MARK: From the daemon

    /// Puts it where the program reads it when it runs.
    func post(_ word: DaemonWord, _ client: VirtualClient, _ connection: Int) {
        guard isThere(client) else { return }
        client.unread.append(VirtualClient.Letter(connection: connection, word: word))
        planReading(client)
    }

    private func planReading(_ client: VirtualClient) {
        guard !client.isReading, !client.unread.isEmpty, !client.process.link.stoppedReading else {
            return
        }
        client.isReading = true
        let index = client.process.app
        let delay = Interval(nanoseconds: plans[index].random.within(200_000...3_000_000))
        client.process.add(.read(client), after: delay, at: clock.elapsed)
        follow(client.process)
    }

    func read(_ client: VirtualClient) {
        client.isReading = false
        guard isThere(client), !client.process.link.stoppedReading, !client.unread.isEmpty else {
            return
        }
        let letter = client.unread.removeFirst()
        defer { planReading(client) }
        guard letter.connection == client.connection else { return }
        let message = letter.word.message
        if cuts(message, .onItsWay, client, letter.connection) { return }
        switch letter.word {
        case .hangUp: lose(client)
        case .answer(let number, _, let answer): feed(.answered(number, answer), client)
        case .call(let number, let call): called(number, call, client)
        }
        _ = cuts(message, .received, client, letter.connection)
    }

    /// The program learns that its connection is gone.
    func lose(_ client: VirtualClient) {
        client.disconnect()
        client.device = nil
        client.unread.removeAll()
        client.heard.removeAll()
        feed(.disconnected, client)
    }

    private func called(_ number: IncomingNumber, _ call: AppObject1, _ client: VirtualClient) {
        let process = client.process
        var hasHandler = false
        if case .offer = call {
            if strikes(.crashBeforeReceipt, in: 100, app: process.app) {
                return die(process, .signal(11, outOfMemory: false))
            }
            if strikes(.neverAccepts, in: 100, app: process.app) {
                // Its library's thread hangs, and with it all that it would read.
                process.link.stoppedReading = true
                process.link.isHung = true
                return
            }
            hasHandler = !strikes(.declines, in: 100, app: process.app)
        }
        client.heard.append((number, MessageKind(call)))
        feed(.called(call, number, hasHandler: hasHandler), client)
    }
}
