import Vocabulary

/// How the run of a request ended.
enum RunEnd: Hashable, Sendable {
    /// It never began: the machine could not start it, or was about to.
    case undone
    /// It was running when the machine went down; nobody knows how far it got.
    case lost
    /// A command ended with this result.
    case command(RunResult)
    /// What was handed to a linked app ended with this result. `wasReceived`: the app has it, and
    /// will not be given it again.
    case delivery(RunResult, wasReceived: Bool)
}

/// What becomes of a request when its run ends, however it ends. The one place for it.
///
/// | the run | a standing request | a submitted request |
/// |---|---|---|
/// | was undone, or lost | waits again | waits again |
/// | of a command, stopped by a condition or asked for again | waits again | waits again |
/// | failed processing, an only task | waits again | if it repeats as well, else it is over |
/// | processing whose end nobody saw, once | waits again | if it repeats as well, else it is over |
/// | of an app, not received | waits again | waits again |
/// | ended otherwise | waits for its next time | if it repeats as well, else it is over |
///
/// A simulated run has a request of its own, which ends with it. A request that was cancelled, or
/// replaced by another, while a launch had it ends with the run.
extension Device {
    mutating func settle(
        _ id: RequestID,
        of index: Int,
        after end: RunEnd,
        _ transition: inout Transition
    ) {
        guard let requestIndex = apps[index].index(of: id) else { return }
        var request = apps[index].requests[requestIndex]
        // An app's tasks share its failures: the success of one would end the wait of another.
        let sharesNone = apps[index].requests.count == 1
        // Nobody may ever see an end: of what ends the daemon, or by itself the machine.
        let isAnother = request.isAnother(since: apps[index].lastEnd(of: request.trigger))
        let waits = AgainWaits(
            failed: sharesNone ? settings.backOff : .zero,
            unseen: isAnother ? .zero : settings.backOff
        )
        if request.mode != .simulated {
            recordEnd(of: request.trigger, in: index, after: end, waits, transition.now)
        }
        if comesBack(request, of: index, after: end) {
            request.waitAgain(after: end, settings, waits, at: transition.now.wall)
            apps[index].requests[requestIndex] = request
            save(app: index, request: id)
        } else if request.isCancelled, request.mode != .simulated, end.hasNoResult,
            !apps[index].hasSuccessor(of: request)
        {
            drop(request, of: index, reason: "cancelled", &transition)
        } else {
            apps[index].requests.remove(at: requestIndex)
            forget(request: id, of: index)
            if case .delivery(let result, wasReceived: true) = end, result.isCutShort {
                announceAgain(request, of: index)
            }
        }
        // The manifest, or the fetch interval, may have changed since the run was decided. While a
        // daemon starts it may not have been read yet; one that is there has been.
        if !end.hasNoResult || apps[index].manifest != nil {
            reconcileStandingRequests(of: index, &transition)
        }
        touch(index)
    }

    private func comesBack(_ request: Request, of index: Int, after end: RunEnd) -> Bool {
        guard request.mode != .simulated, !apps[index].hasSuccessor(of: request) else {
            return false
        }
        if !request.origin.isStanding, request.isCancelled { return false }
        switch end {
        case .undone, .lost: return true
        case .command(let result):
            switch request.origin {
            case .command, .fetch: return apps[index].manifest != nil
            case .submitted, .event, .transfer:
                return request.every != nil || result.isAgain(for: request.trigger)
            }
        case .delivery(_, let wasReceived):
            return !wasReceived || request.origin.isStanding || request.every != nil
        }
    }

    /// When an app last had done what a trigger is for.
    private mutating func recordEnd(
        of trigger: Trigger,
        in index: Int,
        after end: RunEnd,
        _ waits: AgainWaits,
        _ now: Moment
    ) {
        switch end {
        case .undone, .lost: return
        // Stopped in mid-run, failed, or gone unseen is not done: it is due again when its gates
        // open. A refresh has spent what it had.
        case .command(let result):
            if result.isUndone(for: trigger, waits), !trigger.spendsRefreshBudget { break }
            apps[index].record.setLastEnd(of: trigger, now.wall)
        // What never came to the app did nothing, however long the daemon was away.
        case .delivery(.unknown, wasReceived: false): return
        case .delivery: apps[index].record.setLastEnd(of: trigger, now.wall)
        }
        if trigger.spendsRefreshBudget { refreshPolicy.requestsChanged(of: index) }
        save(app: index)
    }
}

extension Request {
    /// It waits as one whose run has ended like this.
    fileprivate mutating func waitAgain(
        after end: RunEnd,
        _ settings: Shared<Settings>,
        _ waits: AgainWaits,
        at now: WallTime
    ) {
        (state, readySince, interruptedAt) = (.pending, nil, nil)
        switch end {
        // The run is still user-initiated.
        case .undone: return
        case .lost: mode = .normal
        case .delivery(_, let wasReceived):
            (mode, decision) = (.normal, nil)
            if wasReceived { repeats(after: now) }
        case .command(let result):
            (mode, decision) = (.normal, nil)
            if result == .retry || result.isUnseen(for: trigger, waits) {
                wait(settings.backOff, from: now)
            }
            if !result.isUndone(for: trigger, waits) { repeats(after: now) }
        }
    }

    private mutating func repeats(after end: WallTime) {
        guard origin == .submitted, every != nil else { return }
        // Its date was for the first run.
        (earliest, span, lastEnd) = (nil, nil, end)
    }
}

extension RunEnd {
    /// No line of a run tells what became of the request: there was none, or nobody knows its end.
    fileprivate var hasNoResult: Bool {
        switch self {
        case .undone, .lost: true
        case .command, .delivery: false
        }
    }
}

extension RunResult {
    /// The app did not say itself that it was done.
    fileprivate var isCutShort: Bool {
        switch self {
        case .crashed, .exited, .expired, .terminated, .unknown: true
        case .newData, .noData, .failed, .succeeded, .unsuccessful, .interrupted, .notStarted,
            .retry:
            false
        }
    }
}

extension Delivery {
    /// Whether the app has it; one that has no handler for it, or declines it, would do so again.
    func wasReceived(_ result: RunResult) -> Bool {
        switch (state, result) {
        case (.waiting, .failed), (.offered, .failed), (.running, _): true
        case (.waiting, _), (.offered, _): false
        }
    }
}
