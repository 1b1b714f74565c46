import DeviceCore
import Vocabulary

/// A launch ends on a confirmed exit only: nothing is given up that still lives.
final class EndsConfirmed: EffectInvariant {
    let name = "launches end on a confirmed exit only"
    private var released: Set<LaunchID> = []

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        switch effect {
        case .release(let launch):
            released.insert(launch)
            guard let process = world.process(launch), !process.isDead else { return nil }
            return "launch \(launch) is released while its process lives"
        case .spawn(let launch, _), .freeze(let launch), .thaw(let launch):
            return released.contains(launch) ? "launch \(launch) is used after its end" : nil
        case .save, .attach, .probe, .cancelProbe, .terminate, .kill, .measure, .checkLocks,
            .weigh, .limitMemory, .transfer, .setDeadline, .tell, .holdAwake,
            .inhibitIdle, .sleepAgain,
            .watchIdle,
            .notifyFailures,
            .watchUse, .reply, .arm, .announce:
            return nil
        }
    }

    /// Every process that lives belongs to a launch that is on record.
    func ended(_ turn: Turn, _ world: World) -> String? {
        guard turn.isStart, !turn.wasKilled else { return nil }
        for process in world.processes where !process.isDead {
            if !world.store.contains(RecordKey(.launch, "\(process.launch)")) {
                return "nobody looks after the process of launch \(process.launch)"
            }
        }
        return nil
    }
}
