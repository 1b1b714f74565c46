import CSystemd
package import Vocabulary

/// A signal that arrived.
package struct SignalMessage: Equatable, Sendable {
    package let sender: String?
    package let path: String
    package let interface: String
    package let member: String
    package let arguments: [Value]
}

/// Signals keep coming as long as this lives.
@safe
package final class Subscription {
    fileprivate let body: (SignalMessage) -> Void
    fileprivate let path: String?
    fileprivate let interface: String
    fileprivate let member: String
    private var slot: OpaquePointer?

    fileprivate init(
        member: String,
        interface: String,
        path: String?,
        body: @escaping (SignalMessage) -> Void
    ) {
        self.body = body
        self.path = path
        self.interface = interface
        self.member = member
        unsafe slot = nil
    }

    fileprivate func keep(_ slot: OpaquePointer?) { unsafe self.slot = unsafe slot }

    deinit { unsafe sd_bus_slot_unref(slot) }
}

extension Bus {
    /// Calls `body` for each signal of this name from now on, while the answer is kept.
    ///
    /// Without a path signals of all objects arrive, also of other senders with the same
    /// interface: a well-known name in `sender` only helps the message bus to choose. On a message
    /// bus that refuses the match the connection ends. `about`: only those whose first argument is
    /// this text.
    package func onSignal(
        _ member: String,
        of interface: String,
        at path: String? = nil,
        from sender: String? = nil,
        about text: String? = nil,
        _ body: @escaping (SignalMessage) -> Void
    ) throws(BusError) -> Subscription {
        let subscription = Subscription(
            member: member,
            interface: interface,
            path: path,
            body: body
        )
        let fields = [
            ("type", "signal"), ("sender", sender), ("path", path), ("interface", interface),
            ("member", member), ("arg0", text),
        ]
        let rule = fields.compactMap { name, value in value.map { "\(name)='\($0)'" } }
        var slot: OpaquePointer?
        try check(
            unsafe sd_bus_add_match_async(
                handle,
                &slot,
                rule.joined(separator: ","),
                signalArrived,
                nil,
                Unmanaged.passUnretained(subscription).toOpaque()
            ),
            "match",
            "\(interface).\(member)"
        )
        unsafe subscription.keep(slot)
        return subscription
    }

    /// Sends a signal to everyone on the bus, or to the peer.
    package func emit(
        _ member: String,
        of interface: String,
        at path: String,
        _ arguments: [Value] = [],
        signature: String = ""
    ) throws(BusError) {
        try send(newSignal(member, of: interface, at: path, arguments, signature))
    }

    func newSignal(
        _ member: String,
        of interface: String,
        at path: String,
        _ arguments: [Value],
        _ signature: String
    ) throws(BusError) -> Message {
        var made: OpaquePointer?
        let code = unsafe sd_bus_message_new_signal(handle, &made, path, interface, member)
        guard code >= 0, let made = unsafe made else {
            throw BusError(code, "sd_bus_message_new_signal", "\(interface).\(member)")
        }
        let message = unsafe Message(owning: made)
        try message.append(arguments, signature)
        return message
    }

    func send(_ message: borrowing Message) throws(BusError) {
        try check(unsafe sd_bus_send(handle, message.handle, nil), "send", message.subject)
    }
}

private func signalArrived(
    _ message: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let context = unsafe context else { return 0 }
    // Kept for the call: the body may drop its own subscription.
    let subscription = unsafe Unmanaged<Subscription>.fromOpaque(context).takeUnretainedValue()
    let arrived = unsafe Message(retaining: message)
    guard arrived.member == subscription.member, arrived.interface == subscription.interface,
        let path = arrived.path, subscription.path == nil || subscription.path == path,
        // What a stranger sends that we cannot read is nothing to us.
        let arguments = try? arrived.values(limit: Bus.largestContent)
    else { return 0 }
    subscription.body(
        SignalMessage(
            sender: arrived.sender,
            path: path,
            interface: subscription.interface,
            member: subscription.member,
            arguments: arguments
        )
    )
    return 0
}
