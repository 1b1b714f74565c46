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

    /// What the first operand is called, what may stand for it, and whether more of the same may
    /// follow: what the forms write in small letters, or what the table knows of a name.
    private func operand(_ command: Subcommand<Call>) -> (
        name: String, completion: OperandCompletion, repeats: Bool
    ) {
        var words: [String] = []
        for form in command.forms {
            let first = form.drop { $0 == "[" }.prefix { $0 != " " && $0 != "]" && $0 != "." }
            if let known = operands.first(where: { $0.name == first }) {
                return (known.name, known.completion, form.contains(first + "..."))
            }
            words += first.split(separator: "|").map(String.init)
                .filter { $0.allSatisfy(\.isLowercase) && !words.contains($0) }
        }
        return words.isEmpty ? ("operand", .other, true) : ("name", .fixed(words), false)
    }

    private func lister(_ operand: String) -> String { "\(function)_\(operand.lowercased())" }

    /// What `help` takes.
    private var helped: [String] {
        let names = commands.map(\.name)
        return names + manual.sections.map { $0.title.lowercased() }.filter { !names.contains($0) }
    }

    // MARK: bash

    /// Options that are followed by a word, wherever they stand.
    private var takers: [String] {
        let all = options + commands.flatMap(\.options)
        let flags = Set(all.filter { $0.argument == nil }.flatMap(\.spellings))
        var takers: [String] = []
        for spelling in all.filter({ $0.argument != nil }).flatMap(\.spellings) {
            if flags.contains(spelling) || takers.contains(spelling) { continue }
            takers.append(spelling)
        }
        return takers
    }

    /// Options are offered to a word that begins like one; where nothing else is, files are.
    private var bash: String {
        var lines = [
            header, "\(function)() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} command= first= words= list= index count=0",
            "    COMPREPLY=()",
            "    for ((index = 1; index < COMP_CWORD; index++)); do",
            "        case ${COMP_WORDS[index]} in", "            \(takers.joined(separator: "|")))",
            "                ((index++))",
            "                [[ ${COMP_WORDS[index]} == = ]] && ((index++)) ;;",
            "            -*) ;;",
            "            *)", "                if [[ -z $command ]]; then",
            "                    command=${COMP_WORDS[index]}", "                else",
            "                    [[ -n $first ]] || first=${COMP_WORDS[index]}",
            "                    ((count++))", "                fi ;;", "        esac", "    done",
            "    ((index > COMP_CWORD)) && return", "    case $command in",
        ]
        func long(_ options: [OptionRow]) -> String {
            options.map { "--" + $0.long }.joined(separator: " ")
        }
        func add(_ command: String, _ words: String, _ list: String = "") {
            let list = list.isEmpty ? "" : " list='\(list)'"
            lines.append("        \(command)) words='\(words)'\(list) ;;")
        }
        let names = (commands.map(\.name) + ["help"]).joined(separator: " ")
        add("''", long(options), names)
        add("help", "", helped.joined(separator: " "))
        for command in commands { add(command.name, long(options(of: command))) }
        lines += ["    esac", "    if [[ $word == -* ]]; then list=$words; fi"]
        lines += ["    if [[ $word != -* ]]; then", "        case $command:$count in"]
        for command in commands {
            let (name, completion, repeats) = operand(command)
            let place = "\(command.name):\(repeats ? "*" : "0")"
            switch completion {
            case .fixed(let words):
                lines.append("            \(place)) list='\(words.joined(separator: " "))' ;;")
            case .printed: lines.append("            \(place)) list=$(\(lister(name))) ;;")
            case .assigned(let rows):
                let names = rows.map(\.name).joined(separator: " ")
                lines += ["            \(place)) list='\(names)' ;;"]
                lines += ["            \(command.name):1) list=$(\(lister(name)) \"$first\") ;;"]
            case .other: break
            }
        }
        lines += [
            "        esac", "    fi",
            "    mapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$word\")", "}",
            "complete -o default -F \(function) \(name)",
        ]
        return (listers + lines).joined(separator: "\n") + "\n"
    }

    /// Functions of bash and of zsh that print what may stand for an operand, or for the value of
    /// a name.
    private var listers: [String] {
        operands.flatMap { row -> [String] in
            switch row.completion {
            case .printed(let line): ["\(lister(row.name))() {", "    \(line)", "}"]
            case .assigned(let rows):
                ["\(lister(row.name))() {", "    case $1 in"]
                    + rows.filter { !$0.values.isEmpty }
                    .map { "        \($0.name)) echo '\($0.values.joined(separator: " "))' ;;" }
                    + ["    esac", "}"]
            case .fixed, .other: []
            }
        }
    }

    // MARK: zsh

    private var zsh: String {
        var lines = ["#compdef \(name)", header] + listers
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
        let (name, completion, repeats) = operand(command)
        let rest = repeats ? "" : " '*:operand:_default'"
        let place = repeats ? "*" : "1"
        switch completion {
        case .printed:
            return "'\(place):\(name):{compadd -- $(\(lister(name)))}'" + rest
        case .fixed(let words):
            return "'\(place):\(name):(\(words.joined(separator: " ")))'" + rest
        case .assigned(let rows):
            let names = rows.map(\.name).joined(separator: " ")
            let values = "{compadd -- $(\(lister(name)) $words[2])}"
            return "'1:\(name):(\(names))' '2:value:\(values)'"
        case .other: return "'*:\(name):_default'"
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
        let given = "\(function)_given"
        var lines = [
            header,
            // The words that are no options, from the program's name on.
            "function \(given)", "    count (string match -v -- '-*' (commandline -opc))", "end",
        ]
        for row in operands {
            guard case .printed(let line) = row.completion else { continue }
            lines += ["function \(lister(row.name))", "    \(line)", "end"]
        }
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
            let (name, completion, repeats) = operand(command)
            let first = condition + (repeats ? "" : "; and test (\(given)) -eq 2")
            switch completion {
            case .printed: complete(first, "-f -a '(\(lister(name)))'")
            case .fixed(let words): complete(first, "-f -a '\(words.joined(separator: " "))'")
            case .assigned(let rows):
                complete(first, "-f -a '\(rows.map(\.name).joined(separator: " "))'")
                for row in rows where !row.values.isEmpty {
                    complete(
                        "\(condition); and test (\(given)) -eq 3; "
                            + "and contains -- \(row.name) (commandline -opc)",
                        "-f -a '\(row.values.joined(separator: " "))'"
                    )
                }
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
