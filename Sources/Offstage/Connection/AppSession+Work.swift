internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// Work that the daemon hands over, from the offer to its completion.
extension AppSession {
    // MARK: Handlers

    var registeredIdentifiers: [String] { state.withLock { $0.handlers.keys.sorted() } }

    /// Why there may be no handler for an identifier now; nil when it was added.
    func register(_ handler: LaunchHandler, for identifier: String) -> AppMistakeName? {
        state.withLock { state in
            if state.hasFinishedLaunching { return .registeredLate }
            if state.handlers[identifier] != nil { return .registeredTwice }
            if identifier.hasZeroByte { return .registeredUnpermitted }
            if let permitted = state.greeting?.permitted,
                !permitted.contains(where: { Self.matches(identifier, $0) })
            {
                return .registeredUnpermitted
            }
            state.handlers[identifier] = handler
            return nil
        }
    }

    // MARK: Mistakes

    /// Told to the daemon, once, for the app's history; `message` is for standard error.
    func mistaken(_ mistake: AppMistakeName, _ subject: String, _ message: String) {
        LibraryLog.write(message)
        let isNew = state.withLock { state in
            state.mistakes.count < Self.mistakesLimit
                && state.mistakes.insert(mistake.rawValue + " " + subject).inserted
        }
        guard isNew else { return }
        // An earlier daemon does not take it, one that is gone need not know.
        ask(OutgoingCall(App1.Mistaken { ($0.mistake, $0.subject) = (mistake, subject) }))
    }

    private static let mistakesLimit = 64

    private static func matches(_ identifier: String, _ pattern: String) -> Bool {
        guard pattern.hasSuffix("*") else { return identifier == pattern }
        return identifier.hasPrefix(pattern.dropLast())
    }

    private static func handler(for identifier: String, in state: State) -> LaunchHandler? {
        if let handler = state.handlers[identifier] { return handler }
        let patterns = state.handlers.keys.filter { matches(identifier, $0) }
        return patterns.max { $0.utf8.count < $1.utf8.count }.flatMap { state.handlers[$0] }
    }

    // MARK: What the daemon says

    func canRun(_ kind: WorkKind, _ identifier: String) -> Bool {
        state.withLock { state in
            switch kind {
            case .fetch, .sessionEvents: state.application != nil
            case .refresh, .processing: Self.handler(for: identifier, in: state) != nil
            }
        }
    }

    func run(_ work: AcceptedWork) {
        switch work.kind {
        case .fetch:
            let run = FetchRun(work, self)
            let application = state.withLock { state in
                state.runs[work.delivery] = Run(running: run, deadline: work.deadline)
                return state.application
            }
            application?.fetch(run)
        case .sessionEvents:
            let run = SessionRun(work, self)
            state.withLock {
                $0.runs[work.delivery] = Run(running: run, deadline: work.deadline)
            }
            handleEvents(run)
        case .refresh, .processing:
            let run = TaskRun(work, self)
            let handler = state.withLock { state in
                state.runs[work.delivery] = Run(running: run, deadline: work.deadline)
                return Self.handler(for: work.identifier, in: state)
            }
            // It was there when the work was accepted, and none is ever removed.
            handler?.launch(run)
        }
    }

    func expire(delivery: DeliveryID, deadline: Double?) {
        let run = state.withLock { state in
            if let deadline { state.runs[delivery]?.deadline = deadline }
            return state.runs[delivery]?.running
        }
        run?.expire()
    }

    // MARK: What the app says

    func complete(_ work: AcceptedWork, _ result: TaskResult) {
        state.withLock { $0.runs[work.delivery] = nil }
        afterSessionCalls { [self] in
            connection.ask(.complete(delivery: work.delivery, result: result), for: self)
        }
    }

    func tellHandler(of work: AcceptedWork, isSet: Bool) {
        ask(
            OutgoingCall(
                App1.ExpirationHandler { ($0.delivery, $0.isSet) = (work.delivery, isSet) },
                .kept
            )
        )
    }
}
