import ClientCore
import DeviceCore
import Vocabulary

/// What an app that runs was told last of the device is what the sensors say; and it is told only
/// what it does not know.
final class ConditionsTold: ClientInvariant {
    let name = "apps know the device"

    func took(_ event: ClientEvent, _ client: VirtualClient, _ world: World) {}

    func performed(_ effect: ClientEffect, _ client: VirtualClient, _ world: World) -> String? {
        guard case .conditionsChanged(let conditions) = effect else { return nil }
        return conditions == client.device
            ? "launch \(client.process.launch) is told what it knows" : nil
    }

    func idled(_ world: World) -> String? {
        guard world.isSettled else { return nil }
        for process in world.processes {
            guard let client = process.clients.first, client.isListening(world),
                process.link.hasFinishedLaunching, let told = client.device
            else { continue }
            let conditions = world.conditionsForApps
            if told != conditions {
                return "launch \(process.launch) was told \(told), and there is \(conditions)"
            }
        }
        return nil
    }
}

/// The desktop is kept from locking the screen while an app wants that and its user looks at it,
/// and not longer. A screen that is locked all the same goes off.
final class IdleInhibited: Invariant {
    let name = "the screen stays on only in the foreground"

    func ended(_ turn: Turn, _ world: World) -> String? {
        guard world.isIdleInhibited, !turn.wasKilled, world.storeTrouble == nil,
            !world.processes.contains(where: { $0.weight == .foreground })
        else { return nil }
        return "the screen stays on, and no app is in the foreground"
    }

    func idled(_ world: World) -> String? {
        guard world.isSettled else { return nil }
        let all = world.processes.filter { $0.weight == .foreground }
        let inFront = all.filter { !$0.clients.isEmpty }
        // What another one has said may be on its way, and so may the end of a connection.
        guard all.allSatisfy({ $0.isDead || $0.clients.first?.isListening(world) ?? false }) else {
            return nil
        }
        guard
            inFront.allSatisfy({ world.clock.elapsed - $0.clients[0].idleTimerSetAt > .seconds(5) })
        else { return nil }
        let isLocked = world.known(.locked).map { $0 > 0 } ?? false
        let isWanted =
            !isLocked && inFront.contains { !$0.isDead && $0.clients[0].disablesIdleTimer }
        guard isWanted != world.isIdleInhibited else { return nil }
        // The end of an app that wanted it may be on its way.
        let isEnding = inFront.contains {
            $0.clients[0].disablesIdleTimer
                && $0.diedAt.map { world.clock.elapsed - $0 <= .seconds(5) } ?? false
        }
        if !isWanted, isEnding { return nil }
        return isWanted
            ? "an app in the foreground wants the screen on, and it may go off"
            : "the screen stays on, and nobody wants that"
    }
}

extension World {
    /// What there is to be told, as the sensors say it.
    fileprivate var conditionsForApps: DeviceConditions {
        var conditions = DeviceConditions()
        conditions.battery = known(.battery).map(Int64.init)
        conditions.power = known(.power).map { $0 > 0 }
        conditions.network = known(.network).map { Word([.off, .portal, .on][$0]) }
        conditions.metered = known(.metered).map { $0 > 0 }
        conditions.lowData = known(.lowData).map { $0 > 0 }
        conditions.lowPower = known(.lowPower).map { $0 > 0 }
        conditions.thermal = known(.thermal).map { Word(ThermalLevel.allCases[$0]) }
        return conditions
    }

    fileprivate func known(_ condition: Condition) -> Int? {
        switch reading(condition) {
        case .value(let value): value
        case .noDevice: condition.harmless
        case .lost, .silent, nil: nil
        }
    }
}
