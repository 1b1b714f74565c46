internal import DeviceCore
internal import EventLoop
internal import Linux
internal import SystemBus
internal import Vocabulary

/// The machine's message bus, while there is one, and the services on it that tell of conditions.
@safe
final class SystemServices {
    private let loop: EventLoop
    /// Of the bus; nil: the usual one.
    private let address: String?
    private let report: (ConditionReport) -> Void
    private var context: ServiceContext
    private var bus: Bus?
    private var followers: [ServiceFollower] = []
    private var said: [ConditionSource: [Condition: Reading]] = [:]
    private var retry: TimerSource?
    private var wait = SystemServices.firstWait
    private var triedAt = BootTime.distantPast
    /// Why there is no bus; nil: there is one.
    private(set) var problem: String?

    private static let firstWait = Interval.seconds(1)
    /// It is not waited for longer than this with a timer; then only while the daemon is awake.
    private static let longestWait = Interval.minutes(1)

    init(
        _ loop: EventLoop,
        address: String?,
        hasRoute: Bool?,
        report: @escaping (ConditionReport) -> Void
    ) {
        (self.loop, self.address, self.report) = (loop, address, report)
        context = ServiceContext(user: CurrentProcess.user, hasRoute: hasRoute)
        retry = try? TimerSource(loop) { [unowned self] in connect() }
        connect()
    }

    /// What the kernel says of routes.
    func routesChanged(_ hasRoute: Bool?) {
        guard hasRoute != context.hasRoute else { return }
        context.hasRoute = hasRoute
        for follower in followers { tell(follower) }
    }

    /// The daemon is awake anyhow: a bus that was away for long may be back.
    func refresh() {
        guard bus == nil, Clocks.boot() - triedAt >= Self.longestWait else { return }
        connect()
    }

    /// Why one of them does not tell; nil: it tells, or it is not there.
    func problem(of condition: Condition) -> String? {
        followers.first { $0.row.conditions.contains(condition) && $0.problem != nil }
            .map { "\($0.row.source.label): \($0.problem ?? "")" }
    }

    // MARK: The bus

    private func connect() {
        guard bus == nil else { return }
        triedAt = Clocks.boot()
        do throws(BusError) {
            let bus =
                if let address { try Bus.messageBus(at: address) } else { try Bus.system() }
            try bus.attach(to: loop)
            try bus.onDisconnect { [unowned self] in lose() }
            self.bus = bus
            followers = try ServiceRow.all.map { (row) throws(BusError) in
                try follow(row, on: bus)
            }
            problem = nil
        } catch {
            problem = error.message
            drop()
        }
    }

    private func follow(_ row: ServiceRow, on bus: Bus) throws(BusError) -> ServiceFollower {
        try ServiceFollower(row, on: bus, context: { [unowned self] in context }) {
            [unowned self] in
            wait = Self.firstWait
            // Not there while it is made.
            if let follower = followers.first(where: { $0.row.source == row.source }) {
                tell(follower)
            }
        }
    }

    private func lose() {
        problem = "the connection to the system bus has ended"
        drop()
    }

    /// All that it told is lost, until it is back.
    private func drop() {
        let lost = followers.map(\.row)
        followers = []
        bus = nil
        for row in lost { tell([:], of: row) }
        guard wait <= Self.longestWait else { return }
        try? retry?.arm(at: Clocks.boot() + wait)
        wait = wait * 2
    }

    // MARK: What they say

    private func tell(_ follower: ServiceFollower) { tell(follower.readings, of: follower.row) }

    private func tell(_ readings: [Condition: Reading], of row: ServiceRow) {
        let isThere = followers.contains { $0.row.source == row.source && $0.isThere }
        for condition in row.conditions {
            let old = said[row.source]?[condition] ?? .silent
            // A service that runs and has no more to say is not lost.
            let hadValue = if case .value = old { true } else { old == .lost }
            let new = readings[condition] ?? (hadValue && !isThere ? .lost : .silent)
            guard new != old else { continue }
            said[row.source, default: [:]][condition] = new
            report(ConditionReport(condition, row.source, new))
        }
    }
}
