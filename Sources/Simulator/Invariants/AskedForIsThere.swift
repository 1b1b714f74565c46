import DeviceCore
import Vocabulary

/// What a caller asked for is there when its work begins, and somebody says so: a sensor that is
/// missing is not taken for a good one.
final class AskedForIsThere: CallInvariant {
    let name = "what work asks for is there"
    private var asked: [UInt64: Needs] = [:]
    private var needs: [UInt64: Needs] = [:]
    private var begun: Set<UInt64> = []

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        switch event {
        case .user(.submit(let submission), _), .app(_, .submit(let submission, _)):
            asked[token.number] = submission.needs
        case .started, .timer, .clockChanged, .manifests, .settings, .condition, .process, .app,
            .used, .triggered, .user, .storageRecovered, .stopping:
            break
        }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        guard let wanted = asked.removeValue(forKey: token.number), let request = reply.request,
            needs[request] == nil
        else { return }
        needs[request] = wanted
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        for effect in turn.performed {
            guard case .spawn(let launch, _) = effect,
                let request = device.launch(launch)?.launch.requestID
            else { continue }
            if let text = begins(request, of: launch, turn, world) { return text }
        }
        for case .put(.launch(let record)) in turn.changes where !turn.wasRolledBack {
            for delivery in record.launch.deliveries {
                guard let request = delivery.request else { continue }
                if let text = begins(request, of: record.id, turn, world) { return text }
            }
        }
        return nil
    }

    private func begins(
        _ request: RequestID,
        of launch: LaunchID,
        _ turn: Turn,
        _ world: World
    ) -> String? {
        guard let needs = needs[request.number], begun.insert(request.number).inserted else {
            return nil
        }
        let wanted: [(isAsked: Bool, condition: Condition)] = [
            (needs.power, .power), (needs.network, .network), (needs.unmetered, .metered),
            (needs.unlocked, .locked),
        ]
        for (isAsked, condition) in wanted
        where isAsked && !isTold(of: condition, after: launch, in: turn) {
            let isThere =
                world.sensing(condition) != .unknown
                && world.value(condition) == condition.row.harmless
            if !isThere {
                return "request \(request) begins, and \(condition.row.name) is not there"
            }
        }
        return nil
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
        if case .save(let changes) = self {
            changes.contains { change in
                if case .put(.launch(let record)) = change { record.id == launch } else { false }
            }
        } else {
            self.launch == launch
        }
    }
}
