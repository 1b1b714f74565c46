import AppProtocol
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
        let tasks = try invocation.ask(
            Control1.Tasks { $0.app = invocation.operands.first ?? "" }
        )
        try invocation.show(tasks) { tasks in
            if tasks.isEmpty { return invocation.console.print("Nothing is waiting.") }
            var table = Table("APP", "TASK", "KIND", "STATE", "NEXT", "WHY")
            for task in tasks {
                table.add(
                    task.app.name,
                    task.task,
                    task.kind,
                    task.state.text,
                    invocation.timeText(task.next),
                    task.sentence
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
        options: [
            OptionRow(
                "wait",
                "return when the run has ended; the exit status is 0 only if it succeeded"
            )
        ],
        details: [
            "Starts a user-initiated run. Gates that only save energy or data are skipped (a "
                + "better moment, the quiet period, the battery, quotas). Rules still hold: an "
                + "app that was closed, or whose background refresh is off, is not run. Returns "
                + "when the run has been requested; \"offstage history\" shows the result.",
            "The wait after failures is skipped, and so is the wait for another run that a "
                + "command has requested itself (exit status 75). \"run\" never overrides an "
                + "earliest begin date: submit a command again without --after, or try an app's "
                + "task with \"offstage simulate launch\".",
            "With --wait, the result is printed, and the exit status is 0 for new data, no data "
                + "and completed. It is 1 for every other end (also if the run asked to be run "
                + "again, or if nobody saw its end), and if the run is refused. A run that is "
                + "frozen has not ended: the command says so and waits until it goes on. The run "
                + "goes on if the command is interrupted.",
        ],
        examples: [
            Example("run newsboat", "Refresh newsboat now."),
            Example("run restic backup", "Run one of several tasks."),
            Example("run --wait newsboat", "Refresh newsboat and print the result."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let call: Control1.Run = invocation.ofTask()
        guard !invocation.options.has("wait") else {
            return try RunWatch(invocation).run(call)
        }
        let task = try invocation.ask(call, look: RunWatch.look(call))
        try invocation.show(task) { _ in }
    }

    static let cancel = Subcommand(
        "cancel",
        "cancel an app's work, including what is running, or transfers",
        forms: ["APP [TASK]", "ID..."],
        operands: 1...1024,
        details: ["What has been fetched of a cancelled download is removed."],
        examples: [
            Example("cancel command.backup", "Remove a submitted command."),
            Example("cancel org.example.Reader cleanup", "Cancel one of several tasks."),
            Example("cancel 12 13", "Cancel two transfers."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        if let ids = invocation.transferIDs { return try changeTransfers(.cancel, ids, invocation) }
        let call: Control1.Cancel = try invocation.ofOneTask("cancel")
        try invocation.ask(call, look: "offstage tasks \(call.app)")
        invocation.reportTask()
    }

    static let dismiss = Subcommand(
        "dismiss",
        "clear the failures of apps",
        forms: ["APP...", "--all"],
        operands: 0...1024,
        options: [OptionRow("all", "all apps that fail")],
        details: [
            "Forgets how often an app has failed in a row: it leaves the section Failing of "
                + "\"offstage status\", its next failure counts as the first, and the wait after "
                + "the failures is over. The history keeps what happened. An app that is not "
                + "known, or does not fail, is reported when the others are done.",
            "What is not tried again, such as a command that was submitted for one run, leaves "
                + "that section by itself after the time of the setting failure-age.",
        ],
        examples: [
            Example("dismiss command.backup", "Clear a failure that has been dealt with."),
            Example("dismiss --all", "Clear all failures."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let apps = invocation.operands
        // Of a variable of a shell that is not set.
        guard apps.isEmpty == invocation.options.has("all"), !apps.contains("") else {
            throw Failure(
                .usage,
                "dismiss: give either apps or --all",
                fix: "\"offstage status\" lists the apps that fail."
            )
        }
        guard !apps.isEmpty else {
            try invocation.ask(Control1.Dismiss { $0.all = true }, look: "offstage status")
            return invocation.report(["all": true])
        }
        try dismiss(apps, invocation)
        var done: ValueMap = ["apps": .list(apps.map { .string($0) })]
        if apps.count == 1 { done["app"] = .string(apps[0]) }
        invocation.report(done)
    }

    /// A name that is wrong keeps no other from being dismissed.
    private static func dismiss(_ apps: [String], _ invocation: Invocation) throws(Failure) {
        var refusals: [Failure] = []
        for app in apps {
            do throws(Failure) {
                try invocation.ask(Control1.Dismiss { $0.app = app }, look: "offstage status")
            } catch  where error.code == .notFound {
                refusals.append(error)
            }
        }
        guard let first = refusals.first else { return }
        throw Failure(
            first.code,
            refusals.map(\.message).joined(separator: "; "),
            fix: first.fix
        )
    }

    static let submit = Subcommand(
        "submit",
        "run a command in the background at a suitable time",
        forms: ["--refresh|--processing -- COMMAND [ARGUMENT]..."],
        operands: 1...4096,
        options: [
            OptionRow("refresh", "short work that fetches new content: 30 s, at a good moment"),
            OptionRow("processing", "long work: minutes, while nobody uses the device"),
            OptionRow(
                "id",
                "name of the task (default: the command's name); command.NAME is the same",
                argument: "NAME"
            ),
            OptionRow(
                "after",
                "earliest begin: a time from now, such as 2h, or a date or time of day, such as "
                    + "2026-12-24 or 18:30",
                argument: "TIME"
            ),
            OptionRow("every", "repeat this long after each run, such as 1d", argument: "TIME"),
            OptionRow("network", "require a network"),
            OptionRow("unmetered", "require an unmetered network, and low-data mode off"),
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
                + "environment: it does not get the variables of your shell (see --setenv). Its "
                + "exit status is the result: 0 is success, 75 requests "
                + "another run later, anything else is a failure. When its time is over it gets "
                + "SIGTERM.",
            "With --every, processing that failed is tried again after the wait of the setting "
                + "back-off, which doubles with each failure in a row, and not only at its next "
                + "time; a refresh that failed waits for its next time.",
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
                "submit --processing --power --every 1d -- "
                    + "restic -r ~/repo -p ~/.pw backup ~/Documents",
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
        let call = try submission(invocation)
        let start = try invocation.timeToCome(option: "after")
        let task = try invocation.ask(call, look: "offstage tasks command.\(name(of: call))")
        if let warning = task.warning {
            invocation.console.printError(
                "\(OffstageProgram.name): warning: \(warning.printable); the run will fail unless "
                    + "that changes"
            )
        }
        for name in task.unsensed ?? [] {
            invocation.console.printError("\(OffstageProgram.name): warning: " + unsensed(name))
        }
        try invocation.show(task) { task in
            let app = task.app.name.printable
            let begin = start.map { " and begins \($0.text) or later" } ?? ""
            invocation.console.print(
                "\(app) is stored\(begin); \"offstage explain \(app)\" says when it runs"
            )
        }
    }

    /// What the daemon calls a submitted command.
    private static func name(of call: Control1.Submit) -> String {
        let program = call.command?.first ?? ""
        guard let id = call.id else {
            return program.split(separator: "/").last.map(String.init) ?? program
        }
        let prefix = Device.commandPrefix
        return id.hasPrefix(prefix) ? String(id.dropFirst(prefix.count)) : id
    }

    /// What it depends on, and nothing tells.
    static func unsensed(_ name: String) -> String {
        guard let condition = Condition(named: name) else { return "nothing tells of \(name)" }
        let row = condition.row
        let unknown = "no source here reports \(row.question): "
        let until = "\"offstage set \(name) \(row.word(row.harmless))\""
        return unknown
            + (condition == .idle
                ? "it waits until the load is low, or for \(until)" : "it waits until \(until)")
    }

    private static func submission(_ invocation: Invocation) throws(Failure) -> Control1.Submit {
        let options = invocation.options
        guard options.has("refresh") != options.has("processing") else {
            throw Failure(
                .usage,
                "submit: say either --refresh or --processing",
                fix: "--refresh is short and brings something new, --processing may take minutes."
            )
        }
        let kind: TaskKind = options.has("refresh") ? .refresh : .processing
        try checkProgram(invocation.operands[0])
        var call = Control1.Submit { ($0.kind, $0.command) = (kind, invocation.operands) }
        do {
            call.directory = try Files.currentDirectory()
        } catch {
            throw Failure(.failed, "\(error)")
        }
        // Asked twice because an answer was lost, it is one request all the same.
        call.token = try Invocation.token()
        call.id = options["id"]
        let start = try invocation.timeToCome(option: "after")
        (call.after, call.earliest) = (start?.span, start?.date)
        call.every = try invocation.interval("every")
        if let every = call.every, every < .minutes(1) {
            throw Failure(
                .usage,
                "--every \((options["every"] ?? "").quoted) is less than a minute",
                fix: "Write 1min or more."
            )
        }
        call.needs = try needs(options, kind)
        let variables = try variables(options)
        if !variables.isEmpty { call.environment = variables }
        return call
    }

    /// A command in quotes is one word, which hardly any program has for its name.
    private static func checkProgram(_ program: String) throws(Failure) {
        guard program.contains(" "), !Files.exists(program) else { return }
        let path = CurrentProcess.environment("PATH") ?? ""
        guard Files.executable(program, searchPath: path) == nil || program.contains("/") else {
            return
        }
        throw Failure(
            .usage,
            "submit: \(program.quoted) is one word, and no program has that name",
            fix: "Leave the quotes out, or have a shell read it: sh -c \(program.quoted)."
        )
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
            fix: "Leave it out; \"offstage help submit\" says what each kind of work takes."
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
    /// A call about `APP [TASK]`.
    func ofTask<C: TaskSubject>() -> C {
        C {
            $0.app = operands[0]
            if operands.count > 1 { $0.task = operands[1] }
        }
    }

    /// The same of a command that takes the numbers of many transfers as well.
    func ofOneTask<C: TaskSubject>(_ command: String) throws(Failure) -> C {
        guard operands.count <= 2 else {
            throw Failure(
                unexpected: operands[2],
                to: command,
                fix: "Give an app and a task, or the numbers of transfers."
            )
        }
        return ofTask()
    }
}
