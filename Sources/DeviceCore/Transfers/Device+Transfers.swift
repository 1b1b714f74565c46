package import Vocabulary

/// Asking for transfers: in which app they are, and what the user may do with them.
extension Device {
    /// Downloads that the user asks for belong to this app, which has no program.
    package static let downloads = AppID("user.downloads")
    /// The same of uploads.
    package static let uploads = AppID("user.uploads")
    /// How long an ended transfer is listed.
    static let endedTransferAge = Interval.days(7)

    mutating func transfer(
        _ request: TransferRequest,
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        do throws(Refusal) {
            switch request {
            case .enqueue(let orders, let token):
                let ids = try enqueueOfUser(orders, token: token, &transition)
                return transition.reply(reply, .transfers(ids))
            case .pause(let ids):
                for id in try going(ids) { stopTransfer(id, then: .pause, &transition) }
            case .resume(let ids):
                for id in try going(ids) { resumeTransfer(id, byUser: true, &transition) }
            case .cancel(let ids):
                for id in try known(ids) { stopTransfer(id, then: .cancel, &transition) }
            case .move(let ids, let move):
                try self.move(try known(ids), move, &transition)
            case .forget(let ids):
                for id in try ids.map(known) ?? transfers.all().filter(\.isToldToAll).map(\.id) {
                    forgetEnded(id, &transition)
                }
            }
            transition.reply(reply, .done)
        } catch {
            transition.reply(reply, .refused(error))
        }
    }

    func known(_ ids: [TransferID]) throws(Refusal) -> [TransferID] {
        for id in ids where transfers[id] == nil {
            throw Refusal(
                .notFound,
                reason: "no such transfer",
                value: "\(id)",
                fix: "offstage transfers lists them"
            )
        }
        return ids
    }

    /// All of them: none has ended, so that it would neither go on nor stop.
    private func going(_ ids: [TransferID]) throws(Refusal) -> [TransferID] {
        for id in try known(ids) {
            guard let transfer = transfers[id], case .ended(let end, _) = transfer.state else {
                continue
            }
            let verb = transfer.order.direction.isUpload ? "upload" : "download"
            let (what, fix) =
                switch end {
                case .finished: ("is finished", "nothing is left to do")
                case .failed: ("has failed", "\(verb) it again")
                case .cancelled: ("was cancelled", "\(verb) it again")
                }
            throw Refusal(.held, reason: "transfer \(id) \(what)", fix: fix)
        }
        return ids
    }

    private mutating func enqueueOfUser(
        _ orders: [TransferOrder],
        token: String?,
        _ transition: inout Transition
    ) throws(Refusal) -> [TransferID] {
        let isUpload = orders.first?.direction.isUpload ?? false
        let app = isUpload ? Self.uploads : Self.downloads
        if let answered = answeredTransfers(token, of: app) { return answered }
        let index = ensureApp(app)
        let ids = try enqueue(orders.map { ($0, nil) }, token: token, of: index, &transition)
        guard apps[index].manifest == nil else { return ids }
        let manifest = Shared(AppManifest(id: app, name: isUpload ? "Uploads" : "Downloads"))
        apps[index].record.transient = manifest
        apps[index].record.firstSeen = transition.now.wall
        apps[index].manifest = manifest
        return ids
    }

    /// All of them, or none.
    mutating func enqueue(
        _ orders: [(order: TransferOrder, task: SessionTask?)],
        token: String?,
        of index: Int,
        _ transition: inout Transition
    ) throws(Refusal) -> [TransferID] {
        for order in orders { try order.order.check() }
        let bytes = orders.reduce(0) { $0 + $1.order.textBytes + ($1.task?.textBytes ?? 0) }
        let size = TransferSize(count: orders.count, bytes: bytes)
        makeRoom(for: size, of: index, &transition)
        try checkRoom(for: size, of: index)
        let now = transition.now.wall
        var ids: [TransferID] = []
        ids.reserveCapacity(orders.count)
        for (order, task) in orders {
            let id = nextSerial(TransferKind.self)
            ids.append(id)
            var transfer = Transfer(id: id, order: order, submittedAt: now, task: task)
            if order.notifies {
                transfer.group = TransferGroup(first: ids[0], count: orders.count)
            }
            transfers.insert(transfer, app: index)
            transfers.look(at: transfer.deadline, id)
            transfers.enqueue(id, at: now, settings)
            save(.transfer(id))
        }
        if let token, let first = ids.first {
            let answered = AnsweredTransfers(token: token, first: first, count: ids.count)
            apps[index].record.transferTokens.append(answered, limit: 32)
        }
        save(app: index)
        return ids
    }

