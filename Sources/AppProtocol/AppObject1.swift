package import Vocabulary

/// What the daemon tells an app, as calls to the app's object. The answer to `Offer` is the
/// receipt; the work begins with `Go`, when the receipt is durable.
package enum AppObject1: CallSet {
    case offer(Offer), go(Go), expire(Expire), expireTask(ExpireTask)
    case enterBackground(EnterBackground), enterForeground(EnterForeground)
    case becomeActive(BecomeActive), openURLs(OpenURLs)
    case memoryWarning(MemoryWarning), changed(Changed)
    case taskEnded(TaskEnded), taskProgressed(TaskProgressed), taskAsked(TaskAsked)
    case conditionsChanged(ConditionsChanged)

    package static let table = CallTable<AppObject1>([
        CallRow(
            offer,
            .daemon,
            "Offers a delivery; the reply is the receipt. Kind: fetch, refresh, processing, or "
                + "sessionEvents: complete that one when the events of the session (identifier) "
                + "are handled. "
                + "Options: what the message of the trigger may hold; none for these kinds. "
                + "An error declines the delivery, which has then failed."
        ),
        CallRow(
            go,
            .daemon,
            "Run the handler of this delivery. The call is repeated after a lost connection; the "
                + "handler must run only once."
        ),
        CallRow(
            expire,
            .daemon,
            "The time of a delivery is nearly over: call its expiration handler."
        ),
        CallRow(
            expireTask,
            .daemon,
            "The time of a background task is nearly over: call its expiration handler."
        ),
        CallRow(
            enterBackground,
            .daemon,
            "The user has left. If the reply of Hello said background, the user came and left "
                + "while the app launched. The app is suspended soon after its reply, unless it "
                + "holds tasks."
        ),
        CallRow(enterForeground, .daemon, "The user is coming back."),
        CallRow(becomeActive, .daemon, "The app is active."),
        CallRow(
            openURLs,
            .daemon,
            "The app is opened for these URLs, which are told before EnterForeground. The reply "
                + "acknowledges that. What is not acknowledged is told again after Hello, under "
                + "the same number, which only grows; what was in the reply of Hello is told "
                + "after FinishedLaunching too. An app opens each number once."
        ),
        CallRow(memoryWarning, .daemon, "The app is near its memory limit."),
        CallRow(changed, .daemon, "A setting that concerns the app."),
        CallRow(
            taskEnded,
            .daemon,
            "A task of a session has ended; the reply acknowledges that, and the next one follows. "
                + "What is not acknowledged is told again after JoinSession. Options: task (a map "
                + "as in the reply of JoinSession), result (finished, failed or cancelled), file "
                + "(an absolute path; the file is removed after the reply), size (x, bytes); of "
                + "the answer: status (x), url, headers, and body of an upload (ay, or av of "
                + "numbers); failure (a word) and reason; remaining (x), how many other ends and "
                + "questions are told next."
        ),
        CallRow(
            taskProgressed,
            .daemon,
            "How far a task is. Options: task (x), received (x, bytes), total (x), resumed-at (x, "
                + "bytes that were there before)."
        ),
        CallRow(
            taskAsked,
            .daemon,
            "A task of a session waits for an answer, which the app gives with AnswerTask, at any "
                + "time. After JoinSession it is asked again, under the same number. Options: "
                + "question (x, its number), kind (unauthorized: the server has refused the task "
                + "with status 401; delayed: the date of the task has come), task (a map as in the "
                + "reply of JoinSession); of the server's answer: status (x), url, headers; "
                + "failures (x, how many answers in a row were refused), remaining (as of "
                + "TaskEnded). An app that does not know the kind answers proceed."
        ),
        CallRow(
            conditionsChanged,
            .daemon,
            "The conditions of the device, all of them, to an app that has called "
                + "WatchConditions. Options: as in its reply."
        ),
    ])

    package static let isStrict = false
    package static let name = "org.offstage.AppObject1"
    /// Where it is, unless the app says otherwise.
    package static let path = "/org/offstage/app"

    package static let interface = Interface(
        name,
        documentation: "Calls from the daemon to an app. An app must ignore options that it does "
            + "not know.",
        methods: methods
    )
}

/// A call of `AppObject1`.
package protocol AppObjectCall: Call where Calls == AppObject1 {
    associatedtype Reply = Nothing
}

extension AppObjectCall {
    package mutating func pass(_ fields: inout Fields) throws(OptionError) { fields.noOptions() }
}

extension AppObject1 {
    package struct Offer: AppObjectCall {
        package var delivery = DeliveryID(0)
        /// A trigger, or `fetch`: a later daemon has more of them.
        package var kind = Word<WorkKind>(text: "")
        package var identifier = ""
        /// What its trigger has to say.
        package var payload: ValueMap = [:]
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("delivery", &delivery)
            try fields.argument("kind", &kind)
            try fields.argument("identifier", &identifier)
            fields.allOptions(&payload)
        }
    }

    package struct Go: AppObjectCall {
        package var delivery = DeliveryID(0)
        package var deadline: Double?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("delivery", &delivery)
            try fields.option("deadline", &deadline, App1.backgroundDeadline)
        }
    }

    package struct Expire: AppObjectCall {
        package var delivery = DeliveryID(0)
        /// For the app's log; it does not matter to the library.
        package var reason = Word<StopReason>(text: "")
        package var deadline: Double?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("delivery", &delivery)
            try fields.argument("reason", &reason)
            try fields.option("deadline", &deadline, App1.backgroundDeadline)
        }
    }

    package struct ExpireTask: AppObjectCall {
        package var task: Int64 = 0
        package var reason = Word<StopReason>(text: "")
        package var deadline: Double?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("task", &task, as: "t")
            try fields.argument("reason", &reason)
            try fields.option("deadline", &deadline, App1.backgroundDeadline)
        }
    }

    package struct EnterBackground: AppObjectCall {
        package var deadline: Double?
        package var work: [Work]?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option("deadline", &deadline, "\(App1.deadlineUnit), of the tasks")
            try fields.option(
                "work",
                &work,
                as: "av",
                "maps with delivery and deadline, for deliveries that continue"
            )
        }
    }

    package struct Work: OptionMap, Equatable, Sendable {
        package var delivery = DeliveryID(0)
        package var deadline = 0.0
        package init() {}

        package init(_ delivery: DeliveryID, deadline: Double) {
            (self.delivery, self.deadline) = (delivery, deadline)
        }

        mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.required("delivery", &delivery)
            try fields.required("deadline", &deadline)
        }
    }

    package struct EnterForeground: AppObjectCall { package init() {} }
    package struct BecomeActive: AppObjectCall { package init() {} }

    package struct OpenURLs: AppObjectCall {
        package var opening: Int64 = 0
        package var urls: [String] = []
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("opening", &opening)
            try fields.argument("urls", &urls)
            fields.noOptions()
        }
    }

    package struct MemoryWarning: AppObjectCall {
        /// Bytes.
        package var memory: Int64?
        package var memoryLimit: Int64?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option("memory", &memory, "bytes")
            try fields.option("memory-limit", &memoryLimit, "bytes")
        }
    }

    package struct ConditionsChanged: AppObjectCall {
        package var conditions = DeviceConditions()
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.record(&conditions)
        }
    }

    package struct Changed: AppObjectCall {
        package var backgroundRefresh: Word<RefreshStatus>?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option("background-refresh", &backgroundRefresh)
        }
    }
}
