import DeviceCore
import Vocabulary

/// Whatever waits is held by a named gate; what nothing holds is not left waiting.
final class ReasonGiven: Invariant {
    let name = "what does not run has a reason"
    private var next = 0
    private var turns = 0

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        guard !turn.wasKilled, !turn.wasRolledBack, world.storeTrouble == nil else { return nil }
        turns += 1
        for look in turn.launches {
            guard let app = look.app else { continue }
            if let text = check(app, turn, device) { return text }
        }
        guard device.apps.endIndex > 0 else { return nil }
        next = (next + 1) % device.apps.endIndex
        if let text = check(next, turn, device) { return text }
        // A forecast walks through a day: not at every turn. Prime, so that each app has its turn.
        guard turns % 257 == 0, let app = device.apps.at(next) else { return nil }
        for explanation in device.explain(app.id, at: turn.moment) {
            if explanation.sentence.isEmpty { return "\(app.id) is not explained" }
            if explanation.state == .waiting, explanation.holds.isEmpty {
                return "\(app.id) waits for nothing"
            }
        }
        return nil
    }

    /// Between turns: what could have begun some seconds ago has begun.
    func idled(_ device: Device, _ world: World) -> String? {
        // What the device knows since then it could not act on then.
        guard world.now.boot - world.watch.turn.moment.boot > .seconds(5) else { return nil }
        guard device.apps.endIndex > 0 else { return nil }
        next = (next + 1) % device.apps.endIndex
        let isOnItsWay = world.next.map { $0 - world.clock.elapsed <= .milliseconds(1) } ?? false
        if !isOnItsWay, let text = checkConnection(next, device, world) { return text }
        let then = world.now.earlier(by: .seconds(5))
        guard let request = device.heldByNothing(of: next, at: then) else { return nil }
        return "\(device.apps[next].id) \(request.identifier) could have begun at \(then.local)"
    }

    /// What waits for the connection of an app does so only while there is none.
    private func checkConnection(_ index: Int, _ device: Device, _ world: World) -> String? {
        guard let launch = device.apps.at(index)?.mainLaunch, !launch.isConnected,
            launch.ending == nil, let process = world.process(launch.id), !process.isDead,
            process.link.isConnected, process.link.hasFinishedLaunching
        else { return nil }
        return "launch \(launch.id) waits for its app, which is connected"
    }

    private func check(_ index: Int, _ turn: Turn, _ device: Device) -> String? {
        guard let request = device.heldByNothing(of: index, at: turn.moment) else { return nil }
        return "\(device.apps[index].id) \(request.identifier) (\(request.id)) may run, "
            + "and does not"
    }
}

extension Moment {
    fileprivate func earlier(by step: Interval) -> Moment {
        Moment(boot: boot - step, awake: awake - step, wall: wall - step, utcOffset: utcOffset)
    }
}
