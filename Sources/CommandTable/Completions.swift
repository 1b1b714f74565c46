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

    /// What is offered in the place of a command's first operand.
    private struct Offers {
        /// Words, each of which the forms write in small letters.
        var words: [String] = []
        /// Operands by their names in the forms, and those that stand there with an option only.
        var printed: [(name: String, option: String?)] = []
        var assigned: (name: String, rows: [(name: String, values: [String])])?
        /// Whether more of the same may follow.
        var repeats = true

        var isEmpty: Bool { words.isEmpty && printed.isEmpty && assigned == nil }
        var always: [String] { printed.filter { $0.option == nil }.map(\.name) }
        var title: String {
            let names = assigned.map { [$0.name] } ?? (words.isEmpty ? always : ["name"])
            return names.map { $0.split(separator: " ").last ?? "" }.joined(separator: " or ")
        }
    }

    /// The table may know an operand of one command, or behind one option: `explain ID`.
    private func offers(_ command: Subcommand<Call>) -> Offers {
        var offers = Offers()
        for form in command.usageForms {
            guard let first = form.operands.first else { continue }
            let option = form.options.first { option in
                operands.contains { $0.name == "\(option) \(first.name)" }
            }
            let names = [option, command.name].compactMap { $0.map { "\($0) \(first.name)" } }
            let known = (names + [first.name]).lazy.compactMap { name in
                operands.first { $0.name == name }
            }.first
            guard let known else {
                let words = first.name.split(separator: "|").map(String.init)
                let new = words.filter { word in
                    word.allSatisfy(\.isLowercase) && !offers.words.contains(word)
                }
                offers.words += new
                if !new.isEmpty { offers.repeats = false }
                continue
            }
            switch known.completion {
            case .printed:
                if !offers.printed.contains(where: { $0.name == known.name }) {
                    offers.printed.append((known.name, option))
                }
            case .assigned(let rows): offers.assigned = (known.name, rows)
            case .fixed(let words): offers.words += words
            case .other: continue
            }
            offers.repeats = offers.repeats && first.repeats
        }
        return offers
    }

    private func lister(_ operand: String) -> String {
        let name = operand.lowercased().filter { $0.isLetter || $0 == " " || $0 == "_" }
        return "\(function)_" + name.replacing(" ", with: "_")
    }

    /// What prints the argument of an option.
    private func lister(of option: OptionRow) -> String? {
        operands.first { row in
            guard case .printed = row.completion else { return false }
            return row.name == option.argument
        }.map { lister($0.name) }
    }

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
            "    local word=${COMP_WORDS[COMP_CWORD]} command= first= index count=0",
            "    local option= options=' '", "    local -a words=() list=()", "    COMPREPLY=()",
            "    for ((index = 1; index < COMP_CWORD; index++)); do",
            "        case ${COMP_WORDS[index]} in", "            \(takers.joined(separator: "|")))",
            "                option=${COMP_WORDS[index]}", "                ((index++))",
            "                [[ ${COMP_WORDS[index]} == = ]] && ((index++)) ;;",
            "            -*) options+=\"${COMP_WORDS[index]} \" ;;",
            "            *)", "                if [[ -z $command ]]; then",
            "                    command=${COMP_WORDS[index]}", "                else",
            "                    [[ -n $first ]] || first=${COMP_WORDS[index]}",
            "                    ((count++))", "                fi ;;", "        esac", "    done",
            "    if ((index > COMP_CWORD)); then", "        case $command:$option in",
        ]
        for command in commands {
            for option in command.options {
                guard let lister = lister(of: option) else { continue }
                let names = option.spellings.map { "\(command.name):\($0)" }.joined(separator: "|")
                lines.append("            \(names)) \(filled(lister)) ;;")
            }
        }
        lines += [
            "        esac", "        \(function)_offer \"$word\" \"${list[@]}\"", "        return",
            "    fi", "    case $command in",
        ]
        func long(_ options: [OptionRow]) -> String {
            options.map { "--" + $0.long }.joined(separator: " ")
        }
        func add(_ command: String, _ words: String, _ list: String = "") {
            let list = list.isEmpty ? "" : " list=(\(list))"
            lines.append("        \(command)) words=(\(words))\(list) ;;")
        }
        add("''", long(options), (commands.map(\.name) + ["help"]).joined(separator: " "))
        add("help", "", helped.joined(separator: " "))
        for command in commands { add(command.name, long(options(of: command))) }
        lines += ["    esac", "    if [[ $word == -* ]]; then list=(\"${words[@]}\"); fi"]
        lines += ["    if [[ $word != -* ]]; then", "        case $command:$count in"]
        for command in commands {
            let offers = offers(command)
            let place = "            \(command.name):\(offers.repeats ? "*" : "0"))"
            if let (name, rows) = offers.assigned {
                let names = rows.map(\.name).joined(separator: " ")
                let values = filled(lister(name) + " \"$first\"")
                lines += ["\(place) list=(\(names)) ;;"]
                lines += ["            \(command.name):1) \(values) ;;"]
            } else if !offers.isEmpty {
                let words = offers.words.joined(separator: " ")
                let listers = offers.always.map(lister)
                let all = words.isEmpty ? listers : ["printf '%s\\n' \(words)"] + listers
                lines.append(
                    "\(place) "
                        + (listers.isEmpty
                            ? "list=(\(words))" : filled(all.joined(separator: "; ")))
                )
                for (name, option) in offers.printed {
                    guard let option else { continue }
                    let given = "[[ $options == *' \(option) '* ]]"
                    lines.append("                \(given) && \(filled(lister(name)))")
                }
                lines[lines.count - 1] += " ;;"
            }
        }
        lines += [
            "        esac", "    fi", "    \(function)_offer \"$word\" \"${list[@]}\"", "}",
            "complete -o default -F \(function) \(name)",
        ]
        return (listers + bashOffer + lines).joined(separator: "\n") + "\n"
    }

    /// `list` of the lines that are printed, as they are.
    private func filled(_ printing: String) -> String { "mapfile -t list < <(\(printing))" }

    /// Not compgen -W, which expands the words: a name of an app may be `$(rm -r ~)`.
    private var bashOffer: [String] {
        [
            "\(function)_offer() {", "    local word=$1 item quoted", "    shift",
            "    for item; do", "        [[ -n $item ]] || continue",
            "        printf -v quoted %q \"$item\"",
            "        if [[ $item == \"$word\"* || $quoted == \"$word\"* ]]; then",
            "            COMPREPLY+=(\"$quoted\")", "        fi", "    done", "}",
        ]
    }

    /// Functions of bash and of zsh that print what may stand for an operand, or for the value of
    /// a name: one in each line.
    private var listers: [String] {
        operands.flatMap { row -> [String] in
            switch row.completion {
            case .printed(let line): ["\(lister(row.name))() {", "    \(line)", "}"]
            case .assigned(let rows):
                ["\(lister(row.name))() {", "    case $1 in"]
                    + rows.filter { !$0.values.isEmpty }
                    .map { row in
                        let values = row.values.joined(separator: " ")
                        return "        \(row.name)) printf '%s\\n' \(values) ;;"
                    }
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
            "        'help:say how a command is used'", "    )",
            "    local context state state_descr line", "    typeset -A opt_args",
            // Options may stand before the command; behind it, words are its own.
            "    _arguments -C \(arguments(options)) '(-): :->command' '(-)*:: :->operands'",
            "    case $state in", "    command) _describe command commands ;;",
            "    operands)", "        case $words[1] in",
            "        help) compadd \(helped.joined(separator: " ")) ;;",
        ]
        for command in commands {
            lines.append(
                "        \(command.name)) _arguments -s \(arguments(self.options(of: command))) "
                    + "\(zshOperands(command)) ;;"
            )
        }
        lines += ["        esac ;;", "    esac", "}", "\(function) \"$@\""]
        return lines.joined(separator: "\n") + "\n"
    }

    private func zshOperands(_ command: Subcommand<Call>) -> String {
        let offers = offers(command)
        guard !offers.isEmpty else { return "'*:operand:_default'" }
        if let (name, rows) = offers.assigned {
            let names = rows.map(\.name).joined(separator: " ")
            // The operands alone are in this array.
            let values = "{compadd -- \(zshLines(lister(name) + " $line[1]"))}"
            return "'1:\(name):(\(names))' '2:value:\(values)'"
        }
        let place = (offers.repeats ? "*:" : "1:") + offers.title
        let rest = offers.repeats ? "" : " '*:operand:_default'"
        guard !offers.printed.isEmpty else {
            return "'\(place):(\(offers.words.joined(separator: " ")))'" + rest
        }
        let printed = offers.always.map { zshLines(lister($0)) }
        var action = "compadd -- " + (offers.words + printed).joined(separator: " ")
        for (name, option) in offers.printed {
            guard let option else { continue }
            let given = "(( $words[(I)\(option)] ))"
            action = "if \(given); then compadd -- \(zshLines(lister(name))); else \(action); fi"
        }
        return "'\(place):{\(action)}'" + rest
    }

    private func zshLines(_ printing: String) -> String { "${(f)\"$(\(printing))\"}" }

    private func arguments(_ options: [OptionRow]) -> String {
        options.map { option in
            let meaning = option.meaning.flatMap {
                "[]:\\".contains($0) ? "\\\($0)" : String($0)
            }
            let text = "[" + meaning + "]"
            let action = lister(of: option).map { "{compadd -- \(zshLines($0))}" } ?? "_default"
            let argument = option.argument.map { name in
                ":\(name.replacing(":", with: " ")):\(action)"
            }
            let short = option.short.map { short in
                quoted("-\(short)" + (argument.map { "+\(text)\($0)" } ?? text)) + " "
            }
            let long = "--\(option.long)" + (argument.map { "=\(text)\($0)" } ?? text)
            return (short ?? "") + quoted(long)
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
            let offers = offers(command)
            let first = condition + (offers.repeats ? "" : "; and test (\(given)) -eq 2")
            if !offers.words.isEmpty {
                complete(first, "-f -a '\(offers.words.joined(separator: " "))'")
            }
            let options = offers.printed.compactMap(\.option)
            for (name, option) in offers.printed {
                let given = option.map { "; and contains -- \($0) (commandline -opc)" }
                let without = options.map { "; and not contains -- \($0) (commandline -opc)" }
                complete(
                    first + (given ?? without.joined()),
                    "-f -a '(\(lister(name)))'"
                )
            }
            guard let (_, rows) = offers.assigned else { continue }
            complete(first, "-f -a '\(rows.map(\.name).joined(separator: " "))'")
            for row in rows where !row.values.isEmpty {
                complete(
                    "\(condition); and test (\(given)) -eq 3; "
                        + "and contains -- \(row.name) (commandline -opc)",
                    "-f -a '\(row.values.joined(separator: " "))'"
                )
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func fishOption(_ option: OptionRow) -> String {
        let short = option.short.map { "-s \($0) " } ?? ""
        let list = lister(of: option).map { "-f -a '(\($0))' " } ?? ""
        let argument = option.argument == nil ? "" : "-r " + list
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
