import Vocabulary

/// Sessions of apps: what they ask of them.
extension Device {
    /// So many sessions one app may have.
    static let mostSessions = 100

    mutating func session(
        _ identifier: String,
        _ request: SessionRequest,
        of index: Int,
        _ launch: LaunchID,
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        do throws(Refusal) {
            switch request {
            case .join(let sendsLaunchEvents, let answers, let launchesForDelays):
                try make(identifier, sendsLaunchEvents, index)
                change(identifier, index) {
                    ($0.answers, $0.launchesForDelays) = (answers, launchesForDelays)
                }
                let tasks = join(identifier, index, launch)
                return transition.reply(reply, .tasks(tasks))
            case .enqueue(let orders, let token):
                // By a process that has not joined since its connection was lost, too.
                try make(identifier, nil, index)
                try enqueue(orders, token: token, of: index, &transition)
            case .suspend(let numbers):
                for id in ids(of: numbers, in: identifier, index) {
                    stopTransfer(id, then: .pause, &transition)
                }
            case .resume(let numbers):
                for id in ids(of: numbers, in: identifier, index) {
                    resumeTask(id, of: index, &transition)
                }
            case .cancel(let numbers):
                for id in ids(of: numbers, in: identifier, index) {
                    stopTransfer(id, then: .cancel, &transition)
                }
            case .keep(let numbers):
                for id in ids(of: numbers, in: identifier, index) {
                    stopTransfer(id, then: .keep, &transition)
                }
            case .describe(let numbers, let description):
                try describe(ids(of: numbers, in: identifier, index), description)
            case .prioritize(let numbers, let priority):
                prioritize(
                    ids(of: numbers, in: identifier, index),
                    min(max(priority, -1000), 1000),
                    at: transition.now.wall
                )
            case .answer(let number, let answer):
                self.answer(number, answer, in: identifier, of: index, &transition)
            case .leave: apps[index].joined.removeAll { $0.identifier == identifier }
            }
            transition.reply(reply, .done)
        } catch {
            transition.reply(reply, .refused(error))
        }
    }

    /// From the background it goes on as one that was asked for from there.
    private mutating func resumeTask(
        _ id: TransferID,
        of index: Int,
        _ transition: inout Transition
    ) {
        let isFromBackground = !apps[index].isForeground
        if transfers[id]?.state == .paused {
            transfers.change(id) { $0.task?.isFromBackground = isFromBackground }
        }
        resumeTransfer(id, &transition)
    }

    /// `sendsLaunchEvents`: nil: as it was.
    private mutating func make(
        _ identifier: String,
        _ sendsLaunchEvents: Bool?,
        _ index: Int
    ) throws(Refusal) {
        let sessions = apps[index].record.sessions
        if let known = sessions.firstIndex(where: { $0.identifier == identifier }) {
            if let sendsLaunchEvents, sessions[known].sendsLaunchEvents != sendsLaunchEvents {
                apps[index].record.sessions[known].sendsLaunchEvents = sendsLaunchEvents
                save(app: index)
            }
        } else {
            try makeRoomForSession(identifier, index)
            let session = TransferSession(
                identifier: identifier,
                sendsLaunchEvents: sendsLaunchEvents ?? true
            )
            apps[index].record.sessions.append(session)
            save(app: index)
        }
    }

    /// The oldest of which nothing is left makes room for a new one.
    private mutating func makeRoomForSession(_ new: String, _ index: Int) throws(Refusal) {
        let sessions = apps[index].record.sessions
        guard sessions.count >= Self.mostSessions else { return }
        guard let unused = sessions.firstIndex(where: { !isInUse($0.identifier, index) }) else {
            throw Refusal(
                .held,
                reason: "an app has at most \(Self.mostSessions) sessions with tasks",
                value: new,
                fix: "use one session for many tasks"
            )
        }
        apps[index].record.sessions.remove(at: unused)
    }

    private func isInUse(_ session: String, _ index: Int) -> Bool {
        apps[index].joined.contains { $0.identifier == session }
            || transfers.queue(index, session) != nil
            || apps[index].requests.contains {
                $0.trigger == .sessionEvents && $0.identifier == session
            }
    }

    /// Stored if it is another then.
    mutating func change(
        _ identifier: String,
        _ index: Int,
        _ body: (inout TransferSession) -> Void
    ) {
        let sessions = apps[index].record.sessions
        guard let known = sessions.firstIndex(where: { $0.identifier == identifier }) else {
            return
        }
        var session = sessions[known]
        body(&session)
        guard session != sessions[known] else { return }
        apps[index].record.sessions[known] = session
        save(app: index)
    }

    private mutating func describe(
        _ ids: [TransferID],
        _ description: String?
    ) throws(Refusal) {
        var described = ids.compactMap { transfers[$0] }
        for position in described.indices { described[position].task?.description = description }
        try checkRoom(for: described)
        for id in ids {
            transfers.change(id) { $0.task?.description = description }
            save(.transfer(id))
        }
    }

