import DeviceCore
import Vocabulary

/// What comes of a call that is made once more because the first had no answer: the daemon may have
/// heard that, or not.
enum Repetition: Equatable {
    /// The same as of one call: it only reads, what it brings about is the same however often it is
    /// asked for, or a token says that it is the same.
    case same
    /// The same; but who has done it finds nothing more to do it to, and says so.
    case nothingLeft
    /// It might be done twice.
    case twice
}

/// A call of the command line, as it matters when its answer is lost.
struct RepeatedCall {
    let method: String
    let arguments: [Value]

    init(_ method: String, _ arguments: [Value]) {
        (self.method, self.arguments) = (method, arguments)
    }

    private struct Row {
        let repetition: Repetition
        /// The command that shows whether it was done; nil: it changes nothing.
        let look: String?

        init(_ repetition: Repetition, _ look: String? = nil) {
            (self.repetition, self.look) = (repetition, look)
        }
    }

    /// By the method, of `Control1` and of `App1`. `APP` is the app that it is about.
    private static let table: [String: Row] = [
        "Status": Row(.same), "Apps": Row(.same), "Tasks": Row(.same), "Explain": Row(.same),
        "History": Row(.same), "Logs": Row(.same), "Settings": Row(.same), "Gates": Row(.same),
        "Modes": Row(.same), "Conditions": Row(.same), "Doctor": Row(.same),
        "Version": Row(.same), "Limits": Row(.same),
        "Open": Row(.same, "apps"), "Close": Row(.same, "apps"),
        "Leave": Row(.nothingLeft, "apps"),
        "Submit": Row(.same, "tasks APP"), "Cancel": Row(.nothingLeft, "tasks APP"),
        "Run": Row(.twice, "history APP"), "Simulate": Row(.twice, "history APP"),
        "Pause": Row(.same, "status"), "Continue": Row(.same, "status"),
        "Set": Row(.same, "conditions"), "Reload": Row(.same, "settings"),
        "BeginTask": Row(.same, "limits"), "EndTask": Row(.nothingLeft, "limits"),
    ]

    static func isKnown(_ method: String) -> Bool { table[method] != nil }

    var repetition: Repetition {
        // A process becomes an app once.
        if arguments.last?["attach"] != nil { return .twice }
        return Self.table[method]?.repetition ?? .twice
    }

    /// What to type to see whether it was done; nil: it changes nothing.
    var look: String? {
        if method == "Set", Condition(named: app) == nil { return "offstage settings" }
        return Self.table[method]?.look.map { "offstage " + $0.replacing("APP", with: app) }
    }

    private var app: String {
        guard let command = arguments.first?["command"]?.listValue?.first?.stringValue else {
            return (method == "Simulate" ? arguments.dropFirst().first : arguments.first)?
                .stringValue ?? ""
        }
        let base = command.split(separator: "/").last.map(String.init) ?? command
        return "command." + (arguments.first?["id"]?.stringValue ?? base)
    }
}
