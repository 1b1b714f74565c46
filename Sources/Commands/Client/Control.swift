import AppProtocol
package import CommandTable
package import Vocabulary

/// The daemon, as a command sees it.
package protocol Control {
    /// Calls a method of `Control1`; one that answers nothing gives null.
    func call(_ method: Interface.Method, _ arguments: [Value]) throws(Failure) -> Value
}
