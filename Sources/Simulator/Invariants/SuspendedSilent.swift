import DeviceCore
import Vocabulary

/// A suspended app is frozen, which is why its processor time does not change at all, and it is
/// sent nothing. What the user looks at is not; what has nothing to do is.
final class SuspendedSilent: EffectInvariant {
    let name = "suspended apps use nothing and are sent nothing"
    private var idleSince: [LaunchID: AwakeTime] = [:]

    func restored(_ world: World) -> String? {
        idleSince.removeAll()
        return nil
    }

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        switch effect {
        case .tell(let launch, let message):
            guard world.process(launch)?.isFrozen == true else { return nil }
            return "launch \(launch) is frozen and told \(message)"
        case .save, .spawn, .attach, .probe, .cancelProbe, .freeze, .thaw, .terminate, .kill,
            .release, .measure, .checkLocks, .weigh, .limitMemory, .transfer, .setDeadline,
            .holdAwake,
            .inhibitIdle,
            .sleepAgain,
            .watchIdle, .notifyFailures, .watchUse, .reply, .arm, .announce:
            return nil
        }
    }

    func idled(_ world: World) -> String? {
        let now = world.now.awake
        for process in world.processes where !process.isDead {
            if process.isFrozen, process.weight == .foreground {
                return "launch \(process.launch) is in front of the user, and frozen"
            }
            guard isIdle(process, world) else {
                idleSince[process.launch] = nil
                continue
            }
            let since = max(idleSince[process.launch] ?? now, process.talk.lastWord)
            idleSince[process.launch] = since
            if now - since > .seconds(20) {
                return "launch \(process.launch) has nothing to do, and is not frozen"
            }
        }
        return nil
    }

    private func isIdle(_ process: VirtualProcess, _ world: World) -> Bool {
        !process.isFrozen && process.weight == .background && process.command == nil
            && process.talk.isConnected && process.talk.work.isEmpty && !process.talk.hasTasks
            && !process.isToldToEnd
            && world.plans[process.app].isUsable
    }
}
