/// A program with subcommands as a table: what it consists of, and what its texts say. Running it,
/// help, the manual page and the completions of shells are made of it.
package struct ProgramTable<Call: SubcommandCall>: Sendable {
    package let name: String
    package let version: String
    /// What stands behind the name in the manual page.
    package let title: String
    /// A sentence or two about what it is for.
    package let introduction: String
    package let groups: [Group]
    /// What every subcommand takes beside `--help`.
    let shared: [OptionRow]
    /// How operands are completed, by their names in the forms of subcommands.
    let operands: [(name: String, completion: OperandCompletion)]
    /// What the manual page says beyond the commands.
    let manual: Manual

    /// Subcommands that belong together.
    package struct Group: Sendable {
        package let title: String
        package let commands: [Subcommand<Call>]

        package init(_ title: String, _ commands: [Subcommand<Call>]) {
            (self.title, self.commands) = (title, commands)
        }
    }

    package init(
        name: String,
        version: String,
        title: String,
        introduction: String,
        groups: [Group],
        shared: [OptionRow],
        operands: [(name: String, completion: OperandCompletion)] = [],
        manual: Manual
    ) {
        (self.name, self.version, self.title) = (name, version, title)
        (self.introduction, self.groups, self.shared) = (introduction, groups, shared)
        (self.operands, self.manual) = (operands, manual)
    }

    /// In the order in which help shows them.
    package var commands: [Subcommand<Call>] { groups.flatMap(\.commands) }

    /// What may stand before the subcommand.
    var options: [OptionRow] { [.json] + shared + [.help, .version] }

    /// A subcommand's own options and those that it shares.
    package func options(of command: Subcommand<Call>) -> [OptionRow] {
        command.options + (command.printsData ? [.json] : []) + shared + [.help]
    }

    func command(named name: String) throws(Failure) -> Subcommand<Call> {
        if let command = commands.first(where: { $0.name == name }) { return command }
        throw Failure.unknown(
            "command",
            name,
            among: commands.map(\.name),
            otherwise: "\"\(self.name) help\" lists the commands."
        )
    }
}

/// What a shell offers in the place of an operand.
package enum OperandCompletion: Sendable {
    case fixed([String])
    /// What this line of a shell prints, one a line.
    case printed(by: String)
    /// Names, each with the words that may be its value, where they can be told.
    case assigned([(name: String, values: [String])])
    case other
}

/// What a manual page says beyond the commands.
package struct Manual: Sendable {
    let sections: [Section]
    /// What was not found when the exit status is 3.
    let things: String
    /// What does not run when it is 4.
    let service: String
    let environment: [Row]
    /// The pages of section 1 that belong to it.
    let others: [String]

    package typealias Row = (name: String, meaning: String)

    /// A section of its own; `help TITLE` prints it as well.
    package struct Section: Sendable {
        let title: String
        let introduction: String
        let rows: [Row]

        package init(_ title: String, _ introduction: String, _ rows: [Row]) {
            (self.title, self.introduction, self.rows) = (title, introduction, rows)
        }
    }

    package init(
        sections: [Section],
        things: String,
        service: String,
        environment: [Row],
        others: [String]
    ) {
        (self.sections, self.things, self.service) = (sections, things, service)
        (self.environment, self.others) = (environment, others)
    }
}
