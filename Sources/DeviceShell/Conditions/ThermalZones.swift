internal import DeviceCore
internal import Linux
internal import Vocabulary

/// The kernel's thermal zones as the condition `thermal`. Read while the daemon is awake anyhow,
/// which it is while work runs: an idle device warms nothing of ours.
@safe
final class ThermalZones {
    private let directory: String
    private let report: (Reading) -> Void
    private var last = Reading.silent
    private var readAt: BootTime?
    /// How often in a row none of the zones could be read. Once may be an accident.
    private var misses = 0
    /// Degrees.
    var margin = Settings().thermalMargin
    /// Why they could not be read; nil: they were.
    private(set) var problem: LinuxError?

    private static let longestAge = Interval.seconds(10)

    init(_ directory: String, report: @escaping (Reading) -> Void) {
        (self.directory, self.report) = (directory, report)
    }

    /// When the last look is some time ago.
    func refresh() {
        if let readAt, Clocks.boot() - readAt < Self.longestAge { return }
        let old = last
        if read() != old { report(last) }
    }

    func read() -> Reading {
        readAt = Clocks.boot()
        var zones: [ThermalZone] = []
        do throws(LinuxError) {
            zones = try ThermalZone.all(in: directory)
            problem = nil
        } catch {
            problem = error.errno == .noEntry ? nil : error
        }
        // None of those that were there can be read.
        let isMissed = problem != nil || zones.isEmpty && last.unread == .lost
        misses = isMissed ? misses + 1 : 0
        if !isMissed { last = ThermalLevel.reading(zones, after: last, margin: margin) }
        if misses > 1 { last = last.unread }
        return last
    }
}

/// How warm a device is, by how near its zones are to where the kernel acts.
enum ThermalLevel {
    /// `margin`: by how many degrees it must be cooler than where a level begins, for the level to
    /// end.
    static func reading(_ zones: [ThermalZone], after last: Reading, margin: Int64) -> Reading {
        guard !zones.isEmpty else { return .noDevice }
        let before = if case .value(let level) = last { level } else { 0 }
        return .value(zones.map { level(of: $0, after: before, margin: margin) }.max() ?? 0)
    }

    private static func level(of zone: ThermalZone, after last: Int, margin: Int64) -> Int {
        let levels = (1...3).filter { level in
            guard let limit = limit(of: level, zone) else { return false }
            return zone.temperature >= limit - (level <= last ? margin * 1000 : 0)
        }
        return levels.last ?? 0
    }

    /// Where a level begins; nil: this zone has no such level.
    private static func limit(of level: Int, _ zone: ThermalZone) -> Int64? {
        switch level {
        case 1: zone.passive.map { $0 - 10_000 } ?? zone.critical.map { $0 - 25_000 }
        case 2: zone.passive ?? zone.critical.map { $0 - 15_000 }
        case _: zone.critical.map { $0 - 5000 }
        }
    }
}
