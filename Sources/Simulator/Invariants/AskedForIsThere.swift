import DeviceCore
import Vocabulary

/// What a caller asked for is there when its work begins, and somebody says so: a sensor that is
/// missing is not taken for a good one.
final class AskedForIsThere: Invariant {
    let name = "what work asks for is there"
    private var begun: Set<UInt64> = []
    /// When the machine last prepared for a sleep or came out of one. A loss of the network that is
    /// said so soon after counts later (`Device.sensed`).
    private var sleptAt: AwakeTime?
    private static let sleepGrace = Interval.minutes(1)

    func ended(_ turn: Turn, _ world: World) -> String? {
        let sleeps = turn.entries.contains { if case .sleep = $0.event { true } else { false } }
        if sleeps { sleptAt = world.now.awake }
        guard !turn.wasRolledBack else { return nil }
        for assignment in turn.assigned {
            guard let needs = world.watch.work.byNumber[assignment.request]?.needs,
                begun.insert(assignment.request).inserted
            else { continue }
            let wanted: [(isAsked: Bool, condition: Condition)] = [
                (needs.power, .power), (needs.network, .network), (needs.unmetered, .metered),
                // It is known in every world.
                (needs.unmetered, .lowData), (needs.unlocked, .locked),
            ]
            for (isAsked, condition) in wanted
            where isAsked && !isTold(of: condition, after: assignment.launch, in: turn) {
                if isOfNetwork(condition), hasJustSlept(world) { continue }
                let isThere =
                    world.sensing(condition) != .unknown
                    && world.value(condition) == condition.harmless
                if !isThere {
                    return "request \(assignment.request) begins, and \(condition.row.name) is "
                        + "not there"
                }
            }
        }
        return nil
    }

    private func isOfNetwork(_ condition: Condition) -> Bool {
        condition == .network || condition == .metered
    }

    private func hasJustSlept(_ world: World) -> Bool {
        sleptAt.map { world.now.awake - $0 <= Self.sleepGrace } ?? false
    }

    /// The device heard of it in this turn, but only after it had decided.
    private func isTold(of condition: Condition, after launch: LaunchID, in turn: Turn) -> Bool {
        let decided = turn.entries.firstIndex { $0.decisions.contains { $0.decides(launch) } }
        return turn.entries.dropFirst((decided ?? 0) + 1).contains { entry in
            if case .condition(condition, _, _) = entry.event { true } else { false }
        }
    }
}

extension Effect {
    fileprivate func decides(_ launch: LaunchID) -> Bool {
        guard case .save(let changes) = self else { return false }
        return changes.contains { change in
            if case .put(.launch(let record)) = change { record.id == launch } else { false }
        }
    }
}
