import DeviceCore
import Vocabulary

/// A daemon that was asked to end starts no program any more: it would not see to it.
final class NothingBegunAtTheEnd: EffectInvariant {
    let name = "a daemon that stops begins nothing"

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        guard world.isStopping else { return nil }
        switch effect {
        case .spawn(let launch, _), .attach(let launch, _, _), .probe(let launch, _, _, _, _):
            return "launch \(launch) is begun"
        case .notifyFailures(let app, _, _, _):
            return "the user's command about \(app) is begun"
        case .save, .cancelProbe, .freeze, .thaw, .terminate, .kill, .release, .measure,
            .checkLocks, .weigh, .limitMemory, .transfer, .setDeadline, .tell, .holdAwake,
            .inhibitIdle,
            .sleepAgain,
            .watchIdle,
            .watchUse, .reply,
            .arm,
            .announce:
            return nil
        }
    }
}
