import BuildIdentity
import Vocabulary

/// Help texts and the manual page, from the table of commands.
package enum GatewayHelp {
    static var overview: String {
        var lines = [
            "Usage: \(GatewayProgram.name) COMMAND [OPTION]... [ARGUMENT]...", "",
            GatewayProgram.introduction, "", "Commands:",
        ]
        for command in GatewayCommand.all {
            lines.append("  " + command.name.padded(to: 12) + command.summary)
        }
        lines += ["", "\"\(GatewayProgram.name) help COMMAND\" says more about one."]
        return lines.joined(separator: "\n")
    }

    static func text(of command: GatewayCommand) -> String {
        var lines = command.forms.map { form in
            "Usage: \(GatewayProgram.name) \(command.name) [OPTION]... \(form)"
        }
        lines += ["", command.summary + ".", "", command.details, "", "Options:"]
        for option in command.options + GatewayOption.common {
            lines.append("  " + option.spelling.padded(to: 26) + option.meaning)
        }
        lines += ["", "Examples:"]
        for (example, meaning) in command.examples {
            lines += ["  \(GatewayProgram.name) \(example)", "      \(meaning)"]
        }
        return lines.joined(separator: "\n")
    }

    static var settings: String {
        let rows = GatewaySettings.table.map { "  " + $0.name.padded(to: 18) + $0.meaning }
        return (["Settings of gateway.conf, one NAME = VALUE a line:", ""] + rows)
            .joined(separator: "\n")
    }

    /// `offstage-gateway(1)`.
    package static var manual: String {
        var lines = [
            ".TH OFFSTAGE\\-GATEWAY 1 \"\" \"Offstage \(Version.number)\" \"User Commands\"",
            ".SH NAME", "offstage\\-gateway \\- push gateway that speaks the APNs provider API",
            ".SH SYNOPSIS", ".B offstage\\-gateway",
            "\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...", ".SH DESCRIPTION",
            escaped(GatewayProgram.introduction), ".SH COMMANDS",
        ]
        for command in GatewayCommand.all {
            for (index, form) in command.forms.enumerated() {
                lines.append(index == 0 ? ".SS" : ".br")
                lines.append(escaped("\(command.name) \(form)"))
            }
            lines += [escaped(command.summary + "."), ".PP", escaped(command.details)]
            for option in command.options {
                lines += [".TP", ".B " + escaped(option.spelling), escaped(option.meaning + ".")]
            }
            for (example, meaning) in command.examples {
                lines += [
                    ".TP", ".B " + escaped("\(GatewayProgram.name) \(example)"), escaped(meaning),
                ]
            }
        }
        lines.append(".SH OPTIONS OF ALL COMMANDS")
        for option in GatewayOption.common {
            lines += [".TP", ".B " + escaped(option.spelling), escaped(option.meaning + ".")]
        }
        lines.append(".SH SETTINGS")
        for row in GatewaySettings.table {
            lines += [".TP", ".B " + escaped(row.name), escaped(row.meaning + ".")]
        }
        lines += [".SH EXIT STATUS", "0 done, 1 failed, 2 wrong usage, 3 not found, 4 not running"]
        lines += [".SH SEE ALSO", ".BR offstaged (1),", ".BR offstage (1)"]
        return lines.joined(separator: "\n")
    }

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
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
