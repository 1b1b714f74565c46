import AppProtocol
import CommandTable
import Linux
import Vocabulary

extension OffstageProgram {
    static let apps = Subcommand(
        "apps",
        "list the apps with background modes, the most recently used first",
        examples: [
            Example("apps", "All apps and their state."),
            Example("apps --json", "The same as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        try invocation.show(try invocation.ask(Control1.Apps())) { apps in
            let console = invocation.console
            if apps.isEmpty {
                console.print("No app has an [X-Offstage] group in its desktop file yet.")
                return
            }
            var table = Table("APP", "STATE", "MODES", "LAST USED", "LAST RUN", "RESULT")
            for app in apps {
                table.add([
                    Table.Cell(app.app.name),
                    Table.Cell(app.state, app.problem == nil ? nil : .red),
                    Table.Cell(app.modes.joined(separator: ", ")),
                    Table.Cell(invocation.timeText(app.lastUsed)),
                    Table.Cell(invocation.timeText(app.lastRun?.at)),
                    Table.Cell(
                        app.problem ?? app.lastRun?.result ?? "",
                        app.failures == nil && app.problem == nil ? nil : .red
                    ),
                ])
            }
            table.print(console)
        }
    }

    static let open = Subcommand(
        "open",
        "open an app, or bring it to the foreground",
        forms: ["APP"],
        operands: 1...1,
        options: [
            OptionRow(
                "attach",
                "run the app as this process, under this terminal or a debugger"
            ),
            OptionRow(
                "url",
                "for the app to open; may be repeated",
                argument: "URL"
            ),
        ],
        details: [
            "The app is in the foreground, and no background rule applies to it, until \"offstage "
                + "leave\" or until it exits. An app whose desktop entry says Terminal=true "
                + "runs in this terminal, unless it runs already.",
            "URLs are passed to an app that links the library, whether it is launched for them or "
                + "already runs. Other programs do not get them.",
        ],
        examples: [
            Example("open newsboat", "Open newsboat here."),
            Example("open --attach org.example.Reader", "Keep the app as a child of the shell."),
            Example(
                "open --url reader:article/42 org.example.Reader",
                "Open the app at an article."
            ),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let app = invocation.operands[0]
        var call = Control1.Open { $0.app = app }
        let urls = invocation.options.all("url")
        if !urls.isEmpty { call.urls = urls }
        let opened: OpenedApp
        if invocation.options.has("attach") {
            call.attach = Int64(CurrentProcess.pid)
            opened = try invocation.ask(call, look: "offstage apps")
        } else if try wantsThisTerminal(app, invocation) {
            opened = try openHere(call, invocation)
        } else {
            opened = try invocation.ask(call, look: "offstage apps")
        }
        if let untold = opened.untold {
            invocation.console.printError(
                "\(OffstageProgram.name): warning: \(app) has not been told of "
                    + (untold == 1 ? "1 URL" : "\(untold) URLs")
                    + ": it is when it connects, and a program without the library does not"
            )
        }
        if opened.attach == true { try Attachment(opened).become() }
        invocation.report([
            "app": .string(app), "launch": .integer(Int64(clamping: opened.launch.number)),
        ])
    }

    /// In this terminal, if it does not run; one that does is brought to the foreground where it
    /// is.
    private static func openHere(
        _ call: Control1.Open,
        _ invocation: Invocation
    ) throws(Failure) -> OpenedApp {
        var here = call
        here.attach = Int64(CurrentProcess.pid)
        do throws(Failure) {
            return try invocation.ask(here, look: "offstage apps")
        } catch let refusal where refusal.code == .failed && refusal.loss == nil {
            do throws(Failure) {
                return try invocation.ask(call, look: "offstage apps")
            } catch  where error.code == .failed {
                // Why it does not run says more.
                throw refusal
            }
        }
    }

    /// Whether the desktop entry says `Terminal=true` and this is one.
    private static func wantsThisTerminal(
        _ app: String,
        _ invocation: Invocation
    ) throws(Failure) -> Bool {
        guard Terminal.isTerminal(0), Terminal.isTerminal(1) else { return false }
        let report = try invocation.ask(Control1.Apps()).first { $0.app.name == app }
        guard let report, report.problem == nil, let file = report.file,
            let bytes = try? Files.readRegular(file, limit: ManifestParser.limit),
            case .app(let manifest, _) = ManifestParser.parse(
                bytes: bytes,
                id: AppID(app),
                file: file,
                home: BaseDirectory.home()
            )
        else { return false }
        return manifest.terminal
    }

    static let leave = Subcommand(
        "leave",
        "report that the user has left an app",
        forms: ["APP"],
        operands: 1...1,
        details: [
            "The app moves to the background. It gets the time that its background tasks "
                + "requested, and is then suspended. A program with a window that speaks no "
                + "D-Bus with the daemon goes on running; with Terminal=true or NoDisplay=true "
                + "it is suspended."
        ],
        examples: [Example("leave org.example.Reader", "The same as switching to another app.")],
        printsData: true
    ) { invocation throws(Failure) in
        try invocation.ask(
            Control1.Leave { $0.app = invocation.operands[0] },
            look: "offstage apps"
        )
        invocation.reportTask()
    }

    static let close = Subcommand(
        "close",
        "terminate an app, and hold all its background work until it is opened again",
        forms: ["APP"],
        operands: 1...1,
        details: ["Does what a swipe in the app switcher does."],
        examples: [Example("close newsboat", "No more refreshes until the user opens newsboat.")],
        printsData: true
    ) { invocation throws(Failure) in
        try invocation.ask(
            Control1.Close { $0.app = invocation.operands[0] },
            look: "offstage apps"
        )
        invocation.reportTask()
    }
}

/// The launch whose process this one is from now on.
private struct Attachment {
    let arguments: [String]
    let directory: String
    /// All that the app is to have, but for what belongs to the terminal.
    let environment: [String]

    /// Of the terminal, and of the session that it belongs to, which need not be the daemon's.
    private static let ofTheTerminal = [
        "TERM", "COLORTERM", "TERMINFO", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "VTE_VERSION",
        "LINES", "COLUMNS", "NO_COLOR", "TMUX", "TMUX_PANE", "STY", "WINDOWID", "GPG_TTY",
        "SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
    ]

    init(_ app: OpenedApp) {
        arguments = app.arguments ?? []
        directory = app.directory ?? ""
        environment = app.environment ?? []
    }

    /// Executes the app in place of this program; returns only by throwing.
    func become() throws(Failure) {
        guard let name = arguments.first else {
            throw Failure(.failed, "the daemon did not say what to run")
        }
        var entries = environment
        for name in Self.ofTheTerminal {
            guard let value = CurrentProcess.environment(name) else { continue }
            entries.removeAll { $0.hasPrefix(name + "=") }
            entries.append("\(name)=\(value)")
        }
        let search = entries.first { $0.hasPrefix("PATH=") }.map { String($0.dropFirst(5)) }
        guard let path = Files.executable(name, searchPath: search ?? "/usr/bin:/bin") else {
            throw Failure(.notFound, "\(name) is not in PATH", fix: "Is it installed?")
        }
        let directory = directory.isEmpty ? nil : directory
        do {
            try CurrentProcess.replace(
                path,
                arguments: arguments,
                environment: entries,
                directory: directory
            )
        } catch {
            throw Failure(
                .failed,
                error.explanation(starting: name, in: directory).printable,
                fix: "Fix Exec= in its manifest."
            )
        }
    }
}
