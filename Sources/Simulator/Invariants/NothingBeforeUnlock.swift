import DeviceCore
import Vocabulary

/// Between boot and the first unlock nothing is started in the background (C10), but what a
/// developer tests.
final class NothingBeforeUnlock: CallInvariant {
    let name = "nothing runs before the first unlock"
    private var tested: Set<AppID> = []

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        if case .user(.simulate(_, let app, _, _), _) = event { tested.insert(app) }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {}

    func rebooted() { tested.removeAll() }

    func ended(_ turn: Turn, _ world: World) -> String? {
        guard world.value(.locked) == 2 else { return nil }
        for (launch, app) in turn.begunInBackground(world) where !tested.contains(app) {
            return "launch \(launch) of \(app) runs, and nobody has unlocked the device"
        }
        return nil
    }
}
