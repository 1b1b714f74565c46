import Vocabulary

/// Which transfers run.
extension Device {
    /// After the event itself: dates that have come, what may not go on, what may begin.
    mutating func settleTransfers(_ transition: inout Transition) {
        while let id = transfers.popDue(at: transition.now.wall) { look(at: id, &transition) }
        if transfers.next <= transition.now.boot { transfers.isTouched = true }
        if transfers.mustAskRunning {
            transfers.mustAskRunning = false
            stopHeldTransfers(&transition)
        }
        guard transfers.isTouched else { return }
        transfers.isTouched = false
        beginTransfers(&transition)
    }

    /// Begun and not ended, with those that are only made durable. Each has its file open.
    static let mostRunningTransfers = 256

    private mutating func beginTransfers(_ transition: inout Transition) {
        var held = GateSet()
        var next = BootTime.distantFuture
        var holds = Set<Int>()
        let now = transition.now.wall
        while let (lane, id) = nextTransfer(besideLanes: holds, at: now) {
            guard let work = transfers[id]?.work, let app = transfers.app(of: id) else { return }
            let answer = self.holds(on: work, of: app, at: transition.now)
            if answer.isEmpty {
                transfers.removeHead(ofLane: lane)
                begin(id, &transition)
            } else {
                holds.insert(lane)
                held.formUnion(answer.gates)
                next = min(next, answer.next)
            }
        }
        (transfers.heldBy, transfers.next) = (held, next)
        transfers.removeEmptyLanes()
    }

    /// Whose turn it is: an app in the foreground first, then whoever has fewest running, then
    /// what has the first place. Nil: nobody's, or there is no room.
    private mutating func nextTransfer(
        besideLanes held: Set<Int>,
        at now: WallTime
    ) -> (lane: Int, transfer: TransferID)? {
        guard transfers.receiving.count < Int(settings.transferSlots),
            transfers.running.count < Self.mostRunningTransfers
        else { return nil }
        var best: (rank: TransferRank, lane: Int, id: TransferID)?
        for lane in transfers.lanes.indices where !held.contains(lane) {
            guard let id = transfers.head(ofLane: lane, at: now), let transfer = transfers[id]
            else { continue }
            let key = transfers.lanes[lane].key
            let counts = transfers.counts(app: key.app, host: key.host)
            guard counts.host < Int(settings.transfersPerHost) else { continue }
            let rank = TransferRank(
                isForeground: apps[key.app].isForeground,
                running: counts.app,
                place: transfer.place
            )
            if best.map({ rank < $0.rank }) ?? true { best = (rank, lane, id) }
        }
        return best.map { ($0.lane, $0.id) }
    }

    private mutating func begin(_ id: TransferID, _ transition: inout Transition) {
        guard let transfer = transfers[id] else { return }
        let order = transfer.order
        let attempt = Transfer.Attempt(
            since: transition.now.boot,
            received: transfer.durable
        )
        transfers.change(id) { $0.state = .running(attempt) }
        if case .upload(let request) = order.direction {
            return beginUpload(id, request, &transition)
        }
        let exchange = ExchangeOrder(
            url: order.url,
            headers: order.headers,
            resume: transfer.resume,
            errors: order.errors,
            timeout: order.timeout,
            sha256: order.sha256,
            rateLimit: order.rateLimit,
            proxy: proxy(of: order)
        )
        transition.emit(.transfer(id, .begin(exchange, transfer.file)))
    }

    /// Nil: what the environment of the network process says.
    func proxy(of order: TransferOrder) -> String? {
        order.proxy ?? (settings.transferProxy.isEmpty ? nil : settings.transferProxy)
    }

    /// A gate that ends what runs has closed.
    private mutating func stopHeldTransfers(_ transition: inout Transition) {
        // What is there already needs no gate any more.
        for running in transfers.receiving {
            guard let work = transfers[running.id]?.work else { continue }
            let answer = holds(on: work, of: running.app, at: transition.now)
            if answer.gates.overlaps(.endTransfers) {
                stopTransfer(running.id, then: .wait, &transition)
            }
        }
    }

    /// When somebody must look at transfers again.
    func nextLookAtTransfers(_ now: Moment) -> BootTime {
        let date = transfers.nextDate.map { now.boot(of: $0) } ?? .distantFuture
        return transfers.isTouched ? now.boot : min(transfers.next, date)
    }

    /// A condition has another value.
    mutating func transferGatesChanged(_ condition: Condition, _ transition: inout Transition) {
        if condition.gates.overlaps(.endTransfers) { transfers.mustAskRunning = true }
        // A better moment for a transfer is an idle device on external power.
        if condition == .power || condition == .idle, transfers.heldBy.contains(.betterMoment) {
            transfers.isTouched = true
        }
        if condition == .network, conditions.networkReachable {
            retryTransfers(at: transition.now)
        }
    }

    // MARK: Restart

    /// A daemon starts, or the clock was set: everything waits anew.
    mutating func requeueTransfers(at now: Moment) {
        transfers.forgetWaiting()
        for transfer in transfers.all() {
            switch transfer.state {
            case .ended(_, let at):
                transfers.look(at: transfer.forgotten(at: at), transfer.id)
            case .waiting:
                transfers.look(at: transfer.deadline, transfer.id)
                transfers.enqueue(transfer.id, at: now.wall)
            case .running:
                transfers.look(at: transfer.deadline, transfer.id)
            case .paused, .placing:
                break
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
}

/// The smallest goes first.
private struct TransferRank: Comparable {
    let isForeground: Bool
    /// Transfers of its app.
    let running: Int
    let place: Int64

    static func < (left: Self, right: Self) -> Bool {
        (left.isForeground ? 0 : 1, left.running, left.place)
            < (right.isForeground ? 0 : 1, right.running, right.place)
    }
}

extension Transfer {
    /// Whether anything changed.
    fileprivate mutating func clamp(to now: WallTime) -> Bool {
        var changed = submittedAt > now || countsFrom > now
        (submittedAt, countsFrom) = (min(submittedAt, now), min(countsFrom, now))
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
