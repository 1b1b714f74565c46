import Vocabulary

/// Which transfers run.
extension Device {
    /// After the event itself: dates that have come, what may not go on, what may begin.
    mutating func settleTransfers(othersFollow: Bool, _ transition: inout Transition) {
        while let id = transfers.popDue(at: transition.now.wall) { look(at: id, &transition) }
        transfers.dropStaleDates()
        if transfers.next <= transition.now.boot { transfers.isTouched = true }
        if transfers.mustAskRunning {
            transfers.mustAskRunning = false
            stopHeldTransfers(&transition)
        }
        // What a turn lets begin is found once, after the last of its events.
        guard transfers.isTouched, !othersFollow else { return }
        if transfers.isCluttered { requeueTransfers(at: transition.now) }
        transfers.isTouched = false
        beginTransfers(&transition)
    }

    /// Begun and not ended, with those that are only made durable. Each has its file open.
    static let mostRunningTransfers = 256

    /// Each lane is looked at once, and again when its first has begun: there may be thousands.
    private mutating func beginTransfers(_ transition: inout Transition) {
        var held = GateSet()
        var next = BootTime.distantFuture
        let now = transition.now
        var lanes = lanesWithRoom(at: now)
        while let (index, first) = nextTransfer(of: &lanes, at: now) {
            guard let work = transfers[first.id]?.work else { return }
            let answer = holds(on: work, of: first.app, at: now)
            if answer.isEmpty {
                transfers.removeHead(ofLane: first.lane)
                if !askBeforeBeginning(first.id, of: first.app, &transition) {
                    begin(first.id, &transition)
                }
            } else {
                lanes[index].removeFirst(first)
                held.formUnion(answer.gates)
                next = min(next, answer.next)
            }
        }
        (transfers.heldBy, transfers.next) = (held, next)
        transfers.removeEmptyLanes()
    }

    /// By app, in no order that counts.
    private mutating func lanesWithRoom(at now: Moment) -> [AppLanes] {
        guard transfers.running.count < Self.mostRunningTransfers else { return [] }
        let used = UsedConnections(transfers.connections, settings)
        var lanes: [AppLanes] = []
        var indices: [Int: Int] = [:]
        for lane in transfers.lanes.indices {
            // At most so much; its first is not looked at in vain.
            let host = transfers.lanes[lane].key.host
            guard used.isRoom(for: host, ahead: TransferPaces.mostAhead),
                let first = firstWithRoom(ofLane: lane, used, at: now)
            else { continue }
            let index = indices[first.app] ?? lanes.count
            if index == lanes.count {
                indices[first.app] = index
                lanes.append(AppLanes())
            }
            lanes[index].insert(first)
        }
        return lanes
    }

    /// Whose turn it is: an app in the foreground first, then whoever has fewest running, then
    /// what has the first place. Within an app its priorities go before places. Nil: nobody's, or
    /// there is no room. `index`: of its app.
    private mutating func nextTransfer(
        of lanes: inout [AppLanes],
        at now: Moment
    ) -> (index: Int, first: NextTransfer)? {
        guard transfers.running.count < Self.mostRunningTransfers else { return nil }
        let used = UsedConnections(transfers.connections, settings)
        var best: (index: Int, first: NextTransfer, rank: TransferRank)?
        for index in lanes.indices {
            let waiting = firstWithRoom(of: &lanes[index].waitingForMoment, used, at: now)
            let other = firstWithRoom(of: &lanes[index].others, used, at: now)
            // What waits for no better moment is overtaken by none that is only small.
            let both = [waiting, other].compactMap(\.self)
            guard let first = both.min(by: { $0.turn.plain < $1.turn.plain }) else { continue }
            let rank = TransferRank(
                isForeground: apps[first.app].isForeground,
                running: used.count(ofApp: first.app),
                place: first.turn.place
            )
            if let best, best.rank <= rank { continue }
            best = (index: index, first: first, rank: rank)
        }
        return best.map { (index: $0.index, first: $0.first) }
    }

    /// Of lanes of one app the one whose turn it is. Who has no room now has none until something
    /// has ended, and is left out.
    private mutating func firstWithRoom(
        of lanes: inout Heap<NextTransfer>,
        _ used: UsedConnections,
        at now: Moment
    ) -> NextTransfer? {
        while let known = lanes.first {
            let first = firstWithRoom(ofLane: known.lane, used, at: now)
            if first?.id == known.id { return known }
            // Its first has begun, or asks its app.
            _ = lanes.removeFirst()
            if let first { lanes.insert(first) }
        }
        return nil
    }

    private mutating func firstWithRoom(
        ofLane lane: Int,
        _ used: UsedConnections,
        at now: Moment
    ) -> NextTransfer? {
        guard let id = transfers.head(ofLane: lane, at: now.wall), let transfer = transfers[id]
        else { return nil }
        let key = transfers.lanes[lane].key
        let ahead =
            transfer.mayBeginAhead ? transfers.paces.ahead(from: key.host, at: now.boot) : 0
        guard used.isRoom(for: key.host, ahead: ahead) else { return nil }
        return NextTransfer(
            app: key.app,
            waitsForMoment: !key.hasWaited,
            turn: key.turn(of: transfer),
            lane: lane,
            id: id
        )
    }

    /// The first of a lane.
    private struct NextTransfer: Hashable, Sendable, Codable, Comparable {
        let app: Int
        /// Only among these do sizes count.
        let waitsForMoment: Bool
        let turn: TransferTurn
        let lane: Int
        let id: TransferID

        static func < (left: Self, right: Self) -> Bool {
            (left.turn, left.lane) < (right.turn, right.lane)
        }
    }

    /// The firsts of an app's lanes that no gate is known to hold.
    private struct AppLanes {
        var waitingForMoment = Heap<NextTransfer>()
        var others = Heap<NextTransfer>()

        mutating func insert(_ first: NextTransfer) {
            if first.waitsForMoment {
                waitingForMoment.insert(first)
            } else {
                others.insert(first)
            }
        }

        /// It is the first of its kind.
        mutating func removeFirst(_ first: NextTransfer) {
            _ = first.waitsForMoment ? waitingForMoment.removeFirst() : others.removeFirst()
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
            sizeLimit: settings.downloadLimit,
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
