package import Vocabulary

/// What has come of a download, or has been sent of an upload, that its app has cancelled, or that
/// has ended without it.
package struct KeptPart: Hashable, Sendable, Codable {
    /// By which a new task goes on with it, once. It means something to its app only.
    package let token: String
    /// Then it is removed; nil: its app does not know of it yet.
    var until: WallTime?
}

extension Device {
    /// For so long what has come is kept for an app that knows of it.
    static let keptAge = Interval.days(7)

    /// Nil: there is nothing that could be gone on with.
    func keptPart(of transfer: Transfer) -> KeptPart? {
        guard transfer.task != nil, transfer.resume != nil || transfer.upload?.resource != nil
        else { return nil }
        // Of use to one app only, which could not do more with it than that app.
        var random = SeededRandom(seed: UInt64(bitPattern: seed) ^ transfer.id.number << 20)
        return KeptPart(token: "\(transfer.id)-" + String(random.next(), radix: 16))
    }

    /// That of which an app was given this token. It begins with its number, so that thousands are
    /// found in one call.
    private func keptTransfer(_ token: String, of index: Int) -> Transfer? {
        guard let number = UInt64(token.prefix { $0 != "-" }) else { return nil }
        let id = TransferID(number)
        guard transfers.app(of: id) == index, let transfer = transfers[id],
            transfer.kept?.token == token
        else { return nil }
        return transfer
    }

    /// The app knows how it ended, and may come for what there is.
    mutating func setAside(_ id: TransferID, _ transition: inout Transition) {
        let until = transition.now.wall + Self.keptAge
        transfers.change(id) {
            $0.task?.place = nil
            $0.kept?.until = until
        }
        transfers.look(at: until, id)
        save(.transfer(id))
    }

    /// By a daemon that starts: the one before may have been killed before it removed what had come
    /// of transfers that it had ended.
    func discardUnused(_ transition: inout Transition) {
        let downloads = transfers.all().filter { !$0.order.direction.isUpload }
        let used = Set(downloads.filter { !$0.isOver }.map(\.file.partialName))
        for transfer in downloads where transfer.isOver && !transfer.isFinished {
            guard !used.contains(transfer.file.partialName) else { continue }
            transition.emit(.transfer(transfer.id, .discard(transfer.file)))
        }
    }

    /// What an app's transfers have, or will have, in its directory.
    package func transferFileNames(of app: AppID) -> Set<String> {
        guard let index = apps.index(of: app) else { return [] }
        return Set(transfers.all(of: index).flatMap { [$0.file.partialName, "\($0.id).download"] })
    }

    /// A new task takes over what there is of an ended one of its app, and what was asked for.
    mutating func goOn(
        _ id: TransferID,
        with token: String,
        of index: Int,
        _ transition: inout Transition
    ) {
        guard let old = keptTransfer(token, of: index), let transfer = transfers[id] else {
            let reason = "what it was to go on with was used already, or is not kept any more"
            let failure = TransferFailure(code: .resumeGone, reason: reason)
            return end(id, .failed(failure), &transition)
        }
        var order = transfer.order
        (order.url, order.headers) = (old.order.url, old.order.headers)
        // It uses only networks that both the old and the new task allow.
        order.needs.unmetered = order.needs.unmetered || old.order.needs.unmetered
        order.timeout = old.order.timeout
        if old.order.direction.isUpload {
            (order.direction, order.name) = (old.order.direction, old.order.name)
            order.directory = old.order.directory
        }
        transfers.change(id) {
            ($0.order, $0.resume, $0.partOf) = (order, old.resume, old.partOf ?? old.id)
            $0.upload = old.upload
            $0.task?.ignoresCookies = old.task?.ignoresCookies ?? false
        }
        // In the lane of what it is now; in the other one it is skipped.
        if order.host != transfer.host || order.needs != transfer.order.needs {
            transfers.enqueue(id, at: transition.now.wall, settings)
        }
        save(.transfer(id))
        transfers.change(old.id) { ($0.kept, $0.resume, $0.upload) = (nil, nil, nil) }
        // One that its app has yet to hear of is still told.
        old.task?.place == nil ? forgetEnded(old.id, &transition) : save(.transfer(old.id))
    }
}

extension Transfer {
    /// Nothing that has come is of use to anybody any more; what is complete has its own name.
    fileprivate var isOver: Bool { isEnded && kept == nil }

    fileprivate var isFinished: Bool {
        if case .ended(.finished, _) = state { true } else { false }
    }

    /// Its app knows how it ended.
    package var isAcknowledged: Bool { isEnded && task != nil && task?.place == nil }

    /// One of which nobody will hear again stays on record for so long, until its file is surely
    /// gone: a daemon that is killed just then has a successor who removes it.
    private static let removalAge = Interval.minutes(1)

    /// When one that has ended is forgotten.
    func forgetDate(endedAt end: WallTime) -> WallTime {
        kept?.until ?? end + (isAcknowledged && kept == nil ? Self.removalAge : endedAge)
    }
}
