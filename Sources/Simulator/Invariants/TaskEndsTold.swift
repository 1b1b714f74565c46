import ClientCore
import DeviceCore
import Vocabulary

/// An app is told the end of each task of its session, in the order in which they ended, until it
/// has acknowledged it; before that it is not forgotten.
final class TaskEndsTold: ClientInvariant, CommitInvariant {
    let name = "the end of a session's task is told until it is acknowledged"
    private var ended: [Ended] = []
    private var told: [Told] = []
    /// On record, and waiting for an answer.
    private var asking: [(id: TransferID, app: AppID, session: String)] = []
    /// By launch and session, the task whose end was acknowledged last. A process that has left its
    /// session and joined it again may be told of it once more: the acknowledgement was on its way.
    private var acknowledged: [LaunchID: [String: Int64]] = [:]
    /// An app that connects again before it has taken an offer is told of it again, though it has
    /// fetched what it was for meanwhile.
    private var offered: Set<DeliveryID> = []
    private var commits = 0
    private var now = WallTime.distantPast

    /// On record, and not forgotten.
    private struct Ended {
        let id: TransferID
        let app: AppID
        let session: String
        let number: Int64
        let result: TransferOutcome
        let at: WallTime
        /// Those of one commit may be told in any order.
        let commit: Int
        var isAcknowledged = false
    }

    private struct Told {
        let client: VirtualClient.Number
        let number: IncomingNumber
        let id: TransferID
    }

    func committed(_ changes: [Change]) -> String? {
        commits += 1
        for change in changes {
            switch change {
            case .put(.transfer(let record)):
                keep(record)
                let transfer = record.transfer
                asking.removeAll { $0.id == transfer.id }
                if transfer.question != nil {
                    asking.append((transfer.id, record.app, transfer.task?.session ?? ""))
                }
            case .delete(let key) where key.section == .transfer:
                asking.removeAll { "\($0.id)" == key.key }
                guard let index = ended.firstIndex(where: { "\($0.id)" == key.key }) else {
                    continue
                }
                let gone = ended.remove(at: index)
                if !gone.isAcknowledged, now - gone.at < .days(29) {
                    return "task \(gone.number) of \(gone.app) is forgotten before it was told"
                }
            case .put, .delete, .append: break
            }
        }
        return nil
    }

    private func keep(_ record: TransferRecord) {
        let transfer = record.transfer
        if transfer.isAcknowledged { return ended.removeAll { $0.id == transfer.id } }
        guard let task = transfer.task, case .ended(let end, let at) = transfer.state,
            !ended.contains(where: { $0.id == transfer.id })
        else { return }
        ended.append(
            Ended(
                id: transfer.id,
                app: record.app,
                session: task.session,
                number: task.number,
                result: end.outcome,
                at: at,
                commit: commits
            )
        )
    }

    func took(_ event: ClientEvent, _ client: VirtualClient, _ world: World) {}

    func performed(_ effect: ClientEffect, _ client: VirtualClient, _ world: World) -> String? {
        switch effect {
        case .taskEnded(let session, let end, let number):
            return hears(session, end, number, client)
        case .reply(let number):
            guard
                let index = told.firstIndex(where: {
                    $0.client == client.number && $0.number == number
                })
            else { return nil }
            let id = told.remove(at: index).id
            if let index = ended.firstIndex(where: { $0.id == id }) {
                ended[index].isAcknowledged = true
                let task = ended[index]
                acknowledged[client.number.launch, default: [:]][task.session] = task.number
            }
        case .connect, .watch, .send, .refuse, .armTicker, .answer, .giveUp, .answerLate,
            .reachable, .unreachable, .greeted, .run, .expire, .expireTask, .enterBackground,
            .enterForeground, .becomeActive, .memoryWarning, .changed, .conditions,
            .conditionsChanged, .taskProgressed, .taskAsked, .log, .openURLs:
            break
        }
        return nil
    }

    private func hears(
        _ session: String,
        _ end: SessionTaskEnd,
        _ number: IncomingNumber,
        _ client: VirtualClient
    ) -> String? {
        let app = client.process.appID
        let waiting = ended.filter { $0.app == app && $0.session == session }
        guard let known = waiting.first(where: { $0.number == end.task.task }) else {
            if acknowledged[client.number.launch]?[session] == end.task.task { return nil }
            return "\(app) is told of task \(end.task.task), which has not ended"
        }
        told.append(Told(client: client.number, number: number, id: known.id))
        if end.result != known.result {
            return "\(app) is told that task \(known.number) \(end.result.text): it \(known.result)"
        }
        let first = waiting.map(\.commit).min() ?? known.commit
        return known.commit == first
            ? nil : "\(app) is told of task \(known.number) before one that ended earlier"
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        now = world.now.wall
        guard world.storeTrouble == nil, !turn.wasRolledBack, !turn.wasKilled else { return nil }
        for offer in turn.offered where offer.kind == .trigger(.sessionEvents) {
            guard offered.insert(offer.delivery).inserted else { continue }
            guard let app = world.process(offer.launch)?.appID else { continue }
            let isNeeded =
                ended.contains { $0.app == app && $0.session == offer.identifier }
                || asking.contains { $0.app == app && $0.session == offer.identifier }
            if !isNeeded { return "\(app) is woken for events of \(offer.identifier): it has none" }
        }
        return nil
    }
}
