package import Vocabulary

/// The interface for apps that know us: they ask for work in the background, are woken, and say
/// what came of it. The daemon serves it beside `Control1`; what it tells an app, it calls on the
/// app's own object (`AppObject1`).
///
/// Who calls is known by the process. Only the main process of a launch says hello, takes
/// deliveries and completes them; any process of the launch may ask for work and for time, and so
/// may a program that the manifest lists under `Extensions`, wherever it was started.
///
/// Dates are seconds since 1970 (d). Spans are seconds (d). A `deadline` is an instant of
/// CLOCK_MONOTONIC in seconds (d), since a grant's clock stands still while the device sleeps;
/// what has no end has no deadline.
package enum App1 {
    package static let name = "org.offstage.App1"
    /// What this version of the protocol is called in `Hello`.
    package static let version: Int64 = 1
    /// The parts of background work that this daemon has; more may come.
    package static let features = ["fetch", "refresh", "processing", "tasks", "extensions"]

    private static let options = Interface.Argument("options", "a{sv}")
    private static let result = Interface.Argument("result", "a{sv}")
    private static let identifier = Interface.Argument("identifier", "s")
    private static let delivery = Interface.Argument("delivery", "t")
    private static let task = Interface.Argument("task", "t")

    package static let interface = Interface(
        name,
        documentation: "What an app says to the daemon.",
        methods: main + any
    )

    /// For the main process of a launch.
    private static let main: [Interface.Method] = [
        Interface.Method(
            "Hello",
            input: [options],
            output: [result],
            "First of all calls: the app is there, and takes calls at its own object. Options: "
                + "version (x, of the protocol: 1), path (s, of the app's object; "
                + "/org/offstage/app if absent). One that connects again adds: running (at, the "
                + "deliveries that it accepted and has not finished), finished (aa{sv}, with "
                + "delivery and result, what it completed meanwhile), registered (as). Each "
                + "delivery of running is answered with its Go, once more if need be. Result: "
                + "app, launch, version (x), state (foreground or background), "
                + "background-refresh (available, denied or restricted), permitted (av, the "
                + "identifiers of the manifest), features (av, texts). A process that says it "
                + "again on another connection loses the earlier one."
        ),
        Interface.Method(
            "FinishedLaunching",
            input: [Interface.Argument("registered", "as")],
            "Launching is over; there are handlers for these identifiers. What waited is offered "
                + "from now on."
        ),
        Interface.Method(
            "ExpirationHandler",
            input: [delivery, Interface.Argument("set", "b")],
            "Whether there is a handler for the expiry of a delivery. One without counts as "
                + "completed when its time is over."
        ),
        Interface.Method(
            "Complete",
            input: [delivery, Interface.Argument("result", "s")],
            "A delivery is done: newData, noData, failed; or succeeded, unsuccessful."
        ),
        Interface.Method(
            "SetMinimumFetchInterval",
            input: [Interface.Argument("seconds", "d")],
            "The quiet period after each use or fetch; 0 is the system's minimum, less than 0 is "
                + "never, which is the default."
        ),
        Interface.Method(
            "Mistaken",
            input: [Interface.Argument("mistake", "s"), Interface.Argument("subject", "s")],
            "What a library sees its app do wrong, for the history and \"offstage lint\": "
                + AppMistakeName.allCases.map(\.rawValue).joined(separator: ", ")
                + "; and the identifier that it is about."
        ),
    ]

    /// For every process of an app, and its extensions.
    private static let any: [Interface.Method] = [
        Interface.Method(
            "Submit",
            input: [identifier, options],
            "Asks for a launch of the app; durable once it is answered. A pending request of the "
                + "same identifier is replaced. Options: kind (s, refresh or processing), earliest "
                + "(d, a date), network, power (processing only), unmetered, unlocked (b), token "
                + "(s, the same again is answered as the first time)."
        ),
        Interface.Method(
            "Cancel",
            input: [identifier],
            "Takes a pending request back; an empty name, all of them."
        ),
        Interface.Method(
            "Pending",
            output: [Interface.Argument("requests", "aa{sv}")],
            "What was submitted and not yet accepted: identifier, kind, earliest, network, power, "
                + "unmetered, unlocked."
        ),
        Interface.Method(
            "BeginTask",
            input: [Interface.Argument("name", "s"), options],
            output: [task, result],
            "Asks for time to finish something. Task 0: there is no time to be had. Options: "
                + "expires (b, ExpireTask is wanted), activity (b, it is this process's own: it "
                + "ends with this connection, which is told of its expiry), token (s, the same "
                + "again is the same task). Result: deadline."
        ),
        Interface.Method("EndTask", input: [task], "It is finished."),
        Interface.Method(
            "Limits",
            output: [result],
            "Of the app: state (foreground, background, suspended or not running), memory (x, "
                + "bytes), cpu (d, seconds used); in the background also memory-limit (x, bytes), "
                + "cpu-limit (d, share of one processor, averaged over cpu-window seconds; absent "
                + "while it does not apply), deadline."
        ),
    ]
}

/// What `App1.Mistaken` takes.
package enum AppMistakeName: String, CaseIterable, Sendable {
    case registeredLate, registeredTwice, registeredUnpermitted, completedAgain, letGo
}

/// What the daemon tells an app, as calls to the app's object. The answer to `Offer` is the
/// receipt; the work begins with `Go`, when the receipt is durable.
package enum AppObject1 {
    package static let name = "org.offstage.AppObject1"
    /// Where it is, unless the app says otherwise.
    package static let path = "/org/offstage/app"

    private static let options = Interface.Argument("options", "a{sv}")
    private static let delivery = Interface.Argument("delivery", "t")
    private static let reason = Interface.Argument("reason", "s")

    package static let interface = Interface(
        name,
        documentation: "What the daemon says to an app. Options that are not known are to be "
            + "ignored.",
        methods: [
            Interface.Method(
                "Offer",
                input: [
                    delivery, Interface.Argument("kind", "s"),
                    Interface.Argument("identifier", "s"), options,
                ],
                "Work is there; the answer is the receipt. Kind: fetch, refresh or processing. "
                    + "An error means that the app will not do it: then it has failed."
            ),
            Interface.Method(
                "Go",
                input: [delivery, options],
                "Run the handler of this delivery. Options: deadline. Comes again after a "
                    + "connection was lost: it is to be run once."
            ),
            Interface.Method(
                "Expire",
                input: [delivery, reason, options],
                "The time of a delivery is nearly out: call its expiration handler. Options: "
                    + "deadline."
            ),
            Interface.Method(
                "ExpireTask",
                input: [Interface.Argument("task", "t"), reason, options],
                "The same for a background task."
            ),
            Interface.Method(
                "EnterBackground",
                input: [options],
                "The user has left. The app is suspended soon after the answer, unless it holds "
                    + "tasks. Options: deadline (of the tasks), work (av, maps with delivery "
                    + "and deadline, of what it was given before and goes on)."
            ),
            Interface.Method("EnterForeground", input: [options], "The user is coming back."),
            Interface.Method("BecomeActive", input: [options], "The user is there."),
            Interface.Method(
                "MemoryWarning",
                input: [options],
                "The memory limit is near. Options: memory, memory-limit (x, bytes)."
            ),
            Interface.Method(
                "Changed",
                input: [options],
                "A setting that concerns the app. Options: background-refresh."
            ),
        ]
    )
}
