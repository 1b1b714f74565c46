import AppProtocol
import BuildIdentity
package import CommandTable
import DeviceCore
import Linux
import Vocabulary

package typealias Subcommand = CommandTable.Subcommand<Invocation>

/// The program `offstage`; its subcommands are in extensions.
package enum OffstageProgram {
    /// Connects to the daemon; the argument is what `--socket` said.
    package typealias Connect = (_ socket: String?) throws(Failure) -> any Control

    package static let name = "offstage"

    /// Runs `arguments` (without the program's name) and returns the exit status.
    package static func main(_ arguments: [String]) -> Int32 {
        main(arguments, .standard(of: name)) { socket throws(Failure) in
            try DaemonControl(socket: socket)
        }
    }

    package static func main(
        _ arguments: [String],
        _ console: Console,
        patience: Patience = Patience(),
        connect: @escaping Connect
    ) -> Int32 {
        table.run(arguments, console) { options in
            Invocation(
                options: options,
                console: console,
                connect: { () throws(Failure) in try connect(options["socket"]) },
                patience: patience
            )
        }
    }

    package static let table = ProgramTable(
        name: name,
        version: Version.number,
        title: "inspect, explain and control the background work of apps",
        introduction: "Inspect, explain and control the background work of this session's apps. "
            + "The daemon offstaged starts that work when a run is worthwhile.",
        groups: groups,
        shared: [
            OptionRow(
                "socket",
                "socket of the daemon (default: $OFFSTAGE_SOCKET, else "
                    + "$XDG_RUNTIME_DIR/offstage/socket)",
                argument: "PATH"
            )
        ],
        operands: [
            (
                "APP",
                .printed(
                    by: "offstage apps --json 2>/dev/null "
                        // A command by the name that it was submitted with, too.
                        + "| sed -n 's/.*\"app\" *: *\"\\([^\"]*\\)\".*/\\1/p;s/^command\\.//p'"
                )
            ),
            ("ID", transfers(in: "paused", "waiting", "running")),
            ("--clear ID", transfers(in: "finished", "failed", "cancelled")),
            (
                "explain ID",
                .printed(
                    by: "offstage transfers --json 2>/dev/null "
                        + "| sed -n 's/.*\"id\" *: *\\([0-9]*\\).*/\\1/p'"
                )
            ),
            (
                "CONDITION",
                .assigned(
                    Condition.allCases.map { ($0.row.name, $0.row.words + ["auto"]) }
                        + SettingRow.table.map { ($0.name, $0.words + [SettingRow.default]) }
                )
            ),
        ],
        manual: manual
    )

    /// Numbers of transfers: the one that stands before such a state.
    private static func transfers(in states: String...) -> OperandCompletion {
        let any = states.joined(separator: "\\|")
        return .printed(
            by: "offstage transfers --json 2>/dev/null "
                + "| sed -n '/\"id\" *:/{s/.*\"id\" *: *\\([0-9]*\\).*/\\1/;h;};"
                + "/\"state\" *: *\"\\(\(any)\\)\"/{g;p;}'"
        )
    }

    private static let groups: [ProgramTable<Invocation>.Group] = [
        ProgramTable.Group(
            "Inspecting",
            [status, apps, tasks, explain, history, watch, logs, doctor]
        ),
        ProgramTable.Group(
            "Apps and their work",
            [open, leave, close, submit, run, cancel, dismiss]
        ),
        ProgramTable.Group("Transfers", [download, upload, transfers, resume, move]),
        ProgramTable.Group("In scripts of an app", [begin, end, limits]),
        ProgramTable.Group("The device", [pause, `continue`, set, conditions, settings, reload]),
        ProgramTable.Group("Manifests", [lint, modes, gates]),
        ProgramTable.Group(
            "For developers",
            [new, port, simulate, evaluate, exportUsage, replay, daemon, completions]
        ),
    ]

    private static let completions = Subcommand.completions { table }

    private static let manual = Manual(
        sections: [
            Manual.Section(
                "MANIFEST",
                "An app is a desktop entry with a group [X-Offstage], in applications/ of "
                    + "$XDG_DATA_HOME or of a directory in $XDG_DATA_DIRS. A time "
                    + "has a unit: 90s, 15m, 2h. The keys:",
                ManifestKey.all.map { key in
                    // Without the marks of Markdown.
                    let text = key.documentation.filter { $0 != "`" }
                    return ("\(key.name)=", "\(text) (\(key.type))")
                }
            ),
            Manual.Section(
                "SETTINGS",
                "In offstage.conf, one NAME=VALUE per line. A time has a unit; only 0 needs none. "
                    + "Settings below a line [app ID] apply to that app only: "
                    + "background-refresh=on or off.",
                SettingRow.table.map { ($0.name, $0.documentation) }
            ),
        ],
        things: "app, task or file",
        service: "daemon",
        environment: [
            ("OFFSTAGE_SOCKET", "The daemon's socket, if --socket is not given."),
            (
                "XDG_RUNTIME_DIR",
                "Directory of the default socket, offstage/socket."
            ),
            ("NO_COLOR", "If set and not empty, output is not coloured."),
        ],
        others: ["offstaged"]
    )
}
