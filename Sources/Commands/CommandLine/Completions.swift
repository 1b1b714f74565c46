import DeviceCore

/// Completion for shells, made from the same table as the help texts.
package enum Completions {
    /// The names of apps, one a line, as a shell asks for them.
    private static let apps =
        "offstage apps --json 2>/dev/null | sed -n 's/.*\"app\" *: *\"\\([^\"]*\\)\".*/\\1/p'"

    private static let note = "# Completion for offstage(1), made from its table of commands."

    /// What stands for an operand, as far as it can be listed.
    private enum Operand {
        case app, other
        case words([String])
    }

    private static func operand(_ command: Subcommand) -> Operand {
        let form = command.forms.first ?? ""
        if form.hasPrefix("APP") || form.hasPrefix("[APP") { return .app }
        switch command.name {
        case "set": return .words(names)
        case Subcommand.completions.name: return .words(shells.map(\.name))
        default: return .other
        }
    }

    private static let names = Condition.allCases.map(\.row.name) + SettingRow.table.map(\.name)

    /// The shells by name, with the script of each.
    static var shells: [(name: String, script: @Sendable () -> String)] {
        [("bash", { bash }), ("zsh", { zsh }), ("fish", { fish })]
    }

    // MARK: bash

    package static var bash: String {
        var lines = [
            note, "_offstage() {", "    local word=${COMP_WORDS[COMP_CWORD]} command= words= index",
            "    for ((index = 1; index < COMP_CWORD; index++)); do",
            "        case ${COMP_WORDS[index]} in",
            "            --socket) ((index++)) ;;", "            -*) ;;",
            "            *) command=${COMP_WORDS[index]} && break ;;", "        esac", "    done",
            "    case $command in",
        ]
        func add(_ command: String, _ words: [String]) {
            lines.append("        \(command)) words='\(words.joined(separator: " "))' ;;")
        }
        add("''", commandNames + words(of: CommandLineProgram.generalOptions))
        add("help", commandNames)
        for command in Subcommand.all {
            var operands: [String] = []
            if case .words(let words) = operand(command) { operands = words }
            add(command.name, operands + words(of: command.allOptions))
        }
        let ofApps = Subcommand.all.filter { if case .app = operand($0) { true } else { false } }
            .map(\.name)
        lines += [
            "    esac", "    case $command in",
            "        \(ofApps.joined(separator: "|")))",
            "            [[ $word == -* ]] || words+=\" $(\(apps))\" ;;", "    esac",
            "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")", "}",
            "complete -o default -F _offstage offstage",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static let commandNames = Subcommand.all.map(\.name) + ["help"]

    private static func words(of options: [OptionRow]) -> [String] {
        options.map { "--" + $0.long }
    }

    // MARK: zsh

    package static var zsh: String {
        var lines = [
            "#compdef offstage", note, "_offstage_apps() {", "    local -a apps",
            "    apps=(${(f)\"$(\(apps))\"})", "    compadd -a apps", "}", "_offstage() {",
            "    local -a commands", "    commands=(",
        ]
        for command in Subcommand.all {
            lines.append("        " + quoted("\(command.name):\(command.summary)"))
        }
        lines += [
            "        'help:say how a command is used'", "    )", "    if (( CURRENT == 2 )); then",
            "        _describe command commands",
            "        _arguments \(arguments(CommandLineProgram.generalOptions))", "        return",
            "    fi", "    shift words", "    (( CURRENT-- ))", "    case $words[1] in",
            "        help) _describe command commands ;;",
        ]
        for command in Subcommand.all {
            let operands =
                switch operand(command) {
                case .app: "'*:app:_offstage_apps'"
                case .words(let words): "'1:name:(\(words.joined(separator: " ")))'"
                case .other: "'*:operand:_default'"
                }
            lines.append(
                "        \(command.name)) _arguments -s \(arguments(command.allOptions)) "
                    + "\(operands) ;;"
            )
        }
        lines += ["    esac", "}", "_offstage \"$@\""]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func arguments(_ options: [OptionRow]) -> String {
        options.map { option in
            let meaning = option.meaning.filter { !"[]:".contains($0) }
            let long = "--" + option.long
            guard let argument = option.argument else { return quoted("\(long)[\(meaning)]") }
            return quoted("\(long)=[\(meaning)]:\(argument):_default")
        }
        .joined(separator: " ")
    }

    // MARK: fish

    package static var fish: String {
        var lines = [note]
        func complete(_ condition: String, _ rest: String) {
            lines.append("complete -c offstage -n '\(condition)' " + rest)
        }
        for option in CommandLineProgram.generalOptions {
            complete("__fish_use_subcommand", fishOption(option))
        }
        for command in Subcommand.all {
            complete(
                "__fish_use_subcommand",
                "-f -a \(command.name) -d \(quoted(command.summary))"
            )
        }
        complete("__fish_use_subcommand", "-f -a help -d 'say how a command is used'")
        complete(
            "__fish_seen_subcommand_from help",
            "-f -a '\(Subcommand.all.map(\.name).joined(separator: " "))'"
        )
        for command in Subcommand.all {
            let condition = "__fish_seen_subcommand_from \(command.name)"
            for option in command.allOptions { complete(condition, fishOption(option)) }
            switch operand(command) {
            case .app: complete(condition, "-f -a '(__offstage_apps)'")
            case .words(let words):
                complete(condition, "-f -a '\(words.joined(separator: " "))'")
            case .other: break
            }
        }
        lines.insert("function __offstage_apps\n    \(apps)\nend", at: 1)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func fishOption(_ option: OptionRow) -> String {
        let short = option.short.map { "-s \($0) " } ?? ""
        let argument = option.argument == nil ? "" : "-r "
        return "\(short)-l \(option.long) \(argument)-d \(quoted(option.meaning))"
    }

    /// For a shell, in single quotes.
    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
