/// Help texts, wrapped to the console.
struct Help {
    let console: Console
    private let width: Int

    init(_ console: Console) {
        self.console = console
        width = min(max(console.width ?? 80, 40), 100)
    }

    /// All commands, a line each.
    var overview: String {
        var lines = [
            style("Usage:") + " \(CommandLineProgram.name) [OPTION]... COMMAND [ARGUMENT]...", "",
        ]
        lines += wrapped(ManualPage.introduction, indent: 0)
        let widest = Subcommand.all.map(\.name.count).max() ?? 0
        for group in Subcommand.groups {
            lines += ["", style(group.title + ":")]
            for command in group.commands {
                let padding = String(repeating: " ", count: widest - command.name.count + 2)
                lines.append("  " + command.name + padding + command.summary)
            }
        }
        lines += ["", style("Options:")]
        lines += optionLines(CommandLineProgram.generalOptions)
        lines += [
            "", "\"\(CommandLineProgram.name) help COMMAND\" says more about one, with examples.",
        ]
        return lines.joined(separator: "\n")
    }

    func text(of command: Subcommand) -> String {
        var lines: [String] = []
        for (index, form) in command.forms.enumerated() {
            let words = [CommandLineProgram.name, command.name, "[OPTION]...", form]
            lines.append(
                (index == 0 ? style("Usage:") : "      ") + " "
                    + words.filter { !$0.isEmpty }.joined(separator: " ")
            )
        }
        lines += ["", style(command.summary.capitalizedFirst + ".")]
        for paragraph in command.details { lines += [""] + wrapped(paragraph, indent: 0) }
        lines += ["", style("Options:")] + optionLines(command.allOptions)
        lines += ["", style("Examples:")]
        for example in command.examples {
            lines.append("  \(CommandLineProgram.name) " + example.command)
            lines += wrapped(example.meaning, indent: 6)
        }
        return lines.joined(separator: "\n")
    }

    private func optionLines(_ options: [OptionRow]) -> [String] {
        let column = 30
        return options.flatMap { option -> [String] in
            var lines = wrapped(option.meaning, indent: column)
            let spelling = "  " + option.spelling
            if spelling.count < column - 1, let first = lines.first {
                let padding = String(repeating: " ", count: column - spelling.count)
                lines[0] = spelling + padding + first.dropFirst(column)
            } else {
                lines.insert(spelling, at: 0)
            }
            return lines
        }
    }

    private func style(_ text: String) -> String { console.styled(text, .bold) }

    private func wrapped(_ text: String, indent: Int) -> [String] {
        text.wrapped(to: width - indent).map { String(repeating: " ", count: indent) + $0 }
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// Lines of at most `width` characters, broken at spaces.
    func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in split(separator: " ") {
            if !line.isEmpty, line.columns + 1 + String(word).columns > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty && !lines.isEmpty ? lines : lines + [line]
    }
}
