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
package enum App1: CallSet {
    case hello(Hello), finishedLaunching(FinishedLaunching), expirationHandler(ExpirationHandler)
    case complete(Complete), setMinimumFetchInterval(SetMinimumFetchInterval), mistaken(Mistaken)
    case submit(Submit), cancel(Cancel), pending(Pending)
    case beginTask(BeginTask), endTask(EndTask), limits(Limits)
    case joinSession(JoinSession), enqueueTasks(EnqueueTasks), changeTasks(ChangeTasks)
    case answerTask(AnswerTask), leaveSession(LeaveSession)
    case watchConditions(WatchConditions), setIdleTimer(SetIdleTimer)

    package static let table = CallTable<App1>([
        CallRow(
            hello,
            .main,
            "The first call: the app is running and accepts calls at its own object. An app that "
                + "reconnects adds running, finished and registered. For each delivery in "
                + "running, Go is called, again if necessary. Result: app, launch, version (x), "
                + "state (foreground or background), background-refresh (available, denied or "
                + "restricted), permitted (av, the identifiers of the manifest), features (av, "
                + "texts), urls (av, for which it is opened: its reason to be launched), opening "
                + "(x, the number of that, as of OpenURLs). If a process calls Hello on another "
                + "connection, its earlier one is closed."
        ),
        CallRow(
            finishedLaunching,
            .connected,
            "Launching has finished, and these identifiers have handlers. Waiting requests are "
                + "offered from now on."
        ),
        CallRow(
            expirationHandler,
            .connected,
            "Whether a delivery has an expiration handler. A delivery without one counts as "
                + "completed when its time is over."
        ),
        CallRow(
            complete,
            .connected,
            "Completes a delivery. The result is newData, noData or failed; or succeeded or "
                + "unsuccessful. The answer comes when the end is stored: on a full disk, "
                + "only once space is free."
        ),
        CallRow(
            setMinimumFetchInterval,
            .connected,
            "Sets the quiet period after each use or fetch; 0 is the system's minimum, a negative "
                + "number means never, which is the default."
        ),
        CallRow(
            mistaken,
            .connected,
            "Reports a mistake of the app, for the history and \"offstage lint\": "
                + AppMistakeName.allCases.map(\.rawValue).joined(separator: ", ")
                + "; and the identifier concerned."
        ),
        CallRow(
            submit,
            .app,
            "Requests a launch of the app; the request is durable when the call returns. A "
                + "pending request with the same identifier is replaced."
        ),
        CallRow(
            cancel,
            .app,
            repeated: .nothingLeft,
            "Cancels a pending request; an empty name cancels all. What has been accepted goes on; "
                + "a request that repeats does not come back after it."
        ),
        CallRow(
            pending,
            .app,
            "The requests that were submitted and not yet accepted: identifier, kind, earliest "
                + "(d, \(WallTime.unit)), network, power, unmetered, unlocked."
        ),
        CallRow(
            beginTask,
            .app,
            "Requests time to finish something. Task 0 means that no time is available. Result: "
                + "deadline (d, \(deadlineUnit); absent while the app is in the foreground)."
        ),
        CallRow(
            endTask,
            .app,
            repeated: .nothingLeft,
            "Ends a background task. The answer comes when the end is stored, as with Complete."
        ),
        CallRow(
            limits,
            .app,
            "The limits and usage of the app: state (foreground, background, suspended or not "
                + "running), memory (x, bytes), cpu (d, seconds used); in the background also "
                + "memory-limit (x, bytes), cpu-limit (d, share of one processor, averaged over "
                + "cpu-window seconds; absent while it does not apply), deadline (d, "
                + "\(deadlineUnit))."
        ),
        CallRow(
            joinSession,
            .connected,
            "Joins a background session of transfers, which is made if it is not there. Its events "
                + "come as TaskEnded and TaskProgressed from now on, those that were missed first, "
                + "and, if it answers, questions as TaskAsked. "
                + "Result: missed (x, how many ends and questions are told next), tasks (av), "
                + "maps of those that have not: task (x), url, method (of an upload), headers "
                + "(aa{sv}: name, value), "
                + "description, suspended, received (x, bytes), total, earliest (d, "
                + "\(WallTime.unit)), expects-to-send, "
                + "expects-to-receive, priority, unmetered, timeout (d, seconds), no-cookies (as "
                + "enqueued). After Hello on another "
                + "connection it is called again."
        ),
        CallRow(
            enqueueTasks,
            .connected,
            "Enqueues files to fetch or to send, all or none; they are durable when the call "
                + "returns. Ends are told only in a session that is joined (JoinSession). "
                + "Each is a map: task (x, the app's own number, "
                + "which no other of the session has that has not ended), url, headers (as, each "
                + "NAME: VALUE), of an upload also method (\(UploadMethod.choice)) and "
                + "descriptor (x, the number of a file that the calling process has open for "
                + "reading until it is "
                + "answered), of one that goes on resume (what the end of an earlier one had), "
                + "description, discretionary, unmetered, earliest (d, \(WallTime.unit)), timeout "
                + "and resource-timeout "
                + "(d, seconds), expects-to-send and expects-to-receive (x, bytes), priority (x, "
                + "thousandths above or below the usual one: the order among the app's own), "
                + "no-cookies (b, a word of the app to itself, which is kept). What is "
                + "enqueued in the background is discretionary until the user opens the app."
        ),
        CallRow(
            changeTasks,
            .connected,
            repeated: .same,
            "Suspends, resumes, cancels, describes or prioritizes tasks by their numbers, or "
                + "cancels them and keeps what has come. Action: "
                + TaskAction.allCases.map(\.rawValue).joined(separator: ", ")
                + ". Those that are not there, or "
                + "have ended, are left as they are. The end of a cancelled task is told like any "
                + "other."
        ),
        CallRow(
            answerTask,
            .connected,
            repeated: .nothingLeft,
            "Answers a question (TaskAsked) by its number, once: proceed (as if nobody had asked), "
                + "request (the task goes on with this url and these headers), login (with user "
                + "and password, which are kept in memory only), or cancel. An answer to a "
                + "question that is not there any more changes nothing."
        ),
        CallRow(
            leaveSession,
            .connected,
            repeated: .nothingLeft,
            "The events of a session are not wanted in this process any more."
        ),
        CallRow(
            watchConditions,
            .app,
            "The conditions of the device. The main process, after Hello, is told by "
                + "ConditionsChanged from now on when they have changed: while it is suspended "
                + "nothing, and once when it goes on. After Hello on another connection it is "
                + "called again. Result, each left out if nobody knows it: "
                + DeviceConditions.documentation
                + "."
        ),
        CallRow(
            setIdleTimer,
            .connected,
            "Whether the desktop may lock the screen, or switch it off, while the app is in the "
                + "foreground and nobody touches the device. It may, until this is called; after "
                + "Hello on another connection it is called again."
        ),
    ])

    package static let name = "org.offstage.App1"
    /// Of a deadline, for the documents.
    static let deadlineUnit = "CLOCK_MONOTONIC seconds"
    static let backgroundDeadline = deadlineUnit + "; absent while the app is in the foreground"
    /// What this version of the protocol is called in `Hello`.
    package static let version: Int64 = 1
    /// The parts of background work that this daemon has; more may come.
    package static let features = [
        "fetch", "refresh", "processing", "tasks", "extensions", "sessions", "conditions",
        "idle-timer",
    ]

    package static let interface = Interface(
        name,
        documentation: "Calls from an app to the daemon.",
        methods: methods
    )
}

