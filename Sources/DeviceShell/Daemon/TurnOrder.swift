internal import DeviceCore
internal import Vocabulary

// In which order the device hears of what one turn of the loop has brought.

extension Event {
    /// Whether a run may have to stop for it, to go on later.
    var mayInterrupt: Bool {
        switch self {
        case .timer, .clockChanged, .settings, .condition, .user: true
        case .started, .stopping, .sleep, .manifests, .process, .app, .used, .triggered, .transfer,
            .storageRecovered:
            false
        }
    }

    fileprivate var isOfSleep: Bool { if case .sleep = self { true } else { false } }

    /// The launch whose process has ended with it.
    fileprivate var endedLaunch: LaunchID? {
        if case .process(let id, .exited) = self { id } else { nil }
    }

    /// The launch that it is about, or that has said it.
    fileprivate var ownLaunch: LaunchID? {
        switch self {
        case .process(let id, _), .app(let id, _): id
        case .started, .stopping, .timer, .clockChanged, .sleep, .manifests, .settings,
            .condition, .used, .triggered, .transfer, .user, .storageRecovered:
            nil
        }
    }

    /// Nothing of the same turn comes before it.
    var opensTurn: Bool {
        switch self {
        case .started, .stopping: true
        case .timer, .clockChanged, .sleep, .manifests, .settings, .condition, .process, .app,
            .used, .triggered, .transfer, .user, .storageRecovered:
            false
        }
    }
}

extension [TimedEvent] {
    /// A process that had exited by itself was not stopped by another event of the same turn, so
    /// its exit comes first and its run is not repeated. What an app has said stays before its
    /// exit, because its work may be complete with that. When a deadline has passed, everything
    /// that processes said and did comes first, at a moment before that deadline: a daemon that
    /// was late must not expire a run that is over.
    ///
    /// `due`: when the device wants to be asked next; `last`: when it heard the last event.
    mutating func putEndsFirst(before due: BootTime?, since last: Moment?) {
        guard let first = firstIndex(where: { !$0.event.opensTurn && !$0.event.isOfSleep })
        else { return }
        let heard = first > startIndex ? self[first - 1].moment : last
        let moment = self[first].moment.moved(before: due, since: heard)
        let isDue = moment != self[first].moment
        let ended = self[first...].compactMap(\.event.endedLaunch)
        guard isDue || !ended.isEmpty else { return }
        var early: [TimedEvent] = []
        var late: [TimedEvent] = []
        for timed in self[first...] {
            if let launch = timed.event.ownLaunch, isDue || ended.contains(launch) {
                early.append(TimedEvent(timed.event, at: moment))
            } else {
                late.append(timed)
            }
        }
        replaceSubrange(first..., with: early + late)
    }
}

extension Moment {
    /// Just before `due`, if that has passed; never before `last`.
    fileprivate func moved(before due: BootTime?, since last: Moment?) -> Moment {
        guard let due, let last, boot >= due else { return self }
        let wanted = boot - due + .milliseconds(1)
        let back = min(wanted, boot - last.boot, awake - last.awake, wall - last.wall)
        guard back > .zero else { return self }
        var early = self
        (early.boot, early.awake, early.wall) = (boot - back, awake - back, wall - back)
        return early
    }
}
