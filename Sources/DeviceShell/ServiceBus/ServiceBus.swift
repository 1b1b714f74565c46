internal import EventLoop
internal import Linux
internal import SystemBus
internal import Vocabulary

/// A message bus whose services the daemon follows, while there is one. It is looked for again when
/// it has gone.
@safe
final class ServiceBus {
    /// Who uses it.
    protocol Client: AnyObject {
        func connected(_ bus: Bus) throws(BusError)
        /// What came over the connection comes no more.
        func disconnected()
    }

    private let loop: EventLoop
    /// For people.
    private let name: String
    /// Nil: it is not used.
    private let open: (() throws(BusError) -> Bus)?
    /// A bus that is missing when the daemon starts is looked for again.
    private let mayComeLater: Bool
    private var clients: [any Client] = []
    private var bus: Bus?
    private var retry: TimerSource?
    private var wait = ServiceBus.firstWait
    /// Nil before `connect`.
    private var triedAt: BootTime?
    private var wasThere = false
    /// Why there is no bus; nil: there is one.
    private(set) var problem: String?

    private static let firstWait = Interval.seconds(1)
    /// It is not waited for longer than this with a timer; then only while the daemon is awake.
    private static let longestWait = Interval.minutes(1)

    private init(
        _ loop: EventLoop,
        _ name: String,
        mayComeLater: Bool,
        _ open: (() throws(BusError) -> Bus)?
    ) {
        (self.loop, self.name) = (loop, name)
        (self.mayComeLater, self.open) = (mayComeLater, open)
        retry = try? TimerSource(loop) { [unowned self] in connect() }
    }

    /// The machine's.
    static func system(_ loop: EventLoop, _ place: DaemonPaths.SystemBusPlace) -> ServiceBus {
        let open: (() throws(BusError) -> Bus)? =
            switch place {
            case .usual: { () throws(BusError) in try Bus.system() }
            case .at(let address): { () throws(BusError) in try Bus.messageBus(at: address) }
            case .off: nil
            }
        let bus = ServiceBus(loop, "system bus", mayComeLater: true, open)
        if open == nil { bus.problem = "not used (--system-bus off)" }
        return bus
    }

    /// The user's. A session that starts without one never gets one.
    static func session(_ loop: EventLoop) -> ServiceBus {
        ServiceBus(loop, "session bus", mayComeLater: false) { () throws(BusError) in
            try Bus.session()
        }
    }

    /// Before `connect`.
    func add(_ client: any Client) { clients.append(client) }

    func connect() {
        guard bus == nil, let open else { return }
        triedAt = Clocks.boot()
        do throws(BusError) {
            let bus = try open()
            try bus.attach(to: loop)
            try bus.onDisconnect { [unowned self] in drop("the \(name) has gone") }
            for client in clients { try client.connected(bus) }
            self.bus = bus
            (problem, wasThere) = (nil, true)
        } catch {
            drop("there is no \(name): \(error.message)")
        }
    }

    /// It has answered: should it go, it is looked for soon.
    func worked() { wait = Self.firstWait }

    /// The daemon is awake anyhow: a bus that was away for long may be back.
    func refresh() {
        if let triedAt, Clocks.boot() - triedAt >= Self.longestWait { connect() }
    }

    private func drop(_ reason: String) {
        problem = reason
        for client in clients { client.disconnected() }
        bus = nil
        guard wait <= Self.longestWait, wasThere || mayComeLater else { return }
        try? retry?.arm(at: Clocks.boot() + wait)
        wait = wait * 2
    }
}
