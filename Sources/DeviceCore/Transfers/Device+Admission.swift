import Vocabulary

/// Which transfers run.
extension Device {
    /// After the event itself: dates that have come, what may not go on, what may begin.
    mutating func settleTransfers(_ transition: inout Transition) {
        while let id = transfers.popDue(at: transition.now.wall) { look(at: id, &transition) }
        transfers.dropStaleDates()
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
        let now = transition.now
        while let (lane, id) = nextTransfer(besideLanes: holds, at: now.wall, now.boot) {
            guard let work = transfers[id]?.work, let app = transfers.app(of: id) else { return }
            let answer = self.holds(on: work, of: app, at: transition.now)
            if answer.isEmpty {
                transfers.removeHead(ofLane: lane)
                if !askBeforeBeginning(id, of: app, &transition) { begin(id, &transition) }
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
    /// what has the first place. Within an app its priorities go before places. Nil: nobody's, or
    /// there is no room.
    private mutating func nextTransfer(
        besideLanes held: Set<Int>,
        at now: WallTime,
        _ boot: BootTime
    ) -> (lane: Int, transfer: TransferID)? {
        guard transfers.running.count < Self.mostRunningTransfers else { return nil }
        let used = UsedConnections(transfers.connections, settings)
        var best: [NextTransfer] = []
        for lane in transfers.lanes.indices where !held.contains(lane) {
            guard let id = transfers.head(ofLane: lane, at: now), let transfer = transfers[id]
            else { continue }
            let key = transfers.lanes[lane].key
            let ahead =
                transfer.mayBeginAhead ? transfers.paces.ahead(from: key.host, at: boot) : 0
            guard used.isRoom(for: key.host, ahead: ahead) else { continue }
            let rank = TransferRank(
                isForeground: apps[key.app].isForeground,
                running: used.count(ofApp: key.app),
                place: transfer.place
            )
            let next = NextTransfer(
                app: key.app,
                waitsForMoment: !key.hasWaited,
                turn: key.turn(of: transfer),
                rank: rank,
                lane: lane,
                id: id
            )
            if let index = best.firstIndex(where: { $0.isBeside(next) }) {
                if next.turn < best[index].turn { best[index] = next }
            } else {
                best.append(next)
            }
        }
        // What waits for no better moment is overtaken by none that is only small.
        let firsts = best.filter { next in
            !best.contains { $0.app == next.app && $0.turn.plain < next.turn.plain }
        }
        return firsts.min { $0.rank < $1.rank }.map { ($0.lane, $0.id) }
    }

    /// The next one of an app.
    private struct NextTransfer {
        let app: Int
        /// Only among these do sizes count.
        let waitsForMoment: Bool
        let turn: TransferTurn
        let rank: TransferRank
        let lane: Int
        let id: TransferID

        func isBeside(_ other: Self) -> Bool {
            app == other.app && waitsForMoment == other.waitsForMoment
        }
    }

    private mutating func begin(_ id: TransferID, _ transition: inout Transition) {
        guard let transfer = transfers[id] else { return }
        let order = transfer.order
        var attempt = Transfer.Attempt(
            since: transition.now.boot,
            received: transfer.durable
        )
        attempt.ranges = transfer.resume?.ranges ?? []
        attempt.moreConnections = moreConnections(for: transfer)
        transfers.change(id) { $0.state = .running(attempt) }
        if case .upload(let request) = order.direction {
            return beginUpload(id, request, &transition)
        }
        var exchange = ExchangeOrder(
            url: order.url.withSmallScheme,
            headers: order.headers,
            resume: transfer.resume?.point,
            errors: order.errors,
            timeout: min(order.timeout, ExchangeOrder.longestTimeout),
            sha256: order.sha256,
            rateLimit: order.rateLimit,
            proxy: proxy(of: order)
        )
        exchange.moreConnections = attempt.moreConnections
        exchange.connectionsPerHost = settings.transfersPerHost
        exchange.reportsChallenges = reportsChallenges(transfer)
        var file = transfer.file
        file.logins = logins(of: transfer)
        transition.emit(.transfer(id, .begin(exchange, file)))
    }

    /// As many as it wants, and as there is room for now: it waits for none.
    private func moreConnections(for transfer: Transfer) -> Int64 {
        guard transfer.order.moreConnections > 0, !transfer.isAlone else { return 0 }
        let used = UsedConnections(transfers.connections, settings)
        let room = used.room(for: String(transfer.host))
        return max(0, min(transfer.order.moreConnections, room - 1))
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
                transfers.look(at: transfer.forgetDate(endedAt: at), transfer.id)
            case .waiting:
                transfers.look(at: transfer.deadline, transfer.id)
                transfers.enqueue(transfer.id, at: now.wall, settings)
            case .running:
                transfers.look(at: transfer.deadline, transfer.id)
            case .placing:
                if let retry = transfer.placementRetry { transfers.look(at: retry.at, transfer.id) }
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
}

/// The smallest goes first.
private struct TransferRank: Comparable {
    let isForeground: Bool
    /// Connections of its app.
    let running: Int64
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
