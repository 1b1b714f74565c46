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
        documentation: "Calls from an app to the daemon.",
        methods: main + any
    )

    /// For the main process of a launch.
    private static let main: [Interface.Method] = [
        Interface.Method(
            "Hello",
            input: [options],
            output: [result],
            "The first call: the app is running and accepts calls at its own object. Options: "
                + "version (x, of the protocol: 1), path (s, of the app's object; "
                + "/org/offstage/app if absent). An app that reconnects adds: running (at, the "
                + "deliveries that it accepted and has not finished), finished (aa{sv}, with "
                + "delivery and result, what it completed meanwhile), registered (as). For each "
                + "delivery in running, Go is called, again if necessary. Result: app, launch, "
                + "version (x), state (foreground or background), background-refresh "
                + "(available, denied or restricted), permitted (av, the identifiers of the "
                + "manifest), features (av, texts). If a process calls Hello on another "
                + "connection, its earlier one is closed."
        ),
        Interface.Method(
            "FinishedLaunching",
            input: [Interface.Argument("registered", "as")],
            "Launching has finished, and these identifiers have handlers. Waiting requests are "
                + "offered from now on."
        ),
        Interface.Method(
            "ExpirationHandler",
            input: [delivery, Interface.Argument("set", "b")],
            "Whether a delivery has an expiration handler. A delivery without one counts as "
                + "completed when its time is over."
        ),
        Interface.Method(
            "Complete",
            input: [delivery, Interface.Argument("result", "s")],
            "Completes a delivery. The result is newData, noData or failed; or succeeded or "
                + "unsuccessful."
        ),
        Interface.Method(
            "SetMinimumFetchInterval",
            input: [Interface.Argument("seconds", "d")],
            "Sets the quiet period after each use or fetch; 0 is the system's minimum, a negative "
                + "number means never, which is the default."
        ),
        Interface.Method(
            "Mistaken",
            input: [Interface.Argument("mistake", "s"), Interface.Argument("subject", "s")],
            "Reports a mistake of the app, for the history and \"offstage lint\": "
                + AppMistakeName.allCases.map(\.rawValue).joined(separator: ", ")
                + "; and the identifier concerned."
        ),
    ]

    /// For every process of an app, and its extensions.
    private static let any: [Interface.Method] = [
        Interface.Method(
            "Submit",
            input: [identifier, options],
            "Requests a launch of the app; the request is durable when the call returns. A "
                + "pending request with the same identifier is replaced. Options: kind (s, "
                + "refresh or processing), earliest (d, a date), network, power (processing "
                + "only), unmetered, unlocked (b), token (s; a repeated call with the same "
                + "token gets the first answer)."
        ),
        Interface.Method(
            "Cancel",
            input: [identifier],
            "Cancels a pending request; an empty name cancels all."
        ),
        Interface.Method(
            "Pending",
            output: [Interface.Argument("requests", "aa{sv}")],
            "The requests that were submitted and not yet accepted: identifier, kind, earliest, "
                + "network, power, unmetered, unlocked."
        ),
        Interface.Method(
            "BeginTask",
            input: [Interface.Argument("name", "s"), options],
            output: [task, result],
            "Requests time to finish something. Task 0 means that no time is available. Options: "
                + "expires (b, call ExpireTask), activity (b, the task belongs to this process: "
                + "it ends with this connection, which is notified of its expiry), token (s; a "
                + "repeated call with the same token returns the same task). Result: deadline."
        ),
        Interface.Method("EndTask", input: [task], "Ends a background task."),
        Interface.Method(
            "Limits",
            output: [result],
            "The limits and usage of the app: state (foreground, background, suspended or not "
                + "running), memory (x, bytes), cpu (d, seconds used); in the background also "
                + "memory-limit (x, bytes), cpu-limit (d, share of one processor, averaged over "
                + "cpu-window seconds; absent while it does not apply), deadline."
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
        documentation: "Calls from the daemon to an app. An app must ignore options that it does "
            + "not know.",
        methods: [
            Interface.Method(
                "Offer",
                input: [
                    delivery, Interface.Argument("kind", "s"),
                    Interface.Argument("identifier", "s"), options,
                ],
                "Offers a delivery; the reply is the receipt. Kind: fetch, refresh or processing. "
                    + "An error declines the delivery, which has then failed."
            ),
            Interface.Method(
                "Go",
                input: [delivery, options],
                "Run the handler of this delivery. Options: deadline. The call is repeated after "
                    + "a lost connection; the handler must run only once."
            ),
            Interface.Method(
                "Expire",
                input: [delivery, reason, options],
                "The time of a delivery is nearly over: call its expiration handler. Options: "
                    + "deadline."
            ),
            Interface.Method(
                "ExpireTask",
                input: [Interface.Argument("task", "t"), reason, options],
                "The time of a background task is nearly over: call its expiration handler."
            ),
            Interface.Method(
                "EnterBackground",
                input: [options],
                "The user has left. The app is suspended soon after its reply, unless it holds "
                    + "tasks. Options: deadline (of the tasks), work (av, maps with delivery "
                    + "and deadline, for deliveries that continue)."
            ),
            Interface.Method("EnterForeground", input: [options], "The user is coming back."),
            Interface.Method("BecomeActive", input: [options], "The app is active."),
            Interface.Method(
                "MemoryWarning",
                input: [options],
                "The app is near its memory limit. Options: memory, memory-limit (x, bytes)."
            ),
            Interface.Method(
                "Changed",
                input: [options],
                "A setting that concerns the app. Options: background-refresh."
            ),
        ]
    )
}
