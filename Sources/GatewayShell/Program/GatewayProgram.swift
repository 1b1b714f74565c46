import BuildIdentity
package import CommandTable
import Linux
import Vocabulary

typealias Subcommand = CommandTable.Subcommand<GatewayInvocation>

/// The program `offstage-gateway`; its subcommands are in extensions.
package enum GatewayProgram {
    package static let name = "offstage-gateway"

    /// Runs `arguments` (without the program's name) and returns the exit status.
    package static func main(_ arguments: [String]) -> Int32 {
        // A connection that is gone is told by an error.
        try? CurrentProcess.ignore(signal: Signal.pipe)
        return main(arguments, .standard(of: name))
    }

    package static func main(_ arguments: [String], _ console: Console) -> Int32 {
        table.run(arguments, console) { GatewayInvocation(options: $0, console: console) }
    }

    package static let table: ProgramTable<GatewayInvocation> = ProgramTable(
        name: name,
        version: Version.number,
        title: "push gateway that speaks the APNs provider API",
        introduction:
            "A push gateway of one's own: servers that send to APNs send to it by another "
            + "host name, devices hold one connection for all their apps.",
        groups: [
            ProgramTable.Group("Running a gateway", [initialize, serve, stats, backup]),
            ProgramTable.Group("Whom it knows", [keys, topics, devices]),
            ProgramTable.Group("Pushes", [send, log]),
            ProgramTable.Group("For developers", [device, completions]),
        ],
        shared: [
            OptionRow(
                "directory",
                "where the gateway's files are (default: $OFFSTAGE_GATEWAY, else "
                    + "~/.local/state/offstage-gateway)",
                argument: "PATH"
            )
        ],
        manual: Manual(
            sections: [
                Manual.Section(
                    "SETTINGS",
                    "In gateway.conf, one NAME = VALUE a line. What is not there has its default.",
                    GatewaySettings.table.map { ($0.name, $0.meaning) }
                )
            ],
            things: "gateway, device, push or key",
            service: "gateway",
            environment: [
                ("OFFSTAGE_GATEWAY", "The gateway's directory, if --directory does not say."),
                ("STATE_DIRECTORY", "The same for a service, as systemd gives it."),
                ("XDG_STATE_HOME", "Where it is looked for otherwise: offstage-gateway in it."),
                ("NO_COLOR", "If set and not empty, nothing is coloured, terminal or not."),
            ],
            others: ["offstaged", "offstage"]
        )
    )

    private static let completions = Subcommand.completions { table }
}