    /// What an enqueue with this token was answered; nil: none was.
    func answeredTransfers(_ token: String?, of app: AppID) -> [TransferID]? {
        guard let token, let index = apps.index(of: app),
            let answered = apps[index].record.transferTokens.first(where: { $0.token == token })
        else { return nil }
        return answered.ids
    }

    /// Whether transfers of an app were enqueued with this token.
    package func hasEnqueued(_ token: String?, of app: AppID) -> Bool {
        answeredTransfers(token, of: app) != nil
    }

    /// `byUser`: who wants it now, whatever wait a server or a failure has brought.
    mutating func resumeTransfer(
        _ id: TransferID,
        byUser: Bool = false,
        _ transition: inout Transition
    ) {
        guard let transfer = transfers[id] else { return }
        switch transfer.state {
        case .paused:
            let now = transition.now.wall
            transfers.change(id) {
                ($0.state, $0.countsFrom) = (.waiting, now)
                if byUser { $0.retry = nil }
            }
            transfers.look(at: transfers[id]?.deadline ?? now, id)
        case .running(var attempt):
            guard attempt.then == .pause else { return }
            attempt.then = .wait
            transfers.change(id) { $0.state = .running(attempt) }
        case .waiting:
            guard byUser, transfer.retry != nil else { return }
            transfers.change(id) { $0.retry = nil }
        case .placing:
            guard transfer.placementRetry != nil else { return }
            transfers.change(id) { $0.retry = nil }
            emitPlacement(id, &transition)
        case .ended: return
        }
        save(.transfer(id))
        guard transfers[id]?.state == .waiting else { return }
        transfers.enqueue(id, at: transition.now.wall, settings)
    }

    /// Ends a transfer's run, if it has one; what is to become of it then is `next`.
    mutating func stopTransfer(
        _ id: TransferID,
        then next: Transfer.Attempt.Next,
        _ transition: inout Transition
    ) {
        guard let transfer = transfers[id] else { return }
        switch transfer.state {
        case .running(var attempt):
            guard attempt.then?.yields(to: next) ?? true else { return }
            if attempt.then == nil { transition.emit(.transfer(id, .stop)) }
            attempt.then = next
            transfers.change(id) { $0.state = .running(attempt) }
            // Who asked for it is answered before the attempt has ended.
            if next != .wait { save(.transfer(id)) }
        case .waiting, .paused:
            settle(id, as: next, &transition)
        // Complete: only its name is missing, which may be waited for.
        case .placing:
            guard let retry = transfer.placementRetry, retry.at > transition.now.wall else {
                return
            }
            switch next {
            case .cancel, .keep, .close, .timeOut: settle(id, as: next, &transition)
            case .wait, .pause, .exists: break
            }
        case .ended: break
        }
    }

    /// Those that were to stop when the last daemon ended: their attempts have ended with it.
    mutating func settleStopped(_ transition: inout Transition) {
        for transfer in transfers.all() {
            guard case .running(let attempt) = transfer.state else { continue }
            settle(transfer.id, as: attempt.next, &transition)
        }
    }

    /// It does not run: what becomes of it.
    mutating func settle(
        _ id: TransferID,
        as next: Transfer.Attempt.Next,
        _ transition: inout Transition
    ) {
        switch next {
        case .wait:
            transfers.change(id) { $0.state = .waiting }
            transfers.enqueue(id, at: transition.now.wall, settings)
            save(.transfer(id))
        case .pause:
            // What it asked is asked again when it goes on, if that is still a question.
            transfers.change(id) { ($0.state, $0.question) = (.paused, nil) }
            save(.transfer(id))
        case .cancel:
            end(id, .cancelled, &transition)
        case .keep:
            end(id, .cancelled, keeping: true, &transition)
        case .timeOut:
            let reason = "it was not done within \(transfers[id]?.order.resourceTimeout ?? .zero)"
            let failure = TransferFailure(code: .timedOut, reason: reason)
            end(id, .failed(failure), keeping: true, &transition)
        case .exists:
            guard let transfer = transfers[id] else { return }
            end(id, .failed(transfer.existsFailure), &transition)
        case .close:
            let reason = "its app was closed by the user"
            let failure = TransferFailure(code: .closedByUser, reason: reason)
            end(id, .failed(failure), keeping: true, &transition)
        }
    }

