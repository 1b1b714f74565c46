import DeviceCore
import Vocabulary

/// No run takes longer than it was granted, in awake time: told from when programs ran in the
/// background, what they were given, and the settings. While no daemon runs, or the store fails,
/// nobody can keep the time: what is over by then is ended soon after.
final class GrantsBounded: EffectInvariant {
    let name = "no grant exceeds its length"
    /// By launch: until when it may run at the most.
    private var limits: [LaunchID: AwakeTime] = [:]
    /// The first of them.
    private var next = AwakeTime.distantFuture
    private var graceUntil = AwakeTime(nanoseconds: .min)
    private var hadLongGrant = false

    func rebooted() {
        limits.removeAll()
        graceUntil = AwakeTime(nanoseconds: .min)
    }

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        switch effect {
        case .weigh(let launch, .background):
            if let process = world.process(launch), process.weight == .foreground {
                let longest = max(world.settings.finishUp, grant(process, world))
                extend(launch, by: longest + world.settings.suspendDelay, now)
            }
        case .weigh(let launch, .foreground), .freeze(let launch), .release(let launch):
            limits[launch] = nil
        case .tell(let launch, .offer(let id, let offer)):
            guard let process = world.process(launch), process.weight == .background,
                !process.talk.work.contains(where: { $0.id == id })
            else { break }
            // What joins refreshes ends with them.
            let joins = !process.talk.work.isEmpty && !isProcessing(process)
            if joins && !offer.isProcessing { break }
            extend(launch, by: grant(offer.isProcessing, world), now)
        case .thaw(let launch):
            guard let process = world.process(launch), process.isFrozen else { break }
            extend(launch, by: grant(process, world), now)
        case .save, .spawn, .attach, .probe, .cancelProbe, .terminate, .kill, .measure,
            .checkLocks, .limitMemory, .transfer, .setDeadline, .tell, .holdAwake,
            .inhibitIdle, .sleepAgain,
            .watchIdle,
            .notifyFailures, .watchUse, .reply, .arm, .announce:
            break
        }
        return nil
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        let now = turn.moment
        if turn.isStart || turn.wasRolledBack || world.storeTrouble != nil {
            graceUntil = now.awake + .seconds(12)
        }
        for start in turn.started where start.weight == .background {
            guard let process = world.process(start.launch) else { continue }
            let first = max(grant(process, world), world.settings.launchWatchdog)
            extend(start.launch, by: first, now)
        }
        if turn.wasKilled {
            // Frozen and thawed for its next window, neither of which may have been done.
            for case .thaw(let launch) in turn.entries.flatMap(\.decisions) {
                guard let process = world.process(launch) else { continue }
                extend(launch, by: grant(process, world), now)
            }
        }
        // Processing has longer from the moment on at which the device is idle and charging.
        let hasLongGrant = grant(true, world) == world.settings.processingGrantCharging
        if hasLongGrant != hadLongGrant {
            for process in world.processes where isProcessing(process) {
                extend(process.launch, by: grant(true, world), now)
            }
        }
        hadLongGrant = hasLongGrant
        guard now.awake > next, now.awake > graceUntil, !turn.wasKilled else { return nil }
        next = .distantFuture
        for process in world.processes {
            guard let limit = limits[process.launch] else { continue }
            next = min(next, limit)
            guard now.awake > limit, process.isRunning, process.weight == .background else {
                continue
            }
            if isUnwatched(process, world) {
                extend(process.launch, by: .zero, now)
                continue
            }
            return "launch \(process.launch) runs \(now.awake - limit) longer than it may"
        }
        return nil
    }

    /// A program with a window that nobody watches is never frozen; it has no grant.
    private func isUnwatched(_ process: VirtualProcess, _ world: World) -> Bool {
        guard process.command == nil else { return false }
        let plan = world.plans[process.app]
        return !plan.isUsable || !process.talk.isConnected && process.talk.work.isEmpty
    }

    private func isProcessing(_ process: VirtualProcess) -> Bool {
        process.command == .processing || process.talk.work.contains { $0.isProcessing }
    }

    private func grant(_ process: VirtualProcess, _ world: World) -> Interval {
        grant(isProcessing(process), world)
    }

    private func grant(_ isProcessing: Bool, _ world: World) -> Interval {
        guard isProcessing else { return world.settings.wakeGrant }
        // Where no source tells, the load does.
        let isIdle = world.sensing(.idle) == .unknown || world.value(.idle) == 1
        return isIdle && world.value(.power) == 1
            ? world.settings.processingGrantCharging : world.settings.processingGrant
    }

    /// What a task may take beyond it, what a program may take to end, and a timer that is late.
    private func extend(_ launch: LaunchID, by grant: Interval, _ now: Moment) {
        let end = now.awake + grant + .seconds(15)
        limits[launch] = max(end, limits[launch] ?? end)
        next = min(next, end)
    }
}
