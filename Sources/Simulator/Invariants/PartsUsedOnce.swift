import AppProtocol
import ClientCore
import DeviceCore
import Vocabulary

/// At most one task resumes from the bytes of a task that has ended, and only a task of the same
/// app. Whoever resumes names the version that the bytes belong to.
final class PartsUsedOnce: EffectInvariant, CommitInvariant, ClientInvariant {
    let name = "what has come of a download is used once, by its own app"
    /// By their tokens, what apps were told of.
    private var parts: [String: Part] = [:]
    /// By the numbers of tasks, of which no app has the same as another.
    private var asked: [Int64: Wish] = [:]
    private var ids: [Int64: TransferID] = [:]
    private var numbers: [TransferID: Int64] = [:]
    /// Where the bytes of a transfer went last.
    private var files: [TransferID: String] = [:]

    private struct Part {
        let app: AppID
        /// Whose bytes they are.
        let task: Int64
        var user: TransferID?
    }

    /// An app wants to go on with what has come.
    private struct Wish {
        let app: AppID
        let token: String
    }

    // MARK: What apps say and hear

    func took(_ event: ClientEvent, _ client: VirtualClient, _ world: World) {
        guard case .call(.enqueueTasks(let call), _, _) = event else { return }
        for task in call.tasks {
            guard let token = task.resume else { continue }
            asked[task.task] = Wish(app: client.process.appID, token: token)
        }
    }

    func performed(_ effect: ClientEffect, _ client: VirtualClient, _ world: World) -> String? {
        guard case .taskEnded(_, let end, _) = effect, let token = end.resume,
            parts[token] == nil
        else { return nil }
        parts[token] = Part(app: client.process.appID, task: end.task.task)
        return nil
    }

    func committed(_ changes: [Change]) -> String? {
        for case .put(.transfer(let record)) in changes {
            guard let task = record.transfer.task else { continue }
            (ids[task.number], numbers[record.transfer.id]) = (record.transfer.id, task.number)
        }
        return nil
    }

    // MARK: What is done with files

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        guard case .transfer(let id, .begin(let order, let file)) = effect else { return nil }
        if let resume = order.resume, let index = world.network.partIndex(file) {
            let there = world.network.files[index]
            // Less may be there: that is found out when it is opened.
            if there.size >= resume.filled.end {
                let versions = there.versions(in: resume.filled)
                guard versions.count == 1,
                    resume.validator == .entityTag("\"\(versions[0])\"")
                else { return "transfer \(id) takes \(resume) of \(there.runs)" }
            }
        }
        defer { files[id] = file.partialName }
        guard file.partialName != ".offstage-\(id).part" else { return nil }
        return use(file.partialName, by: id)
    }

    private func use(_ file: String, by id: TransferID) -> String? {
        guard let wish = numbers[id].flatMap({ asked[$0] }), let part = parts[wish.token],
            self.file(of: part.task) == file
        else { return "transfer \(id) uses \(file), which is not its own" }
        guard part.app == wish.app else {
            return "transfer \(id) of \(wish.app) uses what \(part.app) has fetched"
        }
        guard part.user ?? id == id else {
            return "transfer \(id) uses \(file) after \(part.user ?? id)"
        }
        parts[wish.token]?.user = id
        return nil
    }

    /// A task that has ended before it began has what the one had with which it was to go on.
    private func file(of task: Int64) -> String? {
        if let file = ids[task].flatMap({ files[$0] }) { return file }
        return asked[task].flatMap { parts[$0.token] }.flatMap { file(of: $0.task) }
    }
}
