import Vocabulary

/// After the event itself: deadlines that have passed, then what may start, then the timers.
extension Device {
    mutating func settle(rounds limit: Int, _ transition: inout Transition) {
        endSleepIfDue(&transition)
        for index in apps.due(at: transition.now.boot) { touch(index) }
        if let check = memoryCheckAt, check <= transition.now.awake { relieveMemory(&transition) }
        endPause(&transition)
        var ready: [Candidate] = []
        var indices = UniqueList<Int>()
        // Starting or ending a run may touch other apps; each round settles at least one thing.
        var rounds = 0
        while true {
            if touched.isEmpty, ready.isEmpty { ready = confirmNextStart(&transition) }
            guard !touched.isEmpty || !ready.isEmpty else { break }
            rounds += 1
            guard rounds <= limit else {
                giveUpSettling(ready, &transition)
                return
            }
            swap(&indices, &touched)
            for index in indices.elements where apps.isUsed(index) {
                advanceLaunches(of: index, &transition)
                if !apps[index].record.sessions.isEmpty { settleSessions(of: index, &transition) }
                forgetIfOver(index, &transition)
                guard apps.isUsed(index) else { continue }
                ready.append(contentsOf: evaluateRequests(of: index, &transition))
            }
            indices.removeAll()
            if touched.isEmpty { startNext(&ready, &transition) }
        }
        // The larger room is kept for the next event.
        if indices.elements.capacity > touched.elements.capacity { swap(&indices, &touched) }
    }

    /// Our own mistake, if it happens: the device lives on, and says so.
    private mutating func giveUpSettling(_ ready: [Candidate], _ transition: inout Transition) {
        for candidate in ready { touch(candidate.app) }
        guard let index = touched.elements.first(where: { apps.isUsed($0) }) else { return }
        appendHistory(
            .note("too much work at once; the rest follows in a moment"),
            app: index,
            &transition
        )
    }

    /// Something that only waits for its turn.
    struct Candidate: Hashable, Sendable {
        var app: Int
        var request: RequestID
        var since: BootTime
    }

    /// Starts the one that has waited longest and still may. Those that may not, because of what
    /// was started before them, wait on with their gates remembered.
    private mutating func startNext(_ ready: inout [Candidate], _ transition: inout Transition) {
        ready.sort { ($0.since, $0.request) < ($1.since, $1.request) }
        for (index, next) in ready.enumerated() {
            guard apps.isUsed(next.app), let request = apps[next.app].index(of: next.request),
                apps[next.app].isWaiting(apps[next.app].requests[request])
            else { continue }
            let work = apps[next.app].requests[request].work(at: transition.now.wall)
            let answer = holds(on: work, of: next.app, at: transition.now)
            if answer.isEmpty {
                start(apps[next.app].requests[request], of: next.app, &transition)
                ready.removeFirst(index + 1)
                return
            }
            var told = apps[next.app].toldHolds
            told.formUnion(self.told(answer.gates))
            apps[next.app].tellHolds(told, at: transition.now.wall)
            if apps[next.app].requests[request].trigger.spendsRefreshBudget {
                var held = apps[next.app].refreshHeldBy
                held.formUnion(answer.gates)
                setRefreshHeld(next.app, by: held)
            }
            apps.waits(for: answer, next.app)
        }
        ready.removeAll()
    }

