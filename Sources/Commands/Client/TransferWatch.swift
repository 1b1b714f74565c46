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
        let failed = transfers.filter { $0.state != .finished }
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

    /// Who sees no terminal gets lines instead.
    private var tellsLines: Bool {
        !invocation.console.errorsAreSeen && !invocation.wantsJSON
    }

    /// `interrupted` becomes readable when the user wants to leave.
    func follow(_ interrupted: Int32) throws(Failure) -> [Report.Transfer] {
        var board = TransferBoard()
        var lines = TransferLines()
        var watched = WatchedTransfers(ids)
        var (drawn, hasTold) = (0, false)
        // Who was given numbers has had an answer.
        var waiting = Invocation.Waiting(wasThere: ids != nil, interrupted: interrupted) {
            // What is drawn next stands below what is said.
            drawn = 0
        }
        while true {
            // It may be another size by now.
            let size = invocation.console.errorsAreSeen ? Self.terminalSize : nil
            let room = size?.rows ?? (tellsLines ? TransferLines.rows : 0)
            let question = watched.question(rows: room, tellsEnds: tellsLines)
            let told = try ask(waiting) { () throws(Failure) in
                try invocation.progress(question, waiting: waiting)
            }
            let progress = watched.take(told)
            if ids == nil, !hasTold { lines.know(told.ended) }
            (hasTold, waiting.wasThere) = (true, true)
            if let size {
                let rows = board.rows(
                    progress,
                    at: Clocks.boot(),
                    width: size.columns,
                    height: size.rows
                )
                draw(rows, over: drawn)
                drawn = rows.count
            } else if tellsLines {
                for line in lines.take(progress, ended: told.ended) { invocation.say(line) }
            }
            if progress.open == 0 {
                let all = try transfers(watched.known, waiting)
                // Others may have come since.
                if all.allSatisfy(\.hasEnded) { return all }
            }
            if Poll.ready(interrupted, for: .readable, milliseconds: Self.pause) {
                try leave()
            }
        }
    }

    private static var terminalSize: (rows: Int, columns: Int) {
        Terminal.size(2) ?? (rows: 24, columns: 80)
    }

    /// In the order of the numbers that were given. `known`: those that are not asked for again.
    private func transfers(
        _ known: [Int64: Report.Transfer],
        _ waiting: Invocation.Waiting
    ) throws(Failure) -> [Report.Transfer] {
        let left = ids?.filter { known[$0] == nil }
        var found = known
        if left?.isEmpty != true {
            let told = try ask(waiting) { () throws(Failure) in
                try invocation.transfers(left, waiting: waiting)
            }
            guard ids != nil else { return told }
            for transfer in told { found[Int64(clamping: transfer.id.number)] = transfer }
        }
        return (ids ?? []).compactMap { found[$0] }
    }

    /// A signal ends the call that it comes into: then the user wants to leave, and no call failed.
    private func ask<Answer>(
        _ waiting: Invocation.Waiting,
        _ question: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        do throws(Failure) {
            return try question()
        } catch {
            let isInterrupted = waiting.interrupted.map {
                Poll.ready($0, for: .readable, milliseconds: 0)
            }
            if isInterrupted == true { try leave() }
            guard error.code == .notRunning, waiting.wasThere else { throw error }
            throw Failure(
                error.code,
                "\(error.message); the transfers go on with the next daemon",
                fix: error.fix
            )
        }
    }

    /// As a program ends that nothing else was to be done for.
    private func leave() throws(Failure) {
        invocation.console.printError(
            "\(OffstageProgram.name): \(goingOn); \"offstage transfers\" lists them"
        )
        do throws(LinuxError) {
            try CurrentProcess.end(by: Signal.interrupt)
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    /// With their numbers, where no terminal shows them.
    private var goingOn: String {
        guard tellsLines, let first = ids?.first, let last = ids?.last,
            ids?.count == Int(last - first) + 1
        else { return "the transfers go on" }
        return first == last
            ? "the transfer \(first) goes on" : "the transfers \(first) to \(last) go on"
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
