import Vocabulary

/// The dates of transfers, when a daemon starts or the clock is set.
extension Device {
    /// A daemon starts, or the clock was set: everything waits anew.
    mutating func requeueTransfers(at now: Moment) {
        transfers.forgetWaiting()
        for transfer in transfers.all() {
            switch transfer.state {
            case .ended(_, let at):
                transfers.look(at: transfer.forgetDate(endedAt: at), transfer.id)
            case .waiting:
                transfers.look(at: transfer.deadline, transfer.id)
                transfers.enqueue(transfer.id, at: now.wall, settings)
            case .running:
                transfers.look(at: transfer.deadline, transfer.id)
            case .placing:
                guard let retry = transfer.placementRetry else { break }
                transfers.look(at: min(retry.at, transfer.deadline), transfer.id)
            case .paused: break
            }
        }
        transfers.touch()
    }

    /// Dates in the future of the clock become now.
    mutating func clampTransfers(to now: WallTime) {
        for transfer in transfers.all() {
            var clamped = transfer
            guard clamped.clamp(to: now) else { continue }
            transfers.change(transfer.id) { $0 = clamped }
            save(.transfer(transfer.id))
        }
    }

    /// The clock was set.
    mutating func shiftTransfers(by step: Interval) {
        for transfer in transfers.all() {
            transfers.change(transfer.id) { $0.shift(by: step) }
            save(.transfer(transfer.id))
        }
    }
}

extension Transfer {
    /// A date that its caller has named stays, and so does when it was named.
    fileprivate mutating func shift(by step: Interval) {
        countsFrom = countsFrom + step
        if order.delay != nil { order.earliest = order.earliest.map { $0 + step } }
        if order.delay != nil || order.earliest == nil { submittedAt = submittedAt + step }
        if let retry { self.retry?.at = retry.at + step }
        if let until = kept?.until { kept?.until = until + step }
        if case .ended(let end, let at) = state { state = .ended(end, at: at + step) }
    }

    /// Whether anything changed.
    fileprivate mutating func clamp(to now: WallTime) -> Bool {
        var changed = submittedAt > now || countsFrom > now
        (submittedAt, countsFrom) = (min(submittedAt, now), min(countsFrom, now))
        if let delay = order.delay { lower(&order.earliest, to: now + delay, &changed) }
        if let retry, retry.at > now + retry.wait {
            self.retry?.at = now + retry.wait
            changed = true
        }
        if let until = kept?.until, until > now + Device.keptAge {
            kept?.until = now + Device.keptAge
            changed = true
        }
        if case .ended(let end, let at) = state, at > now {
            state = .ended(end, at: now)
            changed = true
        }
        return changed
    }
}
