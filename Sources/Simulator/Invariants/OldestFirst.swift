import DeviceCore
import Vocabulary

/// When memory is short, suspended apps end in order of last use (A10). It keeps count of use by
/// itself: by what the user did, and what is in front of the user. The history must tell what the
/// daemon did to them.
final class OldestFirst: EffectInvariant {
    let name = "memory is taken from the longest unused first"
    /// Since the machine was started: the device keeps the order over a clock that is set.
    private var lastUse: [AppID: BootTime] = [:]
    /// Of the clock, beside the time that has passed.
    private var offset: Int64?
    private var foreground: [AppID] = []
    /// What the user has left. A daemon that is killed at that moment weighs it later.
    private var hasLeft: [AppID] = []
    /// Suspended apps that were killed: what was frozen then, and had been unused for longer.
    private var killed: [AppID: String?] = [:]
    private var killedNow: [VirtualProcess] = []

    func rebooted() {
        // Power may have taken along what was not synced: who was used when, the device cannot say.
        lastUse.removeAll()
        foreground.removeAll()
        hasLeft.removeAll()
        killed.removeAll()
        offset = nil
    }

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        if case .kill(let launch) = effect, let process = world.process(launch),
            process.isFrozen, process.command == nil
        {
            killedNow.append(process)
        }
        return nil
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        for process in killedNow {
            // What else happened in the turn may have come before or after the decision.
            let isCertain =
                turn.entries.count == 1 && !turn.hasUse && !turn.isStart && !turn.wasKilled
            killed[process.appID] = .some(isCertain ? spared(for: process, world) : nil)
        }
        killedNow.removeAll()
        recordUse(turn, world)
        for line in turn.lines {
            guard case .ended(let result, _) = line.entry,
                let older = killed.removeValue(forKey: line.app)
            else { continue }
            switch result {
            case .terminated(.memoryPressure):
                if let older { return older }
            case .terminated, .unknown: break
            case .newData, .noData, .failed, .succeeded, .unsuccessful, .expired, .interrupted,
                .crashed, .exited, .notStarted, .retry:
                return "\(line.app) was killed, and the history says: \(result.summary)"
            }
        }
        for start in turn.started { killed[start.app] = nil }
        return nil
    }

    /// A suspended app that was used earlier, and is left alone.
    private func spared(for process: VirtualProcess, _ world: World) -> String? {
        guard let used = lastUse[process.appID] else { return nil }
        for other in world.processes
        where other.isFrozen && !other.isToldToEnd && other.command == nil {
            guard let usedBefore = lastUse[other.appID], usedBefore < used else { continue }
            return """
                launch \(process.launch) of \(process.appID) is ended before \(other.launch) of \
                \(other.appID), which was used earlier: \(usedBefore) < \(used)
                """
        }
        return nil
    }

    private func recordUse(_ turn: Turn, _ world: World) {
        recordClock(turn)
        for line in turn.lines {
            guard case .use(let kind) = line.entry else { continue }
            switch kind {
            case .opened, .seen: hasLeft.removeAll { $0 == line.app }
            case .left, .closed: hasLeft.append(line.app)
            }
            if kind != .closed { lastUse[line.app] = turn.moment.boot }
        }
        // A start, a change of weight and an end are its doing.
        guard turn.deeds > 0 else { return }
        var inFront: [AppID] = []
        for process in world.processes where !process.isDead && process.weight == .foreground {
            inFront.append(process.appID)
        }
        for app in foreground where !inFront.contains(app) && !hasLeft.contains(app) {
            lastUse[app] = turn.moment.boot
        }
        hasLeft.removeAll { !inFront.contains($0) }
        foreground = inFront
    }

    /// When the clock is set back, the device lowers later dates to the present, so that their
    /// order is lost: of all dates if it starts then, of those of the last minute if it sees the
    /// step. What it saw in a turn that came to nothing is seen by the next, perhaps by a start.
    private func recordClock(_ turn: Turn) {
        if turn.wasRolledBack { return }
        let now = turn.moment.boot
        let found = turn.moment.wall.nanoseconds - now.nanoseconds
        if turn.wasKilled {
            // A step forward may be stored.
            offset = offset.map { max($0, found) }
            return
        }
        defer { offset = found }
        guard let offset, found < offset else { return }
        lastUse =
            turn.isStart
            ? [:] : lastUse.mapValues { now - $0 <= .minutes(1) ? now : $0 }
    }
}

extension Turn {
    /// An app was used in it.
    fileprivate var hasUse: Bool {
        lines.contains { line in
            if case .use = line.entry { true } else { false }
        }
    }
}
