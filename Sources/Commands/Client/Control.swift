import AppProtocol
package import CommandTable
package import Vocabulary

/// The daemon, as a command sees it.
package protocol Control {
    /// Calls a method of `Control1`; one that answers nothing gives null.
    func call(_ method: Interface.Method, _ arguments: [Value]) throws(Failure) -> Value
}

extension Invocation {
    /// Asks the daemon by the name of a method of `Control1`.
    @discardableResult
    func ask(_ method: String, _ arguments: [Value] = []) throws(Failure) -> Value {
        guard let row = Control1.interface.methods.first(where: { $0.name == method }) else {
            throw Failure(.failed, "there is no method \(method)")
        }
        return try connect().call(row, arguments)
    }
}
