import AppProtocol
import BuildIdentity
import DeviceCore
import Vocabulary

/// The manual page `offstage(1)`, made from the same table as the help texts.
package enum ManualPage {
    static let introduction =
        "Look at, explain and steer the background work of this session's apps, which the daemon "
        + "offstaged starts when it is worth it."

    package static var text: String {
        var page = Page()
        page.raw(".TH OFFSTAGE 1 \"\" \"Offstage \(Version.number)\" \"User Commands\"")
        page.section("NAME")
        page.text("offstage \\- background work of apps: look, explain, steer", isEscaped: true)
        page.section("SYNOPSIS")
        page.raw(".B offstage")
        page.raw("[\\fIOPTION\\fR]... \\fICOMMAND\\fR [\\fIARGUMENT\\fR]...")
        page.section("DESCRIPTION")
        page.text(introduction)
        page.section("OPTIONS")
        for option in CommandLineProgram.generalOptions { page.option(option) }
        for group in Subcommand.groups {
            page.section(group.title.uppercased())
            for command in group.commands { page.command(command) }
        }
        page.section("MANIFEST")
        page.text(
            "An app is a desktop entry with a group [X-Offstage], in applications/ of "
                + "$XDG_DATA_HOME or of a directory of $XDG_DATA_DIRS. A time "
                + "has a unit: 90s, 15m, 2h. Its keys:"
        )
        for key in ManifestKey.all {
            page.item("\(key.name)=", plain(key.documentation) + " (\(key.type))")
        }
        page.section("SETTINGS")
        page.text(
            "In offstage.conf, one NAME=VALUE a line. A span of time has a unit; only 0 needs "
                + "none. Below a line [app ID] stands what holds for the app of that ID alone: "
                + "background-refresh=on or off."
        )
        for row in SettingRow.table { page.item(row.name, row.documentation) }
        page.section("EXIT STATUS")
        for (status, meaning) in exitStatuses { page.item("\(status)", meaning) }
        page.section("ENVIRONMENT")
        for (name, meaning) in environment { page.item(name, meaning) }
        page.section("SEE ALSO")
        page.raw(".BR offstaged (1)")
        return page.lines.joined(separator: "\n")
    }

    /// Without the marks of Markdown.
    private static func plain(_ text: String) -> String { text.filter { $0 != "`" } }

    private static let exitStatuses = [
        (0, "It did what it was asked."),
        (1, "It could not; the reason is on standard error."),
        (2, "The command line is wrong."),
        (3, "There is no such app, task or file."),
        (4, "The daemon is not running."),
    ]

    private static let environment = [
        ("OFFSTAGE_SOCKET", "The daemon's socket, if --socket does not say."),
        ("XDG_RUNTIME_DIR", "Where the socket is looked for otherwise: offstage/socket in it."),
        ("NO_COLOR", "If set and not empty, nothing is coloured, terminal or not."),
    ]
}

/// Lines of a manual page in the macros of man(7).
private struct Page {
    var lines: [String] = []

    mutating func raw(_ line: String) { lines.append(line) }
    mutating func section(_ title: String) { lines.append(".SH \"\(title)\"") }

    mutating func text(_ text: String, isEscaped: Bool = false) {
        lines.append(isEscaped ? text : Self.escaped(text))
    }

    mutating func item(_ term: String, _ meaning: String) {
        lines += [".TP", ".B " + Self.escaped(term), Self.escaped(meaning)]
    }

    mutating func option(_ option: OptionRow) {
        var spelling = "\\fB\\-\\-" + Self.escaped(option.long) + "\\fR"
        if let argument = option.argument { spelling += "=\\fI" + Self.escaped(argument) + "\\fR" }
        if let short = option.short { spelling = "\\fB\\-\(short)\\fR, " + spelling }
        lines += [".TP", spelling, Self.escaped(option.meaning.capitalizedFirst + ".")]
    }

    mutating func command(_ command: Subcommand) {
        for (index, form) in command.forms.enumerated() {
            lines.append(index == 0 ? ".SS" : ".br")
            let synopsis = "\\fB" + Self.escaped(command.name) + "\\fR " + Self.escaped(form)
            // `.SS` takes its title from the next line.
            lines.append(synopsis.trimmingSpaces)
        }
        lines.append(Self.escaped(command.summary.capitalizedFirst + "."))
        for paragraph in command.details { lines += [".PP", Self.escaped(paragraph)] }
        for option in command.options + (command.printsData ? [.json] : []) { self.option(option) }
        lines += [".PP", "For example:"]
        for example in command.examples {
            lines += [".TP", ".B offstage " + Self.escaped(example.command)]
            lines.append(Self.escaped(example.meaning))
        }
    }

    /// No character of `text` means anything to the formatter.
    private static func escaped(_ text: String) -> String {
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

extension String {
    fileprivate var trimmingSpaces: String {
        var rest = self[...]
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
