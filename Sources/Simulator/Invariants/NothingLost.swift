import DeviceCore
import Vocabulary

/// What was acknowledged is there after a kill, until its end is on record.
final class NothingLost: CommitInvariant, CallInvariant {
    let name = "nothing acknowledged is lost"
    /// Acknowledged requests that are not over.
    private var open: [UInt64: Promise] = [:]
    private var numbers: [UInt64] = []
    /// Apps that were closed for certain.
    private var closed: [AppID: Bool] = [:]
    private var isPaused: Bool?
    private var asked: [UInt64: Event] = [:]
    /// Requests whose end is durable.
    private var over: [UInt64: Bool] = [:]

    private struct Promise {
        var app: String
        var identifier: String
        /// Only one run was asked for by the user, of work that comes back by itself.
        var isUserInitiated: Bool
    }

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        guard case .user(let request, _) = event else { return }
        asked[token.number] = event
        switch request {
        case .open(let app, _), .close(let app): closed[app] = nil
        case .submit(let submission):
            if submission.app == nil, let name = submission.identifier {
                closed[AppID("command.\(name)")] = nil
            }
        case .pause, .continue: isPaused = nil
        case .leave, .run, .cancel, .cancelPending, .override, .simulate: break
        }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        if case .requested(let task) = reply, over[task.request.number] == nil {
            let request = task.request.number
            var isUserInitiated = false
            if case .user(.run, _) = asked[token.number] { isUserInitiated = true }
            if open[request] == nil { numbers.append(request) }
            open[request] = Promise(
                app: task.app.name,
                identifier: task.identifier,
                isUserInitiated: isUserInitiated && open[request]?.isUserInitiated ?? true
            )
        }
        guard let event = asked.removeValue(forKey: token.number), reply == .done,
            case .user(let request, _) = event
        else { return }
        switch request {
        case .close(let app): closed[app] = true
        case .pause(nil): isPaused = true
        case .continue: isPaused = false
        case .open, .leave, .submit, .run, .cancel, .cancelPending, .pause, .override, .simulate:
            break
        }
    }

    func committed(_ changes: [Change]) -> String? {
        forgetUserInitiated(changes)
        for case .append(let line) in changes {
            // Use seen elsewhere opens a closed app.
            if case .use(let kind) = line.entry, kind != .closed { closed[line.app] = nil }
        }
        for change in changes {
            guard case .delete(let key) = change, key.section == .request,
                let number = UInt64(key.key)
            else { continue }
            over[number] = true
            guard let mine = open.removeValue(forKey: number) else { continue }
            numbers.removeAll { $0 == number }
            if !changes.contains(where: { $0.accounts(for: mine.app, mine.identifier) }) {
                return "request \(number) of \(mine.app) vanishes without a word"
            }
        }
        return nil
    }

    /// A user-initiated run is over with the next run.
    private func forgetUserInitiated(_ changes: [Change]) {
        for number in numbers {
            guard let mine = open[number], mine.isUserInitiated,
                changes.contains(where: { $0.tells(of: mine.app, mine.identifier) })
            else { continue }
            open[number] = nil
            numbers.removeAll { $0 == number }
        }
    }

    func restored(_ device: Device, _ world: World) -> String? {
        asked.removeAll()
        for number in numbers
        where !world.store.contains(RecordKey(.request, "\(number)")) {
            return "request \(number) was acknowledged, and is gone"
        }
        for plan in world.plans where closed[plan.id] == true {
            guard let index = device.apps.index(of: plan.id) else { continue }
            if device.apps[index].record.closedAt == nil {
                return "\(plan.id) was closed, which is forgotten"
            }
        }
        switch (isPaused, device.pause) {
        case (true, .none), (true, .until), (false, .untilContinued), (false, .until):
            return "a pause, or its end, is forgotten"
        case (nil, _), (true, .untilContinued), (false, .none): return nil
        }
    }
}

extension Change {
    /// Whether this says what became of a request, or is what takes its place.
    fileprivate func accounts(for app: String, _ identifier: String) -> Bool {
        if case .put(.request(let record)) = self {
            return record.app.name == app && record.request.identifier == identifier
        }
        return tells(of: app, identifier)
    }

    fileprivate func tells(of app: String, _ identifier: String) -> Bool {
        switch self {
        case .append(let line):
            guard line.app.name == app else { return false }
            switch line.entry {
            case .wake(let report): return report.identifier == identifier
            case .dropped(let dropped, _): return dropped == identifier
            case .ended, .note, .use: return false
            }
        case .put, .delete: return false
        }
    }
}
