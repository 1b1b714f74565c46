extension ProgramTable {
    /// The manual page in section 1.
    package var manualPage: String {
        var page = Page(program: name)
        page.raw(
            ".TH \(Page.escaped(name.uppercased())) 1 \"\" \"Offstage \(version)\" "
                + "\"User Commands\""
        )
        page.section("NAME")
        page.raw(Page.escaped(name) + " \\- " + Page.escaped(title))
        page.section("SYNOPSIS")
        page.raw(".B " + Page.escaped(name))
        page.raw("[\\fIOPTION\\fR]... \\fICOMMAND\\fR [\\fIARGUMENT\\fR]...")
        page.section("DESCRIPTION")
        page.text(introduction)
        page.section("OPTIONS")
        for option in options { page.option(option) }
        for group in groups {
            page.section(group.title.uppercased())
            for command in group.commands { page.command(command) }
        }
        for section in manual.sections {
            page.section(section.title)
            page.text(section.introduction)
            page.items(section.rows)
        }
        page.section("EXIT STATUS")
        page.items(exitStatuses)
        page.section("ENVIRONMENT")
        page.items(manual.environment)
        page.section("SEE ALSO")
        page.raw(manual.others.map { ".BR \(Page.escaped($0)) (1)" }.joined(separator: ",\n"))
        return page.lines.joined(separator: "\n")
    }

    private var exitStatuses: [Manual.Row] {
        [
            ("0", "Success."),
            ("1", "Failure; the reason is on standard error."),
            ("2", "The command line is invalid."),
            ("3", "No such \(manual.things)."),
            ("4", "The \(manual.service) is not running."),
        ]
    }
}

/// Lines of a manual page in the macros of man(7).
private struct Page {
    let program: String
    var lines: [String] = []

    init(program: String) { self.program = program }

    mutating func raw(_ line: String) { lines.append(line) }
    mutating func section(_ title: String) { lines.append(".SH \"\(title)\"") }
    mutating func text(_ text: String) { lines.append(Self.escaped(text)) }

    mutating func items(_ rows: [Manual.Row]) {
        for row in rows {
            lines += [".TP", ".B " + Self.escaped(row.name), Self.escaped(row.meaning)]
        }
    }

    mutating func option(_ option: OptionRow) {
        var spelling = "\\fB\\-\\-" + Self.escaped(option.long) + "\\fR"
        if let argument = option.argument { spelling += "=\\fI" + Self.escaped(argument) + "\\fR" }
        if let short = option.short { spelling = "\\fB\\-\(short)\\fR, " + spelling }
        lines += [".TP", spelling, Self.escaped(option.meaning.capitalizedFirst + ".")]
    }

    mutating func command<Call>(_ command: Subcommand<Call>) {
        for (index, form) in command.forms.enumerated() {
            lines.append(index == 0 ? ".SS" : ".br")
            let synopsis = "\\fB" + Self.escaped(command.name) + "\\fR " + Self.escaped(form)
            // `.SS` takes its title from the next line.
            lines.append(synopsis.trimmedRight)
        }
        lines.append(Self.escaped(command.summary.capitalizedFirst + "."))
        for paragraph in command.details { lines += [".PP", Self.escaped(paragraph)] }
        for option in command.options + (command.printsData ? [.json] : []) { self.option(option) }
        lines += [".PP", "For example:"]
        for example in command.examples {
            lines += [".TP", ".B " + Self.escaped("\(program) \(example.command)")]
            lines.append(Self.escaped(example.meaning))
        }
    }

    /// No character of `text` means anything to the formatter.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'", ".": result += result.isEmpty ? "\\&\(character)" : "\(character)"
            case "\"": result += "\\(dq"
            default: result.append(character)
            }
        }
        return result
    }
}
