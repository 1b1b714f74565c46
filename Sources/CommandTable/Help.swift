import Vocabulary

/// Help texts, wrapped to the console.
struct Help<Call: SubcommandCall> {
    private let program: ProgramTable<Call>
    private let console: Console
    private let width: Int

    init(_ program: ProgramTable<Call>, _ console: Console) {
        (self.program, self.console) = (program, console)
        width = min(max(console.width ?? 80, 40), 100)
    }

    /// All commands, a line each.
    var overview: String {
        var lines = [style("Usage:") + " \(program.name) [OPTION]... COMMAND [ARGUMENT]...", ""]
        lines += wrapped(program.introduction, indent: 0)
        let widest = program.commands.map(\.name.count).max() ?? 0
        for group in program.groups {
            lines += ["", style(group.title + ":")]
            for command in group.commands {
                let padding = String(repeating: " ", count: widest - command.name.count + 2)
                lines.append("  " + command.name + padding + command.summary)
            }
        }
        lines += ["", style("Options:")] + optionLines(program.options)
        lines += ["", "\"\(program.name) help COMMAND\" says more about one, with examples."]
        return lines.joined(separator: "\n")
    }

    func text(of command: Subcommand<Call>) -> String {
        var lines: [String] = []
        for (index, form) in command.forms.enumerated() {
            let words = [program.name, command.name, "[OPTION]...", form]
            lines.append(
                (index == 0 ? style("Usage:") : "      ") + " "
                    + words.filter { !$0.isEmpty }.joined(separator: " ")
            )
        }
        lines += ["", style(command.summary.capitalizedFirst + ".")]
        for paragraph in command.details { lines += [""] + wrapped(paragraph, indent: 0) }
        lines += ["", style("Options:")] + optionLines(program.options(of: command))
        lines += ["", style("Examples:")]
        for example in command.examples {
            lines.append("  \(program.name) " + example.command)
            lines += wrapped(example.meaning, indent: 6)
        }
        return lines.joined(separator: "\n")
    }

    func text(of section: Manual.Section) -> String {
        let rows = section.rows.flatMap { rowLines("  " + $0.name, $0.meaning) }
        return (wrapped(section.introduction, indent: 0) + [""] + rows).joined(separator: "\n")
    }

    private func optionLines(_ options: [OptionRow]) -> [String] {
        options.flatMap { rowLines("  " + $0.spelling, $0.meaning) }
    }

    /// What something means beside it, or below it when it is long.
    private func rowLines(_ name: String, _ meaning: String) -> [String] {
        let column = 30
        var lines = wrapped(meaning, indent: column)
        if name.count < column - 1, let first = lines.first {
            let padding = String(repeating: " ", count: column - name.count)
            lines[0] = name + padding + first.dropFirst(column)
        } else {
            lines.insert(name, at: 0)
        }
        return lines
    }

    private func style(_ text: String) -> String { console.styled(text, .bold) }

    private func wrapped(_ text: String, indent: Int) -> [String] {
        text.wrapped(to: width - indent).map { String(repeating: " ", count: indent) + $0 }
    }
}

extension String {
    package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// Lines of at most `width` characters, broken at spaces.
    package func wrapped(to width: Int) -> [String] {
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
