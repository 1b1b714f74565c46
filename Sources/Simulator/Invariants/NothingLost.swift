import DeviceCore
import Vocabulary

/// What was acknowledged is there after a kill, until its end is on record.
final class NothingLost: CommitInvariant, CallInvariant {
    let name = "nothing acknowledged is lost"
    /// Acknowledged requests that are not over.
    private var open: [RequestedTask] = []
    /// Those of them of which only one run was asked for by the user, of work that comes back.
    private var userInitiated: [UInt64] = []
    /// The user's calls for that.
    private var calls: Set<ReplyToken> = []
    /// Those that their caller has asked for anew. A run of one that never began ends with a note.
    private var replaced: Set<UInt64> = []
    /// Requests whose end is durable.
    private var over: Set<UInt64> = []

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        if case .user(.run, _) = event { calls.insert(token) }
        // Whether the caller hears of it or not.
        guard let submission = event.submission, let identifier = submission.identifier else {
            return
        }
        let app = submission.app ?? AppID("command.\(identifier)")
        for task in open where task.app == app && task.identifier == identifier {
            replaced.insert(task.request.number)
        }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        let isRun = calls.remove(token) != nil
        guard case .requested(let task) = reply, !over.contains(task.request.number) else { return }
        let number = task.request.number
        let isKnown = open.contains { $0.request.number == number }
        if !isRun {
            userInitiated.removeAll { $0 == number }
        } else if !isKnown {
            userInitiated.append(number)
        }
        if !isKnown { open.append(task) }
    }

    func committed(_ changes: [Change]) -> String? {
        // A user-initiated run is over with the next run.
        for number in userInitiated {
            guard let index = open.firstIndex(where: { $0.request.number == number }),
                changes.contains(where: { $0.tells(of: open[index]) })
            else { continue }
            open.remove(at: index)
            userInitiated.removeAll { $0 == number }
        }
        for case .delete(let key) in changes where key.section == .request {
            guard let number = UInt64(key.key) else { continue }
            over.insert(number)
            guard let index = open.firstIndex(where: { $0.request.number == number }) else {
                continue
            }
            let task = open.remove(at: index)
            userInitiated.removeAll { $0 == number }
            let wasReplaced = replaced.remove(number) != nil
            if !changes.contains(where: {
                $0.accounts(for: task) || wasReplaced && $0.isNote(of: task.app)
            }) {
                return "request \(number) of \(task.app) vanishes without a word"
            }
        }
        return nil
    }

    func restored(_ world: World) -> String? {
        calls.removeAll()
        let lost = open.first { !world.store.contains(RecordKey(.request, "\($0.request)")) }
        return lost.map { "request \($0.request) was acknowledged, and is gone" }
    }
}

extension Change {
    fileprivate func isNote(of app: AppID) -> Bool {
        guard case .append(let line) = self, line.app == app else { return false }
        return if case .note = line.entry { true } else { false }
    }

    /// Whether this says what became of a request, or is what takes its place.
    fileprivate func accounts(for task: RequestedTask) -> Bool {
        if case .put(.request(let record)) = self {
            return record.app == task.app && record.request.identifier == task.identifier
        }
        return tells(of: task)
    }

    fileprivate func tells(of task: RequestedTask) -> Bool {
        switch self {
        case .append(let line):
            guard line.app == task.app else { return false }
            switch line.entry {
            case .wake(let report): return report.identifier == task.identifier
            case .dropped(let dropped, _): return dropped == task.identifier
            case .ended, .note, .use, .transferred: return false
            }
        case .put, .delete: return false
        }
    }
}