    /// Looks at all waiting requests of an app: drops what is too old, remembers when the next
    /// answer can change, and returns what is ready but for its turn.
    mutating func evaluateRequests(of index: Int, _ transition: inout Transition)
        -> [Candidate]
    {
        var ready: [Candidate] = []
        var next = BootTime.distantFuture
        var (held, told, refreshHeld) = (GateSet(), GateSet(), GateSet())
        var waitsForIdle = false
        dropExpired(of: index, &transition)
        // One for all: making it is not for nothing.
        var context = gateContext(of: index, at: transition.now)
        for requestIndex in apps[index].requests.indices {
            let request = apps[index].requests[requestIndex]
            guard apps[index].isWaiting(request) else { continue }
            let answer = context.holds(on: request.work(at: transition.now.wall))
            held.formUnion(answer.gates)
            told.formUnion(self.told(answer.gates))
            if request.trigger.spendsRefreshBudget { refreshHeld.formUnion(answer.gates) }
            waitsForIdle = waitsForIdle || answer.gates == .deviceInUse
            next = min(next, answer.next)
            let isReady = answer.isEmpty || answer.gates == .runSlots
            let since = isReady ? readyTime(of: request, index, transition.now) : nil
            if answer.isEmpty, let since {
                ready.append(Candidate(app: index, request: request.id, since: since))
            }
            if since != request.readySince { apps[index].requests[requestIndex].readySince = since }
        }
        setRefreshHeld(index, by: refreshHeld)
        apps[index].tellHolds(told, at: transition.now.wall)
        if held.overlaps(.unused) { recordUnused(index, &transition) }
        var wait = AppWait(start: next, heldBy: held, waitsForIdle: waitsForIdle)
        wait.look = nextDeadline(of: index, at: transition.now)
        apps.set(wait, of: index)
        return ready
    }

    /// What only waited for its date, and perhaps for a slot, has waited for its turn since then,
    /// even if nobody looked.
    private func readyTime(of request: Request, _ index: Int, _ now: Moment) -> BootTime {
        if let known = request.readySince { return known }
        guard let date = request.earliest, date <= now.wall,
            apps.wait(of: index).heldBy.contains(.earliest),
            apps.wait(of: index).heldBy.isSubset(of: .ofDates)
        else { return now.boot }
        return now.boot - (now.wall - date)
    }

    private mutating func setRefreshHeld(_ index: Int, by gates: GateSet) {
        refreshPolicy.gatesChanged(from: apps[index].refreshHeldBy, to: gates)
        apps[index].refreshHeldBy = gates
    }

    /// The week rule begins to hold an app: once in the history (C4).
    private mutating func recordUnused(_ index: Int, _ transition: inout Transition) {
        guard apps[index].record.unusedSince == nil else { return }
        apps[index].record.unusedSince = transition.now.wall
        save(app: index)
        appendHistory(
            .note("not used for \(settings.unusedLimit): it waits until you open it"),
            app: index,
            &transition
        )
    }

    /// Of the gates that hold a request those that are told: only what nothing else holds waits
    /// for its turn, or has the load read.
    func told(_ gates: GateSet) -> GateSet {
        var told = gates
        if conditions[.idle].sensing == .unknown, told != .deviceInUse {
            told.subtract(.deviceInUse)
        }
        if told != .runSlots { told.subtract(.runSlots) }
        return told
    }

    func holds(on work: Work, of index: Int, at now: Moment) -> GateHolds {
        gateContext(of: index, work, at: now).holds()
    }

    func gateContext(of index: Int, _ work: Work = .nothing, at now: Moment) -> GateContext {
        GateContext(now: now, device: facts, app: apps[index], work: work)
    }

    /// Nil: the row does not apply.
    func context(
        _ row: GateRow,
        _ work: Work,
        of index: Int,
        at now: Moment
    ) -> GateContext? {
        guard row.kind.concerns(work, row.cells[work.trigger.column]) else { return nil }
        return gateContext(of: index, work, at: now)
    }

    /// Requests of an app that was not used for a month (C4), and of one that is gone as long.
    private mutating func dropExpired(of index: Int, _ transition: inout Transition) {
        guard apps[index].requests.contains(where: \.isDroppable) else { return }
        let app = apps[index]
        let (gone, unused) = dropTimes(of: app)
        guard min(gone, unused) <= transition.now.wall else { return }
        let limit = settings.droppedAfter
        let reason =
            gone <= transition.now.wall
            ? "its app has been gone for \(limit)" : "the app was not used for \(limit)"
        for request in app.requests where request.isDroppable {
            drop(request, of: index, reason: reason, &transition)
        }
    }

