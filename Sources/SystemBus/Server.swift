import CSystemd
package import EventLoop
package import Linux
package import Vocabulary

/// Serves objects to peers on a private socket, each on a connection of its own.
///
/// To client libraries each connection looks like a message bus with one service on it. Confined
/// to the loop's thread; it must outlive the loop's last turn.
@safe
package final class Server {
    /// What peers may cost.
    package struct Limits: Sendable {
        /// Connections at a time. A new one takes the place of the oldest silent one, if any.
        package var connections = 256
        /// Of these, by one process.
        package var connectionsPerProcess = 64
        /// How long a peer may take to authenticate.
        package var authentication = Interval.seconds(10)
        /// Messages that a peer has not taken.
        package var queuedMessages = 1024
        /// About their bytes.
        package var queuedBytes = 16 << 20
        /// The same of all peers: beyond that the one with the most is disconnected.
        package var queuedBytesOfAll = 32 << 20
        /// About the memory that the arguments of one call take.
        package var argumentBytes = 1 << 20
        /// A message; who announces a longer one is disconnected. It leaves room around arguments
        /// of the largest size, so that slightly too large ones are refused with words.
        package var messageBytes = (1 << 20) + (64 << 10)
        /// Messages of which more is to come, of all peers: beyond that the oldest ends the
        /// connection of its sender.
        package var unfinishedBytes = 16 << 20
        /// Answers that a peer owes us.
        package var awaitedAnswers = 256

        package init() {}
    }

    /// Where interfaces are offered.
    package struct Object: Sendable {
        package let path: String
        package let interfaces: [Interface]

        package init(_ path: String, _ interfaces: [Interface]) {
            self.path = path
            self.interfaces = interfaces
        }
    }

    /// Why a connection was not taken.
    package enum AcceptFailure: Equatable, Sendable {
        case foreignUser(UInt32)
        case tooMany
        case tooManyOfProcess(Int32)
        case failed(BusError)
    }

    /// What is asked of the owner. Nothing is called inside anything that the owner calls.
    package struct Handlers {
        /// A peer calls a method.
        package var call: (IncomingCall) -> Void
        /// A property is read: connection, interface, name.
        package var property: (Connection, String, String) -> Value?
        /// A connection that was accepted has ended.
        package var ended: (Connection) -> Void

        package init(
            call: @escaping (IncomingCall) -> Void,
            property: @escaping (Connection, String, String) -> Value? = { _, _, _ in nil },
            ended: @escaping (Connection) -> Void = { _ in }
        ) {
            self.call = call
            self.property = property
            self.ended = ended
        }
    }

    struct ServedObject {
        let path: String
        let vtables: [Vtable]
    }

    /// The well-known name that peers may address.
    package let name: String
    /// Peers that are connected keep the time that they were given to authenticate.
    package var limits: Limits
    let objects: [ServedObject]
    let id: sd_id128_t
    private let handlers: Handlers
    private let loop: EventLoop
    private var turn: DeferredSource?
    private var alarm: TimerSource?

    /// In the order in which they came.
    package private(set) var connections: [Connection] = []
    private var lastNumber: UInt64 = 0
    private var dead: [Connection] = []
    /// Messages of which more is to come, in the order in which they began.
    private var unfinished: [(connection: Connection, size: Int)] = []

    package init(
        _ loop: EventLoop,
        name: String,
        objects: [Object],
        limits: Limits = Limits(),
        handlers: Handlers
    ) throws(BusError) {
        self.name = name
        self.limits = limits
        self.handlers = handlers
        var served: [ServedObject] = []
        for object in objects + [Facade.object] {
            var vtables: [Vtable] = []
            for interface in object.interfaces { vtables.append(try Vtable(interface)) }
            served.append(ServedObject(path: object.path, vtables: vtables))
        }
        self.objects = served
        var id = sd_id128_t()
        try check(unsafe sd_id128_randomize(&id), "sd_id128_randomize")
        self.id = id
        self.loop = loop
        alarm = try failing("timer") { () throws(LinuxError) in
            try TimerSource(loop) { [unowned self] in closeSilent() }
        }
    }

    deinit { for connection in connections { connection.abandon() } }

    /// Takes over an accepted socket; nil when its peer is served from now on.
    package func accept(_ descriptor: consuming FileDescriptor) -> AcceptFailure? {
        do throws(BusError) {
            let peer = try failing("accept") { () throws(LinuxError) in try Peer(of: descriptor) }
            let (pid, user) = (peer.pid, peer.user)
            guard user == CurrentProcess.user else { return .foreignUser(user) }
            guard connections.count(where: { $0.peer.pid == pid }) < limits.connectionsPerProcess
            else { return .tooManyOfProcess(pid) }
            if connections.count >= limits.connections {
                guard let silent = connections.first(where: { $0.state == .authenticating })
                else { return .tooMany }
                silent.end()
                connections.removeAll { $0 === silent }
            }
            lastNumber += 1
            let connection = try Connection(
                descriptor,
                peer: peer,
                number: lastNumber,
                server: self,
                deadline: Clocks.boot() + limits.authentication
            )
            try connection.serve(loop)
            connections.append(connection)
            try armAlarm()
            return nil
        } catch {
            return .failed(error)
        }
    }

    /// Sends a signal to all peers.
    package func emit(
        _ member: String,
        of interface: String,
        at path: String,
        _ arguments: [Value] = [],
        signature: String = ""
    ) throws(BusError) {
        for connection in connections where connection.isOpen {
            try connection.emit(member, of: interface, at: path, arguments, signature: signature)
        }
    }

    /// The identity of this server, as 32 hexadecimal digits.
    var idText: String {
        var text = [CChar](repeating: 0, count: 33)
        unsafe sd_id128_to_string(id, &text)
        return String(decoding: text.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    // MARK: What connections report

    func interface(_ name: String) -> Interface? {
        for object in objects {
            for vtable in object.vtables where vtable.interface.name == name {
                return vtable.interface
            }
        }
        return nil
    }

    func received(_ call: IncomingCall) {
        if call.interface == Facade.name { return Facade.answer(call) }
        handlers.call(call)
    }

    func value(of property: String, _ interface: String, for connection: Connection) -> Value? {
        handlers.property(connection, interface, property)
    }

    /// A peer has authenticated: nobody need wake up to see whether it has.
    func opened() { try? armAlarm() }

    /// More has been queued for somebody.
    func boundQueues() {
        let bytes = connections.reduce(0) { $0 + $1.queuedBytes }
        guard bytes > limits.queuedBytesOfAll else { return }
        connections.max { $0.queuedBytes < $1.queuedBytes }?.end()
    }

    /// A message of so many bytes has begun.
    func began(_ connection: Connection, _ size: Int) {
        unfinished.append((connection, size))
        var bytes = unfinished.reduce(0) { $0 + $1.size }
        while bytes > limits.unfinishedBytes, let oldest = unfinished.first,
            oldest.connection !== connection
        {
            bytes -= oldest.size
            oldest.connection.end()
        }
    }

    /// It is whole, or will never be.
    func finished(_ connection: Connection) {
        unfinished.removeAll { $0.connection === connection }
    }

    func ended(_ connection: Connection) {
        dead.append(connection)
        schedule()
    }

    // MARK: Handlers of our own

    private func schedule() {
        guard turn == nil else { return }
        // Out of memory is all that can fail; then the next connection brings it about.
        turn = try? DeferredSource(loop) { [unowned self] in runOutside() }
    }

    /// Runs outside the callbacks of every connection.
    private func runOutside() {
        turn = nil
        let ended = dead
        dead = []
        for connection in ended {
            connections.removeAll { $0 === connection }
            handlers.ended(connection)
        }
        try? armAlarm()
    }

    private func closeSilent() {
        let now = Clocks.boot()
        for connection in connections
        where connection.state == .authenticating && connection.deadline <= now {
            connection.end()
        }
        // Without the timer silent peers stay until the next one comes: no reason to fail.
        try? armAlarm()
    }

    private func armAlarm() throws(BusError) {
        let silent = connections.lazy.filter { $0.state == .authenticating }.map(\.deadline)
        let first = silent.min()
        try failing("timer") { () throws(LinuxError) in try alarm?.arm(at: first) }
    }
}
