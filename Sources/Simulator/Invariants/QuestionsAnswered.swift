import AppProtocol
import ClientCore
import DeviceCore
import Vocabulary

/// A transfer that has asked its app waits for the answer to that question. It also goes on if the
/// app cancels or suspends the task. An app that is connected is asked every open question.
final class QuestionsAnswered: ClientInvariant, CommitInvariant, EffectInvariant, ProcessInvariant {
    let name = "what a transfer asks its app it waits for"
    private var pending: [TransferID: Pending] = [:]
    /// By question. A process that dies may take its answer with it; the next answers otherwise.
    private var answers: [Int64: [App1.AnswerTask]] = [:]
    /// The header field that the last new request of a transfer had.
    private var tokens: [TransferID: String] = [:]
    /// Refused by a server, and not gone on with since.
    private var refused: Set<TransferID> = []
    /// An app has said to a server who it is, for all its tasks, at this point of `answered`.
    private var forAll: [AppID: Int] = [:]
    private var answered = 0
    /// The same, when it reached a daemon: what is on its way helps no exchange that begins. The
    /// last of each app, and the last before the exchange of a transfer began, of `loginsHeard`.
    private var lastLogin: [AppID: Int] = [:]
    private var begun: [TransferID: Int] = [:]
    private var loginsHeard = 0
    private var launches: [LaunchID: AppID] = [:]
    private var apps: [TransferID: AppID] = [:]

    private struct Pending {
        let question: Int64
        let app: AppID
        /// Of `answered`, when it was asked.
        let since: Int
    }

    func committed(_ changes: [Change]) -> String? {
        for change in changes {
            switch change {
            case .put(.transfer(let record)):
                if let text = stored(record) { return text }
            case .delete(let key) where key.section == .transfer:
                guard let id = UInt64(key.key).map(TransferID.init) else { continue }
                (pending[id], tokens[id], begun[id], apps[id]) = (nil, nil, nil, nil)
                refused.remove(id)
            case .put, .delete, .append: break
            }
        }
        return nil
    }

    private func stored(_ record: TransferRecord) -> String? {
        let transfer = record.transfer
        let id = transfer.id
        apps[id] = record.app
        let isOver = transfer.isEnded || transfer.state == .paused
        if isOver { refused.remove(id) }
        let number = transfer.question.map { Int64(clamping: $0.number) }
        guard let known = pending[id] else {
            pending[id] = number.map {
                refused.remove(id)
                return Pending(question: $0, app: record.app, since: answered)
            }
            return nil
        }
        guard known.question != number else { return nil }
        pending[id] = number.map {
            Pending(question: $0, app: record.app, since: answered)
        }
        if isOver { return nil }
        // The answer to another question was meant for this one as well; its own comes too late, or
        // came before.
        if forAll[record.app].map({ $0 > known.since }) ?? false {
            tokens[id] = nil
            return nil
        }
        guard let given = answers[known.question] else {
            return "question \(known.question) of transfer \(id) is gone without an answer"
        }
        if given.allSatisfy({ $0.answer == .cancel }) {
            return "transfer \(id) goes on, which its app has cancelled"
        }
        if given.contains(where: { $0.answer == .request }) {
            let isCertain = given.allSatisfy { $0.answer == .request }
            tokens[id] = isCertain ? "\(known.question)" : nil
        }
        return nil
    }

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        guard case .transfer(let id, .begin(let order, _)) = effect else { return nil }
        defer {
            begun[id] = loginsHeard
            refused.remove(id)
        }
        if let known = pending[id] {
            return "transfer \(id) goes on without an answer to question \(known.question)"
        }
        let isForAll = apps[id].flatMap { lastLogin[$0] }.map { $0 > begun[id] ?? 0 } ?? false
        if refused.contains(id), !isForAll {
            return "transfer \(id) goes on after it was refused, and its app was not asked"
        }
        guard let token = tokens[id] else { return nil }
        let sent = order.headers.value(of: "Token")
        return sent == token ? nil : "transfer \(id) goes on with \(sent ?? "none"), not \(token)"
    }

    func ran(_ process: VirtualProcess, _ world: World) {
        launches[process.launch] = process.appID
    }

    func heard(_ event: Event) {
        if case .transfer(let id, .ended(.challenged, _)) = event { refused.insert(id) }
        guard case .app(let launch, .session(_, .answer(_, let answer), _)) = event,
            case .login(_, _, forSession: true) = answer, let app = launches[launch]
        else { return }
        loginsHeard += 1
        lastLogin[app] = loginsHeard
    }

    func took(_ event: ClientEvent, _ client: VirtualClient, _ world: World) {
        guard case .call(.answerTask(let call), _, _) = event else { return }
        answered += 1
        answers[call.question, default: []].append(call)
        if call.forSession { forAll[client.process.appID] = answered }
    }

    func performed(_ effect: ClientEffect, _ client: VirtualClient, _ world: World) -> String? {
        nil
    }

    func restored(_ world: World) -> String? {
        // What had not been stored the next daemon does not know.
        refused.removeAll()
        return nil
    }
}
