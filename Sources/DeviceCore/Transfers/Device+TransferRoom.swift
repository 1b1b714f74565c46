import Vocabulary

extension TransferSize {
    /// Of all transfers that are kept, ended ones included. The daemon holds all of it in memory.
    fileprivate static let most = Self(count: Device.mostTransfers, bytes: 24 << 20)
    /// Of one app: as many as it may ask for in one call.
    fileprivate static let mostOfApp = Self(count: 10_000, bytes: 12 << 20)
    /// Of all apps together: the rest is left to the user's own.
    fileprivate static let mostOfApps = Self(count: 15_000, bytes: 18 << 20)
    /// Of an app, whatever other apps have.
    fileprivate static let leastOfApp = Self(count: 100, bytes: 256 << 10)
}

/// How much is kept of transfers: no app leaves others, or the user, without room, and a daemon
/// that starts has memory for all that is stored.
extension Device {
    /// How many transfers there may be at once, ended ones included.
    package static let mostTransfers = 20_000

    /// How much more there may be of an app's; below zero where there is too much.
    func transferRoom(of index: Int) -> TransferSize {
        let sizes = transfers.sizes
        let room = TransferSize.most - sizes.all
        guard !isUsersOwn(index) else { return room }
        var others = sizes.all
        for user in [Self.downloads, Self.uploads].compactMap({ apps.index(of: $0) }) {
            others = others - sizes[user]
        }
        let shared = TransferSize.mostOfApps - others
        let least = TransferSize.leastOfApp - sizes[index]
        let own = TransferSize.mostOfApp - sizes[index]
        return room.atMost(own).atMost(shared.atLeast(least))
    }

    /// Forgets what has ended and nobody has yet to hear of, the oldest first: an app's own; then
    /// the user's, if there is too much in all.
    mutating func makeRoom(
        for more: TransferSize,
        of index: Int,
        _ transition: inout Transition
    ) {
        let most = isUsersOwn(index) ? TransferSize.most : .mostOfApp
        guard most.holds(more), !transferRoom(of: index).holds(more) else { return }
        let over = transfers.all().filter { $0.isEnded && $0.isToldToAll }
        for transfer in over where transfers.app(of: transfer.id) == index {
            forgetNow(transfer.id, &transition)
            if transferRoom(of: index).holds(more) { return }
        }
        for transfer in over where transfers.app(of: transfer.id).map(isUsersOwn) ?? false {
            if (TransferSize.most - transfers.sizes.all).holds(more) { return }
            forgetNow(transfer.id, &transition)
        }
    }

    /// Also what is kept of it.
    private mutating func forgetNow(_ id: TransferID, _ transition: inout Transition) {
        forgetEnded(id, &transition)
        if transfers[id] != nil { forgetEnded(id, &transition) }
    }

    private func isUsersOwn(_ index: Int) -> Bool {
        apps[index].id == Self.downloads || apps[index].id == Self.uploads
    }

    /// Throws unless there is room for so much more of an app.
    func checkRoom(for more: TransferSize, of index: Int) throws(Refusal) {
        let room = transferRoom(of: index).atLeast(TransferSize())
        if room.holds(more) { return }
        let isMany = more.count > room.count
        func text(_ size: TransferSize) -> String {
            isMany ? "\(size.count)" : ByteSize.text(Int64(size.bytes))
        }
        let kept = isMany ? "transfers" : "of URLs, header fields and descriptions"
        let isUsersOwn = isUsersOwn(index)
        let whole = isUsersOwn ? TransferSize.most : TransferSize.mostOfApp
        let others = isUsersOwn ? "" : " of one app, and \(text(.mostOfApps)) of all apps"
        throw Refusal(
            .held,
            reason: "no more than \(text(whole)) \(kept) are kept\(others)",
            value: "\(text(more)) more, with room for \(text(room))",
            fix: isUsersOwn
                ? "offstage transfers --clear forgets those that have ended"
                : "ask again when some have ended and their ends are acknowledged"
        )
    }

    /// The same of transfers of one app, as they are to be.
    func checkRoom(for changed: [Transfer]) throws(Refusal) {
        guard let first = changed.first, let index = transfers.app(of: first.id) else { return }
        let bytes = changed.reduce(0) {
            $0 + $1.textBytes - (transfers[$1.id]?.textBytes ?? 0)
        }
        try checkRoom(for: TransferSize(count: 0, bytes: bytes), of: index)
    }

    /// What a server has said is kept for an app as far as the app has room for it.
    mutating func boundAnswer(of id: TransferID) {
        guard let index = transfers.app(of: id), transferRoom(of: index).bytes < 0 else { return }
        transfers.change(id) {
            $0.answer?.headers = []
            $0.answer?.body = nil
            $0.resume?.head = nil
        }
    }
}
