import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// Asks for a run, and waits for its end. It is no part of it: when it goes, the run goes on.
struct RunWatch {
    private let invocation: Invocation
    /// Between looks; the last one again and again.
    private static let pauses: [Int32] = [20, 50, 100, 200, 500]

    /// So often a daemon that has gone away is looked for.
    private static let attempts = 60

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// The command that shows whether it was asked for.
    static func look(_ call: Control1.Run) -> String { "offstage history \(call.app)" }

    /// Throws if the run has failed.
    func run(_ call: Control1.Run) throws(Failure) {
        // Lines that are there already are of other runs.
        let last = try invocation.history(of: call.app, limit: 1).first?.id ?? 0
        let task = try invocation.ask(call, look: Self.look(call))
        let line = try end(of: task, after: last)
        let app = task.app.name.printable
        let result = [line.result, line.reason].compactMap(\.self).filter { !$0.isEmpty }
            .joined(separator: ": ").printable
        try invocation.show(line) { line in
            let took = line.seconds.map { ", after \(Times.span($0))" } ?? ""
            invocation.console.print("\(app): \(result)\(took)")
        }
        guard line.isSuccess else {
            throw Failure(
                .failed,
                "the run of \(app) has not succeeded: \(result)",
                fix: "\"offstage logs \(app)\" shows what it printed."
            )
        }
    }

    private func end(
        of task: RequestedTask,
        after last: Int64
    ) throws(Failure) -> Reported<Report.HistoryLine> {
        var pauses = Self.pauses[...]
        while true {
            // In this order: what has ended between the two stands in the history.
            let waiting = try patiently { () throws(Failure) in try self.waiting(task) }
            let lines = try patiently { () throws(Failure) in
                try invocation.history(of: task.app.name, limit: 100)
            }
            if let line = lines.last(where: { $0.report.ends(task, after: last) }) { return line }
            if let waiting {
                throw Failure(
                    .failed,
                    "\(task.app.name.printable) was not started: \(waiting.sentence.printable)",
                    fix: "\"offstage doctor\" shows what is missing."
                )
            }
            _ = try? Poll.wait(for: [], milliseconds: pauses.first ?? 500)
            if pauses.count > 1 { pauses.removeFirst() }
        }
    }

    /// The next daemon goes on with the run, so one that has gone away is waited for.
    private func patiently<T>(_ ask: () throws(Failure) -> T) throws(Failure) -> T {
        var attempts = Self.attempts
        while true {
            do throws(Failure) {
                return try ask()
            } catch  where error.loss != nil && attempts > 0 {
                attempts -= 1
                _ = try? Poll.wait(for: [], milliseconds: Self.pauses.last ?? 500)
            }
        }
    }

    /// Nil: it does not wait, or is over.
    private func waiting(
        _ task: RequestedTask
    ) throws(Failure) -> Reported<Report.Request>? {
        do throws(Failure) {
            return try invocation.ask(Control1.Tasks { $0.app = task.app.name }).first {
                $0.task == task.identifier && $0.state == "waiting"
            }
        } catch  where error.code == .notFound {
            return nil
        }
    }
}

extension Report.HistoryLine {
    /// Whether it is the end of a task that was asked for when `last` was the newest line.
    fileprivate func ends(_ task: RequestedTask, after last: Int64) -> Bool {
        guard id ?? 0 > last, app == task.app, simulated != true else { return false }
        return switch what.known {
        case .run, .dropped: self.task == task.identifier
        case .ended: true
        case .note, .transfer, .opened, .left, .closed, .seen, nil: false
        }
    }

    fileprivate var isSuccess: Bool {
        what.known == .run && ["new-data", "no-data", "completed"].contains(outcome)
    }
}
