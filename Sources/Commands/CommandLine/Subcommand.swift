import Linux

/// One subcommand: everything that parsing, help and the manual page need, and what it does.
package struct Subcommand: Sendable {
    package let name: String
    /// What it does, in the imperative, without a full stop.
    package let summary: String
    /// What follows the options, one text per form: `APP [TASK]`.
    package let forms: [String]
    /// How many operands it takes.
    package let operands: ClosedRange<Int>
    package let options: [OptionRow]
    /// Sentences for help and the manual page; one element per paragraph.
    package let details: [String]
    package let examples: [Example]
    /// Everything from the first operand on belongs to another command.
    package let takesCommand: Bool
    /// Whether it prints data, and so has `--json`.
    package let printsData: Bool
    let run: @Sendable (Invocation) throws(Failure) -> Void

    /// What it does with the operands and options given.
    package struct Example: Sendable {
        package let command: String
        package let meaning: String

        init(_ command: String, _ meaning: String) {
            (self.command, self.meaning) = (command, meaning)
        }
    }

    init(
        _ name: String,
        _ summary: String,
        forms: [String] = [""],
        operands: ClosedRange<Int> = 0...0,
        options: [OptionRow] = [],
        details: [String] = [],
        examples: [Example],
        takesCommand: Bool = false,
        printsData: Bool = false,
        run: @escaping @Sendable (Invocation) throws(Failure) -> Void
    ) {
        self.name = name
        self.summary = summary
        self.forms = forms
        self.operands = operands
        self.options = options
        self.details = details
        self.examples = examples
        self.takesCommand = takesCommand
        self.printsData = printsData
        self.run = run
    }

    /// Whether it prints the last so many lines.
    var hasLines: Bool { options.contains { $0.long == "lines" } }

    /// Its own options and those that every command has.
    package var allOptions: [OptionRow] {
        options + (printsData ? [.json] : []) + OptionRow.common
    }
}

/// One option: how it is written and what it means.
package struct OptionRow: Sendable {
    package let long: String
    package let short: Character?
    /// What stands for its argument in help; nil if it takes none.
    package let argument: String?
    package let meaning: String

    init(
        _ long: String,
        _ meaning: String,
        short: Character? = nil,
        argument: String? = nil
    ) {
        (self.long, self.short) = (long, short)
        (self.argument, self.meaning) = (argument, meaning)
    }

    static let json = OptionRow("json", "print JSON instead of text")
    static let socket = OptionRow(
        "socket",
        "speak to the daemon that listens there (default: $OFFSTAGE_SOCKET, else "
            + "$XDG_RUNTIME_DIR/offstage/socket)",
        argument: "PATH"
    )
    static let help = OptionRow("help", "say how it is used, and exit", short: "h")
    /// What every subcommand takes.
    static let common = [socket, help]

    /// For the parser.
    var option: Options.Option { Options.Option(long, short, argument == nil ? .none : .required) }

    /// `-n, --lines=NUMBER`.
    package var spelling: String {
        let name = "--" + long + (argument.map { "=" + $0 } ?? "")
        return short.map { "-\($0), " + name } ?? "    " + name
    }
}
