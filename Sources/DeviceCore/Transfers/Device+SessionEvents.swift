import Vocabulary

/// How apps learn of the ends of their transfers: one at a time, each until it is acknowledged. An
/// app that runs is told at once. One that does not, or is suspended, is launched or resumed when
/// all tasks of a session have ended.
extension Device {
    /// An ended task, and the file that it has fetched, are kept so long for an app that does not
    /// come for them.
    static let unacknowledgedAge = Interval.days(30)

    mutating func settleSessions(of index: Int, _ transition: inout Transition) {
        for position in apps[index].record.sessions.indices {
            let session = apps[index].record.sessions[position]
            guard let queue = transfers.queue(index, session.identifier),
                let first = queue.ended.first, let last = queue.ended.last
            else { continue }
            let request = apps[index].eventRequest(for: session.identifier)
            guard let listener = listener(of: session.identifier, index) else {
                guard queue.active == 0, request == nil, session.sendsLaunchEvents,
                    last.place > session.announced, apps[index].record.closedAt == nil,
                    !apps[index].mayJoinByItself
                else { continue }
                // Not again for the same events, should the app not want them.
                apps[index].record.sessions[position].announced = last.place
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
            tell(first.id, of: index, listener, remaining: queue.ended.count - 1, &transition)
        }
    }

    /// An app that runs anyway need not be woken for its events; false: the launch for them is
    /// under way, and the app is to hear of that first.
    private mutating func take(_ request: Request, of index: Int) -> Bool {
        switch request.state {
        case .running: return true
        case .offered: return false
        case .pending:
            apps[index].requests.removeAll { $0.id == request.id }
            forget(request: request.id)
            return true
        }
    }

    /// The launch that has joined a session, and can listen now.
    private func listener(of session: String, _ index: Int) -> LaunchID? {
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
        guard
            let position = apps[index].joined.firstIndex(where: { $0.told == id }),
            transfers.app(of: id) == index
        else { return }
        apps[index].joined[position].told = nil
        transfers[id]?.kept == nil ? forgetEnded(id, &transition) : setAside(id, &transition)
        touch(index)
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

extension Launch {
    /// Something said to it is heard now.
    fileprivate var isListening: Bool { isConnected && !isFrozen && ending == nil }
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

extension Transfer {
    /// Nil: it has not ended.
    fileprivate var taskEnd: SessionTaskEnd? {
        guard case .ended(let end, _) = state, let task = taskReport else { return nil }
        var told = SessionTaskEnd(task: task, result: end.word)
        if let answer {
            (told.status, told.url, told.headers) = (answer.status, answer.url, answer.headers)
            told.body = answer.body
        }
        switch end {
        case .finished(let size, let name):
            // The file of an upload is the app's own.
            if !order.direction.isUpload { told.file = "\(order.directory)/\(name)" }
            told.size = size
        case .failed(let failure): (told.failure, told.reason) = (failure.word, failure.reason)
        case .cancelled: break
        }
        told.resume = kept?.token
        return told
    }
}