    /// Its app is not told any more, and its file is about to be removed.
    private mutating func remember(_ id: TransferID, removedAt now: WallTime) {
        transfers.change(id) {
            if case .ended(let end, _) = $0.state { $0.state = .ended(end, at: now) }
            ($0.kept, $0.resume) = (nil, nil)
            $0.task?.place = nil
        }
        if let date = transfers[id]?.forgetDate(endedAt: now) { transfers.look(at: date, id) }
        save(.transfer(id))
    }

    mutating func forgetEnded(_ id: TransferID, _ transition: inout Transition) {
        guard let transfer = transfers[id], let app = transfers.app(of: id) else { return }
        guard case .ended(let end, _) = transfer.state else { return }
        if transfer.kept != nil {
            guard transfer.order.direction.isUpload else {
                transition.emit(.transfer(id, .discard(transfer.file)))
                return remember(id, removedAt: transition.now.wall)
            }
            removeUpload(transfer, end, &transition)
        }
        transfers.remove(id)
        // What its app wants to keep it has moved by now. What it has sent is its own.
        if transfer.task != nil, !transfer.order.direction.isUpload,
            case .finished(_, let name) = end
        {
            let file = TransferFile(directory: transfer.order.directory, partialName: name)
            transition.emit(.transfer(id, .discard(file)))
        }
        // With the last one its app may be forgotten.
        touch(app)
        save(.gone(RecordKey(.transfer, id.description)))
    }

    /// Its last state. What is left of an unfinished file goes, unless an app may go on with it.
    mutating func end(
        _ id: TransferID,
        _ end: TransferEnd,
        keeping: Bool = false,
        _ transition: inout Transition
    ) {
        guard let transfer = transfers[id], let index = transfers.app(of: id) else { return }
        let now = transition.now.wall
        let kept = keeping ? keptPart(of: transfer) : nil
        let place = transfer.task == nil ? nil : nextSerial(TransferKind.self).number
        transfers.change(id) {
            if case .running(let attempt) = $0.state, $0.task != nil { $0.answer = attempt.answer }
            $0.state = .ended(end, at: now)
            $0.task?.place = place
            $0.kept = kept
            if kept == nil { ($0.resume, $0.upload) = (nil, nil) }
            ($0.retry, $0.question, $0.logins) = (nil, nil, [])
        }
        boundAnswer(of: id)
        forget(transfer.logins, of: id, &transition)
        transfers.isTouched = true
        transfers.look(at: now + transfer.endedAge, id)
        if place != nil { touch(index) }
        save(.transfer(id))
        switch end {
        case .finished: break
        case .failed, .cancelled:
            // The file of an upload is the user's.
            guard kept == nil else { break }
            if transfer.order.direction.isUpload {
                removeUpload(transfer, end, &transition)
            } else {
                transition.emit(.transfer(id, .discard(transfer.file)))
            }
        }
        let told = transfer.told(end)
        let url = transfer.order.url.withoutPassword
        let entry = HistoryLine.Entry.transferred(id, url: url, told)
        appendHistory(entry, app: index, &transition)
        noticeEnd(of: id, &transition)
    }

    /// Of one that has ended long ago, or whose deadline has come.
    mutating func look(at id: TransferID, _ transition: inout Transition) {
        guard let transfer = transfers[id] else { return }
        let now = transition.now.wall
        switch transfer.state {
        case .ended(_, let at):
            if transfer.forgetDate(endedAt: at) <= now { forgetEnded(id, &transition) }
        case .placing:
            guard let retry = transfer.placementRetry else { break }
            if transfer.deadline <= now {
                settle(id, as: .timeOut, &transition)
            } else if retry.at <= now {
                emitPlacement(id, &transition)
            }
        // The user's own pause counts for nothing.
        case .paused: break
        case .waiting, .running:
            if transfer.deadline <= now {
                stopTransfer(id, then: .timeOut, &transition)
            } else if transfer.state == .waiting, transfer.date <= now {
                transfers.enqueue(id, at: now, settings)
            }
        }
    }
}

extension Transfer {
    /// No app has yet to hear of it.
    var isToldToAll: Bool { task?.place == nil }

    /// How long it is kept once it has ended.
    var endedAge: Interval { task == nil ? Device.endedTransferAge : Device.unacknowledgedAge }
}
