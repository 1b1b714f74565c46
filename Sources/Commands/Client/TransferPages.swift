import AppProtocol
import CommandTable
import Vocabulary

extension Invocation {
    /// These transfers, or all (nil) in the order in which they go.
    func transfers(
        _ ids: [Int64]? = nil,
        waiting: Waiting = Waiting()
    ) throws(Failure) -> [Report.Transfer] {
        do throws(Failure) {
            return try transferPages(ids, waiting)
        } catch  where error.isOfOtherVersion {
            // An older daemon tells all of them at once, or none.
            let all = try ask(Control1.Transfers(), waiting: waiting).map(\.report)
            guard let ids else { return all }
            let wanted = Set(ids)
            return all.filter { wanted.contains(Int64(clamping: $0.id.number)) }
        }
    }

    /// How far transfers are, for who watches them.
    func progress(
        _ call: Control1.TransferProgress,
        waiting: Waiting
    ) throws(Failure) -> Report.TransferProgress {
        do throws(Failure) {
            return try ask(call, waiting: waiting)
        } catch  where error.isOfOtherVersion {
            // An older daemon does not count them.
            return Report.TransferProgress(of: try transfers(call.transfers, waiting: waiting))
        }
    }

    /// The daemon tells them in parts.
    private func transferPages(
        _ ids: [Int64]?,
        _ waiting: Waiting
    ) throws(Failure) -> [Report.Transfer] {
        var told: [Report.Transfer] = []
        var rest = ids?[...]
        repeat {
            let some = rest?.prefix(Control1.TransferPage.most)
            let call = Control1.TransferPage { $0.transfers = some.map { Array($0) } }
            let page = try ask(call, waiting: waiting)
            told += page.transfers.map(\.report)
            let others = rest?.dropFirst(some?.count ?? 0) ?? []
            rest = ArraySlice(page.more ?? []) + others
        } while rest?.isEmpty == false
        return told
    }
}

extension Report.TransferProgress {
    /// As a daemon tells it, with nothing left out.
    init(of transfers: [Report.Transfer]) {
        self.init()
        for standing in transfers.compactMap(\.state.known) { count(standing) }
        let live = transfers.filter { !$0.hasEnded }
        open = Int64(live.count)
        shown = live.filter { $0.state == .running } + live.filter { $0.state != .running }
        ended = transfers.filter(\.hasEnded)
    }
}
