import Vocabulary

/// How apps learn of the ends of their transfers: one at a time, each until it is acknowledged. An
/// app that runs is told at once. One that does not, or is suspended, is launched or resumed when
/// all tasks of a session have ended, or one has a question.
extension Device {
    /// An ended task, and the file that it has fetched, are kept so long for an app that does not
    /// come for them.
    static let unacknowledgedAge = Interval.days(30)

    mutating func settleSessions(of index: Int, _ transition: inout Transition) {
        for position in apps[index].record.sessions.indices {
            let session = apps[index].record.sessions[position]
            let request = apps[index].eventRequest(for: session.identifier)
            guard let queue = transfers.queue(index, session.identifier),
                !queue.ended.isEmpty || !queue.asking.isEmpty
            else {
                // It waited to tell what the app, as it was frozen, was about to acknowledge.
                if let request, request.state == .pending { withdraw(request, of: index) }
                continue
            }
            guard let listener = listener(of: session.identifier, index) else {
                let last = queue.lastEvent
                guard request == nil, session.sendsLaunchEvents, last > session.announced,
                    apps[index].record.closedAt == nil,
                    !apps[index].mayJoinByItself
                else { continue }
                // Not again for the same events, should the app not want them.
                apps[index].record.sessions[position].announced = last
                save(app: index)
                let event = TriggerEvent(
                    trigger: .sessionEvents,
                    app: apps[index].id,
                    identifier: session.identifier,
                    payload: ValueMap()
                )
                enqueue(event, &transition)
                continue
            }
            if let request, !take(request, of: index) { continue }
            let untold = ask(queue.asking, session.identifier, index, listener, &transition)
            guard let first = queue.ended.first else { continue }
            let remaining = queue.ended.count - 1 + untold
            tell(first.id, of: index, listener, remaining: remaining, &transition)
        }
    }

    /// The launch for a session's events ended before its app was done with them: another one
    /// follows, after a while.
    mutating func announceAgain(_ request: Request, of index: Int) {
        guard request.trigger == .sessionEvents, request.mode != .simulated else { return }
        change(request.identifier, index) { $0.announced = 0 }
    }

    /// So many questions of a session may be answered at once.
    private static let mostAsked = 32

    /// All at once: an app may let its user think about one. Returned: how many have to wait.
    private mutating func ask(
        _ asking: TaskQueue,
        _ session: String,
        _ index: Int,
        _ launch: LaunchID,
        _ transition: inout Transition
    ) -> Int {
        guard let position = apps[index].joined.firstIndex(where: { $0.identifier == session })
        else { return 0 }
        var asked = apps[index].joined[position].asked.filter { number in
            asking.all.contains { $0.number == number }
        }
        let ended = transfers.queue(index, session)?.ended.count ?? 0
        let others = ended - (apps[index].joined[position].told == nil ? 0 : 1)
        for task in asking.all where !asked.contains(task.number) && asked.count < Self.mostAsked {
            guard var question = transfers[task.id]?.taskQuestion else { continue }
            asked.append(task.number)
            question.remaining = asking.count - asked.count + others
            transition.emit(.tell(launch, .taskAsked(task.id, session: session, question)))
        }
        if asked != apps[index].joined[position].asked {
            apps[index].joined[position].asked = asked
        }
        return asking.count - asked.count
    }

    /// An app that runs anyway need not be woken for its events; false: the launch for them is
    /// under way, and the app is to hear of that first.
    private mutating func take(_ request: Request, of index: Int) -> Bool {
        switch request.state {
        case .running: return true
        case .offered: return false
        case .pending:
            withdraw(request, of: index)
            return true
        }
    }

    private mutating func withdraw(_ request: Request, of index: Int) {
        apps[index].requests.removeAll { $0.id == request.id }
        forget(request: request.id, of: index)
    }

    /// The launch that has joined a session, and can listen now.
    func listener(of session: String, _ index: Int) -> LaunchID? {
        guard let joined = apps[index].joined.first(where: { $0.identifier == session }),
            let launchIndex = apps[index].index(of: joined.launch),
            apps[index].launches[launchIndex].isListening
        else { return nil }
        return joined.launch
    }

