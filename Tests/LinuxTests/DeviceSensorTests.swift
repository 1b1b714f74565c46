import Linux
import TestKit
import Testing
import Vocabulary

/// What the kernel tells of its devices and of its load.
struct DeviceSensorTests {
    let scratch = ScratchDirectory()

    private func supply(_ name: String, _ files: [String: String]) throws -> PowerSupply? {
        for (file, text) in files { try scratch.write("\(name)/\(file)", text + "\n") }
        return PowerSupply(name: name, in: scratch.path)
    }

    @Test func `power supplies are read as the kernel writes them`() throws {
        let battery = try supply(
            "BAT0",
            ["type": "Battery", "present": "1", "capacity": "87", "energy_full": "50000000"]
        )
        #expect(battery?.kind == .battery(.init(percent: 87, capacity: 50_000_000)))
        #expect(try supply("AC", ["type": "Mains", "online": "1"])?.kind == .line(isOnline: true))
        #expect(try supply("usb", ["type": "USB", "online": "0"])?.kind == .line(isOnline: false))
        #expect(try supply("dock", ["type": "Mains"])?.kind == .line(isOnline: nil))
        // Of no concern.
        #expect(
            try supply("mouse", ["type": "Battery", "scope": "Device", "capacity": "10"]) == nil
        )
        #expect(try supply("BAT1", ["type": "Battery", "present": "0", "capacity": "0"]) == nil)
        #expect(try supply("odd", ["type": "Unknown"]) == nil)
        #expect(PowerSupply(name: "empty", in: scratch.path) == nil)
        // What a driver does not know, it does not say.
        let silent = try supply("BAT2", ["type": "Battery", "present": "1", "capacity": "full"])
        #expect(silent?.kind == .battery(.init(percent: nil)))
        let names = try PowerSupply.all(in: scratch.path).map(\.name)
        #expect(names == ["AC", "BAT0", "BAT2", "dock", "usb"])
        #expect(throws: LinuxError.self) { try PowerSupply.all(in: scratch("none")) }
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can have the kernel tell of a device"))
    func `the kernel tells of a device that changes, by its subsystem`() throws {
        let events = try DeviceEvents()
        func change() throws {
            try Files.set("/sys/class/net/lo/uevent", to: "change")
            let number = events.descriptor.number
            try #require(Poll.ready(number, for: .readable, milliseconds: Wait.limitMilliseconds))
        }
        try change()
        #expect(try !events.happened(in: "power_supply"))
        try change()
        #expect(try events.happened(in: "net"))
        #expect(try !events.happened(in: "net"), "each is told of once")
    }

    @Test func `the load is told in per cent of all processors`() throws {
        let load = try #require(LoadAverage("1.50 0.90 0.50 2/345 6789\n"))
        #expect(load.tasks == 1.5)
        #expect(load.percent(of: 4) == 37.5)
        for text in ["", "x", "-1 0 0", "nan 0 0", "inf 0 0"] { #expect(LoadAverage(text) == nil) }
        #expect(try LoadAverage().tasks >= 0)
        #expect(LoadAverage.processors >= 1)
        #expect(throws: LinuxError.self) { try LoadAverage(readingFrom: scratch("none")) }
    }
}
