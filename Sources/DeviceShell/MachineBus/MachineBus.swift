internal import EventLoop
internal import Linux
internal import SystemBus
internal import Vocabulary

/// The machine's message bus, while there is one. It is looked for again when it has gone.
@safe
final class MachineBus {
    /// Who uses it.
    protocol Client: AnyObject {
        func connected(_ bus: Bus) throws(BusError)
        /// What came over the connection comes no more.
        func disconnected()
    }

    private let loop: EventLoop
    private let place: DaemonPaths.SystemBusPlace
    private var clients: [any Client] = []
    private var bus: Bus?
    private var retry: TimerSource?
    private var wait = MachineBus.firstWait
    private var triedAt = BootTime.distantPast
    /// Why there is no bus; nil: there is one.
    private(set) var problem: String?

    private static let firstWait = Interval.seconds(1)
    /// It is not waited for longer than this with a timer; then only while the daemon is awake.
    private static let longestWait = Interval.minutes(1)

    init(_ loop: EventLoop, _ place: DaemonPaths.SystemBusPlace) {
        (self.loop, self.place) = (loop, place)
        if place == .off { problem = "not used (--system-bus off)" }
        retry = try? TimerSource(loop) { [unowned self] in connect() }
    }

    /// Before `connect`.
    func add(_ client: any Client) { clients.append(client) }

    func connect() {
        guard bus == nil, place != .off else { return }
        triedAt = Clocks.boot()
        do throws(BusError) {
            let bus = try open()
            try bus.attach(to: loop)
            try bus.onDisconnect { [unowned self] in
                drop("the connection to the system bus has ended")
            }
            for client in clients { try client.connected(bus) }
            self.bus = bus
            problem = nil
        } catch {
            drop(error.message)
        }
    }

    private func open() throws(BusError) -> Bus {
        switch place {
        case .usual, .off: try Bus.system()
        case .at(let address): try Bus.messageBus(at: address)
        }
    }

    /// It has answered: should it go, it is looked for soon.
    func worked() { wait = Self.firstWait }

    /// The daemon is awake anyhow: a bus that was away for long may be back.
    func refresh() {
        if Clocks.boot() - triedAt >= Self.longestWait { connect() }
    }

    private func drop(_ reason: String) {
        problem = reason
        for client in clients { client.disconnected() }
        bus = nil
        guard wait <= Self.longestWait else { return }
        try? retry?.arm(at: Clocks.boot() + wait)
        wait = wait * 2
    }
}
