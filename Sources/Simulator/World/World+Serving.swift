import AppProtocol
import AppTranslation
import ClientCore
import DeviceCore
import Vocabulary

/// What the daemon's shell does with connections: who says what, who is told what, and whose end is
/// whose.
extension World {
    /// A call that the core has not answered. It keeps the process, whether it lives or not.
    struct PendingCall {
        let process: VirtualProcess
        let client: VirtualClient
        let connection: Int
        let number: CallNumber
        let call: App1

        init(_ client: VirtualClient, _ connection: Int, _ number: CallNumber, _ call: App1) {
            process = client.process
            (self.client, self.connection) = (client, connection)
            (self.number, self.call) = (number, call)
        }
    }

    // MARK: What apps say

    func arrived(_ word: AppWord, _ client: VirtualClient, _ connection: Int) {
        guard daemonIsAlive, client.served.contains(connection) else { return }
        let message = word.message
        if cuts(message, .onItsWay, client, connection) { return }
        switch word {
        case .call(let number, let call):
            serve(PendingCall(client, connection, number, call))
        case .answer(let number, _, let answer): receive(answer, number, client)
        case .hangUp: close(client, connection)
        }
        _ = cuts(message, .received, client, connection)
    }

    private func serve(_ call: PendingCall) {
        let client = call.client
        if let refusal = refusal(of: call) { return reply(.failure(refusal), to: call) }
        if case .hello = call.call { bind(client, call.connection) }
        if isQuestion(call) { return questions.append(call) }
        let process = call.process
        var context = CallContext(
            app: process.appID,
            process: client.holder ?? process.process
        )
        context.transferDirectory = "/home"
        if case .complete = call.call { context.usage = process.usage(at: clock.elapsed) }
        if case .endTask(let end) = call.call, client.holder != nil {
            context.holdsTask = process.talk.holds(end.task, client.holder)
        }
        // What it says to a server the shell keeps under a number of its own.
        if case .answerTask(let answer) = call.call, answer.answer == .login {
            context.login = UInt64(clamping: answer.question)
        }
        let token = ReplyToken(nextToken)
        nextToken += 1
        calls[token.number] = call
        inbox.append(.app(process.launch, call.call.event(context, reply: token)))
    }

    /// Why the shell refuses a call, by its row in the table of methods; nil: it is for the core.
    private func refusal(of call: PendingCall) -> CallError? {
        let callers = call.call.callers
        switch callers {
        case .app, .anyone, .everyone, .user, .daemon: return nil
        case .main, .connected:
            guard call.client.holder == nil else {
                return CallError(.refused(.notPermitted), "it is for the main process of an app")
            }
        }
        let isBound = call.client.bound == call.connection
        if case .hello = call.call, isBound {
            return CallError(.refused(.invalid), "Hello was already called on this connection")
        }
        if callers == .connected, !isBound {
            return CallError(.refused(.invalid), "Hello has not been called on this connection")
        }
        return nil
    }

    /// The core does nothing for it.
    private func isQuestion(_ call: PendingCall) -> Bool {
        switch call.call {
        case .pending, .limits: true
        case .watchConditions: call.client.bound != call.connection
        case .hello, .finishedLaunching, .expirationHandler, .complete, .setMinimumFetchInterval,
            .mistaken, .submit, .cancel, .beginTask, .endTask, .joinSession, .enqueueTasks,
            .changeTasks, .answerTask, .leaveSession, .setIdleTimer:
            false
        }
    }

    /// The main process has said hello: its earlier connection is ended.
    private func bind(_ client: VirtualClient, _ connection: Int) {
        if let earlier = client.bound, earlier != connection {
            client.served.removeAll { $0 == earlier }
            inbox.append(.app(client.process.launch, .disconnected))
        }
        client.told.removeAll()
        client.bound = connection
    }

    private func receive(_ answer: AppAnswer, _ number: IncomingNumber, _ client: VirtualClient) {
        guard let index = client.told.firstIndex(where: { $0.number == number }) else { return }
        let message = client.told.remove(at: index).message
        if let event = message.event(answer) { inbox.append(.app(client.process.launch, event)) }
    }

    /// The daemon learns of the end of a connection.
    private func close(_ client: VirtualClient, _ connection: Int) {
        client.served.removeAll { $0 == connection }
        guard client.bound == connection else { return }
        client.bound = nil
        client.told.removeAll()
        let launch = client.process.launch
        if let holder = client.holder {
            inbox.append(.app(launch, .extensionGone(holder)))
        } else {
            inbox.append(.app(launch, .disconnected))
        }
    }

    // MARK: What the daemon says

    func tell(_ launch: LaunchID, _ message: AppMessage) {
        guard let process = process(launch), !process.isDead else { return }
        process.talk.hears(message, at: now.awake)
        guard let client = process.listener(of: message), let connection = client.bound else {
            return
        }
        let call = message.call
        let kind = Message(MessageKind(call), isAnswer: false)
        if cuts(kind, .unsent, client, connection) { return }
        if process.link.stoppedReading, !process.link.isHung {
            process.link.unreadCount += 1
            // It is given up when its queue is full.
            if process.link.unreadCount >= 2 { return give(up: client, connection) }
        }
        lastIncoming += 1
        let number = IncomingNumber(lastIncoming)
        if message.isAnswered { client.told.append((number, message)) }
        post(.call(number, call), client, connection)
    }

    private func give(up client: VirtualClient, _ connection: Int) {
        client.served.removeAll { $0 == connection }
        guard client.bound == connection else { return }
        client.bound = nil
        client.told.removeAll()
        send(.app(client.process.launch, .disconnected))
    }

    /// The core has replied.
    func replied(_ reply: Reply, to token: ReplyToken) {
        guard let call = calls.removeValue(forKey: token.number) else { return }
        let client = call.client
        switch (call.call, reply) {
        // It may say hello again.
        case (.hello, .refused): if client.bound == call.connection { client.bound = nil }
        case (.beginTask, .begun(let task)) where task.task > 0 && client.holder != nil:
            if client.served.contains(call.connection) { client.bound = call.connection }
        case _: break
        }
        let permitted = plans[client.process.app].manifest.permittedTaskIdentifiers
        switch call.call.answer(reply, permitted: permitted) {
        case .success(let answer): self.reply(.success(answer), to: call)
        case .failure(let refusal):
            let error = CallError(.refused(refusal.code.errorName), refusal.reason)
            self.reply(.failure(error), to: call)
        case nil: break
        }
    }

    func reply(_ answer: Result<AppReply, CallError>, to call: PendingCall) {
        guard call.client.served.contains(call.connection) else { return }
        let kind = MessageKind(call.call)
        if cuts(Message(kind, isAnswer: true), .unsent, call.client, call.connection) { return }
        post(.answer(call.number, kind, answer), call.client, call.connection)
    }

    // MARK: Ends

    /// The connection is lost: what was on its way is, and both sides learn of it.
    func cut(_ client: VirtualClient, _ connection: Int) {
        if client.served.contains(connection) {
            close(client, connection)
        }
        guard client.connection == connection else { return }
        client.unread.removeAll { $0.connection == connection }
        post(.hangUp, client, connection)
    }
}
