import Vocabulary

/// What the network process reports of transfers.
extension Device {
    mutating func transferSaid(
        _ id: TransferID,
        _ event: TransferEvent,
        _ transition: inout Transition
    ) {
        guard let transfer = transfers[id] else { return }
        defer { recordPace(of: transfer, at: transition.now.boot) }
        switch (event, transfer.state) {
        case (.opened(let inode), .running(let attempt)):
            transfers.change(id) {
                $0.inode = inode
                // It was opened where it belongs, unless it has been moved meanwhile.
                if attempt.then == nil { $0.formers = [] }
            }
        case (.answered(let answer), .running(let attempt)):
            answered(id, answer, attempt, &transition)
        case (.progress(let received, let durable), .running(let attempt)):
            let isUpload = transfer.order.direction.isUpload
            if isUpload {
                uploadProgressed(id, attempt, sent: received, confirmed: durable)
            } else {
                progressed(id, attempt, received: received, durable: durable)
            }
            // What is only durable now is no news to an app. What was sent may be known from the
            // answer already, which is not told.
            if isUpload || transfers[id]?.received != transfer.received {
                tellProgress(of: id, &transition)
            }
        case (.ranges(let ranges), .running(var attempt)):
            attempt.ranges = ranges
            transfers.change(id) { $0.state = .running(attempt) }
        case (.resource(let resource), .running): uploadResource(id, resource)
        case (.sent(let part), .running): uploadSent(id, part)
        case (.ended(let end, let durable), .running(let attempt)):
            ended(id, end, attempt, durable: durable, &transition)
        case (.placed(let name), .placing(let size)):
            self.end(id, .finished(size: size, name: name), &transition)
        case (.notPlaced(let failure), .placing):
            self.end(id, .failed(failure), &transition)
        case (.placementInterrupted(let interruption), .placing):
            delay(id, interruption, hasProgressed: false, &transition)
            if let retry = transfers[id]?.retry {
                transfers.look(at: min(retry.at, transfer.deadline), id)
            }
            save(.transfer(id))
        case (.notPlaced, .running(let attempt)):
            // Found before all of it was fetched in vain.
            if attempt.then == nil { stopTransfer(id, then: .exists, &transition) }
        case (.lost, .placing):
            // What was complete is not there any more, or something else is: from the start.
            transfers.change(id) { $0.resume = nil }
            delay(id, .lostFile, hasProgressed: false, &transition)
            settle(id, as: .wait, &transition)
        case (.lost, .running):
            transfers.change(id) { $0.resume = nil }
            save(.transfer(id))
        // Late, or of an attempt that this device knows nothing of.
        case (.opened, _), (.answered, _), (.progress, _), (.ranges, _), (.ended, _),
            (.placed, _), (.notPlaced, _), (.placementInterrupted, _), (.resource, _), (.sent, _),
            (.lost, _):
            break
        }
    }

    /// `before`: it. Whether all its bytes have come, or been sent, now.
    private mutating func recordPace(of before: Transfer, at now: BootTime) {
        guard before.isReceiving, let after = transfers[before.id], !after.isReceiving else {
            return
        }
        switch after.state {
        case .running, .placing, .ended(.finished, at: _):
            transfers.paces.ended(from: after.host, at: now)
        case .paused, .waiting, .ended: break
        }
    }

    private mutating func answered(
        _ id: TransferID,
        _ answer: ExchangeAnswer,
        _ attempt: Transfer.Attempt,
        _ transition: inout Transition
    ) {
        var attempt = attempt
        let answer = answer.completed(by: transfers[id]?.resume)
        attempt.answer = answer
        let hadBytes = transfers[id]?.resume != nil
        let isUpload = transfers[id]?.order.direction.isUpload ?? false
        // Without a status it is what one of several connections has brought.
        let mustBeAlone = answer.startsAnew && answer.status == 0 && attempt.moreConnections > 0
        attempt.moreConnections = min(attempt.moreConnections, answer.moreConnections)
        if answer.startsAnew { attempt.ranges = [] }
        let filled = FilledBytes(prefix: answer.offset, ranges: attempt.ranges).count
        attempt.received = answer.isWhole ? answer.total ?? filled : filled
        transfers.change(id) {
            $0.state = .running(attempt)
            // Forgotten before the file is overwritten.
            if answer.startsAnew { $0.resume = nil }
            if mustBeAlone { $0.isAlone = true }
            if (200..<400).contains(answer.status) { $0.refusals = 0 }
        }
        // The answer to an upload is its end.
        if attempt.then == nil, !isUpload {
            if answer.offset > 0 { tellProgress(of: id, resumedAt: answer.offset, &transition) }
            // All of it has come with its answer: no other report follows.
            if answer.isWhole, attempt.received > answer.offset {
                tellProgress(of: id, &transition)
            }
        }
        lookForFile(id, answer, attempt, &transition)
        guard answer.startsAnew else { return }
        if hadBytes { save(.transfer(id)) }
        if attempt.then == nil { transition.emit(.transfer(id, .proceed)) }
    }

