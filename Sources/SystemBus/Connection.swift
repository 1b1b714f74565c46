import CSystemd
internal import EventLoop
internal import Glibc
package import Linux
package import Vocabulary

/// One peer of a `Server`.
///
/// Confined to the loop's thread. The server lets go of it in a turn of the loop after it ended.
@safe
package final class Connection {
    enum State: Equatable {
        /// Connected, and nothing is known of it but its process.
        case authenticating
        case open
        case closed
    }

    /// Counts the connections of its server.
    package let number: UInt64
    /// Who connected; the process may have ended since.
    package let peer: Peer
    let bus: Bus

    unowned let server: Server
    private(set) var state = State.authenticating
    /// Whether it took us for a message bus.
    var saidHello = false
    /// Which signals it asked for.
    var matches: [SignalMatch] = []
    /// When it must have authenticated.
    let deadline: BootTime
    /// Of the socket, which is the bus's.
    private(set) var descriptor: Int32 = -1
    var source: SingleSource?
    var handshake: Handshake
    var position = Position.between
    /// Whether sd-bus has handed on a message since this was set to false.
    var hasDelivered = false
    private var subscriptions: [Subscription] = []
    private var interfaces: [OfferedInterface] = []
    /// About the bytes sent since the peer last had taken everything.
    private(set) var queuedBytes = 0
    /// What we sent ourselves, sd-bus's own answers not among it.
    private(set) var sentMessages = 0
    /// Answers to calls of ours that are still to come.
    private var awaited = 0

    /// The name of every peer on its own connection, and ours there.
    static let peerName = ":1.1"
    static let ownName = ":1.0"

    init(
        _ descriptor: consuming FileDescriptor,
        peer: consuming Peer,
        number: UInt64,
        server: Server,
        deadline: BootTime
    ) throws(BusError) {
        var made: OpaquePointer?
        let code = unsafe sd_bus_new(&made)
        guard code >= 0, let handle = unsafe made else {
            throw BusError(code, "sd_bus_new", "connection \(number)")
        }
        bus = unsafe Bus(owning: handle)
        self.number = number
        handshake = Handshake(user: peer.user, id: server.idText)
        self.peer = peer
        self.server = server
        self.deadline = deadline
        try check(unsafe sd_bus_set_server(handle, 1, server.id), "sd_bus_set_server")
        try check(unsafe sd_bus_set_sender(handle, Self.ownName), "sd_bus_set_sender")
        // No call takes descriptors: a message with some ends the connection.
        try check(unsafe sd_bus_negotiate_fds(handle, 0), "sd_bus_negotiate_fds")
        try addHandlers()
        try start(with: descriptor)
    }

    /// Brings sd-bus over its handshake, which it cannot do without, with ourselves: for that long
    /// one of a pair of sockets has the place of the peer's. The peer's handshake is ours.
    private func start(with socket: consuming FileDescriptor) throws(BusError) {
        let subject = "connection \(number)"
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw BusError(-errno, "socketpair", subject)
        }
        let near = FileDescriptor(owning: ends[0])
        let far = FileDescriptor(owning: ends[1])
        let copy = fcntl(socket.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw BusError(-errno, "fcntl", subject) }
        let peer = FileDescriptor(owning: copy)
        try check(csystemd_replace(socket.number, near.number), "dup3", subject)
        descriptor = socket.number
        try check(unsafe sd_bus_set_fd(bus.handle, descriptor, descriptor), "sd_bus_set_fd")
        _ = socket.release()
        try check(unsafe sd_bus_start(bus.handle), "sd_bus_start", subject)
        try failing("handshake") { () throws(LinuxError) in
            try far.writeAll("\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n")
        }
        for _ in 0..<16 where !bus.isReady {
            try check(unsafe sd_bus_process(bus.handle, nil), "sd_bus_process")
        }
        guard bus.isReady else { throw BusError(-EPROTO, "handshake", subject) }
        try check(csystemd_replace(descriptor, peer.number), "dup3", subject)
    }

    private func addHandlers() throws(BusError) {
        try check(
            unsafe sd_bus_add_filter(
                bus.handle,
                nil,
                messageArrived,
                Unmanaged.passUnretained(self).toOpaque()
            ),
            "sd_bus_add_filter"
        )
        for object in server.objects {
            for vtable in object.vtables {
                interfaces.append(try vtable.offer(on: bus, at: object.path, for: self))
            }
        }
        subscriptions = [try bus.onLocal("Disconnected") { [unowned self] in end() }]
    }

    /// The peer has authenticated.
    func open() {
        state = .open
        server.opened()
    }

    /// Ends the connection; the server tells its owner after the turn.
    package func end() {
        guard state != .closed else { return }
        abandon()
        if position == .inside { server.finished(self) }
        server.ended(self)
    }

    /// Ends the connection without a word to the server, which may be gone from now on.
    func abandon() {
        state = .closed
        queuedBytes = 0
        // Before the descriptor is closed: the source itself may go later, if its handler runs.
        try? source?.setEnabled(false)
        source = nil
        bus.close()
    }

    /// Whether calls and signals still reach the peer.
    package var isOpen: Bool { state == .open }

    // MARK: Messages in

    /// A method of one of our interfaces; sd-bus has checked its signature.
    func received(_ message: consuming Message) {
        guard let path = message.path, let interface = message.interface,
            let member = message.member,
            let method = server.interface(interface)?.method(member)
        else { return refuse(message, ErrorName.unknownMethod, "no such method") }
        let arguments: [Value]
        do throws(BusError) {
            arguments = try message.values(limit: server.limits.argumentBytes)
        } catch {
            let name =
                error.reason == .tooLarge ? ErrorName.limitsExceeded : ErrorName.invalidArguments
            return refuse(message, name, "\(interface).\(member): \(error.message)")
        }
        let call = IncomingCall(
            message,
            on: self,
            path: path,
            interface: interface,
            method: method,
            arguments: arguments
        )
        server.received(call)
    }

    func refuse(_ call: borrowing Message, _ name: String, _ text: String) {
        guard let reply = Message.error(to: call, name, text) else { return }
        send(reply, size: text.utf8.count)
    }

    func value(of property: String, _ interface: String) throws(BusError) -> (Value, String) {
        guard let declared = server.interface(interface)?.property(property),
            let value = server.value(of: property, interface, for: self)
        else {
            throw BusError(.unsuitable, "property", "\(interface).\(property)", "has no value")
        }
        return (value, declared.type)
    }

    /// Whether a message to `destination` is meant for us.
    func isOurs(_ destination: String) -> Bool {
        [server.name, Self.ownName, Facade.name].contains(destination)
    }

    // MARK: Messages out

    /// Whether the peer has asked for this signal (`AddMatch`).
    package func wants(_ member: String, of interface: String, at path: String) -> Bool {
        matches.contains { $0.holds(member, interface, path) }
    }

    /// Sends a signal to this peer.
    package func emit(
        _ member: String,
        of interface: String,
        at path: String,
        _ arguments: [Value] = [],
        signature: String = ""
    ) throws(BusError) {
        let signal = try bus.newSignal(member, of: interface, at: path, arguments, signature)
        send(signal, size: arguments.reduce(0) { $0 + $1.approximateSize })
    }

    /// Calls a method of an object of the peer's. `completion`, if an answer is wanted, gets it or
    /// why there is none, at most once; not after the connection has ended. A peer that owes too
    /// many answers, or has let too much pile up, is disconnected.
    package func call(
        at path: String,
        _ interface: String,
        _ member: String,
        _ arguments: [Value],
        signature: String,
        completion: ((Result<[Value], BusError>) -> Void)? = nil
    ) throws(BusError) {
        guard state == .open else { return }
        let target = Target(saidHello ? Self.peerName : nil, path, interface, member)
        guard let completion else {
            try bus.notify(target, arguments, signature: signature)
            sentMessages += 1
            return checkQueue(size: arguments.reduce(0) { $0 + $1.approximateSize })
        }
        guard awaited < server.limits.awaitedAnswers else { return end() }
        awaited += 1
        try bus.call(
            target,
            arguments,
            signature: signature,
            timeout: nil
        ) { [weak self] answer in
            guard let self, state == .open else { return }
            hasDelivered = true
            awaited -= 1
            completion(answer)
        }
        sentMessages += 1
        checkQueue(size: arguments.reduce(0) { $0 + $1.approximateSize })
    }

    /// Sends, and ends the connection of a peer that has let too much pile up. What cannot be sent
    /// because the peer is gone is dropped.
    func send(_ message: borrowing Message, size: Int) {
        guard state != .closed else { return }
        do throws(BusError) {
            try bus.send(message)
        } catch {
            return end()
        }
        sentMessages += 1
        checkQueue(size: size)
    }

    /// To be called after all that may have been written, or not.
    func checkQueue(size: Int) {
        let queued = bus.queuedMessages
        queuedBytes = queued == 0 ? 0 : queuedBytes + size
        if queued > server.limits.queuedMessages || queuedBytes > server.limits.queuedBytes {
            return end()
        }
        if queued > 0 { server.boundQueues() }
        watch()
    }
}

/// Sees every message but answers, before the objects do: sd-bus itself ignores whom it is for.
private func messageArrived(
    _ message: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message = unsafe message, let context = unsafe context else { return 0 }
    let connection = unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
    connection.hasDelivered = true
    guard unsafe sd_bus_message_is_method_call(message, nil, nil) > 0 else { return 0 }
    let call = unsafe Message(retaining: message)
    guard let destination = call.destination, !connection.isOurs(destination) else { return 0 }
    let text = "'\(destination)' is not here: this socket has only \(connection.server.name)"
    connection.refuse(call, ErrorName.serviceUnknown, text)
    return 1
}
