import AppProtocol
import CommandTable
import Linux
package import Vocabulary

/// How long a command waits for a daemon that went away before it had answered.
package struct Patience: Sendable {
    package var limit: Interval

    package init(limit: Interval = .seconds(30)) { self.limit = limit }
}

extension Invocation {
    /// Makes a call. `look`: the command that shows whether it was done; nil: it changes nothing.
    @discardableResult
    func ask<C: Call>(
        _ call: C,
        look: String? = nil,
        waiting: Waiting = Waiting()
    ) throws(Failure) -> C.Reply {
        try asking(call, look: look, ifDone: try? C.Reply([[:]]), waiting: waiting) {
            (control) throws(Failure) in try control.call(call)
        }
    }

    /// For a daemon that went away.
    struct Waiting {
        /// It had answered before, so one comes in its place though nobody listens now.
        var wasThere = false
        /// A descriptor; once it is readable, nothing is waited for.
        var interrupted: Int32?
        /// Before something is said about it.
        var saying: () -> Void = {}
    }

    /// Makes a call on a connection of its own. Should the daemon go away before it has answered,
    /// whoever comes in its place is asked again, if that does no harm. `ifDone`: the answer when
    /// that one has nothing left to do.
    func asking<Answer>(
        _ call: some Call,
        look: String?,
        ifDone: Answer? = nil,
        waiting: Waiting = Waiting(),
        _ body: (any Control) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        var unanswered: Failure?
        var end: BootTime?
        var pause: Int32 = 10
        while true {
            let failure: Failure
            do throws(Failure) {
                return try body(try connect())
            } catch {
                failure = error
            }
            switch failure.loss {
            case nil where unanswered != nil && failure.code == .notRunning:
                // A service manager holds the socket, and is about to start the daemon again.
                break
            case nil:
                guard unanswered != nil, failure.nothingToDo, call.repetition == .nothingLeft,
                    let ifDone
                else { throw failure }
                say(failure.message + "; it was done before, or there was nothing to do")
                return ifDone
            case .absent?: if end == nil, !waiting.wasThere { throw failure }
            case .connecting?: break
            case .unanswered?:
                guard call.repetition != .twice else { throw failure.notRepeated(look) }
                unanswered = failure
            }
            if end == nil {
                waiting.saying()
                say(failure.message + "; asking again, for \(patience.limit) at most")
            }
            let limit = end ?? Clocks.boot() + patience.limit
            end = limit
            guard Clocks.boot() < limit else {
                throw unanswered?.unanswered(patience, look) ?? failure
            }
            if let interrupted = waiting.interrupted {
                guard !Poll.ready(interrupted, for: .readable, milliseconds: pause) else {
                    throw failure
                }
            } else {
                _ = try? Poll.wait(for: [], milliseconds: pause)
            }
            pause = min(pause * 2, 500)
        }
    }

    /// The daemon itself, where a call of `Control1` is not all that is wanted.
    func daemon() throws(Failure) -> DaemonControl { try Self.daemon(try connect()) }

    static func daemon(_ control: any Control) throws(Failure) -> DaemonControl {
        guard let daemon = control as? DaemonControl else {
            throw Failure(.notRunning, "this is not the daemon on its socket")
        }
        return daemon
    }

    /// For one request: however often it is heard, it is the same.
    static func token() throws(Failure) -> String {
        do throws(LinuxError) {
            let stamp = UInt64(bitPattern: Clocks.boot().nanoseconds)
            return "\(try Clocks.bootID())-\(CurrentProcess.pid)-\(stamp)"
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    /// False: the log of an app is empty. Asked once: it is for a hint only.
    func mayHaveWritten(_ app: String) -> Bool {
        let end = try? connect().call(Control1.Logs { ($0.app, $0.lines) = (app, 1) })
        return end?.written.isEmpty != true
    }

    /// For people: standard output is the answer's.
    func say(_ text: String) {
        console.printError("\(OffstageProgram.name): \(text)")
    }
}

extension Failure {
    private static let isUnknown = "the request may or may not have been carried out"

    /// What is known when nobody has answered for so long.
    fileprivate func unanswered(_ patience: Patience, _ look: String?) -> Failure {
        let message = message + "; no daemon has answered for \(patience.limit)"
        guard let look else { return Failure(code, message, fix: fix) }
        return Failure(
            code,
            "\(message); \(Self.isUnknown)",
            fix: fix + " Then \"\(look)\" shows whether it was; if not, type the same again."
        )
    }

    /// What is known of a call that is made once.
    fileprivate func notRepeated(_ look: String?) -> Failure {
        Failure(
            code,
            "\(message); \(Self.isUnknown), and asked again it might be twice",
            fix: "\"\(look ?? "offstage status")\" shows whether it was; if not, type the same "
                + "again."
        )
    }
}
