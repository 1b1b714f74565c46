extension Subcommand {
    package struct Group: Sendable {
        package let title: String
        package let commands: [Subcommand]
    }

    /// All subcommands, in the order in which help shows them.
    package static let groups = [
        Group(
            title: "Looking",
            commands: [status, apps, tasks, explain, history, watch, logs, doctor]
        ),
        Group(title: "Apps and their work", commands: [open, leave, close, submit, run, cancel]),
        Group(title: "In the scripts of an app", commands: [begin, end, limits]),
        Group(title: "The device", commands: [pause, `continue`, set, conditions, settings]),
        Group(title: "Manifests", commands: [lint, modes, gates]),
        Group(
            title: "For developers",
            commands: [new, simulate, evaluate, exportUsage, replay, daemon, completions]
        ),
    ]

    package static let all = groups.flatMap(\.commands)
}
