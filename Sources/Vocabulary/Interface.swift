/// A D-Bus interface as a table: what is served, its introspection and its documentation all come
/// from here.
package struct Interface: Equatable, Sendable {
    package struct Argument: Equatable, Sendable {
        package let name: String
        /// One complete D-Bus type, such as `s` or `a{sv}`.
        package let type: String

        package init(_ name: String, _ type: String) { (self.name, self.type) = (name, type) }
    }

    package struct Method: Equatable, Sendable {
        package let name: String
        package let input: [Argument]
        package let output: [Argument]
        package let documentation: String

        package init(
            _ name: String,
            input: [Argument] = [],
            output: [Argument] = [],
            _ documentation: String
        ) {
            self.name = name
            self.input = input
            self.output = output
            self.documentation = documentation
        }
    }

    package struct Signal: Equatable, Sendable {
        package let name: String
        package let arguments: [Argument]
        package let documentation: String

        package init(_ name: String, _ arguments: [Argument] = [], _ documentation: String) {
            self.name = name
            self.arguments = arguments
            self.documentation = documentation
        }
    }

    /// Read-only; what changes is told by `PropertiesChanged`.
    package struct Property: Equatable, Sendable {
        package let name: String
        package let type: String
        /// Never changes while the peer is connected.
        package let isConstant: Bool
        package let documentation: String

        package init(
            _ name: String,
            _ type: String,
            isConstant: Bool = false,
            _ documentation: String
        ) {
            self.name = name
            self.type = type
            self.isConstant = isConstant
            self.documentation = documentation
        }
    }

    package let name: String
    package let documentation: String
    package let methods: [Method]
    package let signals: [Signal]
    package let properties: [Property]

    package init(
        _ name: String,
        documentation: String = "",
        methods: [Method] = [],
        signals: [Signal] = [],
        properties: [Property] = []
    ) {
        self.name = name
        self.documentation = documentation
        self.methods = methods
        self.signals = signals
        self.properties = properties
    }

    package func method(_ name: String) -> Method? { methods.first { $0.name == name } }
    package func signal(_ name: String) -> Signal? { signals.first { $0.name == name } }
    package func property(_ name: String) -> Property? { properties.first { $0.name == name } }
}

extension Interface.Method {
    /// The types of the arguments in one string, as D-Bus writes it.
    package var inputSignature: String { input.map(\.type).joined() }
    package var outputSignature: String { output.map(\.type).joined() }
}

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
