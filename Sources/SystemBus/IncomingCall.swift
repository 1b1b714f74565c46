import CSystemd
package import Vocabulary

/// A method that a peer called, to be answered once, now or later.
///
/// One that is dropped without an answer is answered with an error.
@safe
package final class IncomingCall {
    package let connection: Connection
    package let path: String
    package let interface: String
    package let method: Interface.Method
    /// One for each of the method's arguments, of the types that it declares.
    package let arguments: [Value]

    private let message: Message
    private var isAnswered = false
    /// Who the answer says it comes from, if not the connection's own name.
    var sender: String?

    init(
        _ message: consuming Message,
        on connection: Connection,
        path: String,
        interface: String,
        method: Interface.Method,
        arguments: [Value]
    ) {
        self.connection = connection
        self.path = path
        self.interface = interface
        self.method = method
        self.arguments = arguments
        self.message = message
    }

    deinit {
        if !isAnswered { refuse(ErrorName.failed, "the call was dropped without an answer") }
    }

    /// Answers with one value for each result that the method declares. A peer that is gone gets
    /// nothing; a value that D-Bus cannot carry turns the answer into an error, and so does more
    /// than our own clients take.
    package func answer(_ values: [Value] = []) {
        precondition(!isAnswered, "\(interface).\(method.name) was answered twice")
        let size = values.reduce(0) { $0 + $1.approximateSize }
        guard size <= Bus.largestContent else {
            let text = "the answer to \(method.name) is too large, about \(size) bytes"
            return refuse(ErrorName.limitsExceeded, text)
        }
        do throws(BusError) {
            let reply = try Message.answer(to: message, of: method, values)
            isAnswered = true
            send(reply, size: size)
        } catch {
            refuse(ErrorName.failed, error.description)
        }
    }

    /// Answers with an error of the D-Bus name `name`.
    package func refuse(_ name: String, _ text: String) {
        precondition(!isAnswered, "\(interface).\(method.name) was answered twice")
        isAnswered = true
        guard let reply = Message.error(to: message, name, text) else { return }
        send(reply, size: text.utf8.count)
    }

    private func send(_ reply: borrowing Message, size: Int) {
        if let sender { unsafe sd_bus_message_set_sender(reply.handle, sender) }
        connection.send(reply, size: size)
    }
}

extension Message {
    /// The answer to `call`: one value for each result that the method declares.
    static func answer(
        to call: borrowing Message,
        of method: Interface.Method,
        _ values: [Value]
    ) throws(BusError) -> Message {
        var made: OpaquePointer?
        let code = unsafe sd_bus_message_new_method_return(call.handle, &made)
        guard code >= 0, let made = unsafe made else {
            throw BusError(code, "sd_bus_message_new_method_return", method.name)
        }
        let reply = unsafe Message(owning: made)
        try reply.append(values, method.outputSignature)
        return reply
    }

    /// The answer to `call` that is an error; nil when there is no memory for it.
    static func error(
        to call: borrowing Message,
        _ name: String,
        _ text: String
    ) -> Message? {
        var error = unsafe sd_bus_error()
        defer { unsafe sd_bus_error_free(&error) }
        unsafe sd_bus_error_set(&error, name, text)
        var made: OpaquePointer?
        let code = unsafe sd_bus_message_new_method_error(call.handle, &made, &error)
        guard code >= 0, let made = unsafe made else { return nil }
        return unsafe Message(owning: made)
    }
}

/// Errors that every D-Bus library knows.
package enum ErrorName {
    package static let failed = "org.freedesktop.DBus.Error.Failed"
    package static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
    package static let limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
    package static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    package static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
    package static let nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
}

extension Value {
    /// Bytes that the value takes in a message, about.
    var approximateSize: Int {
        switch self {
        case .null, .bool, .integer, .double: 12
        case .string(let text): 12 + text.utf8.count
        case .bytes(let bytes): 12 + bytes.count
        case .list(let list): list.reduce(12) { $0 + $1.approximateSize }
        case .map(let map):
            map.entries.reduce(12) { $0 + 12 + $1.key.utf8.count + $1.value.approximateSize }
        }
    }
}
