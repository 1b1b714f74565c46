import AppProtocol
import BuildIdentity
import Linux
import Vocabulary

/// The program `offstage`: finds the subcommand, reads its options, runs it, says what went wrong.
package struct CommandLineProgram {
    package static let name = "offstage"

    /// Connects to the daemon; the argument is what `--socket` said.
    package typealias Connect = (_ socket: String?) throws(Failure) -> any Control

    let console: Console
    let connect: Connect

    /// With the daemon at its socket.
    package init(console: Console) {
        self.init(console: console) { socket throws(Failure) in
            try DaemonControl(socket: socket)
        }
    }

    package init(console: Console, connect: @escaping Connect) {
        (self.console, self.connect) = (console, connect)
    }

    /// Runs `arguments` (without the program's name) and returns the exit status.
    package func run(_ arguments: [String]) -> Int32 {
        do throws(Failure) {
            try dispatch(arguments)
            return 0
        } catch {
            console.printError("\(Self.name): \(error.message)")
            if !error.fix.isEmpty { console.printError(error.fix) }
            return error.code.rawValue
        }
    }

    private func dispatch(_ arguments: [String]) throws(Failure) {
        let general = try read(arguments, Self.generalOptions, of: nil, inOrder: true)
        if general.has("version") {
            console.print("\(Self.name) \(Version.number)")
            return
        }
        guard let name = general.operands.first else {
            if general.has("help") { return console.print(Help(console).overview) }
            throw Failure(
                .usage,
                "no command was given",
                fix: "\"\(Self.name) help\" lists them."
            )
        }
        if name == "help" { return try help(Array(general.operands.dropFirst())) }
        let command = try Self.command(named: name)
        // What stood before the command holds for it as well.
        let before = general.given.map { given in
            "--" + given.name + (given.argument.map { "=" + $0 } ?? "")
        }
        try run(command, before + general.operands.dropFirst())
    }

    private func run(_ command: Subcommand, _ arguments: [String]) throws(Failure) {
        let options = try read(
            command.hasLines ? Self.namingLines(arguments) : arguments,
            command.allOptions,
            of: command,
            inOrder: command.takesCommand
        )
        if options.has("help") { return console.print(Help(console).text(of: command)) }
        try checkOperands(options.operands, of: command)
        let socket = options["socket"]
        try command.run(
            Invocation(options: options, console: console) { () throws(Failure) in
                try connect(socket)
            }
        )
    }

    /// `help`, `help COMMAND`, `help --man`.
    private func help(_ arguments: [String]) throws(Failure) {
        let rows = [OptionRow("man", "print the manual page"), OptionRow.help]
        let options = try read(arguments, rows, of: nil, inOrder: false)
        if options.has("man") {
            console.print(ManualPage.text)
        } else if let name = options.operands.first {
            console.print(Help(console).text(of: try Self.command(named: name)))
        } else {
            console.print(Help(console).overview)
        }
    }

    static let generalOptions = [
        OptionRow.json, OptionRow.socket, OptionRow.help,
        OptionRow("version", "say which version this is, and exit", short: "V"),
    ]

    static func command(named name: String) throws(Failure) -> Subcommand {
        if let command = Subcommand.all.first(where: { $0.name == name }) { return command }
        throw Failure.unknown(
            "command",
            name,
            suggestion: Spelling.suggestion(for: name, among: Subcommand.all.map(\.name)),
            otherwise: "\"\(Self.name) help\" lists the commands."
        )
    }

    private func read(
        _ arguments: [String],
        _ rows: [OptionRow],
        of command: Subcommand?,
        inOrder: Bool
    ) throws(Failure) -> Options {
        do {
            return try Options(arguments, rows.map(\.option), inOrder: inOrder)
        } catch {
            let help = ([Self.name, "help"] + (command.map { [$0.name] } ?? []))
                .joined(separator: " ")
            switch error {
            case .missingArgument(let word):
                let row = rows.first {
                    "--" + $0.long == word || $0.short.map { word.hasSuffix("\($0)") } == true
                }
                throw Failure(
                    .usage,
                    "\(word) needs an argument" + (row?.argument.map { ": \($0)" } ?? ""),
                    fix: "\"\(help)\" says what it takes."
                )
            case .unknown(let word):
                let name = word.prefix { $0 != "=" }
                throw Failure.unknown(
                    "option",
                    String(name),
                    suggestion: Spelling.suggestion(
                        for: String(name),
                        among: rows.map { "--" + $0.long }
                    ),
                    otherwise: "\"\(help)\" lists the options."
                )
            }
        }
    }

    /// `-20` as `head` and `tail` take it: the newest 20 lines.
    private static func namingLines(_ arguments: [String]) -> [String] {
        var isArgument = false
        return arguments.map { word in
            defer { isArgument = ["-n", "--lines", "--since", "--socket"].contains(word) }
            let digits = word.dropFirst()
            guard !isArgument, word.hasPrefix("-"), !digits.isEmpty,
                digits.allSatisfy({ "0" <= $0 && $0 <= "9" })
            else { return word }
            return "--lines=\(digits)"
        }
    }

    private func checkOperands(_ operands: [String], of command: Subcommand) throws(Failure) {
        guard !command.operands.contains(operands.count) else { return }
        let usage = command.forms.map { form in
            [Self.name, command.name, form].filter { !$0.isEmpty }.joined(separator: " ")
        }
        let isTooFew = operands.count < command.operands.lowerBound
        let message =
            isTooFew
            ? "\(command.name): \(Self.missing(operands.count, of: command)) is missing"
            : "\(command.name): \(operands[command.operands.upperBound].quoted) is too much"
        throw Failure(.usage, message, fix: "Usage: " + usage.joined(separator: "\n       "))
    }

    /// The operand at `place` as the forms call it: `APP`, `CONDITION or SETTING`.
    private static func missing(_ place: Int, of command: Subcommand) -> String {
        var names: [String] = []
        for form in command.forms {
            let words = form.split(separator: " ").filter {
                !$0.hasPrefix("[") && !$0.hasPrefix("-")
            }
            guard place < words.count else { continue }
            let name = String(words[place].prefix { $0 != "|" && $0 != "." })
            if !names.contains(name) { names.append(name) }
        }
        return names.isEmpty ? "something" : names.joined(separator: " or ")
    }
}
