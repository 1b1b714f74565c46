import DeviceCore
import Vocabulary

/// Processing is stopped, or told to stop, in the very turn in which the user comes back or the
/// power that it needs goes.
final class PromptStop: Invariant {
    let name = "processing stops when the user comes back or its power goes"
    private var idle = true
    private var power = true

    func restored(_ world: World) -> String? {
        (idle, power) = (true, true)
        return nil
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        guard !turn.wasRolledBack, !turn.wasKilled else { return nil }
        let isIdle = world.value(.idle)
        let hasPower = world.value(.power)
        let userCame = idle && isIdle == 0
        let powerWent = power && hasPower == 0
        (idle, power) = (isIdle == 1, hasPower == 1)
        guard userCame || powerWent else { return nil }
        // What the user looks at goes on.
        for process in world.processes
        where process.isRunning && process.weight == .background && !process.isToldToEnd {
            let launch = process.launch
            if process.command == .processing,
                !turn.started.contains(where: { $0.launch == launch }),
                userCame || needsPower(world.watch.work.request(of: launch), world)
            {
                return "launch \(launch) goes on"
            }
            guard process.talk.isConnected else { continue }
            for work in process.talk.work where work.isProcessing {
                guard work.begun != nil, work.warned == nil,
                    userCame || needsPower(world.watch.work.request(of: work.id), world)
                else { continue }
                return "delivery \(work.id) of launch \(launch) goes on"
            }
        }
        return nil
    }

    private func needsPower(_ request: UInt64?, _ world: World) -> Bool {
        request.flatMap { world.watch.work.byNumber[$0] }?.needs.power ?? false
    }
}
