package import Vocabulary

extension Interface {
    /// The interface as an introspection document, with the documentation as comments.
    package var xml: String {
        var lines = [
            #"<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN""#,
            #" "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">"#,
            "<node>",
        ]
        lines += Self.comment(documentation, indent: 2)
        lines.append("  <interface name=\"\(name)\">")
        for method in methods { lines += Self.lines(of: method) }
        for signal in signals { lines += Self.lines(of: signal) }
        for property in properties { lines += Self.lines(of: property) }
        lines += ["  </interface>", "</node>", ""]
        return lines.joined(separator: "\n")
    }

    private static func lines(of method: Method) -> [String] {
        comment(method.documentation, indent: 4) + ["    <method name=\"\(method.name)\">"]
            + method.input.map { line(of: $0, direction: "in") }
            + method.output.map { line(of: $0, direction: "out") } + ["    </method>"]
    }

    private static func lines(of signal: Signal) -> [String] {
        comment(signal.documentation, indent: 4) + ["    <signal name=\"\(signal.name)\">"]
            + signal.arguments.map { line(of: $0, direction: nil) } + ["    </signal>"]
    }

    private static func lines(of property: Property) -> [String] {
        let emits = property.isConstant ? "const" : "true"
        return comment(property.documentation, indent: 4) + [
            "    <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"read\">",
            "      <annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\""
                + " value=\"\(emits)\"/>",
            "    </property>",
        ]
    }

    private static func line(of argument: Argument, direction: String?) -> String {
        let direction = direction.map { " direction=\"\($0)\"" } ?? ""
        return "      <arg type=\"\(argument.type)\" name=\"\(argument.name)\"\(direction)/>"
    }

    private static func comment(_ text: String, indent: Int) -> [String] {
        guard !text.isEmpty else { return [] }
        let space = String(repeating: " ", count: indent)
        // Two hyphens would end a comment.
        var body = ""
        for character in text {
            if character == "-", body.last == "-" { body.append(" ") }
            body.append(character)
        }
        body = body.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "\(space)     \($0)" }.joined(separator: "\n")
        return ["\(space)<!-- \(body.drop { $0 == " " }) -->"]
    }
}
