import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// The clock of a daemon may be a virtual one, ahead of this machine's: what is typed and shown
/// goes by the daemon's.
extension Invocation {
    /// A time as text, or a dash.
    func timeText(_ time: Report.Time?) -> String {
        time?.wall.map { Times.text($0, at: shownNow) } ?? "–"
    }

    /// A daemon reads this machine's clock a little later: seconds are still counted from here.
    private var shownNow: Moment {
        let known: Moment
        if let kept = console.daemonNow {
            known = kept
        } else {
            let overview = try? connect().call(Control1.Overview { $0.rows = 0 })
            known = keepDaemonNow(overview?.report.now)
        }
        return known.wall - console.now.wall > .minutes(1) ? known : console.now
    }

    /// Of a report that says it, so that the daemon is not asked for it.
    @discardableResult
    func keepDaemonNow(_ time: Report.Time?) -> Moment {
        var now = console.now
        if let wall = time?.wall { (now.wall, now.utcOffset) = (wall, now.utcOffset(at: wall)) }
        console.daemonNow = now
        return now
    }

    /// By which dates and times of day are understood.
    func daemonNow() throws(Failure) -> Moment {
        if let known = console.daemonNow { return known }
        return keepDaemonNow(try ask(Control1.Overview { $0.rows = 0 }).report.now)
    }

    /// The time to come that an option gives.
    func timeToCome(option name: String) throws(Failure) -> TimeToCome? {
        guard let text = options[name] else { return nil }
        return try timeToCome(text, of: "--\(name) ")
    }

    /// The time to come that `text` says; `name` stands before it in a message.
    func timeToCome(_ text: String, of name: String = "") throws(Failure) -> TimeToCome {
        let time = try time(text, .future, of: name, by: daemonNow)
        return TimeToCome(span: TypedTime(text)?.span, time: time, now: try daemonNow())
    }
}

/// A time to come, as it was typed. A span has the same length, and a date stays that date, if the
/// clock is set before it comes.
struct TimeToCome {
    let span: Interval?
    /// By the daemon's clock, as `now` is.
    let time: WallTime
    let now: Moment

    /// Nil: it is a span.
    var date: WallTime? { span == nil ? time : nil }
    /// Its day and time of day.
    var text: String { Times.day(time, at: now) }
}
