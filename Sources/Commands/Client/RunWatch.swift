import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// Asks for a run, and waits for its end. It is no part of it: when it goes, the run goes on.
struct RunWatch {
    private let invocation: Invocation
    /// Between looks; the last one again and again.
    private static let pauses: [Int32] = [20, 50, 100, 200, 500]

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// The command that shows whether it was asked for.
    static func look(_ call: Control1.Run) -> String { "offstage history \(call.app)" }

    /// Throws if the run has failed.
    func run(_ call: Control1.Run) throws(Failure) {
        let task = try invocation.ask(call, look: Self.look(call))
        let app = task.app.name.printable
        guard let last = task.line else {
            throw Failure(
                .failed,
                "the run of \(app) has begun, but the daemon is of another version and does not "
                    + "say which line of the history will be its end",
                fix: "\"\(Self.look(call))\" shows it."
            )
        }
        let line = try end(of: task, after: last)
        let result = line.report.ending.printable
        try invocation.show(line) { line in
            let took = line.seconds.map { ", after \(Times.span($0))" } ?? ""
            invocation.console.print("\(app): \(result)\(took)")
        }
        guard line.isSuccess else {
            throw Failure(
                .failed,
                "the run of \(app) has not succeeded: \(result)",
                fix: invocation.mayHaveWritten(task.app.name)
                    ? "\"offstage logs \(app)\" shows what it printed." : ""
            )
        }
    }

    /// Why it has not ended yet.
    fileprivate enum Delay {
        case frozen, waiting
    }

    /// `last`: the line of the history before all of this run.
    private func end(
        of task: RequestedTask,
        after last: Int64
    ) throws(Failure) -> Reported<Report.HistoryLine> {
        var pauses = Self.pauses[...]
        var said: Delay?
        while true {
            // In this order: what has ended between the two stands in the history.
            let request = try patiently(task) { () throws(Failure) in try self.request(task) }
            let lines = try patiently(task) { () throws(Failure) in
                try invocation.history(of: task.app.name, limit: 100)
            }
            // The newest is told first; the task may have run once more by now.
            if let line = lines.last(where: { $0.report.ends(task, after: last) }) { return line }
            let delay = try self.delay(of: request, task)
            if let delay, delay != said, let request {
                invocation.say(request.sentence.printable + delay.hope)
            }
            said = delay
            _ = try? Poll.wait(for: [], milliseconds: pauses.first ?? 500)
            if pauses.count > 1 { pauses.removeFirst() }
        }
    }

    /// Nil: it runs. Throws if it does not go on.
    private func delay(
        of request: Reported<Report.Request>?,
        _ task: RequestedTask
    ) throws(Failure) -> Delay? {
        let app = task.app.name.printable
        guard let request else {
            throw Failure(
                .failed,
                "the run of \(app) is over, and nothing says how it ended",
                fix: "\"offstage history \(app)\" shows what there is."
            )
        }
        switch request.state.known {
        case .interrupted: return .frozen
        case .waiting, .ready, .nothingToDo, .unknown:
            if request.userInitiated == true { return .waiting }
            throw Failure(
                .failed,
                "\(app) does not run any more, and waits again: \(request.sentence.printable)",
                fix: "\"offstage explain \(app)\" shows why, \"offstage history \(app)\" what came "
                    + "before."
            )
        // A word that this version does not know is no end.
        case .running, nil: return nil
        }
    }

    /// The next daemon goes on with the run, so one that has gone away is waited for.
    private func patiently<T>(
        _ task: RequestedTask,
        _ ask: () throws(Failure) -> T
    ) throws(Failure) -> T {
        var limit: BootTime?
        while true {
            do throws(Failure) {
                return try ask()
            } catch {
                let end = limit ?? Clocks.boot() + invocation.patience.limit
                limit = end
                guard error.code == .notRunning else { throw error }
                guard Clocks.boot() < end else { throw error.unseen(task) }
                _ = try? Poll.wait(for: [], milliseconds: Self.pauses.last ?? 500)
            }
        }
    }

    /// Nil: it is over.
    private func request(_ task: RequestedTask) throws(Failure) -> Reported<Report.Request>? {
        do throws(Failure) {
            return try invocation.ask(Control1.Tasks { $0.app = task.app.name }).first {
                $0.request == Int64(clamping: task.request.number)
            }
        } catch  where error.code == .notFound {
            return nil
        }
    }
}

extension RunWatch.Delay {
    fileprivate var hope: String {
        switch self {
        case .frozen: " The run goes on then; this waits for its end."
        case .waiting: " The run begins then; this waits for its end."
        }
    }
}

extension Failure {
    /// Nobody is there to tell the end of a run.
    fileprivate func unseen(_ task: RequestedTask) -> Failure {
        let app = task.app.name.printable
        return Failure(
            code,
            "\(message); how the run of \(app) ends is not seen, but it may go on",
            fix: (fix.isEmpty ? "" : fix + " Then ")
                + "\"offstage history \(app)\" shows how it ended."
        )
    }
}

extension Report.HistoryLine {
    /// Whether it is the end of a run that was asked for when `last` was the newest line. A task
    /// does not run twice at a time, but for tests; and no interruption is an end.
    fileprivate func ends(_ task: RequestedTask, after last: Int64) -> Bool {
        guard id ?? 0 > last, app == task.app, self.task == task.identifier, simulated != true
        else { return false }
        return switch what.known {
        case .run: outcome?.known != .interrupted
        case .dropped: true
        case .ended, .note, .transfer, .opened, .left, .closed, .seen, nil: false
        }
    }

    fileprivate var isSuccess: Bool {
        guard what.known == .run else { return false }
        return switch outcome?.known {
        case .newData, .noData, .completed: true
        case .failed, .unsuccessful, .expired, .interrupted, .terminated, .crashed, .exited,
            .notStarted, .retry, .unknown, .finished, .cancelled, nil:
            false
        }
    }

    /// Its result, and why, where that says more.
    var ending: String {
        // How a program ended is known only of what the daemon has started itself.
        let isUnknown = what.known == .ended && outcome?.known == .unknown
        let (result, reason) = (isUnknown ? "" : result ?? "", reason ?? "")
        var parts = [result, result.contains(reason) ? "" : reason]
        // A run's result begins with its outcome already.
        if what.known == .transfer, let outcome, outcome.text != result {
            parts.insert(outcome.text, at: 0)
        }
        return parts.filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
