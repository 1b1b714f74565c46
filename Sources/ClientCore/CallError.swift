package import AppProtocol

/// Why a call has no answer.
package struct CallError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// Nobody is there, or no longer.
        case unreachable
        /// No answer within the time that a call is given.
        case timedOut
        /// The daemon's no, by its D-Bus name; nil: one that only a later version has.
        case refused(ControlErrorName?)
        /// A daemon of another version: it has no such method, or what it replies is not
        /// understood.
        case unsupported
    }

    package let reason: Reason
    /// What was wrong, the value, and what to do.
    package let text: String

    package init(_ reason: Reason, _ text: String) { (self.reason, self.text) = (reason, text) }

    package init(unsupported what: String) {
        self.init(
            .unsupported,
            "the daemon is of another version: \(what) (install the same version of both)"
        )
    }

    package static let lost = CallError(
        .unreachable,
        "the connection to the daemon was lost (try again)"
    )
    package static let stopped = CallError(.unreachable, "the connection has been closed")
    static let late = CallError(.timedOut, "the daemon has not answered in time (try again)")
    static let tooMuchKept = CallError(.unreachable, "too much is kept for it")
}
