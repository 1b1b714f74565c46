import CommandTable
import Vocabulary

/// Transfers as lines, where no terminal shows them: one for each, and one for each new reason why
/// it waits. What is not shown is not told.
struct TransferLines {
    /// Of each, what was told last.
    private var told: [TransferID: String] = [:]

    /// So many that wait are asked for.
    static let rows = 10
    private static let longestName = 60

    /// These have ended before anybody watched.
    mutating func know(_ ended: [Report.Transfer]) {
        for transfer in ended { told[transfer.id] = Self.lasting(of: transfer) }
    }

    /// What is new. `ended`: all that have, since this was asked last.
    mutating func take(
        _ progress: Report.TransferProgress,
        ended: [Report.Transfer]
    ) -> [String] {
        var lines: [String] = []
        for transfer in progress.shown + ended {
            let text = Self.lasting(of: transfer)
            guard isNew(transfer, text, isAlone: progress.all == 1) else { continue }
            told[transfer.id] = text
            lines.append(Self.line(transfer))
        }
        return lines
    }

    private func isNew(_ transfer: Report.Transfer, _ text: String, isAlone: Bool) -> Bool {
        let known = told[transfer.id]
        return switch transfer.state.known {
        // An attempt that fails for the same reason as the one before it is no news.
        case .running: known == nil
        // The command itself ends with the failure of one alone.
        case .failed, .cancelled: !isAlone && known != text
        case .finished, .waiting, .paused, nil: known != text
        }
    }

    /// What does not change all the time: times and counts do.
    private static func lasting(of transfer: Report.Transfer) -> String {
        transfer.hasEnded
            ? transfer.state.text : String(transfer.sentence.filter { !$0.isNumber })
    }

    private static func line(_ transfer: Report.Transfer) -> String {
        let name = transfer.shownName.printable.fitted(to: longestName)
        return "transfer \(transfer.id) (\(name)) \(transfer.sentenceWithoutNumber)"
    }
}