    /// What cannot get its name in the end need not be fetched.
    private func lookForFile(
        _ id: TransferID,
        _ answer: ExchangeAnswer,
        _ attempt: Transfer.Attempt,
        _ transition: inout Transition
    ) {
        guard let transfer = transfers[id], transfer.task == nil, !transfer.order.overwrites,
            !transfer.order.direction.isUpload, attempt.then == nil, answer.status != 0,
            !answer.isWhole
        else { return }
        let order = transfer.order
        let name = order.name ?? FileName.suggested(by: answer, of: order.url)
        transition.emit(.transfer(id, .look(directory: order.directory, name: name)))
    }

    private mutating func progressed(
        _ id: TransferID,
        _ attempt: Transfer.Attempt,
        received: Int64,
        durable: Int64
    ) {
        var attempt = attempt
        attempt.received = max(received, durable)
        transfers.change(id) { $0.state = .running(attempt) }
        guard let transfer = transfers[id],
            let part = attempt.fetched(of: transfer, at: durable),
            part.filled.count > transfer.resume?.filled.count ?? 0
        else { return }
        transfers.change(id) {
            $0.resume = part
            $0.forgetRetry()
        }
        boundAnswer(of: id)
        save(.transfer(id))
    }

    private mutating func ended(
        _ id: TransferID,
        _ end: ExchangeEnd,
        _ attempt: Transfer.Attempt,
        durable: Int64?,
        _ transition: inout Transition
    ) {
        transfers.isTouched = true
        let order = transfers[id]?.order
        let isUpload = order?.direction.isUpload ?? false
        // The server has it, whatever the user wanted meanwhile.
        if isUpload, case .complete(let size) = end {
            return self.end(id, .finished(size: size, name: order?.name ?? ""), &transition)
        }
        if attempt.then == .cancel { return self.end(id, .cancelled, &transition) }
        switch end {
        case .complete(let size):
            place(id, size: size, attempt, &transition)
        // The user has ended it, or its time has: whether the server has it matters to nobody.
        case .failed(let failure) where failure.code == .uncertain && attempt.next.isEnd:
            settle(id, as: attempt.next, &transition)
        // It was stopped, or moved, when its directory was found to be another: it is looked for
        // again when it goes on.
        case .failed(let failure) where failure.code == .file && attempt.then?.isEnd == false:
            settle(id, as: attempt.next, &transition)
        case .failed(let failure):
            let failure = TransferFailure(code: .exchange(failure.code), reason: failure.reason)
            self.end(id, .failed(failure), &transition)
        case .challenged(let answer):
            challenged(id, answer, attempt, durable: durable, &transition)
        case .interrupted(let interruption) where isUpload:
            uploadInterrupted(id, interruption, attempt, confirmed: durable, &transition)
        case .interrupted(let interruption):
            let known = transfers[id]?.durable ?? 0
            // Otherwise what is stored still holds: without an answer nothing was overwritten.
            if let durable, attempt.answer != nil {
                transfers.change(id) { $0.resume = attempt.fetched(of: $0, at: durable) }
                boundAnswer(of: id)
            }
            if interruption.cause == .stopped || attempt.then != nil {
                return settle(id, as: attempt.next, &transition)
            }
            let hasProgressed = transfers[id]?.durable ?? 0 > known
            delay(id, interruption, hasProgressed: hasProgressed, &transition)
            settle(id, as: .wait, &transition)
        }
    }

