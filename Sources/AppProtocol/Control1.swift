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
        documentation: "Looking at, steering and explaining background work.",
        methods: questions + actions,
        signals: [
            Interface.Signal(
                "Happened",
                [Interface.Argument("line", "a{sv}")],
                "A line was added to the history. Told to who asked (AddMatch), not to a suspended "
                    + "app."
            )
        ],
        properties: [
            Interface.Property("Version", "s", isConstant: true, "Of the daemon.")
        ]
    )

    private static let questions: [Interface.Method] = [
        Interface.Method(
            "Status",
            output: [result],
            "What fails, runs and waits now; the sensors; what was spent today."
        ),
        Interface.Method("Apps", output: [rows], "The apps, last used first."),
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
            "The end of what the app wrote. Options: lines (x)."
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
            "What is known of the device, and which source has the word. sensing (s) is known, "
                + "none (there is no such device), unknown (no source runs; work that asks for "
                + "power, network, unmetered or unlocked waits while the source of that is "
                + "missing) or lost (the source has gone, and the cautious value is taken)."
        ),
        Interface.Method("Doctor", output: [rows], "What this machine can really do."),
        Interface.Method("Version", output: [result], "Which daemon this is."),
    ]

    private static let actions: [Interface.Method] = [
        Interface.Method(
            "Open",
            input: [app, options],
            output: [result],
            "Starts the app or brings it back; answered when it has started, or with the reason "
                + "why it has not. Options: attach (x, the caller's own pid: the "
                + "caller becomes the app, by executing the arguments in the environment that the "
                + "result names)."
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
            "Ends the app and keeps it from all background work until it is opened again."
        ),
        Interface.Method(
            "Submit",
            input: [options],
            output: [result],
            "Asks for a command to be run. Options: kind (s, refresh or processing), command (as), "
                + "id (s), after (d), every (d), network, power (processing only), unmetered, "
                + "unlocked (b), directory (s), environment (as, NAME=value; no name begins with "
                + "OFFSTAGE_), token (s, the same again is answered as the first time). A process "
                + "of an app asks for work of the app's own: an id that its manifest permits, and "
                + "no command, directory or environment. The result has a warning (s) when the "
                + "program is not found now, and unsensed (as): the conditions that it depends on "
                + "and that nothing tells."
        ),
        Interface.Method(
            "Run",
            input: [app, options],
            output: [result],
            "Runs a task now; skips the gates that only save. Options: task (s)."
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
            "Plays a sensor by hand (auto ends that) or changes a setting. Options: app (s)."
        ),
        Interface.Method(
            "Reload",
            output: [result],
            "Reads settings and manifests anew."
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
