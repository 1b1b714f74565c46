package import AppProtocol
package import CommandTable
package import Vocabulary

/// The daemon, as a command sees it.
package protocol Control {
    /// Makes a call; what was replied.
    func send(_ call: EncodedCall) throws(Failure) -> [Value]
}

extension Control {
    func call<C: Call>(_ call: C) throws(Failure) -> C.Reply {
        let values = try send(call.encoded)
        do throws(ValueError) {
            return try C.Reply(values)
        } catch {
            throw Failure(notUnderstood: "whose reply to \(C.name)", error)
        }
    }
}

extension Failure {
    /// What a daemon of another version says.
    init(notUnderstood what: String, _ error: ValueError) {
        self.init(
            .failed,
            "the daemon is of another version, \(what) is not understood: "
                + "\(error)".printable,
            fix: DaemonControl.sameVersion
        )
    }
}
