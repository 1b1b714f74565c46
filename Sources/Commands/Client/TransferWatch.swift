import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// Looks at transfers again and again, and shows how far they are. It is no part of them: when it
/// ends, they go on.
struct TransferWatch {
    private let invocation: Invocation
    /// Nil: all.
    private let ids: [Int64]?
    private static let pause: Int32 = 500

    init(_ invocation: Invocation, _ ids: [Int64]?) {
        (self.invocation, self.ids) = (invocation, ids)
    }

    /// Until each has ended, or the command is interrupted. Throws if one has failed.
    func waitForAll() throws(Failure) {
        let last = try watch()
        let failed = last.filter { $0.state != "finished" }
        if invocation.wantsJSON { try invocation.show(last) { _ in } }
        guard let first = failed.first else { return }
        let others = failed.count > 1 ? ", and \(failed.count - 1) more" : ""
        throw Failure(.failed, "\(first.url.printable): \(first.sentence.printable)\(others)")
    }

    @discardableResult
    func watch() throws(Failure) -> [Report.Transfer] {
        let interrupted = try Self.interruption()
        return try follow(interrupted.descriptor.number)
    }

    private static func interruption() throws(Failure) -> EventCounter {
        do throws(LinuxError) {
            let counter = try EventCounter()
            try counter.signal(at: Signal.interrupt)
            return counter
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    /// `interrupted` becomes readable when the user wants to leave.
    private func follow(_ interrupted: Int32) throws(Failure) -> [Report.Transfer] {
        var before: [TransferID: (received: Int64, at: BootTime)] = [:]
        var lines = 0
        while true {
            let all = try invocation.ask(Control1.Transfers()).map(\.report)
            let mine = all.filter { ids?.contains(Int64(clamping: $0.id.number)) ?? true }
            let now = Clocks.boot()
            if invocation.console.errorsAreSeen {
                show(mine, before, now, &lines)
            }
            for transfer in mine { before[transfer.id] = (transfer.received, now) }
            if mine.allSatisfy(\.hasEnded) { return mine }
            if Poll.ready(interrupted, for: .readable, milliseconds: Self.pause) {
                try leave()
            }
        }
    }

    /// As a program ends that nothing else was to be done for.
    private func leave() throws(Failure) {
        invocation.console.printError(
            "\(OffstageProgram.name): the transfers go on; \"offstage transfers\" lists them"
        )
        do throws(LinuxError) {
            try CurrentProcess.end(by: Signal.interrupt)
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    /// Draws over what it has drawn before.
    private func show(
        _ transfers: [Report.Transfer],
        _ before: [TransferID: (received: Int64, at: BootTime)],
        _ now: BootTime,
        _ lines: inout Int
    ) {
        var text = lines > 0 ? "\u{1B}[\(lines)A" : ""
        let shown =
            transfers.filter { !$0.hasEnded }.prefix(20) + transfers.filter(\.hasEnded).suffix(5)
        for transfer in shown {
            text += "\r\u{1B}[K" + line(transfer, before[transfer.id], now) + "\n"
        }
        // Fewer than before: the rest is taken away.
        text += "\u{1B}[J"
        lines = shown.count
        invocation.console.writeError(text)
    }

    private func line(
        _ transfer: Report.Transfer,
        _ before: (received: Int64, at: BootTime)?,
        _ now: BootTime
    ) -> String {
        let name = transfer.shownName.printable
        guard transfer.state == "running" else { return "\(name)  \(transfer.sentence.printable)" }
        var text = name + "  " + transfer.done
        guard let before, now > before.at else { return text }
        let seconds = (now - before.at).seconds
        let rate = Int64(Double(max(0, transfer.received - before.received)) / seconds)
        text += "  \(ByteSize.text(rate))/s"
        if let total = transfer.total, rate > 0 {
            text += "  \(Interval.seconds((total - transfer.received) / rate)) left"
        }
        return text
    }
}
