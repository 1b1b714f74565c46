import Vocabulary

/// Where a transfer that has not ended is to stand among the others, and where its file goes.
package struct TransferMove: Hashable, Sendable, Codable {
    /// Nil: as it is.
    package var place: Place?
    /// An absolute path without links; nil: as it is.
    package var directory: String?
    /// Of the file, for one transfer; nil: as it is.
    package var name: String?
    /// An existing file of the name is replaced.
    package var overwrites: Bool

    package enum Place: String, Hashable, Sendable, Codable, CaseIterable {
        case first, last
    }

    package init(
        place: Place? = nil,
        directory: String? = nil,
        name: String? = nil,
        overwrites: Bool = false
    ) {
        (self.place, self.directory, self.name) = (place, directory, name)
        self.overwrites = overwrites
    }

    var changesFile: Bool { directory != nil || name != nil || overwrites }
}

extension Device {
    /// All of them, or none. What runs goes on running if only its place changes; else it goes on
    /// from there once its bytes are where they belong.
    mutating func move(
        _ ids: [TransferID],
        _ move: TransferMove,
        _ transition: inout Transition
    ) throws(Refusal) {
        var moved: [Transfer] = []
        for id in ids {
            guard var transfer = transfers[id] else { continue }
            try checkMove(of: transfer, move)
            guard move.changesFile else { continue }
            transfer.goTo(move.directory ?? transfer.order.directory)
            transfer.order.name = move.name ?? transfer.order.name
            transfer.order.overwrites = transfer.order.overwrites || move.overwrites
            try transfer.order.check()
            moved.append(transfer)
        }
        try checkRoom(for: moved)
        if ids.count > 1, let name = move.name {
            throw Refusal(
                .invalid,
                reason: "one name can be that of one file only",
                value: name,
                fix: "name one transfer"
            )
        }
        for transfer in moved { change(transfer, &transition) }
        if let place = move.place { rank(ids, place, at: transition.now.wall) }
    }

    private func checkMove(of transfer: Transfer, _ move: TransferMove) throws(Refusal) {
        let reason: String
        switch transfer.state {
        case .placing: reason = "this transfer is complete"
        case .ended: reason = "this transfer has ended"
        case .running(let attempt) where attempt.then == .cancel || attempt.then == .close:
            reason = "this transfer is being cancelled"
        case .paused, .waiting, .running:
            guard move.changesFile else { return }
            guard let reason = transfer.reasonToStay else {
                return try checkFormers(of: transfer, move)
            }
            throw Refusal(
                .held,
                reason: reason,
                value: "\(transfer.id)",
                fix: "only its place among the others can be changed"
            )
        }
        throw Refusal(
            .held,
            reason: reason,
            value: "\(transfer.id)",
            fix: "offstage explain \(transfer.id) says where its file is"
        )
    }

    /// Its bytes are looked for in all of them.
    private func checkFormers(of transfer: Transfer, _ move: TransferMove) throws(Refusal) {
        guard let directory = move.directory, directory != transfer.order.directory,
            !transfer.formers.contains(directory),
            transfer.formers.count >= Transfer.mostFormers
        else { return }
        throw Refusal(
            .held,
            reason: "this transfer has been moved \(Transfer.mostFormers) times since it last ran",
            value: "\(transfer.id)",
            fix: "move it again when it has run"
        )
    }

    private mutating func change(_ moved: Transfer, _ transition: inout Transition) {
        guard let transfer = transfers[moved.id] else { return }
        transfers.change(moved.id) { ($0.order, $0.formers) = (moved.order, moved.formers) }
        save(.transfer(moved.id))
        // Its bytes go into a file that is open; that has to be closed first.
        guard moved.order.directory != transfer.order.directory,
            case .running(let attempt) = transfer.state, attempt.then == nil
        else { return }
        stopTransfer(moved.id, then: .wait, &transition)
    }

    /// In the order in which they are named.
    private mutating func rank(_ ids: [TransferID], _ place: TransferMove.Place, at now: WallTime) {
        var seen = Set<TransferID>()
        let named = ids.filter { seen.insert($0).inserted }
        var before = transfers.leastPlace - Int64(named.count)
        for id in named {
            let rank: Int64
            switch place {
            case .first:
                rank = before
                before += 1
            case .last: rank = Int64(clamping: nextSerial(TransferKind.self).number)
            }
            transfers.change(id) { $0.rank = rank }
            save(.transfer(id))
            if transfers[id]?.state == .waiting { transfers.enqueue(id, at: now, settings) }
        }
    }
}

extension Transfer {
    /// Why its file can be put nowhere else; nil: it can.
    fileprivate var reasonToStay: String? {
        if order.direction.isUpload { return "the file of an upload stays where it is" }
        return task == nil ? nil : "the file of an app's session has no other place"
    }
}
