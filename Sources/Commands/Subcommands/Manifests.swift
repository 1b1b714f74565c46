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
                + "write instead. The exit status is 1 if one of the files cannot be used, and 3 "
                + "if that is so only because nothing is there.",
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
        let lint = ManifestLint(
            // After that question the daemon has seen each change from before it.
            settings: try invocation.settingsInForce(),
            place: PlaceLint(invocation)
        )
        var reports: [Value] = []
        var broken: [LintResult] = []
        for file in invocation.operands {
            let result = try lint.check(file, invocation)
            if !result.isUsable { broken.append(result) }
            reports.append(result.report)
            if !invocation.wantsJSON { result.print(invocation.console) }
        }
        if invocation.wantsJSON { invocation.console.print(Value.list(reports).json(pretty: true)) }
        guard let first = broken.first else { return }
        throw Failure(
            broken.allSatisfy { $0.code == first.code } ? first.code : .failed,
            "\(broken.count) of \(invocation.operands.count) cannot be used",
            fix: broken.contains(where: \.wasRead)
                ? "\"offstage modes\" says which mode is for what, \"man offstage\" has all keys."
                : ""
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
