internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The kernel's power supplies as the conditions `battery` and `power`. Read when the kernel
/// reports a change, and now and then while the daemon is awake: not every driver reports each per
/// cent.
@safe
final class PowerSupplies {
    private let directory: String
    private let report: (ConditionReport) -> Void
    private let events: DeviceEvents?
    private var source: DescriptorSource?
    private var last: PowerReading?
    private var readAt: BootTime?

    private static let longestAge = Interval.minutes(1)

    /// Why changes may be seen late; nil: the kernel tells of them.
    let eventsProblem: LinuxError?
    /// Why the supplies could not be read; nil: they were.
    private(set) var problem: LinuxError?

    init(_ loop: EventLoop, _ directory: String, report: @escaping (ConditionReport) -> Void) {
        (self.directory, self.report) = (directory, report)
        do throws(LinuxError) {
            events = try DeviceEvents()
            eventsProblem = nil
        } catch {
            events = nil
            eventsProblem = error
        }
        guard let number = events?.descriptor.number else { return }
        source = try? DescriptorSource(loop, number, .readable) { [unowned self] _ in heard() }
    }

    private func heard() {
        if (try? events?.happened(in: "power_supply")) ?? true { look() }
    }

    /// When the last look is some time ago.
    func refresh() {
        if let readAt, Clocks.boot() - readAt < Self.longestAge { return }
        look()
    }

    func look() { read().forEach(report) }

    /// What is another than before.
    func read() -> [ConditionReport] {
        readAt = Clocks.boot()
        var supplies: [PowerSupply]?
        do throws(LinuxError) {
            supplies = try PowerSupply.all(in: directory)
            problem = nil
        } catch {
            problem = error
        }
        let new = PowerReading(supplies, after: last)
        defer { last = new }
        let (battery, power) = (last?.battery ?? .silent, last?.power ?? .silent)
        return (new.battery != battery ? [ConditionReport(.battery, .kernel, new.battery)] : [])
            + (new.power != power ? [ConditionReport(.power, .kernel, new.power)] : [])
    }
}

/// What the supplies say of both conditions.
struct PowerReading: Equatable, Sendable {
    var battery: Reading
    var power: Reading

    /// `supplies`: nil: they could not be read. `last`: what was said before: what was there and is
    /// not any more is lost.
    init(_ supplies: [PowerSupply]?, after last: PowerReading? = nil) {
        var charges: [PowerSupply.Charge] = []
        var lines: [Bool] = []
        for supply in supplies ?? [] {
            switch supply.kind {
            case .battery(let charge): charges.append(charge)
            case .line(let isOnline): if let isOnline { lines.append(isOnline) }
            }
        }
        let hadBattery = last.map { ![.silent, .noDevice].contains($0.battery) } ?? false
        let hadLine = last.map { ![.silent, .noDevice].contains($0.power) } ?? false
        if let percent = Self.percent(charges) {
            battery = .value(percent)
        } else if hadBattery {
            battery = .lost
        } else {
            battery = supplies != nil && charges.isEmpty ? .noDevice : .silent
        }
        if lines.contains(true) {
            power = .value(1)
        } else if battery == .noDevice {
            // What runs without a battery runs on external power, whatever its ports say.
            power = .noDevice
        } else if !lines.isEmpty {
            power = .value(0)
        } else {
            power = hadLine ? .lost : .silent
        }
    }

    /// Of all batteries together: by what each takes, where all say that; nil: none says.
    private static func percent(_ charges: [PowerSupply.Charge]) -> Int? {
        let known = charges.filter { $0.percent != nil }
        guard !known.isEmpty else { return nil }
        let capacities = known.compactMap(\.capacity).filter { $0 > 0 }
        let weights =
            capacities.count == known.count
            ? capacities.map { Double($0) } : known.map { _ in 1 }
        var sum = 0.0
        for (charge, weight) in zip(known, weights) { sum += Double(charge.percent ?? 0) * weight }
        return Int((sum / weights.reduce(0, +)).rounded())
    }
}
