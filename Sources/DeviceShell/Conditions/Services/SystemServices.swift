internal import DeviceCore
internal import Linux
internal import SystemBus
internal import Vocabulary

/// The services of the machine that tell of conditions.
@safe
final class SystemServices: ServiceBus.Client {
    private unowned let systemBus: ServiceBus
    private let report: (ConditionReport) -> Void
    private var context: ServiceContext
    private var followers: [ServiceFollower] = []
    private var said: [ConditionSource: [Condition: Reading]] = [:]

    init(
        _ systemBus: ServiceBus,
        hasRoute: Bool?,
        report: @escaping (ConditionReport) -> Void
    ) {
        (self.systemBus, self.report) = (systemBus, report)
        context = ServiceContext(user: CurrentProcess.user, hasRoute: hasRoute)
        systemBus.add(self)
    }

    /// What the kernel says of routes.
    func routesChanged(_ hasRoute: Bool?) {
        guard hasRoute != context.hasRoute else { return }
        context.hasRoute = hasRoute
        for follower in followers { tell(follower) }
    }

    func isThere(_ source: ConditionSource) -> Bool {
        followers.contains { $0.row.source == source && $0.isThere }
    }

    /// False without a bus.
    func lacksService(for condition: Condition) -> Bool {
        let able = followers.filter { $0.row.conditions.contains(condition) }
        return !able.isEmpty && able.allSatisfy { !$0.isThere }
    }

    /// Why a service does not tell; nil: it tells, or it is not there.
    func problem(of condition: Condition) -> String? {
        let able = followers.filter { $0.row.conditions.contains(condition) }
        return able.first { $0.problem != nil }
            .map { "\($0.row.source.label): \($0.problem ?? "")" }
    }

    /// How far the word of a service goes on which a condition rests; nil: all the way.
    func remark(on condition: Condition, by source: ConditionSource?) -> String? {
        followers.first { $0.row.source == source }
            .flatMap { $0.row.remark($0.objects, condition) }
    }

    // MARK: The bus

    func connected(_ bus: Bus) throws(BusError) {
        followers = try ServiceRow.all.map { (row) throws(BusError) in
            try follow(row, on: bus)
        }
    }

    private func follow(_ row: ServiceRow, on bus: Bus) throws(BusError) -> ServiceFollower {
        try ServiceFollower(row, on: bus, context: { [unowned self] in context }) {
            [unowned self] in
            systemBus.worked()
            if let follower = followers.first(where: { $0.row.source == row.source }) {
                tell(follower)
            }
        }
    }

    /// All that they told is lost, until they are back.
    func disconnected() {
        let lost = followers.map(\.row)
        followers = []
        for row in lost { tell([:], of: row, isThere: false) }
    }

    // MARK: What they say

    private func tell(_ follower: ServiceFollower) {
        tell(follower.readings, of: follower.row, isThere: follower.isThere)
    }

    private func tell(_ readings: [Condition: Reading], of row: ServiceRow, isThere: Bool) {
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
