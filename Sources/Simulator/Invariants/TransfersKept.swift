import DeviceCore
import Vocabulary

/// What the user was promised to be fetched is in the store until it has ended.
final class TransfersKept: CallInvariant {
    let name = "a transfer that was promised is kept"
    private var promised: [TransferID] = []

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {}

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        if case .transfers(let ids) = reply { promised += ids }
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        for line in turn.lines {
            guard case .transferred(let id, _, _) = line.entry else { continue }
            promised.removeAll { $0 == id }
        }
        return nil
    }

    func restored(_ world: World) -> String? {
        for id in promised where !world.store.contains(RecordKey(.transfer, "\(id)")) {
            return "transfer \(id) is gone"
        }
        return nil
    }
}
