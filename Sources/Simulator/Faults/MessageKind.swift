import AppProtocol

/// What is said between apps and the daemon: a call of either side.
package enum MessageKind: Int, CaseIterable, Hashable, Sendable, Codable {
    // To the daemon.
    case hello, finishedLaunching, expirationHandler, complete, fetchInterval, mistaken
    case submit, cancel, pending, beginTask, endTask, limits
    case joinSession, enqueueTasks, changeTasks, answerTask, leaveSession
    case watchConditions, setIdleTimer
    // To the app.
    case offer, go, expire, expireTask, enterBackground, enterForeground, becomeActive
    case memoryWarning, changed, taskEnded, taskProgressed, taskAsked, conditionsChanged
    case openURLs

    init(_ call: App1) {
        self =
            switch call {
            case .hello: .hello
            case .finishedLaunching: .finishedLaunching
            case .expirationHandler: .expirationHandler
            case .complete: .complete
            case .setMinimumFetchInterval: .fetchInterval
            case .mistaken: .mistaken
            case .submit: .submit
            case .cancel: .cancel
            case .pending: .pending
            case .beginTask: .beginTask
            case .endTask: .endTask
            case .limits: .limits
            case .joinSession: .joinSession
            case .enqueueTasks: .enqueueTasks
            case .changeTasks: .changeTasks
            case .answerTask: .answerTask
            case .leaveSession: .leaveSession
            case .watchConditions: .watchConditions
            case .setIdleTimer: .setIdleTimer
            }
    }

    init(_ call: AppObject1) {
        self =
            switch call {
            case .offer: .offer
            case .go: .go
            case .expire: .expire
            case .expireTask: .expireTask
            case .enterBackground: .enterBackground
            case .enterForeground: .enterForeground
            case .becomeActive: .becomeActive
            case .openURLs: .openURLs
            case .memoryWarning: .memoryWarning
            case .changed: .changed
            case .taskEnded: .taskEnded
            case .taskProgressed: .taskProgressed
            case .taskAsked: .taskAsked
            case .conditionsChanged: .conditionsChanged
            }
    }
}

/// A call, or the answer to one.
package struct Message: Hashable, Sendable, Codable, CustomStringConvertible {
    package var kind: MessageKind
    package var isAnswer: Bool

    init(_ kind: MessageKind, isAnswer: Bool) { (self.kind, self.isAnswer) = (kind, isAnswer) }

    /// Everything that is said.
    package static var all: [Message] {
        MessageKind.allCases.flatMap { kind in
            [false, true].map { Message(kind, isAnswer: $0) }
        }
    }

    static let count = MessageKind.allCases.count * 2
    var index: Int { kind.rawValue * 2 + (isAnswer ? 1 : 0) }
    init(index: Int) {
        self.init(MessageKind.allCases[index / 2], isAnswer: index % 2 == 1)
    }

    package var description: String { isAnswer ? "the answer to \(kind)" : "\(kind)" }
}

/// How far a message has come.
package enum MessageStage: Int, CaseIterable, Hashable, Sendable, Codable {
    case unsent, onItsWay, received
}

/// Where a message is cut off, and by whose end.
package struct MessageCut: Hashable, Sendable, Codable, CustomStringConvertible {
    package enum Victim: Int, CaseIterable, Hashable, Sendable, Codable {
        case app, daemon, connection
    }

    package var message: Message
    package var stage: MessageStage
    package var victim: Victim

    static let count = Message.count * 9
    package static var all: [MessageCut] { (0..<count).map { MessageCut(index: $0) } }
    var index: Int { (message.index * 3 + stage.rawValue) * 3 + victim.rawValue }

    init(_ message: Message, _ stage: MessageStage, _ victim: Victim) {
        (self.message, self.stage, self.victim) = (message, stage, victim)
    }

    init(index: Int) {
        self.init(
            Message(index: index / 9),
            MessageStage.allCases[index / 3 % 3],
            Victim.allCases[index % 3]
        )
    }

    package var description: String { "\(victim) ends, \(message) \(stage)" }
}