/// A call of `App1`.
package protocol AppCall: Call where Calls == App1, Reply: AppReplyContent {
    associatedtype Reply = Nothing
    /// As one of all calls of the interface.
    var asCall: App1 { get }
}

/// What `App1.Mistaken` takes.
package enum AppMistakeName: String, CaseIterable, Sendable {
    case registeredLate, registeredTwice, registeredUnpermitted, completedAgain, letGo
}

// MARK: For the main process of a launch

extension App1 {
    package struct Hello: AppCall {
        package typealias Reply = Greeting
        package var version: Int64?
        /// Of the app's object.
        package var path: String?
        /// Deliveries that it accepted and still works on.
        package var running: [DeliveryID]?
        /// What it completed meanwhile, with what it says of it.
        package var finished: [Finished]?
        /// Identifiers with a handler; nil: as it said before.
        package var registered: [String]?
        package init() {}
        package var asCall: App1 { .hello(self) }

        /// Whether the app was connected before.
        package var isAgain: Bool { running != nil || finished != nil || registered != nil }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option("version", &version, "of the protocol: \(App1.version)")
            try fields.option(
                "path",
                &path,
                "of the app's object; \(AppObject1.path) if absent"
            )
            try fields.option(
                "running",
                &running,
                "the deliveries that it accepted and has not finished"
            )
            try fields.option(
                "finished",
                &finished,
                "with delivery and result, what it completed meanwhile"
            )
            try fields.option("registered", &registered)
        }