    private mutating func tell(
        _ id: TransferID,
        of index: Int,
        _ launch: LaunchID,
        remaining: Int,
        _ transition: inout Transition
    ) {
        guard let transfer = transfers[id], let task = transfer.task, var end = transfer.taskEnd,
            let position = apps[index].joined.firstIndex(where: { $0.identifier == task.session }),
            apps[index].joined[position].told == nil
        else { return }
        apps[index].joined[position].told = id
        end.remaining = remaining
        transition.emit(.tell(launch, .taskEnded(id, session: task.session, end)))
    }

    /// The app has done with the end of a task what it wants to, and with its file.
    mutating func acknowledged(
        _ id: TransferID,
        of index: Int,
        _ transition: inout Transition
    ) {
        guard let position = apps[index].joined.firstIndex(where: { $0.told == id }) else { return }
        apps[index].joined[position].told = nil
        defer { touch(index) }
        // The user may have cleared it meanwhile.
        guard transfers.app(of: id) == index else { return }
        transfers[id]?.kept == nil ? forgetEnded(id, &transition) : setAside(id, &transition)
    }

    /// What has been told of a task that is on its way: only to an app that listens.
    func tellProgress(
        of id: TransferID,
        resumedAt: Int64? = nil,
        _ transition: inout Transition
    ) {
        guard let transfer = transfers[id], let task = transfer.task,
            let index = transfers.app(of: id), let launch = listener(of: task.session, index)
        else { return }
        let progress = TaskProgress(
            task: task.number,
            received: transfer.received,
            total: transfer.total,
            resumedAt: resumedAt
        )
        transition.emit(.tell(launch, .taskProgress(session: task.session, progress)))
    }

    /// Its connection is lost, or its process: what it was told and did not acknowledge it is told
    /// again, when it has joined again.
    mutating func leaveSessions(of launch: LaunchID, _ index: Int) {
        guard !apps[index].joined.isEmpty else { return }
        apps[index].joined.removeAll { $0.launch == launch }
    }
}

extension AppState {
    /// It is in front of its user, or its connection has just been lost: it needs no launch.
    fileprivate var mayJoinByItself: Bool {
        isForeground || launches.contains { !$0.isConnected && !$0.isFrozen && $0.ending == nil }
    }

    /// For which the app is, or will be, launched or resumed.
    fileprivate func eventRequest(for session: String) -> Request? {
        requests.first { $0.trigger == .sessionEvents && $0.identifier == session }
    }
}

extension SessionQueues.SessionQueue {
    /// The place of the last event that an app is launched for: a question at any time, ends when
    /// all tasks have ended.
    fileprivate var lastEvent: UInt64 {
        max(asking.last?.number ?? 0, active == 0 ? ended.last?.number ?? 0 : 0)
    }
}

extension Transfer {
    /// Nil: it asks nothing.
    fileprivate var taskQuestion: TaskQuestion? {
        guard let question, let task = taskReport else { return nil }
        var asked = TaskQuestion(
            question: Int64(clamping: question.number),
            kind: question.kind.word,
            task: task
        )
        asked.failures = Int(clamping: question.failures)
        if case .unauthorized(let answer) = question.kind {
            (asked.status, asked.url, asked.headers) = (answer.status, answer.url, answer.headers)
        }
        return asked
    }

    /// Nil: it has not ended.
    fileprivate var taskEnd: SessionTaskEnd? {
        guard case .ended(let end, _) = state, let task = taskReport else { return nil }
        var told = SessionTaskEnd(task: task, result: end.outcome)
        if let answer {
            (told.status, told.url, told.headers) = (answer.status, answer.url, answer.headers)
            told.body = answer.body
        }
        switch end {
        case .finished(let size, let name):
            // The file of an upload is the app's own.
            if !order.direction.isUpload { told.file = "\(order.directory)/\(name)" }
            told.size = size
        case .failed(let failure):
            (told.failure, told.reason) = (Word(failure.name), failure.reason)
        case .cancelled: break
        }
        told.resume = kept?.token
        return told
    }
}
