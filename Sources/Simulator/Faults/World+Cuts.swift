import DeviceCore
import Vocabulary

/// Ends either side, or the connection between them, at a message.
extension World {
    /// Whether the message is lost by that.
    func cuts(
        _ message: Message?,
        _ stage: MessageStage,
        _ client: VirtualClient,
        _ connection: Int
    ) -> Bool {
        guard let message, isThere(client) || stage == .onItsWay,
            let victim = killInjector.cuts(message, stage, &swarm, daemon: daemonIsAlive)
        else { return false }
        switch victim {
        case .app: end(client)
        case .daemon: killDaemon(.killBetweenEffects)
        case .connection: cut(client, connection)
        }
        switch stage {
        case .unsent: return true
        // What has been sent can be read, whether its sender lives or not.
        case .onItsWay: return victim == .connection || victim == message.receiver
        case .received: return false
        }
    }

    private func end(_ client: VirtualClient) {
        guard isThere(client) else { return }
        if client.holder != nil { return leave(client) }
        swarm.count(.appCrash)
        die(client.process, .signal(11, outOfMemory: false))
    }
}

extension Message {
    fileprivate var receiver: MessageCut.Victim {
        kind.isToDaemon != isAnswer ? .daemon : .app
    }
}

extension MessageKind {
    fileprivate var isToDaemon: Bool { rawValue < MessageKind.offer.rawValue }
}

extension AppWord {
    /// Nil: it is the end of the connection.
    var message: Message? {
        switch self {
        case .call(_, let call): Message(MessageKind(call), isAnswer: false)
        case .answer(_, let kind, _): Message(kind, isAnswer: true)
        case .hangUp: nil
        }
    }
}

extension DaemonWord {
    var message: Message? {
        switch self {
        case .call(_, let call): Message(MessageKind(call), isAnswer: false)
        case .answer(_, let kind, _): Message(kind, isAnswer: true)
        case .hangUp: nil
        }
    }
}
