import CommandTable
import DeviceCore
import Linux
import Vocabulary

extension OffstageProgram {
    static let tasks = Subcommand(
        "tasks",
        "list the background work that has been requested",
        forms: ["[APP]"],
        operands: 0...1,
        examples: [
            Example("tasks", "All tasks, and what each waits for."),
            Example("tasks newsboat", "The tasks of one app."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let report = try invocation.ask("Tasks", [.string(invocation.operands.first ?? "")])
        invocation.show(report) { report in
            if report.elements.isEmpty { return invocation.console.print("Nothing is waiting.") }
            var table = Table("APP", "TASK", "KIND", "STATE", "NEXT", "WHY")
            for task in report.elements {
                table.add(
                    task.text("app"),
                    task.text("task"),
                    task.text("kind"),
                    task.text("state"),
                    invocation.timeText(task, "next"),
                    task.text("sentence")
                )
            }
            table.print(invocation.console)
        }
    }

    static let run = Subcommand(
        "run",
        "run an app's work now",
        forms: ["APP [TASK]"],
        operands: 1...2,
        details: [
            "Starts a user-initiated run. Gates that only save energy or data are skipped (a "
                + "better moment, the quiet period, the battery, quotas). Rules still hold: an "
                + "app that was closed, or whose background refresh is off, is not run. Returns "
                + "when the run has been requested; \"offstage history\" shows the result."
        ],
        examples: [
            Example("run newsboat", "Refresh newsboat now."),
            Example("run restic backup", "Run one of several tasks."),
        ]
    ) { invocation throws(Failure) in
        try invocation.ask("Run", invocation.appAndTask)
    }

    static let cancel = Subcommand(
        "cancel",
        "cancel an app's work, including what is running",
        forms: ["APP [TASK]"],
        operands: 1...2,
        examples: [
            Example("cancel command.backup", "Remove a submitted command."),
            Example("cancel org.example.Reader cleanup", "Cancel one of several tasks."),
        ]
    ) { invocation throws(Failure) in
        try invocation.ask("Cancel", invocation.appAndTask)
    }

    static let submit = Subcommand(
        "submit",
        "run a command in the background at a suitable time",
        forms: ["--refresh|--processing [OPTION]... -- COMMAND [ARGUMENT]..."],
        operands: 1...4096,
        options: [
            OptionRow("refresh", "short work that fetches new content: 30 s, at a good moment"),
            OptionRow("processing", "long work: minutes, while nobody uses the device"),
            OptionRow("id", "name of the task (default: the command's name)", argument: "NAME"),
            OptionRow("after", "earliest begin, as a time from now, such as 2h", argument: "TIME"),
            OptionRow("every", "repeat this long after each run, such as 1d", argument: "TIME"),
            OptionRow("network", "require a network"),
            OptionRow("unmetered", "require an unmetered network"),
            OptionRow("power", "require external power; not for --refresh"),
            OptionRow("unlocked", "require an unlocked screen, for protected data"),
            OptionRow(
                "setenv",
                "set an environment variable for the command; names that begin with OFFSTAGE_ are "
                    + "reserved",
                argument: "NAME=VALUE"
            ),
        ],
        details: [
            "The command becomes the app command.NAME, with the current directory and a clean "
                + "environment. Its exit status is the result: 0 is success, 75 requests "
                + "another run later, anything else is a failure. When its time is over it gets "
                + "SIGTERM.",
            "The request is stored when this command returns. A request with the same name is "
                + "replaced. If the program is not found, the request is stored with a warning, "
                + "because the program may be installed later. If the daemon goes away before "
                + "it has answered, the request is repeated to the next daemon; it is still "
                + "stored only once.",
            "The values given with --setenv are stored with the request and recorded in the event "
                + "log. Do not put passwords there; let the command read them from a file.",
        ],
        examples: [
            Example(
                "submit --processing --power --every 1d -- restic backup ~",
                "Back up once a day, on external power, while nobody uses the device."
            ),
            Example(
                "submit --refresh --every 30m --id mail -- mbsync -a",
                "Fetch mail about every half hour, at a good moment."
            ),
        ],
        takesCommand: true,
        printsData: true
    ) { invocation throws(Failure) in
        let answer = try invocation.ask("Submit", [try submission(invocation)])
        if !answer.text("warning").isEmpty {
            invocation.console.printError(
                "\(OffstageProgram.name): warning: \(answer.text("warning").printable); the run "
                    + "will fail unless that changes"
            )
        }
        for name in answer.texts("unsensed") {
            invocation.console.printError("\(OffstageProgram.name): warning: " + unsensed(name))
        }
        invocation.show(answer) { answer in
            invocation.console.print(
                "\(answer.text("app").printable) is stored; "
                    + "\"offstage explain \(answer.text("app").printable)\" says when it runs"
            )
        }
    }

    /// What it depends on, and nothing tells.
    private static func unsensed(_ name: String) -> String {
        guard let condition = Condition(named: name) else { return "nothing tells of \(name)" }
        let row = condition.row
        let unknown = "no source here reports \(row.question): "
        let until = "\"offstage set \(name) \(row.word(row.harmless))\""
        return unknown
            + (condition == .idle
                ? "it waits until the load is low, or for \(until)" : "it waits until \(until)")
    }

    private static func submission(_ invocation: Invocation) throws(Failure) -> Value {
        let options = invocation.options
        guard options.has("refresh") != options.has("processing") else {
            throw Failure(
                .usage,
                "submit: say either --refresh or --processing",
                fix: "--refresh is short and brings something new, --processing may take minutes."
            )
        }
        let kind: TaskKind = options.has("refresh") ? .refresh : .processing
        var fields: ValueMap = [
            "kind": .string(kind.rawValue),
            "command": .list(invocation.operands.map { .string($0) }),
        ]
        do {
            fields["directory"] = .string(try Files.currentDirectory())
        } catch {
            throw Failure(.failed, "\(error)")
        }
        // Asked twice because an answer was lost, it is one request all the same.
        fields["token"] = .string(try Invocation.token())
        if let name = options["id"] { fields["id"] = .string(name) }
        for name in ["after", "every"] {
            guard let interval = try invocation.interval(name) else { continue }
            fields[name] = .double(interval.seconds)
        }
        for need in try needs(options, kind).names { fields[need] = true }
        let variables = try variables(options)
        if !variables.isEmpty { fields["environment"] = .list(variables.map { .string($0) }) }
        return .map(fields)
    }

    private static func needs(_ options: Options, _ kind: TaskKind) throws(Failure) -> Needs {
        let needs = Needs(
            power: options.has("power"),
            network: options.has("network"),
            unmetered: options.has("unmetered"),
            unlocked: options.has("unlocked")
        )
        guard let ignored = kind.ignored(of: needs) else { return needs }
        throw Failure(
            .usage,
            "submit: --\(kind.rawValue) does not take --\(ignored.rawValue)",
            fix: "Leave it out, or say what kind of work takes it: \"offstage help submit\"."
        )
    }

    private static func variables(_ options: Options) throws(Failure) -> [String] {
        let variables = options.all("setenv")
        for variable in variables {
            let name = variable.prefix { $0 != "=" }
            guard !name.isEmpty, name.count < variable.count else {
                throw Failure(
                    .usage,
                    "--setenv \(variable.quoted) is not a variable assignment",
                    fix: "Write it as NAME=VALUE."
                )
            }
            guard !EnvironmentVariable.isOurs(name) else {
                throw Failure(
                    .usage,
                    "--setenv \(variable.quoted) names a variable that Offstage sets itself",
                    fix: "Choose a name that does not begin with \(EnvironmentVariable.ownPrefix)."
                )
            }
        }
        return variables
    }
}

extension Invocation {
    /// `APP [TASK]` as the daemon takes it.
    var appAndTask: [Value] {
        let task: ValueMap = operands.count > 1 ? ["task": .string(operands[1])] : [:]
        return [.string(operands[0]), .map(task)]
    }
}