        package func check() throws(OptionError) {
            guard let version else {
                throw OptionError(
                    reason: "the version of the protocol is missing",
                    value: "",
                    fix: "give version \(App1.version)"
                )
            }
            guard version == App1.version else {
                throw OptionError(
                    reason: "this daemon does not speak that version of the protocol",
                    value: "\(version)",
                    fix: "speak version \(App1.version), or install a daemon that speaks \(version)"
                )
            }
            guard path.map(Self.isObjectPath) ?? true else {
                throw OptionError(
                    reason: "path is not the path of an object",
                    value: path ?? "",
                    fix: "write it as \(AppObject1.path)"
                )
            }
        }

        private static func isObjectPath(_ path: String) -> Bool {
            guard path.utf8.count <= 255, path.hasPrefix("/"), path != "/" else {
                return path == "/"
            }
            return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
                .allSatisfy { part in
                    !part.isEmpty
                        && part.utf8.allSatisfy {
                            switch $0 {
                            case UInt8(ascii: "a")...UInt8(ascii: "z"),
                                UInt8(ascii: "A")...UInt8(ascii: "Z"),
                                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                                true
                            case _: false
                            }
                        }
                }
        }
    }

    package struct Finished: OptionMap, Equatable, Sendable {
        package var delivery = DeliveryID(0)
        package var result = TaskResult.failed
        package init() {}

        package init(_ delivery: DeliveryID, _ result: TaskResult) {
            (self.delivery, self.result) = (delivery, result)
        }

        mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.required("delivery", &delivery)
            try fields.required("result", &result)
        }
    }

    package struct FinishedLaunching: AppCall {
        package var registered: [String] = []
        package init() {}
        package var asCall: App1 { .finishedLaunching(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("registered", &registered)
        }
        package func check() throws(OptionError) {
            for identifier in registered { try App1.check(identifier) }
        }
    }

    package struct ExpirationHandler: AppCall {
        package var delivery = DeliveryID(0)
        package var isSet = false
        package init() {}
        package var asCall: App1 { .expirationHandler(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("delivery", &delivery)
            try fields.argument("set", &isSet)
        }
    }

    package struct Complete: AppCall {
        package var delivery = DeliveryID(0)
        package var result = TaskResult.failed
        package init() {}
        package var asCall: App1 { .complete(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("delivery", &delivery)
            try fields.argument("result", &result)
        }
    }

    package struct SetMinimumFetchInterval: AppCall {
        package var seconds = 0.0
        package init() {}
        package var asCall: App1 { .setMinimumFetchInterval(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("seconds", &seconds)
        }
        package func check() throws(OptionError) {
            guard seconds.isNaN else { return }
            throw OptionError(
                reason: "the interval is not a number",
                value: "\(seconds)",
                fix: "give seconds; 0 for the minimum, less for never"
            )
        }
    }

    package struct Mistaken: AppCall {
        package var mistake = AppMistakeName.letGo
        package var subject = ""
        package init() {}
        package var asCall: App1 { .mistaken(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("mistake", &mistake)
            try fields.argument("subject", &subject)
        }
        package func check() throws(OptionError) { try App1.check(subject) }
    }
}
