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
