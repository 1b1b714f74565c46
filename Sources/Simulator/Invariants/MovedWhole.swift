import DeviceCore
import Vocabulary

/// A file that the user has moved while it was fetched is where the user said last, and nowhere
/// else; and so is one that was never moved.
final class MovedWhole: CallInvariant, ProcessInvariant {
    let name = "a file is in the one place that the user has named"
    private var places: [TransferID: Place] = [:]
    private var inodes: [TransferID: UInt64] = [:]
    private var moves: [UInt64: Move] = [:]
    private var orders: [UInt64: [String]] = [:]

    private struct Place {
        /// Said by the device to be so.
        var directory: String
        /// Asked for later, and not answered: they may have been done all the same.
        var unanswered: [(token: UInt64, directory: String)] = []

        func contains(_ directory: String) -> Bool {
            self.directory == directory || unanswered.contains { $0.directory == directory }
        }
    }

    private struct Move {
        let ids: [TransferID]
        let directory: String
    }

    // MARK: The user

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {
        guard case .user(.transfer(let request), _) = event else { return }
        switch request {
        case .enqueue(let orders, _):
            self.orders[token.number] = orders.map(\.directory)
        case .move(let ids, let move):
            guard let directory = move.directory else { return }
            moves[token.number] = Move(ids: ids, directory: directory)
            for id in ids { places[id]?.unanswered.append((token.number, directory)) }
        case .pause, .resume, .cancel, .forget: break
        }
    }

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        if case .transfers(let ids) = reply, let directories = orders[token.number] {
            for (id, directory) in zip(ids, directories) {
                places[id] = Place(directory: directory)
            }
        }
        orders[token.number] = nil
        guard let move = moves.removeValue(forKey: token.number) else { return }
        for id in move.ids {
            if reply == .done {
                places[id]?.directory = move.directory
                // Those before it were done before it, or never.
                places[id]?.unanswered.removeAll { $0.token <= token.number }
            } else {
                places[id]?.unanswered.removeAll { $0.token == token.number }
            }
        }
    }

    // MARK: The files

    func heard(_ event: Event) {
        if case .transfer(let id, .opened(let inode)) = event { inodes[id] = inode }
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        for line in turn.lines {
            guard case .transferred(let id, _, let end) = line.entry,
                let place = places.removeValue(forKey: id), let inode = inodes[id],
                !turn.wasKilled, !turn.wasRolledBack
            else { continue }
            let files = world.network.files
            let part = ".offstage-\(id).part"
            switch end {
            case .finished(_, let name):
                // Another may have been given its name since then.
                let file =
                    files.first { $0.inode == inode }
                    ?? files.first { $0.name == name && place.contains($0.directory) }
                guard let file else { return "transfer \(id) is nowhere" }
                guard place.contains(file.directory), file.name == name else {
                    return "transfer \(id) is \(file.directory)/\(file.name), not \(name) in "
                        + place.directory
                }
            case .failed, .cancelled: break
            }
            if let left = files.first(where: { $0.name == part }) {
                return "transfer \(id) has ended, and is in \(left.directory) too"
            }
        }
        return nil
    }
}
