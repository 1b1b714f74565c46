import AppProtocol
import CommandTable
import Vocabulary

extension Invocation {
    /// As JSON, or as `text` shows it.
    func show<Reply: Encodable>(_ reply: Reply, _ text: (Reply) -> Void) throws(Failure) {
        do throws(ValueError) {
            show(try ValueEncoder().encode(reply)) { _ in text(reply) }
        } catch {
            throw Failure(.failed, "the reply cannot be printed: \(error)")
        }
    }

    /// What was done, as JSON; people are told by the exit status.
    func report(_ done: ValueMap) {
        if wantsJSON { console.print(Value.map(done).json(pretty: true)) }
    }

    /// The same about the app, and the task, that the operands from `index` on name.
    func reportTask(from index: Int = 0) {
        var done: ValueMap = ["app": .string(operands[index])]
        if operands.count > index + 1 { done["task"] = .string(operands[index + 1]) }
        report(done)
    }

    /// A time as text, or a dash.
    func timeText(_ time: Report.Time?) -> String {
        time?.wall.map { Times.text($0, at: daemonNow) } ?? "–"
    }

    /// The clock of a daemon may be a virtual one, ahead of this machine's: then days are its own.
    private var daemonNow: Moment {
        if let known = console.daemonNow { return known }
        let overview = try? connect().call(Control1.Overview { $0.rows = 0 })
        return keepDaemonNow(overview?.report.now)
    }

    /// Of a report that says it, so that the daemon is not asked for it.
    @discardableResult
    func keepDaemonNow(_ time: Report.Time?) -> Moment {
        var now = console.now
        if let wall = time?.wall, wall - now.wall > .minutes(1) { now.wall = wall }
        console.daemonNow = now
        return now
    }
}