    /// When the requests of an app are given up because it is gone, and because it was not used;
    /// distant future: not by time alone.
    func dropTimes(of app: AppState) -> (gone: WallTime, unused: WallTime) {
        let limit = settings.droppedAfter
        return (
            app.goneSince.map { $0 + limit } ?? .distantFuture,
            app.lastKnownUse.map { $0 + limit } ?? .distantFuture
        )
    }

    mutating func drop(
        _ request: Request,
        of index: Int,
        reason: String,
        _ transition: inout Transition
    ) {
        apps[index].requests.removeAll { $0.id == request.id }
        forget(request: request.id, of: index)
        if request.trigger.spendsRefreshBudget { refreshPolicy.requestsChanged(of: index) }
        appendHistory(
            .dropped(identifier: request.identifier, reason: reason),
            app: index,
            &transition
        )
    }

    private mutating func forgetIfOver(_ index: Int, _ transition: inout Transition) {
        guard let end = forgetTime(of: index, transition.now), end <= transition.now.wall else {
            return
        }
        save(.gone(RecordKey(.app, apps[index].id.name)))
        apps.remove(at: index)
    }

    /// Asks for the next instants at which an answer can change, when they are others than before.
    mutating func rearm(_ transition: inout Transition) {
        var next = apps.wait
        if !touched.isEmpty { next.look = transition.now.boot }
        if let end = sleep.endsAt, !sleep.withheld.isEmpty {
            next.look = min(next.look, transition.now.boot(of: end))
        }
        if let check = memoryCheckAt { next.look = min(next.look, transition.now.boot(of: check)) }
        if let decision = refreshPolicy.decideAt {
            let time = transition.now.boot(of: decision)
            if refreshPolicy.wakes {
                next.start = min(next.start, time)
            } else {
                next.look = min(next.look, time)
            }
        }
        next.look = min(next.look, nextLookAtTransfers(transition.now))
        // Work that waits for the end of the pause wakes the machine by itself.
        switch pause {
        case .none, .untilContinued: break
        case .until(let end): next.look = min(next.look, end)
        case .untilDate(let end): next.look = min(next.look, transition.now.boot(of: end))
        }
        let start = next.start
        if !mayWakeMachine { (next.start, next.look) = (.distantFuture, min(next.look, start)) }
        // Never for this very instant: what could be done now has been done.
        let soonest = transition.now.boot + .milliseconds(1)
        func armed(_ time: BootTime) -> BootTime? {
            time == .distantFuture ? nil : max(time, soonest)
        }
        updateHold(&transition)
        updateIdleInhibition(&transition)
        sleepAgain(next: start, &next.look, &transition)
        if isTimerSpent { (self.armed, isTimerSpent) = (Timers(), false) }
        let wanted = Timers(alarm: armed(next.start), timer: armed(next.look))
        if wanted != self.armed {
            self.armed = wanted
            transition.emit(.arm(wanted))
        }
        let watchesIdle = next.waitsForIdle && conditions.idleIsEstimated
        if watchesIdle != isIdleWatched {
            isIdleWatched = watchesIdle
            transition.emit(.watchIdle(watchesIdle))
        }
    }

    /// Work in an app that the user looks at has no grant, and no claim on the device's sleep.
    private mutating func updateHold(_ transition: inout Transition) {
        // A download that the machine sleeps over would begin anew, or take all night.
        let hold = !transfers.running.isEmpty || liveLaunches.count(.timedRun) > 0
        if hold != isHeldAwake {
            isHeldAwake = hold
            transition.emit(.holdAwake(hold))
        }
    }

    mutating func appendHistory(
        _ entry: HistoryLine.Entry,
        app index: Int,
        _ transition: inout Transition
    ) {
        let line = HistoryLine(
            at: transition.now.wall,
            utcOffset: transition.now.utcOffset,
            app: apps[index].id,
            entry: entry
        )
        save(.line(line))
        transition.emit(.announce(line))
    }
}
