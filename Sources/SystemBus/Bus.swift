import CSystemd
package import EventLoop
internal import Glibc
import Linux
package import Vocabulary

/// One D-Bus connection: to a message bus, or peer to peer.
///
/// Confined to one thread: that of the loop it is attached to, or of the caller that waits on it.
/// It may be dropped at any time, also inside its own callbacks.
@safe
package final class Bus {
    let handle: OpaquePointer
    private var loop: EventLoop?
    private var disconnection: Subscription?

    /// The longest time that a call waits unless it says otherwise, as in other libraries.
    package static let defaultTimeout = Interval.seconds(25)
    /// Answers and signals that would take more memory than this are refused.
    package static let largestContent = 16 << 20

    /// Takes over a reference.
    init(owning handle: OpaquePointer) { unsafe self.handle = unsafe handle }

    deinit {
        unsafe sd_bus_close(handle)
        guard let loop else {
            unsafe sd_bus_unref(handle)
            return
        }
        unsafe sd_bus_detach_event(handle)
        unsafe unrefLater(handle, loop.handle)
    }

    /// The user's message bus. Messages go out once the connection is up; a bus that cannot be
    /// reached is known at once.
    package static func session() throws(BusError) -> Bus {
        try unsafe open("session bus") { unsafe sd_bus_open_user(&$0) }
    }

    /// The machine's message bus.
    package static func system() throws(BusError) -> Bus {
        try unsafe open("system bus") { unsafe sd_bus_open_system(&$0) }
    }

    /// A message bus by its D-Bus address.
    package static func messageBus(at address: String) throws(BusError) -> Bus {
        let bus = try unsafe open(address) { unsafe sd_bus_new(&$0) }
        try check(unsafe sd_bus_set_address(bus.handle, address), "connect", address)
        try check(unsafe sd_bus_set_bus_client(bus.handle, 1), "connect", address)
        try check(unsafe sd_bus_start(bus.handle), "connect", address)
        return bus
    }

    private static func open(
        _ name: String,
        _ function: (inout OpaquePointer?) -> Int32
    ) throws(BusError) -> Bus {
        var handle: OpaquePointer?
        try check(unsafe function(&handle), "connect", name)
        guard let handle = unsafe handle else { throw BusError(-ENOMEM, "connect", name) }
        return unsafe Bus(owning: handle)
    }

    /// Lets the loop do the work from now on, and keeps it.
    package func attach(to loop: EventLoop) throws(BusError) {
        try check(unsafe sd_bus_attach_event(handle, loop.handle, 0), "sd_bus_attach_event")
        self.loop = loop
    }

    /// Keeps a loop in which the owner does the work.
    func keep(_ loop: EventLoop) { self.loop = loop }

    /// Sends nothing more and answers every call that waits with `disconnected`.
    package func close() { unsafe sd_bus_close(handle) }

    package var isOpen: Bool { unsafe sd_bus_is_open(handle) > 0 }
    /// Authenticated, and known to the message bus if there is one.
    package var isReady: Bool { unsafe sd_bus_is_ready(handle) > 0 }

    /// Messages that the peer has not taken yet.
    package var queuedMessages: Int {
        var count: UInt64 = 0
        let code = unsafe sd_bus_get_n_queued_write(handle, &count)
        return code < 0 ? 0 : Int(count)
    }

    /// Calls `body` once the connection has ended, from whichever side. Replaces an earlier one.
    package func onDisconnect(_ body: @escaping () -> Void) throws(BusError) {
        disconnection = try onLocal("Disconnected", body)
    }

    /// Signals that sd-bus makes of the connection itself: `Connected`, `Disconnected`.
    func onLocal(_ member: String, _ body: @escaping () -> Void) throws(BusError) -> Subscription {
        try onSignal(
            member,
            of: "org.freedesktop.DBus.Local",
            at: "/org/freedesktop/DBus/Local",
            from: "org.freedesktop.DBus.Local"
        ) { _ in body() }
    }

    /// Works without a loop until `descriptor` is readable; throws when the connection ends before.
    package func work(untilReadable descriptor: Int32) throws(BusError) {
        while true {
            while try check(unsafe sd_bus_process(handle, nil), "sd_bus_process") > 0 {}
            guard isOpen else { throw BusError(-ECONNRESET, "sd_bus_process", "") }
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: unsafe sd_bus_get_fd(handle),
                    events: Int16(truncatingIfNeeded: unsafe sd_bus_get_events(handle)),
                    revents: 0
                ),
            ]
            guard unsafe poll(&waiting, 2, -1) >= 0 || errno == EINTR else {
                throw BusError(-errno, "poll", "")
            }
            if waiting[0].revents != 0 { return }
        }
    }

    /// Works without a loop until `isDone` says so; false when the time is over before (nil: it
    /// never is).
    package func work(
        for time: Interval? = nil,
        until isDone: () -> Bool
    ) throws(BusError) -> Bool {
        let end = time.map { Clocks.boot() + $0 }
        while !isDone() {
            let code = try check(unsafe sd_bus_process(handle, nil), "sd_bus_process")
            if code > 0 { continue }
            let rest = end.map { $0 - Clocks.boot() }
            if let rest, rest <= .zero { return false }
            let waited = unsafe sd_bus_wait(handle, rest?.microseconds ?? UInt64.max)
            if waited < 0, waited != -EINTR { throw BusError(waited, "sd_bus_wait", "") }
        }
        return true
    }
}

/// Drops a connection in a turn of the loop of its own: sd-bus must not lose its last reference
/// inside one of its own callbacks. A loop that runs no more does it when it goes itself.
private func unrefLater(_ bus: OpaquePointer, _ event: OpaquePointer) {
    var source: OpaquePointer?
    let code = unsafe sd_event_add_defer(
        event,
        &source,
        { source, _ in unsafe sd_event_source_set_floating(source, 0) },
        UnsafeMutableRawPointer(bus)
    )
    guard code >= 0 else {
        unsafe sd_bus_unref(bus)
        return
    }
    unsafe sd_event_source_set_destroy_callback(source) { unsafe sd_bus_unref(OpaquePointer($0)) }
    unsafe sd_event_source_set_floating(source, 1)
    unsafe sd_event_source_unref(source)
}