    private mutating func place(
        _ id: TransferID,
        size: Int64,
        _ attempt: Transfer.Attempt,
        _ transition: inout Transition
    ) {
        transfers.change(id) {
            // An app asked for all of it, and has all of it.
            let answer = $0.answer(of: attempt)?.whole(size)
            if $0.task == nil {
                $0.name = $0.order.name ?? FileName.suggested(by: answer, of: $0.order.url)
            } else {
                ($0.name, $0.answer) = ("\(id).download", answer)
            }
            let modified = answer?.headers.value(of: "Last-Modified") ?? ""
            // No date is longer.
            $0.modified = (1...64).contains(modified.utf8.count) ? modified : nil
            ($0.state, $0.resume) = (.placing(size: size), nil)
            $0.forgetRetry()
        }
        boundAnswer(of: id)
        save(.transfer(id))
        emitPlacement(id, &transition)
    }

    /// Also again: after an interruption, and by a daemon that starts.
    func emitPlacement(_ id: TransferID, _ transition: inout Transition) {
        guard let transfer = transfers[id], case .placing(let size) = transfer.state,
            let name = transfer.name
        else { return }
        let placement = Placement(
            file: transfer.file,
            name: name,
            overwrites: transfer.order.overwrites,
            modified: transfer.modified,
            size: size
        )
        transition.emit(.transfer(id, .place(placement)))
    }

    // MARK: Another attempt

    /// The longest wait between two attempts.
    static let longestRetryWait = Interval.minutes(10)

    /// 1 s, doubling with each attempt that brings nothing, and up to half as much again, so that
    /// those whom a server has lost together do not come back together.
    mutating func delay(
        _ id: TransferID,
        _ interruption: ExchangeEnd.Interruption,
        hasProgressed: Bool,
        _ transition: inout Transition
    ) {
        let attempts = hasProgressed ? 1 : (transfers[id]?.retry?.attempts ?? 0) + 1
        let doubled = Interval.seconds(1 << Int64(min(attempts - 1, 20)))
        let plain = min(doubled, Self.longestRetryWait)
        var random = SeededRandom(
            seed: UInt64(bitPattern: seed) ^ id.number << 8 ^ UInt64(attempts)
        )
        let jitter = Interval(nanoseconds: Int64(random.next() % UInt64(plain.nanoseconds / 2)))
        let wait = interruption.retryAfter ?? plain + jitter
        let retry = Transfer.Retry(
            at: transition.now.wall + wait,
            wait: wait,
            attempts: attempts,
            interruption: interruption
        )
        transfers.change(id) { $0.retry = retry }
    }

    /// There is a network again: what failed for want of it is tried soon.
    mutating func retryTransfers(at now: Moment) {
        let soon = now.wall + settings.settleTime
        for transfer in transfers.all() where transfer.state == .waiting {
            guard let retry = transfer.retry, retry.isForWantOfNetwork, retry.at > soon else {
                continue
            }
            transfers.change(transfer.id) { $0.retry?.at = soon }
            transfers.look(at: soon, transfer.id)
            save(.transfer(transfer.id))
        }
    }
}

extension ExchangeAnswer {
    /// As if it had brought all bytes of the file, so many. Nil: nobody knows.
    func whole(_ size: Int64?) -> ExchangeAnswer {
        guard status == 206 else { return self }
        var answer = self
        answer.status = 200
        answer.headers.removeAll(named: "Content-Range")
        answer.headers.removeAll(named: "Content-Length")
        if let size { answer.headers.append(HTTPField("Content-Length", "\(size)")) }
        return answer
    }
}

extension ExchangeEnd.Interruption {
    /// It was complete, and gone before it had its name.
    fileprivate static let lostFile = Self(.shortage, reason: "the complete file was gone")
}

extension Transfer {
    /// It is complete, and is to be given its name once more then; nil: it is not.
    var placementRetry: Retry? {
        guard case .placing = state, let retry, retry.interruption != .lostFile else { return nil }
        return retry
    }

    /// There was progress, which is none while each complete file is lost again.
    fileprivate mutating func forgetRetry() {
        if retry?.interruption != .lostFile { retry = nil }
    }
}

extension Transfer.Retry {
    fileprivate var isForWantOfNetwork: Bool {
        switch interruption.cause {
        case .connection, .timedOut: true
        case .stopped, .busy, .diskFull, .shortage: false
        }
    }
}
