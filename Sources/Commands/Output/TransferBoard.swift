import CommandTable
import Vocabulary

/// Transfers as rows of a terminal, again and again: a bar, the rate, the time left, or why one
/// waits. What it knows beside the list is how fast each one was lately.
struct TransferBoard {
    /// Of each that runs: what it had received at which times, the oldest first.
    private var samples: [TransferID: [Sample]] = [:]
    private typealias Sample = (at: BootTime, received: Int64)

    /// The rate is that of so long: long enough to be calm, short enough to be true.
    private static let memory = Interval.seconds(5)
    /// What comes at once at the beginning is no rate.
    private static let leastSpan = Interval.seconds(1)
    private static let barWidth = 20
    private static let longestName = 30
    /// Of those that have ended.
    private static let mostEnded = WatchedTransfers.endedSeen

    /// The rows to show now, none longer than `width`, and no more than `height`.
    mutating func rows(
        _ progress: Report.TransferProgress,
        at now: BootTime,
        width: Int,
        height: Int
    ) -> [String] {
        takeSamples(of: progress.shown, at: now)
        let room = max(2, height - 1)
        let ended = progress.ended
        let shown = progress.shown.prefix(max(1, room - min(ended.count, Self.mostEnded)))
        let last = ended.suffix(min(Self.mostEnded, max(0, room - shown.count)))
        let nameWidth = min(
            Self.longestName,
            (shown + last).map(\.shownName.printable.columns).max() ?? 0
        )
        var rows = (shown + last).map { row($0, nameWidth) }
        if progress.all > 1 { rows.append(summary(progress)) }
        return rows.map { $0.fitted(to: max(1, width - 1)) }
    }

    /// What is not told any more runs no more.
    private mutating func takeSamples(of transfers: [Report.Transfer], at now: BootTime) {
        var running: [TransferID: [Sample]] = [:]
        for transfer in transfers where transfer.state == .running {
            var known = samples[transfer.id] ?? []
            // It has begun anew.
            if let last = known.last, last.received > transfer.received { known = [] }
            known.append((now, transfer.received))
            // One that is older stays, to measure from.
            while known.count > 2, now - known[1].at >= Self.memory { known.removeFirst() }
            running[transfer.id] = known
        }
        samples = running
    }

    /// Bytes a second; nil: not known yet.
    private func rate(of id: TransferID) -> Int64? {
        guard let known = samples[id], let first = known.first, let last = known.last,
            last.at - first.at >= Self.leastSpan
        else { return nil }
        return Int64(Double(last.received - first.received) / (last.at - first.at).seconds)
    }

    private func row(_ transfer: Report.Transfer, _ nameWidth: Int) -> String {
        let name = transfer.shownName.printable.fitted(to: nameWidth)
        let start =
            "\(transfer.id)  " + name
            + String(repeating: " ", count: max(0, nameWidth - name.columns)) + "  "
        guard transfer.state == .running else {
            return start + transfer.sentenceWithoutNumber
        }
        var text = start + bar(transfer) + transfer.done
        guard let rate = rate(of: transfer.id) else { return text }
        text += "  \(ByteSize.text(rate))/s"
        if let total = transfer.total, rate > 0, total > transfer.received {
            // Begun seconds count: there is something left.
            text += "  \(Interval.seconds((total - transfer.received - 1) / rate + 1)) left"
        }
        return text
    }

    private func bar(_ transfer: Report.Transfer) -> String {
        guard let total = transfer.total, total > 0 else { return "" }
        let part = Double(min(transfer.received, total)) / Double(total)
        let filled = Int(part * Double(Self.barWidth))
        return "[" + String(repeating: "#", count: filled)
            + String(repeating: ".", count: Self.barWidth - filled) + "] "
    }

    private func summary(_ progress: Report.TransferProgress) -> String {
        var parts = ["\(progress.finished) of \(progress.all) done"]
        let others = [
            (progress.running, "running"), (progress.waiting, "waiting"),
            (progress.paused, "paused"), (progress.failed, "failed"),
            (progress.cancelled, "cancelled"),
        ]
        parts += others.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let sum = progress.shown.compactMap { rate(of: $0.id) }.reduce(0, +)
        if sum > 0 { parts.append("\(ByteSize.text(sum))/s") }
        return parts.joined(separator: ", ")
    }
}
