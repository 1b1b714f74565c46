import DeviceCore
import Vocabulary

/// Between boot and the first unlock nothing is started in the background (C10).
final class NothingBeforeUnlock: Invariant {
    let name = "nothing runs before the first unlock"

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        guard world.value(.locked) == 2 else { return nil }
        for effect in turn.performed {
            let launch: LaunchID
            switch effect {
            case .spawn(let id, let spec):
                guard spec.weight == .background else { continue }
                launch = id
            case .thaw(let id), .tell(let id, .offer): launch = id
            case .save, .attach, .probe, .cancelProbe, .freeze, .terminate, .kill, .release,
                .measure, .checkLocks, .weigh, .limitMemory, .setDeadline, .tell, .holdAwake,
                .watchIdle,
                .notifyFailures,
                .watchUse,
                .reply, .arm, .announce:
                continue
            }
            if device.launch(launch)?.launch.isTest == true { continue }
            return "launch \(launch) runs, and nobody has unlocked the device"
        }
        return nil
    }
}
