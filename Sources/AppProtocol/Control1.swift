package import Vocabulary

/// The interface for the user's own programs outside every app: the command line and
/// scripts. What is served, its introspection (docs/dbus) and its documentation come from the
/// types of its calls.
///
/// Arguments and results are maps with the names that `--json` prints. Options that are not known
/// are refused by name. Times are RFC 3339 text, spans are seconds.
package enum Control1: CallSet {
    case status(Status), overview(Overview), apps(Apps), tasks(Tasks), explain(Explain), history(
        History
    ), logs(Logs)
    case settings(Settings), gates(Gates), modes(Modes), conditions(Conditions), doctor(Doctor)
    case version(Version)
    case open(Open), leave(Leave), close(Close)
    case submit(Submit), run(Run), cancel(Cancel), dismiss(Dismiss)
    case pause(Pause), `continue`(Continue), simulate(Simulate), advance(Advance)
    case set(Set), reload(Reload)
    case download(Download), upload(Upload), transfers(Transfers), transferPage(TransferPage)
    case transferProgress(TransferProgress)
    case changeTransfers(ChangeTransfers), moveTransfers(MoveTransfers)

    package static let table = CallTable<Control1>([
        CallRow(
            status,
            .user,
            "What fails, runs and waits now; the conditions; what was spent today."
        ),
        CallRow(
            overview,
            .user,
            "The same as Status, with the beginnings of its lists: moreFailing, moreRunning and "
                + "moreWaiting (x) say how many rows were left out."
        ),
        CallRow(apps, .user, "The apps, the most recently used first."),
        CallRow(tasks, .everyone, "The tasks of one app, or of all if the name is empty."),
        CallRow(
            explain,
            .everyone,
            "Why each task of the app does or does not run; with transfers, the same of each of "
                + "these."
        ),
        CallRow(history, .everyone, "What ran, what did not, and why, newest first."),
        CallRow(logs, .everyone, "The end of the app's output."),
        CallRow(
            settings,
            .anyone,
            "The settings in force: those of the device, and those of each app; for an app's "
                + "process those of its own."
        ),
        CallRow(gates, .anyone, "Which gate applies to which trigger."),
        CallRow(modes, .anyone, "The background modes of a manifest."),
        CallRow(
            conditions,
            .anyone,
            "The conditions of the device and their sources. sensing (s) is known, none (there is "
                + "no such hardware), unknown (no source is running; work that requires power, "
                + "network, unmetered or unlocked waits while the source for it is missing) or "
                + "lost (the source has disappeared, and the cautious value applies)."
        ),
        CallRow(doctor, .user, "What this machine supports."),
        CallRow(version, .anyone, "The version and build of the daemon."),
        CallRow(
            open,
            .user,
            "Starts the app or brings it to the foreground. The reply comes when it has started, "
                + "or gives the reason why it has not. If the caller becomes the app, the result "
                + "names the arguments, directory and environment to execute. It has untold (x, "
                + "how many URLs wait) if the app ran already and has no connection."
        ),
        CallRow(leave, .user, repeated: .nothingLeft, "The user has left the app."),
        CallRow(
            close,
            .user,
            "Terminates the app and holds all its background work until it is opened again."
        ),
        CallRow(
            submit,
            .everyone,
            "Submits a command. A process of an app submits the app's own work: an id that its "
                + "manifest permits, and no command, directory or environment. The result has a "
                + "warning (s) if the program is not found at present, and unsensed (as): the "
                + "conditions that it depends on and that have no source."
        ),
        CallRow(
            run,
            .user,
            repeated: .twice,
            "Starts a user-initiated run of a task; skips the gates that only save. The result has "
                + "line (x), the newest line of the history before it: the first line after that "
                + "which is a run of the task, and was not interrupted, is its end."
        ),
        CallRow(
            cancel,
            .everyone,
            repeated: .nothingLeft,
            "Cancels tasks, and stops those that run."
        ),
        CallRow(
            dismiss,
            .user,
            "Forgets the failures in a row of one app, or of all with the option all, and ends the "
                + "wait after them."
        ),
        CallRow(pause, .user, "Holds all background work."),
        CallRow(`continue`, .user, "Ends a pause."),
        CallRow(simulate, .user, repeated: .twice, "A test: launch, expire or fetch."),
        CallRow(
            advance,
            .user,
            repeated: .twice,
            "Moves the virtual clock of a test daemon on, through every timer on the way. The "
                + "reply comes when it is there; if the caller disconnects, the clock stops where "
                + "it is."
        ),
        CallRow(
            set,
            .user,
            "Overrides a condition (auto ends the override) or changes a setting."
        ),
        CallRow(reload, .user, "Reloads settings and manifests."),
        CallRow(
            download,
            .user,
            "Fetches files in the background, each a map: url (s), file (s, its name in the "
                + "directory) and sha256 (s). All of them are stored when the reply comes, or "
                + "none. " + unsensedTransfers
        ),
        CallRow(
            upload,
            .user,
            "Sends files in the background, each a map: url (s) and file (s, an absolute path "
                + "without links). All of them are stored when the reply comes, or none. A file "
                + "that has changed by the time it is sent fails. " + unsensedTransfers
        ),
        CallRow(
            transfers,
            .user,
            "The transfers, in the order in which they go. Thousands may be too many for one "
                + "answer: TransferPage has them in parts."
        ),
        CallRow(
            transferPage,
            .user,
            "The same in parts: transfers (each a map, at most \(TransferPage.most)) and more (the "
                + "numbers of the others, to be asked for next; absent if there are none)."
        ),
        CallRow(
            transferProgress,
            .user,
            "How far transfers are, for programs that ask again and again: running, waiting, "
                + "paused, finished, failed and cancelled (each x, how many), open (x, how many "
                + "have not ended), shown (maps as TransferPage has them: all that run, at most "
                + "\(TransferProgress.most); then the next ones, while there are fewer than rows) "
                + "and ended (the same of those that ended last; empty without the option)."
        ),
        CallRow(
            changeTransfers,
            .user,
            "Pauses, resumes, cancels or forgets transfers. Action: "
                + TransferAction.allCases.map(\.rawValue).joined(separator: ", ")
                + ". A running one ends soon after. Only "
                + "ended ones are forgotten; with no numbers, all of these are."
        ),
        CallRow(
            moveTransfers,
            .user,
            "Changes the place of transfers among those that wait, or where their files go. What "
                + "has been fetched follows a file within its file system. All of them are "
                + "changed, or none."
        ),
    ])

    private static let unsensedTransfers =
        "The result has unsensed (as) if they depend on conditions that have no source: their "
        + "names."

    package static let busName = "org.offstage.Offstage"
    package static let path = "/org/offstage"
    package static let name = "org.offstage.Control1"

    /// Carries a `Reported<Report.HistoryLine>`.
    package static let happened = Interface.Signal(
        "Happened",
        [Interface.Argument("line", "a{sv}")],
        "A line was added to the history. Sent to subscribers (AddMatch), but not to suspended "
            + "apps."
    )

    package static let interface = Interface(
        name,
        documentation: "Inspects, explains and controls background work.",
        methods: methods,
        signals: [happened],
        properties: [
            Interface.Property("Version", "s", isConstant: true, "The version of the daemon.")
        ]
    )
}

