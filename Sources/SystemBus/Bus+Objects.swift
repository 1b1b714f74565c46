import CSystemd
internal import Glibc
package import Vocabulary

/// Calls of methods keep coming as long as this lives.
@safe
package final class ExportedObject {
    fileprivate let interface: Interface
    fileprivate let handler: (ObjectCall) -> Void
    /// Its calls answer on it; it may go at any time.
    fileprivate weak var bus: Bus?
    private var slot: OpaquePointer?

    fileprivate init(
        _ interface: Interface,
        on bus: Bus,
        handler: @escaping (ObjectCall) -> Void
    ) {
        self.interface = interface
        self.bus = bus
        self.handler = handler
        unsafe slot = nil
    }

    fileprivate func keep(_ slot: OpaquePointer?) { unsafe self.slot = unsafe slot }

    deinit { unsafe sd_bus_slot_unref(slot) }
}

extension Bus {
    /// Takes calls of an interface of ours from the other end, from now on, while the answer is
    /// kept. Calls with arguments of other types than the interface declares are refused here.
    package func export(
        _ interface: Interface,
        at path: String,
        handler: @escaping (ObjectCall) -> Void
    ) throws(BusError) -> ExportedObject {
        let object = ExportedObject(interface, on: self, handler: handler)
        var slot: OpaquePointer?
        try check(
            unsafe sd_bus_add_object(
                handle,
                &slot,
                path,
                objectCalled,
                Unmanaged.passUnretained(object).toOpaque()
            ),
            "sd_bus_add_object",
            path
        )
        unsafe object.keep(slot)
        return object
    }
}

/// A method of an object of ours that the other end called, to be answered once, now or later.
///
/// One that is dropped without an answer is answered with an error.
@safe
package final class ObjectCall {
    package let method: Interface.Method
    /// One for each of the method's arguments, of the types that it declares.
    package let arguments: [Value]

    /// The connection that calls, as the message bus names it; nil: there is no message bus.
    package var sender: String? { message.sender }

    private let message: Message
    private weak var bus: Bus?
    private var isAnswered = false

    fileprivate init(
        _ message: consuming Message,
        on bus: Bus?,
        method: Interface.Method,
        arguments: [Value]
    ) {
        self.method = method
        self.arguments = arguments
        self.bus = bus
        self.message = message
    }

    deinit {
        if !isAnswered { refuse(ErrorName.failed, "the call was dropped without an answer") }
    }

    /// Answers with one value for each result that the method declares. A peer that is gone gets
    /// nothing.
    package func answer(_ values: [Value] = []) throws(BusError) {
        precondition(!isAnswered, "\(method.name) was answered twice")
        let reply = try Message.answer(to: message, of: method, values)
        isAnswered = true
        // The end of the connection is told by itself.
        try? bus?.send(reply)
    }

    /// Answers with an error of the D-Bus name `name`.
    package func refuse(_ name: String, _ text: String) {
        precondition(!isAnswered, "\(method.name) was answered twice")
        isAnswered = true
        guard let reply = Message.error(to: message, name, text) else { return }
        try? bus?.send(reply)
    }
}

private func objectCalled(
    _ message: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let context = unsafe context else { return 0 }
    // Kept for the call: the handler may drop the object.
    let object = unsafe Unmanaged<ExportedObject>.fromOpaque(context).takeUnretainedValue()
    let arrived = unsafe Message(retaining: message)
    guard arrived.interface == object.interface.name, let member = arrived.member,
        let method = object.interface.method(member)
    else {
        // sd-bus goes on and answers what it knows itself, or that there is no such method.
        return 0
    }
    let arguments: [Value]
    do throws(BusError) {
        guard unsafe Message.text(sd_bus_message_get_signature(message, 1)) == method.inputSignature
        else {
            return unsafe sd_bus_error_set(
                error,
                ErrorName.invalidArguments,
                "\(member) takes '\(method.inputSignature)'"
            )
        }
        arguments = try arrived.values(limit: Bus.largestContent)
    } catch {
        let text = "\(member): \(error.message)"
        if let reply = Message.error(to: arrived, ErrorName.invalidArguments, text) {
            try? object.bus?.send(reply)
        }
        return 1
    }
    object.handler(ObjectCall(arrived, on: object.bus, method: method, arguments: arguments))
    return 1
}
