package import Linux
package import Vocabulary

/// One subcommand of a program: everything that parsing, help, the manual page and completion
/// need, and what it does with a call.
package struct Subcommand<Call: SubcommandCall>: Sendable {
    package let name: String
    /// What it does, in the imperative, without a full stop.
    package let summary: String
    /// What follows the options, one text per form: `APP [TASK]`.
    package let forms: [String]
    /// How many operands it takes.
    package let operands: ClosedRange<Int>
    /// Its own options.
    package let options: [OptionRow]
    /// Sentences for help and the manual page; one element per paragraph.
    package let details: [String]
    package let examples: [Example]
    /// Everything from the first operand on belongs to another command.
    package let takesCommand: Bool
    /// Whether it prints data, and so has `--json`.
    package let printsData: Bool
    let run: @Sendable (Call) throws(Failure) -> Void

    package init(
        _ name: String,
        _ summary: String,
        forms: [String] = [""],
        operands: ClosedRange<Int> = 0...0,
        options: [OptionRow] = [],
        details: [String] = [],
        examples: [Example],
        takesCommand: Bool = false,
        printsData: Bool = false,
        run: @escaping @Sendable (Call) throws(Failure) -> Void
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

    /// Whether a word of its own stands before the other command.
    var namesBeforeCommand: Bool {
        takesCommand && forms.contains { !$0.hasPrefix("-") && !$0.hasPrefix("[") }
    }

    /// Whether it prints the last so many lines.
    var hasLines: Bool { options.contains { $0.long == "lines" } }
}

/// What a subcommand does with the operands and options given.
package struct Example: Sendable {
    package let command: String
    package let meaning: String

    package init(_ command: String, _ meaning: String) {
        (self.command, self.meaning) = (command, meaning)
    }
}

/// One option: how it is written and what it means.
package struct OptionRow: Sendable {
    package let long: String
    package let short: Character?
    /// What stands for its argument in help; nil if it takes none.
    package let argument: String?
    package let meaning: String
    /// What an earlier version called it.
    let formerName: String?

    package init(
        _ long: String,
        _ meaning: String,
        short: Character? = nil,
        argument: String? = nil,
        formerName: String? = nil
    ) {
        (self.long, self.short, self.formerName) = (long, short, formerName)
        (self.argument, self.meaning) = (argument, meaning)
    }

    var isPath: Bool { argument == "PATH" || argument == "FILE" || argument == "DIRECTORY" }

    package static let json = OptionRow("json", "print JSON instead of text")
    package static let help = OptionRow("help", "print help and exit", short: "h")
    static let version = OptionRow("version", "print the version and exit", short: "V")
    static let man = OptionRow("man", "print the manual page")

    /// For the parser.
    var option: Options.Option { Options.Option(long, short, argument == nil ? .none : .required) }

    /// `-n, --lines=NUMBER`.
    package var spelling: String {
        let name = "--" + long + (argument.map { "=" + $0 } ?? "")
        return short.map { "-\($0), " + name } ?? "    " + name
    }

    /// What asks for it.
    var spellings: [String] { ["--" + long] + (short.map { ["-\($0)"] } ?? []) }
}

/// One call of a subcommand: what was typed, and where it prints.
package protocol SubcommandCall: SendableMetatype {
    var options: Options { get }
    var console: Console { get }
}

extension SubcommandCall {
    package var operands: [String] { options.operands }
    package var wantsJSON: Bool { options.has("json") }

    /// Prints a value as JSON if that was asked for, else as `text` prints it.
    package func show(_ value: Value, _ text: (Value) -> Void) {
        if wantsJSON { console.print(value.json(pretty: true)) } else { text(value) }
    }

    /// The span that an option gives, such as `2h`.
    package func interval(_ name: String) throws(Failure) -> Interval? {
        guard let text = options[name] else { return nil }
        guard let interval = Interval(text) else {
            throw Failure(noSpan: text, of: "--\(name) ")
        }
        return interval
    }

    /// The point in time that an option gives: a span from now, a date, or a time of day. `clock`
    /// is not read before `text` is known to be one of them.
    package func time(
        _ name: String,
        _ side: TypedTime.Side,
        by clock: () throws(Failure) -> Moment
    ) throws(Failure) -> WallTime? {
        guard let text = options[name] else { return nil }
        return try time(text, side, of: "--\(name) ", by: clock)
    }

    /// The point in time that `text` says; `name` stands before it in a message.
    package func time(
        _ text: String,
        _ side: TypedTime.Side,
        of name: String,
        by clock: () throws(Failure) -> Moment
    ) throws(Failure) -> WallTime {
        guard let typed = TypedTime(text) else {
            throw Failure(noTime: text, of: name)
        }
        let now = try clock()
        let time = typed.wall(side, of: now.wall, zone: now.utcOffset)
        let distance = side == .future ? time - now.wall : now.wall - time
        let shown = now.local.description.dropLast(3)
        guard distance >= .zero else {
            throw Failure(
                .usage,
                "\(name)\(text.quoted) is in the \(side == .future ? "past" : "future")",
                fix: "It is \(shown) now."
            )
        }
        guard distance <= .days(36_525) else {
            throw Failure(
                .usage,
                "\(name)\(text.quoted) is more than 100 years from now",
                fix: "It is \(shown) now."
            )
        }
        return time
    }

    /// The number that an option gives, within bounds.
    package func integer(
        _ name: String,
        in range: ClosedRange<Int64>
    ) throws(Failure) -> Int64? {
        guard let text = options[name] else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw Failure(
                .usage,
                "--\(name) \(text.quoted) is not a number from \(range.lowerBound) to "
                    + "\(range.upperBound)"
            )
        }
        return number
    }
}