    private mutating func prioritize(_ ids: [TransferID], _ priority: Int64, at now: WallTime) {
        for id in ids where transfers[id]?.task?.priority != priority {
            transfers.change(id) { $0.task?.priority = priority }
            save(.transfer(id))
            // At its turn; where it was it is skipped.
            if transfers[id]?.state == .waiting { transfers.enqueue(id, at: now, settings) }
        }
    }

    /// A process that joins once more only asks; what it has not answered it is asked again.
    private mutating func join(
        _ identifier: String,
        _ index: Int,
        _ launch: LaunchID
    ) -> JoinedTasks {
        let known = apps[index].joined.first {
            $0.identifier == identifier && $0.launch == launch
        }
        if known == nil {
            apps[index].joined.removeAll { $0.identifier == identifier }
            apps[index].joined.append(JoinedSession(identifier: identifier, launch: launch))
            touch(index)
        }
        if let position = apps[index].joined.firstIndex(where: { $0.identifier == identifier }) {
            apps[index].joined[position].asked = []
            touch(index)
        }
        let queue = transfers.queue(index, identifier)
        let missed = (queue?.ended.count ?? 0) + (queue?.asking.count ?? 0)
        let transfers = transfers.all(of: index).filter { $0.task?.session == identifier }
        return JoinedTasks(
            tasks: transfers.filter { !$0.isEnded }.compactMap(\.taskReport),
            missed: missed - (known?.told == nil ? 0 : 1)
        )
    }

    private mutating func enqueue(
        _ orders: [SessionOrder],
        token: String?,
        of index: Int,
        _ transition: inout Transition
    ) throws(Refusal) {
        guard answeredTransfers(token, of: apps[index].id) == nil else { return }
        try checkNumbers(of: orders, index)
        let isForeground = apps[index].isForeground
        var prepared: [(TransferOrder, SessionTask?)] = []
        prepared.reserveCapacity(orders.count)
        for order in orders {
            var task = order.task
            task.isFromBackground = !isForeground
            prepared.append((order.order, task))
        }
        let ids = try enqueue(prepared, token: token, of: index, &transition)
        for (id, order) in zip(ids, orders) {
            if let resume = order.resume { goOn(id, with: resume, of: index, &transition) }
        }
    }

    /// A number means one task: else nobody could say which of two is suspended or cancelled. One
    /// that has ended leaves its number.
    private func checkNumbers(of orders: [SessionOrder], _ index: Int) throws(Refusal) {
        guard let session = orders.first?.task.session else { return }
        var numbers = Set<Int64>()
        var repeated = orders.first { !numbers.insert($0.task.number).inserted }?.task.number
        repeated =
            repeated
            ?? transfers.openNumber(
                among: orders.map(\.task.number),
                in: session,
                of: index
            )
        guard let repeated else { return }
        throw Refusal(
            .invalid,
            reason: "the session has a task of that number",
            value: "\(repeated)",
            fix: "give each task a number that none of the session has that has not ended"
        )
    }

    private func ids(of numbers: [Int64], in session: String, _ index: Int) -> [TransferID] {
        transfers.openTasks(among: numbers, in: session, of: index)
    }

    /// The user has opened an app: what it asked for from the background goes on as if it had been
    /// there.
    mutating func promoteTransfers(of index: Int, _ now: Moment) {
        guard !apps[index].record.sessions.isEmpty, transfers.contains(app: index) else { return }
        for transfer in transfers.all(of: index)
        where transfer.task?.isFromBackground == true && !transfer.isEnded {
            transfers.change(transfer.id) { $0.task?.isFromBackground = false }
            save(.transfer(transfer.id))
            // In the lane of what it is now.
            if transfer.state == .waiting { transfers.enqueue(transfer.id, at: now.wall, settings) }
        }
    }

    /// The swipe (F3).
    mutating func closeTransfers(of index: Int, _ transition: inout Transition) {
        guard transfers.contains(app: index) else { return }
        for transfer in transfers.all(of: index) where transfer.isActive || transfer.isPaused {
            stopTransfer(transfer.id, then: .close, &transition)
        }
    }
}

extension Transfer {
    fileprivate var isPaused: Bool { state == .paused }

    /// Nil: it is no task of a session.
    var taskReport: SessionTaskReport? {
        guard let task else { return nil }
        var report = SessionTaskReport(task: task.number, url: order.url)
        if case .upload(let request) = order.direction { report.method = request.method.rawValue }
        report.headers = order.headers
        report.ignoresCookies = task.ignoresCookies ? true : nil
        if let original = task.original {
            (report.currentURL, report.currentHeaders) = (order.url, order.headers)
            report.currentIgnoresCookies = report.ignoresCookies
            (report.url, report.headers) = (original.url, original.headers)
            report.ignoresCookies = original.ignoresCookies ? true : nil
        }
        report.description = task.description
        report.isSuspended = state == .paused
        report.received = received
        report.total = total
        report.earliest = order.earliest?.secondsSince1970
        report.priority = task.priority == 0 ? nil : task.priority
        report.isUnmetered = order.needs.unmetered ? true : nil
        let isUsual = order.timeout == UsualTimeout.request
        report.timeout = isUsual ? nil : order.timeout.seconds
        (report.expectsToSend, report.expectsToReceive) =
            (task.expectsToSend, task.expectsToReceive)
        return report
    }
}
