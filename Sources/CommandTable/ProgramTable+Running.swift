package import Linux
import Vocabulary

extension ProgramTable {
    /// Runs `arguments` (without the program's name): finds the subcommand, reads its options, runs
    /// it, says what went wrong. Returns the exit status.
    package func run(
        _ arguments: [String],
        _ console: Console,
        _ call: (Options) -> Call
    ) -> Int32 {
        // Until the options have been read, as far as can be told.
        var wantsJSON = arguments.prefix { $0 != "--" }.contains("--" + OptionRow.json.long)
        do throws(Failure) {
            try dispatch(arguments, console, call, &wantsJSON)
            return 0
        } catch {
            if wantsJSON {
                console.printError(error.report.json())
            } else {
                console.printError("\(name): " + error.lines.joined(separator: "\n"))
            }
            return error.code.rawValue
        }
    }

    private func dispatch(
        _ arguments: [String],
        _ console: Console,
        _ call: (Options) -> Call,
        _ wantsJSON: inout Bool
    ) throws(Failure) {
        let general = try read(arguments, options, of: nil, inOrder: true)
        if general.has(OptionRow.version.long) { return console.print("\(name) \(version)") }
        guard let word = general.operands.first else {
            if general.has("help") { return console.print(Help(self, console).overview) }
            throw Failure(.usage, "no command was given", fix: "\"\(name) help\" lists them.")
        }
        if word == "help" { return try help(Array(general.operands.dropFirst()), console) }
        let command = try command(named: word)
        // What stood before the command holds for it as well.
        let before = general.given.map { given in
            "--" + given.name + (given.argument.map { "=" + $0 } ?? "")
        }
        let rows = options(of: command)
        let words = before + general.operands.dropFirst()
        var read = try read(
            command.hasLines ? Self.namingLines(words, rows) : words,
            rows,
            of: command,
            inOrder: command.takesCommand
        )
        if command.namesBeforeCommand, let second = read.operands.dropFirst().first,
            second.hasPrefix("-"), second != "--"
        {
            // Options may stand behind the name as well, up to the command.
            let end = words.firstIndex(of: "--") ?? words.endIndex
            var head = try self.read(Array(words[..<end]), rows, of: command, inOrder: false)
            head.operands += words[end...]
            // Without a name before it, the first -- ends the options.
            if head.operands.first != "--" { read = head }
        }
        wantsJSON = read.has(OptionRow.json.long)
        if read.has("help") { return console.print(Help(self, console).text(of: command)) }
        try checkPaths(read, rows)
        try checkOperands(read.operands, of: command)
        try command.run(call(read))
    }

    /// `help`, `help COMMAND`, `help SECTION`, `help --man`.
    private func help(_ arguments: [String], _ console: Console) throws(Failure) {
        let options = try read(arguments, [.man, .help], of: nil, inOrder: false)
        let help = Help(self, console)
        guard !options.has(OptionRow.man.long) else { return console.print(manualPage) }
        guard let word = options.operands.first else { return console.print(help.overview) }
        let section = manual.sections.first { $0.title.lowercased() == word }
        if let section, !commands.contains(where: { $0.name == word }) {
            return console.print(help.text(of: section))
        }
        console.print(help.text(of: try command(named: word)))
    }

    private func read(
        _ arguments: [String],
        _ rows: [OptionRow],
        of command: Subcommand<Call>?,
        inOrder: Bool
    ) throws(Failure) -> Options {
        do {
            return try Options(arguments, rows.map(\.option), inOrder: inOrder)
        } catch {
            let help = ([name, "help"] + (command.map { [$0.name] } ?? [])).joined(separator: " ")
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
                let name = String(word.prefix { $0 != "=" })
                if let row = rows.first(where: { $0.formerName.map { "--" + $0 } == name }) {
                    throw Failure(
                        .usage,
                        "the option \(name) is now called --\(row.long)",
                        fix: "Write --\(row.long) instead."
                    )
                }
                if name != word { try checkValue(name, rows, help) }
                throw Failure.unknown(
                    "option",
                    name,
                    among: rows.map { "--" + $0.long },
                    otherwise: "\"\(help)\" lists the options."
                )
            }
        }
    }

    /// `name`, maybe shortened, was given a value: some options have none.
    private func checkValue(
        _ name: String,
        _ rows: [OptionRow],
        _ help: String
    ) throws(Failure) {
        let whole = rows.filter { $0.spellings.contains(name) }
        let meant = whole.isEmpty ? rows.filter { ("--" + $0.long).hasPrefix(name) } : whole
        guard meant.count == 1, let row = meant.first, row.argument == nil else { return }
        throw Failure(
            .usage,
            "--\(row.long) takes no value",
            fix: "Write --\(row.long) alone; \"\(help)\" lists the options."
        )
    }

    /// A variable of a shell that is not set is no path.
    private func checkPaths(_ options: Options, _ rows: [OptionRow]) throws(Failure) {
        for given in options.given where given.argument == "" {
            guard let row = rows.first(where: { $0.long == given.name }), row.isPath else {
                continue
            }
            throw Failure(.usage, "--\(row.long) is empty", fix: "It takes a path.")
        }
    }

    /// `-20` as `head` and `tail` take it: the newest 20 lines.
    private static func namingLines(_ arguments: [String], _ rows: [OptionRow]) -> [String] {
        let takers = rows.filter { $0.argument != nil }.flatMap(\.spellings)
        var isArgument = false
        return arguments.map { word in
            defer { isArgument = takers.contains(word) }
            let digits = word.dropFirst()
            guard !isArgument, word.hasPrefix("-"), !digits.isEmpty,
                digits.allSatisfy({ "0" <= $0 && $0 <= "9" })
            else { return word }
            return "--lines=\(digits)"
        }
    }

    private func checkOperands(
        _ operands: [String],
        of command: Subcommand<Call>
    ) throws(Failure) {
        guard !command.operands.contains(operands.count) else { return }
        let usages = command.forms.map { form in
            [name, command.name, form].filter { !$0.isEmpty }.joined(separator: " ")
        }
        let isTooFew = operands.count < command.operands.lowerBound
        let isOpenEnded = command.forms.contains { $0.hasSuffix("...") || $0.hasSuffix("...]") }
        guard isTooFew || !isOpenEnded else {
            throw Failure(
                .usage,
                "\(command.name): \(operands.count) arguments are too many",
                fix: "It takes \(command.operands.upperBound) at most."
            )
        }
        let usage = "Usage: " + usages.joined(separator: "\n       ")
        guard isTooFew else {
            let word = operands[command.operands.upperBound]
            throw Failure(unexpected: word, to: command.name, fix: usage)
        }
        let missing = Self.missing(operands.count, of: command)
        throw Failure(.usage, "\(command.name): \(missing) is missing", fix: usage)
    }

    /// The operand at `index` as the forms call it: `APP`, `CONDITION or SETTING`.
    private static func missing(_ index: Int, of command: Subcommand<Call>) -> String {
        var names: [String] = []
        for form in command.usageForms {
            let operands = form.operands.filter { !$0.isOptional }
            guard index < operands.count else { continue }
            let name = String(operands[index].name.prefix { $0 != "|" })
            if !names.contains(name) { names.append(name) }
        }
        return names.isEmpty ? "something" : names.joined(separator: " or ")
    }
}
