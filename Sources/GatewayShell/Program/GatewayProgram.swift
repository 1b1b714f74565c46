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
        title: "push gateway with the APNs provider API",
        introduction:
            "A self-hosted push gateway. Servers that send to APNs send to it by changing the "
            + "host name. Devices hold one connection for all their apps.",
        groups: [
            ProgramTable.Group("Running a gateway", [initialize, serve, stats, backup]),
            ProgramTable.Group("Keys, apps and devices", [keys, topics, devices]),
            ProgramTable.Group("Pushes", [send, log]),
            ProgramTable.Group("For developers", [device, completions]),
        ],
        shared: [
            OptionRow(
                "directory",
                "directory of the gateway's files (default: $OFFSTAGE_GATEWAY, else "
                    + "~/.local/state/offstage-gateway)",
                argument: "PATH"
            )
        ],
        manual: Manual(
            sections: [
                Manual.Section(
                    "SETTINGS",
                    "In gateway.conf, one NAME = VALUE per line. Settings that are not in the "
                        + "file have their defaults.",
                    GatewaySettings.table.map { ($0.name, $0.meaning) }
                )
            ],
            things: "gateway, device, push or key",
            service: "gateway",
            environment: [
                ("OFFSTAGE_GATEWAY", "The gateway's directory, if --directory is not given."),
                ("STATE_DIRECTORY", "The same for a service, set by systemd."),
                ("XDG_STATE_HOME", "Parent of the default directory, offstage-gateway."),
                ("NO_COLOR", "If set and not empty, output is not coloured."),
            ],
            others: ["offstaged", "offstage"]
        )
    )

    private static let completions = Subcommand.completions { table }
}
