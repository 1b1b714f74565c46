package import Vocabulary

/// The daemon, as a command sees it.
package protocol Control {
    /// Calls a method of the control interface; one that answers nothing gives null.
    func call(_ method: ControlMethod, _ arguments: [Value]) throws(Failure) -> Value
}

/// A method of the control interface with the types of its arguments.
package struct ControlMethod: Hashable, Sendable {
    package let name: String
    package let signature: String

    private init(_ name: String, _ signature: String = "") {
        (self.name, self.signature) = (name, signature)
    }

    static let version = ControlMethod("Version")
    static let status = ControlMethod("Status")
    static let apps = ControlMethod("Apps")
    static let tasks = ControlMethod("Tasks")
    static let open = ControlMethod("Open", "sa{sv}")
    static let leave = ControlMethod("Leave", "sa{sv}")
    static let close = ControlMethod("Close", "sa{sv}")
    static let submit = ControlMethod("Submit", "a{sv}")
    static let run = ControlMethod("Run", "sa{sv}")
    static let cancel = ControlMethod("Cancel", "sa{sv}")
    static let pause = ControlMethod("Pause", "a{sv}")
    static let `continue` = ControlMethod("Continue", "a{sv}")
    static let explain = ControlMethod("Explain", "sa{sv}")
    static let history = ControlMethod("History", "a{sv}")
    static let logs = ControlMethod("Logs", "sa{sv}")
    static let simulate = ControlMethod("Simulate", "ssa{sv}")
    static let set = ControlMethod("Set", "ssa{sv}")
    static let settings = ControlMethod("Settings")
    static let conditions = ControlMethod("Conditions")
    static let doctor = ControlMethod("Doctor")
}
