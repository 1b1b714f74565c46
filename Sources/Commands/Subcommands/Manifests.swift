import CommandTable
import DeviceCore
import Linux
import Vocabulary

/// What a manifest may say, and what it means: all without the daemon.
extension OffstageProgram {
    static let lint = Subcommand(
        "lint",
        "check manifests, and how their apps behave",
        forms: ["FILE..."],
        operands: 1...4096,
        details: [
            "Reads desktop files as the daemon does and reports what is wrong, where, and what to "
                + "write instead. The exit status is 1 if one of the files cannot be used.",
            "A warning is about something that has no effect, or not the intended one: programs "
                + "that are not installed, unused modes, limits above those in force, a file that "
                + "is in no directory that is searched.",
            "If the daemon is running and knows the app, the history is checked too, and the "
                + "app's mistakes since its program was last built are warnings: handlers that "
                + "are missing or registered late, tasks that were never completed, completed "
                + "twice or submitted without permission.",
        ],
        examples: [
            Example(
                "lint ~/.local/share/applications/newsboat.desktop",
                "Check whether the daemon can use it."
            ),
            Example("lint --json *.desktop", "The same as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        var reports: [Value] = []
        var broken = 0
        for file in invocation.operands {
            let result = try lint(file, invocation)
            if !result.isUsable { broken += 1 }
            reports.append(result.report)
            if !invocation.wantsJSON { result.print(invocation.console) }
        }
        if invocation.wantsJSON { invocation.console.print(Value.list(reports).json(pretty: true)) }
        if broken > 0 {
            throw Failure(
                .failed,
                "\(broken) of \(invocation.operands.count) cannot be used",
                fix:
                    "\"offstage modes\" says which mode is for what, \"man offstage\" has all keys."
            )
        }
    }

    private static func lint(
        _ file: String,
        _ invocation: Invocation
    ) throws(Failure) -> LintResult {
        let bytes: [UInt8]
        do {
            bytes = try Files.readRegular(file, limit: ManifestParser.readLimit)
        } catch  where error.errno == .tooLarge {
            throw Failure(
                .failed,
                "\(file.printable) has more than \(ManifestParser.readLimit) bytes; a manifest "
                    + "has at most \(ManifestParser.limit)",
                fix: "Remove translations or comments."
            )
        } catch {
            throw unreadable(file, error.errno)
        }
        let place = PlaceLint(file, invocation)
        guard let id = place.id() else {
            throw Failure(
                .usage,
                "\(file.quoted) is not a desktop file",
                fix: "A manifest is called NAME.desktop."
            )
        }
        let home = BaseDirectory.home()
        let result = ManifestParser.parse(bytes: bytes, id: id, file: file, home: home)
        let machine = MachineLint(settings: try invocation.settingsInForce())
        var checked = machine.check(result)
        if case .app(let manifest, let warnings) = checked {
            let mistakes = try HistoryLint(manifest, at: invocation.console.now)
                .check(invocation)
            checked = .app(manifest, warnings: place.check(id) + warnings + mistakes)
        }
        return LintResult(
            file: file,
            id: id,
            result: checked,
            reasonForNoApp: ManifestParser.reasonForNoApp(bytes: bytes)
        )
    }

    private static func unreadable(_ file: String, _ errno: Errno) -> Failure {
        let path = file.printable
        guard let status = Files.status(file) else {
            let target = Files.linkTarget(file)
            guard errno == .noEntry, let target else {
                return Failure(errno == .noEntry ? .notFound : .failed, "\(path): \(errno.text)")
            }
            return Failure(
                .notFound,
                "\(path) is a link to \(target.printable), which is not there",
                fix: "Correct the link, or remove it."
            )
        }
        if status.kind != .file {
            let what = "\(path) is \(status.kind.noun), not a file"
            return Failure(.failed, what, fix: "Name a manifest.")
        }
        return Failure(
            .failed,
            "\(path) cannot be read: \(errno.text)",
            fix: errno == .access ? "chmod u+r \(path), as its owner." : ""
        )
    }

    static let modes = Subcommand(
        "modes",
        "list the background modes that a manifest may declare",
        examples: [Example("modes", "What wakes an app in each mode, for how long, how often.")],
        printsData: true
    ) { invocation throws(Failure) in
        try invocation.show(BackgroundMode.report) { modes in
            var table = Table("MODE", "WORKS", "WOKEN BY", "TIME", "HOW OFTEN", "THE APP GETS")
            for mode in modes {
                table.add(
                    mode.mode,
                    mode.works ? "yes" : "not yet",
                    mode.trigger,
                    mode.grant,
                    mode.rate,
                    mode.appGets
                )
            }
            table.print(invocation.console)
        }
    }

    static let gates = Subcommand(
        "gates",
        "list the reasons why work may have to wait",
        details: [
            "Prints a row for each gate and a column for each trigger: "
                + Trigger.allCases.map { "\($0.letter) \($0.label)" }.joined(separator: ", ")
                + ".",
            "●: always; ask: if the request asks for it; need: unless the manifest says "
                + "NeedsNetwork=false; set: if a setting says so; fetch, command: only work that "
                + "a fetch interval or a command of the manifest makes, or that was submitted "
                + "with --every.",
        ],
        examples: [
            Example("gates", "The whole table."),
            Example("gates --json", "The same as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        try invocation.show(Gate.report) { gates in
            let letters = Trigger.allCases.map(\.letter)
            // The names say it too; the titles are for wide places.
            let hasTitles = invocation.console.width ?? .max >= 130
            let titles = hasTitles ? [Table.Column("HOLDS")] : []
            var table = Table(
                [Table.Column("GATE")] + letters.map { Table.Column($0) } + titles
            )
            for gate in gates {
                let cells = letters.map { Table.Cell(gate.cells[$0] ?? "") }
                let title = hasTitles ? [Table.Cell(gate.title)] : []
                table.add([Table.Cell(gate.gate)] + cells + title)
            }
            table.print(invocation.console)
        }
    }
}

/// What is to be said of one file.
private struct LintResult {
    let file: String
    let id: AppID
    let result: ManifestResult
    let reasonForNoApp: Diagnostic

    var isUsable: Bool {
        switch result {
        case .app: true
        case .notAnApp, .invalid: false
        }
    }

    private var diagnostics: [Diagnostic] {
        switch result {
        case .app(_, let warnings): warnings
        case .invalid(let errors): errors
        case .notAnApp:
            [reasonForNoApp]
        }
    }

    var report: Value {
        [
            "file": .string(file), "app": .string(id.name), "usable": .bool(isUsable),
            "problems": .list(
                diagnostics.map { diagnostic in
                    var fields: ValueMap = [
                        "severity": .string(diagnostic.severity.rawValue),
                        "reason": .string(diagnostic.reason), "fix": .string(diagnostic.fix),
                    ]
                    if let line = diagnostic.line { fields["line"] = .integer(Int64(line)) }
                    if let key = diagnostic.key { fields["key"] = .string(key) }
                    if let value = diagnostic.value { fields["value"] = .string(value) }
                    return .map(fields)
                }
            ),
        ]
    }

    func print(_ console: Console) {
        let path = file.printable
        for diagnostic in diagnostics {
            let isError = diagnostic.severity == .error
            let word = console.styled(
                isError ? "error" : "warning",
                isError ? .red : .yellow
            )
            console.print("\(path): \(word): \(diagnostic.description.printable)")
        }
        if isUsable, diagnostics.isEmpty { console.print("\(path): good") }
    }
}
