import DeviceCore
package import Vocabulary

/// What a daemon and a linked app have said to each other: what both must know.
package struct Talk {
    var isConnected = false
    /// Offered to the app, and neither completed nor declined by it.
    private(set) var work: [HandedWork] = []
    private var tasks: [OpenTask] = []
    /// Work, by its identifier, that the app has ended, and that is not in the history yet.
    private var unreported: [String] = []
    /// Work, by its identifier, that a commit of this turn says is over, before the app has heard
    /// of it: a turn that catches up with a store that failed for long offers work and ends it.
    private var overUnheard: [String] = []
    /// The same, of what the app had heard of before: it is offered once more.
    private var over: [DeliveryID] = []
    /// What the app has declined since it connected.
    private(set) var declined: [DeliveryID] = []
    /// When anything was said last.
    private(set) var lastWord = AwakeTime(nanoseconds: 0)

    package struct HandedWork {
        package let id: DeliveryID
        let identifier: String
        let isProcessing: Bool
        /// When it was told to run the handler.
        package fileprivate(set) var begun: AwakeTime?
        /// When it was told that its time is nearly over.
        fileprivate(set) var warned: AwakeTime?
    }

    /// A background task that was asked for, and not ended; without an answer it may be there.
    private struct OpenTask {
        var reply: ReplyToken
        /// The app's own name of it, by which it asks again.
        let token: String?
        let holder: ProcessID?
        var number: Int64?
    }

    var hasTasks: Bool { !tasks.isEmpty }
    /// Helper programs of which a daemon has heard that they hold something. Never
    /// removed: a daemon may be killed before it has stored that one is gone.
    private(set) var holders: [ProcessID] = []
    func holds(_ number: Int64, _ holder: ProcessID?) -> Bool {
        tasks.contains { $0.number == number && $0.holder == holder }
    }

    /// Whatever was said before may have gone with the daemon.
    mutating func disconnect() {
        isConnected = false
        declined.removeAll()
    }

    /// What the daemon says.
    mutating func hears(_ message: AppMessage, at now: AwakeTime) {
        lastWord = now
        switch message {
        case .offer(let id, let offer):
            guard !work.contains(where: { $0.id == id }), !over.contains(id) else { return }
            if let index = overUnheard.firstIndex(of: offer.identifier) {
                overUnheard.remove(at: index)
                return
            }
            work.append(
                HandedWork(
                    id: id,
                    identifier: offer.identifier,
                    isProcessing: offer.isProcessing
                )
            )
        case .go(let id, _): change(id) { $0.begun = $0.begun ?? now }
        case .expire(let id, _, _): change(id) { $0.warned = $0.warned ?? now }
        case .expireTask, .didEnterBackground, .willEnterForeground, .didBecomeActive,
            .memoryWarning, .refreshChanged, .conditionsChanged, .taskEnded, .taskProgress,
            .taskAsked, .openURLs:
            break
        }
    }

    /// What the app says.
    mutating func says(_ event: AppEvent, at now: AwakeTime) {
        lastWord = now
        switch event {
        case .connected: break
        case .finishedLaunching: isConnected = true
        case .reconnected(_, let finished, _, _):
            isConnected = true
            for delivery in finished { end(delivery.delivery) }
        case .disconnected: disconnect()
        case .declined(let id, _):
            end(id)
            declined.append(id)
        case .completed(let id, _, _, _): end(id)
        case .taskBegan(_, _, let holder, let token, let reply):
            begins(token, holder, reply)
            if let holder, !holders.contains(holder) { holders.append(holder) }
        case .taskEnded(let number, _, _): tasks.removeAll { $0.number == number }
        case .extensionGone(let holder): tasks.removeAll { $0.holder == holder }
        case .accepted, .expirationHandler, .enteredBackground, .fetchInterval, .submit, .cancel,
            .mistaken, .session, .acknowledged, .conditionsWatched, .idleTimer, .openedURLs:
            break
        }
    }

    private mutating func begins(_ token: String?, _ holder: ProcessID?, _ reply: ReplyToken) {
        if token != nil, let index = tasks.firstIndex(where: { $0.token == token }) {
            tasks[index].reply = reply
        } else {
            tasks.append(OpenTask(reply: reply, token: token, holder: holder))
        }
    }

    private mutating func end(_ id: DeliveryID) {
        guard let index = work.firstIndex(where: { $0.id == id }) else { return }
        unreported.append(work.remove(at: index).identifier)
    }

    mutating func turnBegins() {
        overUnheard.removeAll()
        over.removeAll()
    }

    /// The history says what came of it.
    mutating func ends(_ identifier: String) {
        if let index = work.firstIndex(where: { $0.identifier == identifier }) {
            over.append(work.remove(at: index).id)
        } else if let index = unreported.firstIndex(of: identifier) {
            unreported.remove(at: index)
        } else {
            overUnheard.append(identifier)
        }
    }

    /// The daemon's answer to a call.
    mutating func hears(_ answer: Reply, to reply: ReplyToken) {
        guard let index = tasks.firstIndex(where: { $0.reply == reply }) else { return }
        if case .begun(let task) = answer, task.task > 0 {
            tasks[index].number = task.task
        } else {
            tasks.remove(at: index)
        }
    }

    private mutating func change(_ id: DeliveryID, _ body: (inout HandedWork) -> Void) {
        guard let index = work.firstIndex(where: { $0.id == id }) else { return }
        body(&work[index])
    }
}

extension Offer {
    var isProcessing: Bool { kind == .trigger(.processing) }
}
