package import Vocabulary

/// A method of one of our interfaces as a type: its arguments are the fields. Daemon, library and
/// command line read and write calls through it, and the documents list what it has.
package protocol Call: Equatable, Sendable {
    /// Those of the interface.
    associatedtype Calls: CallSet
    associatedtype Reply: CallReply

    init()
    /// Names each field once, the arguments first, then the options.
    mutating func pass(_ fields: inout Fields) throws(OptionError)
    /// Bounds that hold for several fields together, or for one beyond its type.
    func check() throws(OptionError)
    /// What comes of this call if it is made twice.
    var repetition: Repetition { get }
    /// Whether the answer may take as long as it takes.
    static var takesLong: Bool { get }
}

extension Call {
    package init(_ fill: (inout Self) -> Void) {
        self.init()
        fill(&self)
    }

    package func pass(_ fields: inout Fields) throws(OptionError) {}
    package func check() throws(OptionError) {}
    package var repetition: Repetition { Self.row.repetition }
    package var callers: Callers { Self.row.callers }
    package static var takesLong: Bool { false }

    /// A method is called as its type is.
    package static var name: String { "\(Self.self)" }

    static var row: CallRow<Calls> {
        guard let row = Calls.row(name) else { preconditionFailure("\(name) is in no table") }
        return row
    }

    package var encoded: EncodedCall {
        var (copy, fields) = (self, Fields.writing())
        // Only what is read can be wrong.
        try? copy.pass(&fields)
        return EncodedCall(
            interface: Calls.name,
            method: Self.row.method.name,
            signature: Self.row.method.inputSignature,
            arguments: fields.written.map(\.withoutZeroBytes),
            takesLong: Self.takesLong
        )
    }

    /// `strictly`: options that are not known are refused, by name.
    init(_ arguments: [Value], strictly: Bool) throws(OptionError) {
        self.init()
        var fields = Fields.reading(arguments)
        try pass(&fields)
        if strictly { try fields.finish() }
        try check()
    }
}

/// A call as D-Bus carries it.
package struct EncodedCall: Equatable, Sendable {
    package let interface: String
    package let method: String
    package let signature: String
    package let arguments: [Value]
    package let takesLong: Bool
}

/// Who may call a method.
package enum Callers: Sendable {
    /// Programs outside every app.
    case user
    /// All; an app's processes are told nothing of other apps.
    case anyone
    /// These, and an app's processes for the app itself.
    case everyone
    /// An app's processes and its extensions.
    case app
    /// The main process of a launch.
    case main
    /// The same, on the connection on which it said hello.
    case connected
    /// The daemon, of an app.
    case daemon

    var documentation: String {
        switch self {
        case .user: "Callers: programs outside every app."
        case .anyone: "Callers: all."
        case .everyone: "Callers: all, but a process of an app only for that app."
        case .app: "Callers: each process of an app, and its extensions."
        case .main: "Callers: the main process of an app."
        case .connected: "Callers: the main process of an app, after Hello."
        case .daemon: ""
        }
    }
}

/// What comes of a call that is made once more because the first had no answer: the daemon may have
/// heard that, or not.
package enum Repetition: Sendable {
    /// The same as of one call: it only reads, what it brings about is the same however often it is
    /// asked for, or a token says that it is the same.
    case same
    /// The same; but who has done it finds nothing more to do it to, and says so.
    case nothingLeft
    /// It might be done twice.
    case twice
}

/// All calls of one interface: a case for each type.
package protocol CallSet: Equatable, Sendable {
    static var name: String { get }
    static var table: CallTable<Self> { get }
    /// Whether an option that is not known is refused. Else a later version may add some.
    static var isStrict: Bool { get }
}

/// The methods of an interface, in the order of its documents, each found by its name.
package struct CallTable<Calls: CallSet>: Sendable {
    package let rows: [CallRow<Calls>]
    private let indices: [String: Int]

    init(_ rows: [CallRow<Calls>]) {
        self.rows = rows
        let numbered = rows.enumerated().map { ($0.element.method.name, $0.offset) }
        indices = Dictionary(uniqueKeysWithValues: numbered)
    }

    package subscript(method: String) -> CallRow<Calls>? { indices[method].map { rows[$0] } }
}

/// A method in the table of its interface.
package struct CallRow<Calls: CallSet>: Sendable {
    /// What is served, and what the documents show.
    package let method: Interface.Method
    package let callers: Callers
    let repetition: Repetition
    private let read: @Sendable ([Value]) throws(OptionError) -> Calls

    init<C: Call>(
        _ wrap: @escaping @Sendable (C) -> Calls,
        _ callers: Callers,
        repeated repetition: Repetition = .same,
        _ summary: String
    ) where C.Calls == Calls {
        var (call, fields) = (C(), Fields.listing())
        // Only what is read can be wrong.
        try? call.pass(&fields)
        let parts = [summary, fields.documentation, callers.documentation]
        method = Interface.Method(
            C.name,
            input: fields.arguments,
            output: C.Reply.output,
            parts.filter { !$0.isEmpty }.joined(separator: " ")
        )
        (self.callers, self.repetition) = (callers, repetition)
        read = { (arguments) throws(OptionError) in
            wrap(try C(arguments, strictly: Calls.isStrict))
        }
    }

    /// A call with the arguments that the method declares.
    package func call(_ arguments: [Value]) throws(OptionError) -> Calls { try read(arguments) }
}

extension CallSet {
    package static var isStrict: Bool { true }
    package static var methods: [Interface.Method] { table.rows.map(\.method) }

    /// Nil: this version has no method of that name.
    package static func row(_ method: String) -> CallRow<Self>? { table[method] }
}
