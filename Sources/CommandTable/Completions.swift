import Vocabulary

/// Completion for shells, made of the same table as the help texts.
package struct Completions: Sendable {
    /// The shells by name, with the script of each.
    package let scripts: [(shell: String, text: String)]

    package subscript(_ shell: String) -> String {
        scripts.first { $0.shell == shell }?.text ?? ""
    }
}

extension ProgramTable {
    package var completions: Completions {
        Completions(scripts: [("bash", bash), ("zsh", zsh), ("fish", fish)])
    }

    private var header: String { "# Completion for \(name)(1), made of its table of commands." }
    /// The name as shells take it for functions.
    private var function: String { "_" + name.replacing("-", with: "_") }

    /// What the first operand is called, and what may stand for it: what the forms write in small
    /// letters, or what the table knows of a name.
    private func operand(_ command: Subcommand<Call>) -> (
        name: String, completion: OperandCompletion
    ) {
        var words: [String] = []
        for form in command.forms {
            let first = form.drop { $0 == "[" }.prefix { $0 != " " && $0 != "]" && $0 != "." }
            if let known = operands.first(where: { $0.name == first }) { return known }
            words += first.split(separator: "|").map(String.init)
                .filter { $0.allSatisfy(\.isLowercase) && !words.contains($0) }
        }
        return words.isEmpty ? ("operand", .other) : ("name", .fixed(words))
    }

    /// The operands that a line of a shell lists, and the function for it in scripts.
    private var listed: [(name: String, line: String)] {
        operands.compactMap { row in
            if case .printed(let line) = row.completion { (row.name, line) } else { nil }
        }
    }

    private func lister(_ operand: String) -> String { "\(function)_\(operand.lowercased())" }

    /// What `help` takes.
    private var helped: [String] {
        let names = commands.map(\.name)
        return names + manual.sections.map { $0.title.lowercased() }.filter { !names.contains($0) }
    }

    // MARK: bash

    private var bash: String {
        let takers = options.filter { $0.argument != nil }.flatMap(\.spellings)
        var lines = [
            header, "\(function)() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} command= words= index",
            "    for ((index = 1; index < COMP_CWORD; index++)); do",
            "        case ${COMP_WORDS[index]} in",
            "            \(takers.joined(separator: "|"))) ((index++)) ;;", "            -*) ;;",
            "            *) command=${COMP_WORDS[index]} && break ;;", "        esac", "    done",
            "    case $command in",
        ]
        func add(_ command: String, _ words: [String]) {
            lines.append("        \(command)) words='\(words.joined(separator: " "))' ;;")
        }
        func long(_ options: [OptionRow]) -> [String] { options.map { "--" + $0.long } }
        add("''", commands.map(\.name) + ["help"] + long(options))
        add("help", helped)
        for command in commands {
            var words: [String] = []
            if case .fixed(let list) = operand(command).completion { words = list }
            add(command.name, words + long(options(of: command)))
        }
        lines.append("    esac")
        for (name, line) in listed {
            let takers = commands.filter { operand($0).name == name }.map(\.name)
            lines += [
                "    case $command in", "        \(takers.joined(separator: "|")))",
                "            [[ $word == -* ]] || words+=\" $(\(line))\" ;;", "    esac",
            ]
        }
        lines += [
            "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")", "}",
            "complete -o default -F \(function) \(name)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: zsh

