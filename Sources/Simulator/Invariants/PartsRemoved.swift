import DeviceCore
import Vocabulary

/// What has come of a download goes once the download is over, unless its app, or a task that goes
/// on with it, may still want it.
final class PartsRemoved: CommitInvariant {
    let name = "nothing is left of a download that is over"
    /// By the files' names: the transfers on record that may want one, and those that are over.
    private var wanted: [(id: TransferID, name: String)] = []
    private var over: [(id: TransferID, name: String)] = []

    func committed(_ changes: [Change]) -> String? {
        for change in changes {
            switch change {
            case .put(.transfer(let record)): classify(record.transfer)
            case .delete(let key) where key.section == .transfer:
                guard let id = UInt64(key.key).map({ TransferID($0) }) else { continue }
                guard let index = wanted.firstIndex(where: { $0.id == id }) else { continue }
                over.append(wanted.remove(at: index))
            case .put, .delete, .append: continue
            }
        }
        return nil
    }

    private func classify(_ transfer: Transfer) {
        guard !transfer.order.direction.isUpload else { return }
        let name = transfer.file.partialName
        let isOver = transfer.isEnded && transfer.kept == nil
        wanted.removeAll { $0.id == transfer.id }
        isOver ? over.append((transfer.id, name)) : wanted.append((transfer.id, name))
    }

    func restored(_ world: World) -> String? {
        // A store that was lost has taken with it what was yet to be removed.
        over.removeAll { !world.store.contains(RecordKey(.transfer, "\($0.id)")) }
        return nil
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        // A daemon that was killed before it removed them has a successor who does.
        guard world.storeTrouble == nil, !turn.wasRolledBack, !turn.wasKilled else { return nil }
        let names = over.map(\.name)
        over = []
        for name in names where !wanted.contains(where: { $0.name == name }) {
            if world.network.files.contains(where: { $0.name == name }) {
                return "\(name) is still there"
            }
        }
        return nil
    }
}