/// A call of `Control1`.
package protocol ControlCall: Call where Calls == Control1 {
    associatedtype Reply = Done
    /// The app that it is about, as the caller names it; nil: none, or the caller's own.
    var subject: String? { get }
}

extension ControlCall {
    package var subject: String? { nil }
}

/// About an app.
package protocol AppSubject: ControlCall {
    var app: String { get set }
}

extension AppSubject {
    package var subject: String? { app }

    package mutating func pass(_ fields: inout Fields) throws(OptionError) {
        try fields.argument("app", &app)
        fields.noOptions()
    }
}

/// About a task of an app.
package protocol TaskSubject: AppSubject {
    var task: String? { get set }
}

extension TaskSubject {
    package mutating func pass(_ fields: inout Fields) throws(OptionError) {
        try fields.argument("app", &app)
        try fields.option("task", &task)
    }
}

// MARK: Questions

extension Control1 {
    package struct Status: ControlCall {
        package typealias Reply = Reported<Report.Status>
        package init() {}
    }

    package struct Overview: ControlCall {
        package typealias Reply = Reported<Report.Status>
        package var rows: Int64?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option("rows", &rows, in: 0...10_000, "of each list; all without it")
        }
    }

    package struct Apps: ControlCall {
        package typealias Reply = [Reported<Report.App>]
        package init() {}
    }

    package struct Settings: ControlCall {
        package typealias Reply = [Reported<Report.Setting>]
        package init() {}
    }

    package struct Gates: ControlCall {
        package typealias Reply = [Reported<Report.Gate>]
        package init() {}
    }

    package struct Modes: ControlCall {
        package typealias Reply = [Reported<Report.Mode>]
        package init() {}
    }

    package struct Conditions: ControlCall {
        package typealias Reply = [Reported<Report.Condition>]
        package init() {}
    }

    package struct Doctor: ControlCall {
        package typealias Reply = [Reported<Report.Check>]
        package init() {}
    }

    package struct Version: ControlCall {
        package typealias Reply = DaemonVersion
        package init() {}
    }

    package struct Tasks: ControlCall {
        package typealias Reply = [Reported<Report.Request>]
        package var app = ""
        package init() {}

        package var subject: String? { app.isEmpty ? nil : app }
        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("app", &app)
        }
    }

    package struct Explain: TaskSubject {
        package typealias Reply = [Reported<Report.Explanation>]
        package var app = ""
        package var task: String?
        package var transfers: [Int64]?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("app", &app)
            try fields.option("task", &task)
            try fields.option(
                "transfers",
                &transfers,
                "their numbers, in place of app and task; the name of the app is empty then"
            )
        }

        package func check() throws(OptionError) {
            guard transfers != nil, !app.isEmpty || task != nil else { return }
            throw .both("an app", "transfers")
        }
    }

    package struct History: ControlCall {
        package typealias Reply = [Reported<Report.HistoryLine>]
        package var app: String?
        package var limit: Int64?
        package var before: Int64?
        package init() {}

        package var subject: String? { app }
        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option("app", &app)
            try fields.option("limit", &limit, in: 1...10_000)
            try fields.option("before", &before, in: 1...Int64.max, "the id of a line")
        }
    }

    package struct Logs: AppSubject {
        package typealias Reply = LogEnd
        package var app = ""
        package var lines: Int64?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("app", &app)
            try fields.option("lines", &lines, in: 1...100_000)
        }
    }
}

/// The end of an app's output.
package struct LogEnd: CallReply, Codable {
    package var app: String
    /// The path of all of it.
    package var file: String
    /// U+FFFD stands for what is no text in it.
    package var text: String
    /// The same as it was written; nil: it is text. An app prints what it likes.
    package var bytes: Bytes?

    package init(app: String, file: String, bytes: [UInt8]) {
        (self.app, self.file) = (app, file)
        text = String(decoding: bytes, as: UTF8.self)
        let isText = !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
        self.bytes = isText ? nil : Bytes(bytes)
    }

    package var written: [UInt8] { bytes?.array ?? Array(text.utf8) }
}

package struct DaemonVersion: CallReply, Codable {
    package var version: String
    package var build: String
    package var pid: Int64
    /// The paths of its state directory and its socket.
    package var state: String
    package var socket: String
    /// Since it started.
    package var seconds: Double

    package init(
        _ version: String,
        build: String,
        pid: Int64,
        state: String,
        socket: String,
        seconds: Double
    ) {
        (self.version, self.build, self.pid) = (version, build, pid)
        (self.state, self.socket, self.seconds) = (state, socket, seconds)
    }
}
