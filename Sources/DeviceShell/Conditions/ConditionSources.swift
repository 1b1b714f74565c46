internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// Everything that tells the daemon of the device's conditions. What the core makes of several
/// that tell of the same one stands in `Conditions`; a service of the message bus is a row of
/// `ServiceRow`, and a source of the kernel a file here and a line in `init`.
@safe
final class ConditionSources {
    private var pressure: MemoryPressure?
    private var supplies: PowerSupplies?
    private var routes: NetworkRoutes?
    private var thermal: ThermalZones?
    private var services: SystemServices?
    private var desktopIdle: DesktopIdle?
    private let xServerIdle: XServerIdle
    private let systemBus: ServiceBus
    private let sessionBus: ServiceBus
    private let paths: DaemonPaths
    private let report: (ConditionReport) -> Void
    /// Why the kernel does not report memory pressure; nil: it does.
    private(set) var pressureProblem: LinuxError?

    /// `foundFirst`: for what was true before whatever the same turn has brought.
    init(
        _ loop: EventLoop,
        _ paths: DaemonPaths,
        _ systemBus: ServiceBus,
        _ sessionBus: ServiceBus,
        foundFirst: @escaping (ConditionReport) -> Void,
        report: @escaping (ConditionReport) -> Void
    ) {
        (self.systemBus, self.sessionBus) = (systemBus, sessionBus)
        (self.paths, self.report) = (paths, report)
        xServerIdle = XServerIdle(loop) { report(ConditionReport(.idle, .xServer, $0)) }
        do throws(LinuxError) {
            pressure = try paths.pressure.map { (path) throws(LinuxError) in
                try MemoryPressure(loop, path) { report(ConditionReport(.memory, .kernel, $0)) }
            }
        } catch {
            // Nothing tells; `doctor` says why.
            pressureProblem = error
        }
        supplies = paths.powerSupplies.map { PowerSupplies(loop, $0, report: foundFirst) }
        routes = paths.routes.map { path in
            NetworkRoutes(loop, path) { [unowned self] reading in
                // NetworkManager's word has precedence and depends on the routes: it changes first.
                services?.routesChanged(routes?.hasRoute)
                report(ConditionReport(.network, .kernel, reading))
            }
        }
        thermal = paths.thermal.map { path in
            ThermalZones(path) { foundFirst(ConditionReport(.thermal, .kernel, $0)) }
        }
    }

    /// What is known when the daemon starts. The services answer later.
    func readFirst() -> [ConditionReport] {
        var reports = supplies?.read() ?? []
        // It speaks when that changes.
        if pressure != nil { reports.append(ConditionReport(.memory, .kernel, .value(0))) }
        if let reading = routes?.read() {
            reports.append(ConditionReport(.network, .kernel, reading))
        }
        if let reading = thermal?.read() {
            reports.append(ConditionReport(.thermal, .kernel, reading))
        }
        services = SystemServices(systemBus, hasRoute: routes?.hasRoute, report: report)
        desktopIdle = DesktopIdle(sessionBus) { [unowned self] in
            report(ConditionReport(.idle, .desktop, $0))
        }
        xServerIdle.connect()
        return reports
    }

    /// The daemon is awake: what does not speak by itself is looked at, if that is some time ago.
    func refresh() {
        supplies?.refresh()
        routes?.refresh()
        thermal?.refresh()
        xServerIdle.refresh()
        systemBus.refresh()
        sessionBus.refresh()
    }

    /// Settings that damp what changes quickly.
    func adopt(_ settings: Settings) {
        pressure?.calmAfter = settings.memoryCalm
        thermal?.margin = settings.thermalMargin
        desktopIdle?.patience = settings.idlePatience
        xServerIdle.patience = settings.idlePatience
    }

    /// The machine is about to sleep.
    func machineSleeps() { desktopIdle?.machineSleeps() }

    /// As if everything had changed.
    func look() {
        supplies?.look()
        routes?.look()
        refresh()
    }

    /// Whether a service is there.
    func isThere(_ source: ConditionSource) -> Bool { services?.isThere(source) ?? false }

    /// Whether the message bus has none of the services that could report a condition.
    func lacksService(for condition: Condition) -> Bool {
        services?.lacksService(for: condition) ?? false
    }

    /// Why the X server of the user's session does not tell of input; nil: it does, or there is
    /// none.
    var xServerProblem: XServerIdle.Problem? { xServerIdle.problem }

    /// Why a condition is not known, or seen late; empty: it is not so.
    func problem(of condition: Condition, _ state: Conditions.State) -> String {
        let isKnown = state.sensing == .known && state.value == condition.harmless
        return [
            services?.problem(of: condition),
            isKnown ? services?.remark(on: condition, by: state.source) : nil,
            kernelProblem(of: condition),
        ].compactMap(\.self).joined(separator: "; ")
    }

    private func kernelProblem(of condition: Condition) -> String? {
        switch condition {
        case .battery, .power:
            guard let supplies else {
                return "the kernel's power supplies are not read (--power-supplies off)"
            }
            if let problem = supplies.problem { return "\(problem)" }
            return supplies.eventsProblem.map { "changes are seen late: \($0)" }
        case .network:
            guard let routes else { return "the kernel's routes are not read (--routes off)" }
            return routes.problem.map { "\($0)" }
        case .thermal:
            guard let thermal else { return "thermal zones are not read (--thermal off)" }
            return thermal.problem.map { "\($0)" }
        case .idle: return loadProblem
        case .metered, .lowData, .locked, .lowPower, .memory, .storage: return nil
        }
    }

    private var loadProblem: String? {
        guard let path = paths.load else { return "the load is not read (--load off)" }
        do throws(LinuxError) {
            _ = try LoadAverage(readingFrom: path)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
