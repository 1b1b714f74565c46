import AppProtocol
import Vocabulary

/// What is known of transfers that are watched. Of thousands, what the terminal has no room for is
/// only counted; what has ended is told once, and not asked for again.
struct WatchedTransfers {
    /// Those that are not known to have ended, in their order; nil: all that there are.
    private var open: [Int64]?
    /// Of those that are named: those that have ended.
    private(set) var known: [Int64: Report.Transfer] = [:]
    /// The same as numbers, with the last of them.
    private var tally = Report.TransferProgress()

    /// Of all that there are, so many that have ended are seen.
    static let endedSeen = 5

    init(_ ids: [Int64]?) { open = ids }

    /// What to ask when there is room for so many rows. `tellsEnds`: each end is told.
    func question(rows: Int, tellsEnds: Bool) -> Control1.TransferProgress {
        let most = Control1.TransferProgress.most
        return Control1.TransferProgress {
            ($0.transfers, $0.rows) = (open, min(Int64(max(0, rows)), most))
            $0.ended = open == nil && !tellsEnds ? Int64(Self.endedSeen) : most
        }
    }

    /// How far all of them are, now that this is the answer.
    mutating func take(_ told: Report.TransferProgress) -> Report.TransferProgress {
        guard let asked = open else { return told }
        var progress = told
        progress.finished += tally.finished
        progress.failed += tally.failed
        progress.cancelled += tally.cancelled
        for transfer in told.ended {
            known[Int64(clamping: transfer.id.number)] = transfer
            if let standing = transfer.state.known { tally.count(standing) }
        }
        tally.ended = Array((tally.ended + told.ended).suffix(Self.endedSeen))
        progress.ended = tally.ended
        if !told.ended.isEmpty { open = asked.filter { known[$0] == nil } }
        return progress
    }
}
