import CSystemd
internal import Glibc
package import Vocabulary

/// A method of an object somewhere.
package struct Target: Equatable, Sendable {
    /// A name on the bus; nil for the peer itself.
    package let destination: String?
    package let path: String
    package let interface: String
    package let member: String

    package init(_ destination: String?, _ path: String, _ interface: String, _ member: String) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
    }

    /// A method of the message bus itself.
    package static func messageBus(_ member: String) -> Target {
        Target(messageBusName, messageBusPath, messageBusName, member)
    }
    package static let messageBusName = "org.freedesktop.DBus"
    package static let messageBusPath = "/org/freedesktop/DBus"

    var subject: String { "\(interface).\(member)" }
}

extension Bus {
    /// Calls a method and waits for what it answers: one value for each argument.
    ///
    /// Throws `refused` with the name of the peer's error, `timedOut`, `disconnected`.
    package func call(
        _ target: Target,
        _ arguments: [Value] = [],
        signature: String = "",
        timeout: Interval = defaultTimeout
    ) throws(BusError) -> [Value] {
        let message = try newCall(target, arguments, signature)
        var error = unsafe sd_bus_error()
        defer { unsafe sd_bus_error_free(&error) }
        var reply: OpaquePointer?
        let code = unsafe sd_bus_call(
            handle,
            message.handle,
            timeout.microseconds,
            &error,
            &reply
        )
        guard code >= 0, let reply = unsafe reply else {
            throw unsafe BusError(code, error, target.subject)
        }
        return try unsafe Message(owning: reply).values(limit: Self.largestContent)
    }

    /// Calls a method; `completion` gets what it answers, or why there is no answer, exactly once
    /// unless this connection is dropped before. Without a `timeout` the answer may take as long as
    /// the connection holds.
    package func call(
        _ target: Target,
        _ arguments: [Value] = [],
        signature: String = "",
        timeout: Interval? = defaultTimeout,
        completion: @escaping (Result<[Value], BusError>) -> Void
    ) throws(BusError) {
        try send(target, arguments, signature, timeout) { reply in
            do throws(BusError) {
                completion(.success(try reply.values(limit: Self.largestContent)))
            } catch {
                completion(.failure(error))
            }
        } failed: {
            completion(.failure($0))
        }
    }

    /// Calls a method that answers with a descriptor alone, which is the caller's to close.
    package func descriptor(
        from target: Target,
        _ arguments: [Value] = [],
        signature: String = "",
        completion: @escaping (Result<Int32, BusError>) -> Void
    ) throws(BusError) {
        try send(target, arguments, signature, Self.defaultTimeout) { reply in
            do throws(BusError) {
                completion(.success(try reply.descriptor()))
            } catch {
                completion(.failure(error))
            }
        } failed: {
            completion(.failure($0))
        }
    }

    private func send(
        _ target: Target,
        _ arguments: [Value],
        _ signature: String,
        _ timeout: Interval?,
        arrived: @escaping (borrowing Message) -> Void,
        failed: @escaping (BusError) -> Void
    ) throws(BusError) {
        let message = try newCall(target, arguments, signature)
        let waiting = unsafe Unmanaged.passRetained(
            AwaitedReply(subject: target.subject, arrived: arrived, failed: failed)
        )
        var slot: OpaquePointer?
        let code = unsafe sd_bus_call_async(
            handle,
            &slot,
            message.handle,
            replyArrived,
            waiting.toOpaque(),
            timeout?.microseconds ?? UInt64.max
        )
        guard code >= 0 else {
            unsafe waiting.release()
            throw BusError(code, "call", target.subject)
        }
        unsafe sd_bus_slot_set_destroy_callback(slot) { context in
            if let context = unsafe context {
                unsafe Unmanaged<AwaitedReply>.fromOpaque(context).release()
            }
        }
        // The connection keeps the slot until the answer is there.
        unsafe sd_bus_slot_set_floating(slot, 1)
        unsafe sd_bus_slot_unref(slot)
    }

