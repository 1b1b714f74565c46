import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// Looks at transfers again and again, and shows how far they are. It is no part of them: when it
/// ends, they go on. They go on with the next daemon as well, so one that has gone is waited for.
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
        if invocation.wantsJSON { try invocation.show(last) { _ in } }
        if let failure = Self.failure(of: last) { throw failure }
    }

    /// Nil: all are finished.
    static func failure(of transfers: [Report.Transfer]) -> Failure? {
        let failed = transfers.filter { $0.state != "finished" }
        guard let first = failed.first else { return nil }
        var sentence = first.sentence.printable
        if failed.count > 1 {
            if sentence.hasSuffix(".") { sentence.removeLast() }
            sentence += ", and \(failed.count - 1) more failed"
        }
        return Failure(.failed, "\(first.url.printable): \(sentence)")
    }

    /// The same with whatever is there, of which some may have failed.
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
        var board = TransferBoard()
        var drawn = 0
        // Who was given numbers has had an answer.
        var absence = Absence(isWaitedFor: ids != nil)
        while true {
            guard let all = try transfers(interrupted, &absence) else {
                // Below what was drawn.
                drawn = 0
                if Poll.ready(interrupted, for: .readable, milliseconds: Self.pause) {
                    try leave()
                }
                continue
            }
            absence = Absence(isWaitedFor: true)
            let mine = all.filter { ids?.contains(Int64(clamping: $0.id.number)) ?? true }
            if invocation.console.errorsAreSeen {
                // It may be another size by now.
                let size = Terminal.size(2) ?? (rows: 24, columns: 80)
                let rows = board.rows(
                    mine,
                    at: Clocks.boot(),
                    width: size.columns,
                    height: size.rows
                )
                draw(rows, over: drawn)
                drawn = rows.count
            }
            if mine.allSatisfy(\.hasEnded) { return mine }
            if Poll.ready(interrupted, for: .readable, milliseconds: Self.pause) {
                try leave()
            }
        }
    }

    /// Of the daemon.
    private struct Absence {
        /// It was there, so there are transfers, and a next one that goes on with them.
        var isWaitedFor: Bool
        var end: BootTime?
    }

    /// A signal ends the call that it comes into: then the user wants to leave, and no call failed.
    /// Nil: no daemon is there.
    private func transfers(
        _ interrupted: Int32,
        _ absence: inout Absence
    ) throws(Failure) -> [Report.Transfer]? {
        do throws(Failure) {
            return try invocation.ask(Control1.Transfers(), interrupted: interrupted)
                .map(\.report)
        } catch {
            if Poll.ready(interrupted, for: .readable, milliseconds: 0) { try leave() }
            guard error.code == .notRunning, absence.isWaitedFor else { throw error }
            let patience = invocation.patience.limit
            if absence.end == nil {
                invocation.say(
                    "the daemon has gone; waiting for the next one, for \(patience) at most"
                )
            }
            let end = absence.end ?? Clocks.boot() + patience
            absence.end = end
            guard Clocks.boot() < end else {
                throw Failure(
                    error.code,
                    "\(error.message); the transfers go on with the next daemon",
                    fix: error.fix
                )
            }
            return nil
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

    /// Over what was drawn before.
    private func draw(_ rows: [String], over drawn: Int) {
        var text = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
        for row in rows { text += "\r\u{1B}[K" + row + "\n" }
        // Fewer than before: the rest is taken away.
        text += "\u{1B}[J"
        invocation.console.writeError(text)
    }
}