    private var zsh: String {
        var lines = ["#compdef \(name)", header]
        for (name, line) in listed {
            lines += [
                "\(lister(name))() {", "    local -a words", "    words=(${(f)\"$(\(line))\"})",
                "    compadd -a words", "}",
            ]
        }
        lines += ["\(function)() {", "    local -a commands", "    commands=("]
        for command in commands {
            lines.append("        " + quoted("\(command.name):\(command.summary)"))
        }
        lines += [
            "        'help:say how a command is used'", "    )", "    if (( CURRENT == 2 )); then",
            "        _describe command commands", "        _arguments \(arguments(options))",
            "        return", "    fi", "    shift words", "    (( CURRENT-- ))",
            "    case $words[1] in", "        help) compadd \(helped.joined(separator: " ")) ;;",
        ]
        for command in commands {
            lines.append(
                "        \(command.name)) _arguments -s \(arguments(options(of: command))) "
                    + "\(zshOperands(command)) ;;"
            )
        }
        lines += ["    esac", "}", "\(function) \"$@\""]
        return lines.joined(separator: "\n") + "\n"
    }

    private func zshOperands(_ command: Subcommand<Call>) -> String {
        let (name, completion) = operand(command)
        return switch completion {
        case .printed: "'*:\(name):\(lister(name))'"
        case .fixed(let words): "'1:\(name):(\(words.joined(separator: " ")))' '*:operand:_default'"
        case .other: "'*:\(name):_default'"
        }
    }

    private func arguments(_ options: [OptionRow]) -> String {
        options.map { option in
            let meaning = option.meaning.filter { !"[]:".contains($0) }
            let long = "--" + option.long
            let argument = option.argument?.replacing(":", with: " ")
            guard let argument else { return quoted("\(long)[\(meaning)]") }
            return quoted("\(long)=[\(meaning)]:\(argument):_default")
        }
        .joined(separator: " ")
    }

    // MARK: fish

    private var fish: String {
        var lines = [header]
        for (name, line) in listed { lines += ["function \(lister(name))", "    \(line)", "end"] }
        func complete(_ condition: String, _ rest: String) {
            lines.append("complete -c \(name) -n '\(condition)' " + rest)
        }
        for option in options { complete("__fish_use_subcommand", fishOption(option)) }
        for command in commands {
            complete(
                "__fish_use_subcommand",
                "-f -a \(command.name) -d \(quoted(command.summary))"
            )
        }
        complete("__fish_use_subcommand", "-f -a help -d 'say how a command is used'")
        complete(
            "__fish_seen_subcommand_from help",
            "-f -a '\(helped.joined(separator: " "))'"
        )
        for command in commands {
            let condition = "__fish_seen_subcommand_from \(command.name)"
            for option in options(of: command) { complete(condition, fishOption(option)) }
            let (name, completion) = operand(command)
            switch completion {
            case .printed: complete(condition, "-f -a '(\(lister(name)))'")
            case .fixed(let words): complete(condition, "-f -a '\(words.joined(separator: " "))'")
            case .other: break
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func fishOption(_ option: OptionRow) -> String {
        let short = option.short.map { "-s \($0) " } ?? ""
        let argument = option.argument == nil ? "" : "-r "
        return "\(short)-l \(option.long) \(argument)-d \(quoted(option.meaning))"
    }

    /// For a shell, in single quotes.
    private func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}

extension Subcommand {
    /// `completions`: prints the script of a shell.
    package static func completions(
        _ table: @escaping @Sendable () -> ProgramTable<Call>
    ) -> Subcommand {
        Subcommand(
            "completions",
            "print a shell's completion script",
            forms: ["bash|zsh|fish"],
            operands: 1...1,
            details: [
                "\"make install\" installs these scripts where the shells look for them; use this "
                    + "for other places."
            ],
            examples: [
                Example("completions bash", "Print the script, to be sourced or installed."),
                Example("completions fish", "The same for fish."),
            ]
        ) { call throws(Failure) in
            let name = call.operands[0]
            let scripts = table().completions.scripts
            guard let script = scripts.first(where: { $0.shell == name }) else {
                let names = scripts.map(\.shell)
                throw Failure.unknown(
                    "completion for",
                    name,
                    among: names,
                    otherwise: "Write one of: \(names.joined(separator: ", "))."
                )
            }
            call.console.write(Array(script.text.utf8)[...])
        }
    }
}