    /// The value of a property, read by a call that waits.
    package func property(
        _ name: String,
        of target: (destination: String?, path: String, interface: String),
        timeout: Interval = defaultTimeout
    ) throws(BusError) -> Value {
        let values = try call(
            Target(target.destination, target.path, Self.properties, "Get"),
            [.string(target.interface), .string(name)],
            signature: "ss",
            timeout: timeout
        )
        return values.first ?? .null
    }

    /// The values of all properties of an interface, by name.
    package func properties(
        of target: (destination: String?, path: String, interface: String),
        completion: @escaping (Result<ValueMap, BusError>) -> Void
    ) throws(BusError) {
        try call(
            Target(target.destination, target.path, Self.properties, "GetAll"),
            [.string(target.interface)],
            signature: "s"
        ) { answer in
            completion(
                answer.flatMap { values in
                    if let map = values.first?.mapValue { return .success(map) }
                    return .failure(
                        BusError(.unsuitable, "decode", target.interface, "no properties")
                    )
                }
            )
        }
    }

    /// Calls a method of which no answer is wanted.
    package func notify(
        _ target: Target,
        _ arguments: [Value] = [],
        signature: String = ""
    ) throws(BusError) {
        let message = try newCall(target, arguments, signature)
        try check(
            unsafe sd_bus_message_set_expect_reply(message.handle, 0),
            "sd_bus_message_set_expect_reply",
            target.subject
        )
        try send(message)
    }

    static let properties = "org.freedesktop.DBus.Properties"

    func newCall(
        _ target: Target,
        _ arguments: [Value],
        _ signature: String
    ) throws(BusError) -> Message {
        var made: OpaquePointer?
        let code = unsafe sd_bus_message_new_method_call(
            handle,
            &made,
            target.destination,
            target.path,
            target.interface,
            target.member
        )
        guard code >= 0, let made = unsafe made else {
            throw BusError(code, "sd_bus_message_new_method_call", target.subject)
        }
        let message = unsafe Message(owning: made)
        try message.append(arguments, signature)
        return message
    }
}

/// Who waits for an answer; lives as long as its slot.
private final class AwaitedReply {
    let subject: String
    let arrived: (borrowing Message) -> Void
    let failed: (BusError) -> Void

    init(
        subject: String,
        arrived: @escaping (borrowing Message) -> Void,
        failed: @escaping (BusError) -> Void
    ) {
        self.subject = subject
        (self.arrived, self.failed) = (arrived, failed)
    }
}

private func replyArrived(
    _ message: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let context = unsafe context else { return 0 }
    let waiting = unsafe Unmanaged<AwaitedReply>.fromOpaque(context).takeUnretainedValue()
    let reply = unsafe Message(retaining: message)
    if let error = unsafe sd_bus_message_get_error(message) {
        let code = unsafe -sd_bus_message_get_errno(message)
        var failure = unsafe BusError(code, error.pointee, waiting.subject)
        // sd-bus answers for a peer that is gone as it does for one that is late.
        if failure.reason == .timedOut, unsafe sd_bus_is_open(sd_bus_message_get_bus(message)) <= 0
        {
            failure = BusError(-ECONNRESET, "call", waiting.subject)
        }
        waiting.failed(failure)
        return 1
    }
    waiting.arrived(reply)
    return 1
}

extension BusError {
    /// From an error that came as a message, or that sd-bus made into one.
    init(_ code: Int32, _ error: sd_bus_error, _ subject: String) {
        let own = BusError(code, "call", subject)
        switch own.reason {
        case .timedOut, .disconnected: self = own
        case .notListening, .refused, .unsuitable, .tooLarge, .system:
            guard let name = unsafe Message.text(error.name) else {
                self = own
                return
            }
            let message = unsafe Message.text(error.message)
            self.init(.refused(name), "call", subject, message ?? name)
        }
    }
}

extension Interval {
    /// As sd-bus takes a timeout: at least 1, since 0 means its default.
    var microseconds: UInt64 { UInt64(max(1, nanoseconds / 1000)) }
}
