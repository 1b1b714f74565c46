package import Vocabulary

/// The interface for the user's own programs outside every app: the command line, the dashboard,
/// scripts. One table: what is served, its introspection (docs/dbus) and its documentation.
///
/// Arguments and results are maps with the names that `--json` prints. Options that are not known
/// are refused by name. Times are RFC 3339 text, spans are seconds.
package enum Control1 {
    package static let busName = "org.offstage.Offstage"
    package static let path = "/org/offstage"
    package static let name = "org.offstage.Control1"

    private static let app = Interface.Argument("app", "s")
    private static let options = Interface.Argument("options", "a{sv}")
    private static let result = Interface.Argument("result", "a{sv}")
    private static let rows = Interface.Argument("rows", "aa{sv}")

    package static let interface = Interface(
        name,
        documentation: "Inspects, explains and controls background work.",
        methods: questions + actions,
        signals: [
            Interface.Signal(
                "Happened",
                [Interface.Argument("line", "a{sv}")],
                "A line was added to the history. Sent to subscribers (AddMatch), but not to "
                    + "suspended apps."
            )
        ],
        properties: [
            Interface.Property("Version", "s", isConstant: true, "The version of the daemon.")
        ]
    )

    private static let questions: [Interface.Method] = [
        Interface.Method(
            "Status",
            output: [result],
            "What fails, runs and waits now; the conditions; what was spent today."
        ),
        Interface.Method("Apps", output: [rows], "The apps, the most recently used first."),
        Interface.Method(
            "Tasks",
            input: [app],
            output: [rows],
            "The tasks of one app, or of all if the name is empty."
        ),
        Interface.Method(
            "Explain",
            input: [app, options],
            output: [rows],
            "Why each task of the app does or does not run. Options: task (s)."
        ),
        Interface.Method(
            "History",
            input: [options],
            output: [rows],
            "What ran, what did not, and why, newest first. Options: app (s), limit (x), "
                + "before (x, the id of a line)."
        ),
        Interface.Method(
            "Logs",
            input: [app, options],
            output: [result],
            "The end of the app's output. Options: lines (x)."
        ),
        Interface.Method("Settings", output: [rows], "The settings in force."),
        Interface.Method(
            "Gates",
            output: [rows],
            "Which gate applies to which trigger."
        ),
        Interface.Method("Modes", output: [rows], "The background modes of a manifest."),
        Interface.Method(
            "Conditions",
            output: [rows],
            "The conditions of the device and their sources. sensing (s) is known, none (there is "
                + "no such hardware), unknown (no source is running; work that requires power, "
                + "network, unmetered or unlocked waits while the source for it is missing) or "
                + "lost (the source has disappeared, and the cautious value applies)."
        ),
        Interface.Method("Doctor", output: [rows], "What this machine supports."),
        Interface.Method("Version", output: [result], "The version and build of the daemon."),
    ]

    private static let actions: [Interface.Method] = [
        Interface.Method(
            "Open",
            input: [app, options],
            output: [result],
            "Starts the app or brings it to the foreground. The reply comes when it has started, "
                + "or gives the reason why it has not. Options: attach (x, the caller's own "
                + "pid: the caller becomes the app, by executing the arguments in the "
                + "environment that the result names)."
        ),
        Interface.Method(
            "Leave",
            input: [app, options],
            output: [result],
            "The user has left the app."
        ),
        Interface.Method(
            "Close",
            input: [app, options],
            output: [result],
            "Terminates the app and holds all its background work until it is opened again."
        ),
        Interface.Method(
            "Submit",
            input: [options],
            output: [result],
            "Submits a command. Options: kind (s, refresh or processing), command (as), id (s), "
                + "after (d), every (d), network, power (processing only), unmetered, unlocked "
                + "(b), directory (s), environment (as, NAME=value; no name begins with "
                + "OFFSTAGE_), token (s; a repeated call with the same token gets the first "
                + "answer). A process of an app submits the app's own work: an id that its "
                + "manifest permits, and no command, directory or environment. The result has a "
                + "warning (s) if the program is not found at present, and unsensed (as): the "
                + "conditions that it depends on and that have no source."
        ),
        Interface.Method(
            "Run",
            input: [app, options],
            output: [result],
            "Starts a user-initiated run of a task; skips the gates that only save. Options: task "
                + "(s)."
        ),
        Interface.Method(
            "Cancel",
            input: [app, options],
            output: [result],
            "Cancels tasks, and stops those that run. Options: task (s)."
        ),
        Interface.Method(
            "Pause",
            input: [options],
            output: [result],
            "Holds all background work. Options: seconds (d)."
        ),
        Interface.Method("Continue", input: [options], output: [result], "Ends a pause."),
        Interface.Method(
            "Simulate",
            input: [Interface.Argument("what", "s"), app, options],
            output: [result],
            "A test: launch, expire or fetch. Options: task (s)."
        ),
        Interface.Method(
            "Set",
            input: [
                Interface.Argument("name", "s"), Interface.Argument("value", "s"), options,
            ],
            output: [result],
            "Overrides a condition (auto ends the override) or changes a setting. Options: app "
                + "(s)."
        ),
        Interface.Method(
            "Reload",
            output: [result],
            "Reloads settings and manifests."
        ),
    ]
}

/// The errors of this interface, by their D-Bus names.
package enum ControlErrorName: String, CaseIterable, Sendable {
    case notFound = "org.offstage.Error.NotFound"
    case invalid = "org.offstage.Error.Invalid"
    case held = "org.offstage.Error.Held"
    case unavailable = "org.offstage.Error.Unavailable"
    case tooManyPendingTaskRequests = "org.offstage.Error.TooManyPendingTaskRequests"
    case notPermitted = "org.offstage.Error.NotPermitted"
    case immediateRunIneligible = "org.offstage.Error.ImmediateRunIneligible"
    case storage = "org.offstage.Error.Storage"

    /// The exit status of the command line; `invalid` is what nobody could do, whatever the state.
    package var exitStatus: Int32 {
        switch self {
        case .notFound: 3
        case .invalid: 2
        case .held, .unavailable, .tooManyPendingTaskRequests, .notPermitted,
            .immediateRunIneligible, .storage:
            1
        }
    }
}
