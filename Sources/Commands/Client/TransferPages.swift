import AppProtocol
import CommandTable
import Vocabulary

extension Invocation {
    /// These transfers, or all (nil) in the order in which they go. The daemon tells them in parts.
    func transfers(
        _ ids: [Int64]? = nil,
        waiting: Waiting = Waiting()
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
