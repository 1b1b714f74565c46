import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing

/// How warm counts as too warm.
struct ThermalTests {
    private func level(
        _ temperature: Int64,
        after last: Int = 0,
        _ zone: ThermalZone,
        margin: Int64 = 3
    ) -> Int? {
        var zone = zone
        zone.temperature = temperature * 1000
        let reading = ThermalLevel.reading([zone], after: .value(last), margin: margin)
        return if case .value(let level) = reading { level } else { nil }
    }

    private static let laptop = ThermalZone(
        name: "x86_pkg_temp",
        temperature: 0,
        passive: 95_000,
        critical: 105_000
    )
    private static let box = ThermalZone(name: "cpu", temperature: 0, critical: 100_000)

    @Test func `a level begins where the kernel is about to act`() {
        let laptop = [84, 85, 94, 95, 99, 100, 120].map { level($0, Self.laptop) }
        #expect(laptop == [0, 1, 1, 2, 2, 3, 3])
        let box = [74, 75, 84, 85, 94, 95].map { level($0, Self.box) }
        #expect(box == [0, 1, 1, 2, 2, 3])
    }

    @Test func `and ends the set margin below that`() {
        #expect([97, 96].map { level($0, after: 3, Self.laptop) } == [3, 2])
        #expect([92, 91].map { level($0, after: 2, Self.laptop) } == [2, 1])
        #expect([82, 81].map { level($0, after: 1, Self.laptop) } == [1, 0])
        #expect([75, 74].map { level($0, after: 1, Self.laptop, margin: 10) } == [1, 0])
        #expect([85, 84].map { level($0, after: 1, Self.laptop, margin: 0) } == [1, 0])
    }

    @Test func `a new margin goes for the level that there is`() throws {
        let scratch = ScratchDirectory()
        let zones = ThermalZones(scratch("thermal")) { _ in }
        for (file, text) in [
            ("temp", "86000\n"), ("trip_point_0_type", "passive\n"),
            ("trip_point_0_temp", "95000\n"),
        ] { try scratch.write("thermal/thermal_zone0/" + file, text) }
        #expect(zones.read() == .value(1))
        try scratch.write("thermal/thermal_zone0/temp", "84000\n")
        #expect(zones.read() == .value(1))
        zones.margin = 0
        #expect(zones.read() == .value(0))
    }

    @Test func `zones that cannot be read any more are lost, until they are read again`() throws {
        let scratch = ScratchDirectory()
        let zones = ThermalZones(scratch("thermal")) { _ in }
        #expect(zones.read() == .noDevice)
        for (file, text) in [
            ("temp", "30000\n"), ("trip_point_0_type", "passive\n"),
            ("trip_point_0_temp", "95000\n"),
        ] { try scratch.write("thermal/thermal_zone0/" + file, text) }
        #expect(zones.read() == .value(0))
        try scratch.write("thermal/thermal_zone0/temp", "")
        #expect(zones.read() == .value(0), "once may be an accident")
        #expect(zones.read() == .lost)
        #expect(zones.read() == .lost)
        try scratch.write("thermal/thermal_zone0/temp", "96000\n")
        #expect(zones.read() == .value(2))
    }

    @Test func `the hottest zone counts, and no zone is no device`() {
        var (hot, cool) = (Self.laptop, Self.box)
        (hot.temperature, cool.temperature) = (96_000, 30_000)
        #expect(ThermalLevel.reading([cool, hot], after: .silent, margin: 3) == .value(2))
        #expect(ThermalLevel.reading([], after: .silent, margin: 3) == .noDevice)
    }
}
