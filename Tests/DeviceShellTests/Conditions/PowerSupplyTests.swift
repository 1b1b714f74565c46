import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// The kernel's power supplies as conditions.
struct PowerSupplyTests {
    private static let battery = PowerSupply(
        name: "BAT0",
        kind: .battery(.init(percent: 40, capacity: 20))
    )
    private static let second = PowerSupply(
        name: "BAT1",
        kind: .battery(.init(percent: 80, capacity: 60))
    )
    private static let silent = PowerSupply(name: "BAT2", kind: .battery(.init(percent: nil)))
    private static func line(_ isOnline: Bool?) -> PowerSupply {
        PowerSupply(name: "AC", kind: .line(isOnline: isOnline))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var supplies: [PowerSupply]?
        var battery: Reading
        var power: Reading
    }

    static let cases = [
        Case(testDescription: "no supply", supplies: [], battery: .noDevice, power: .noDevice),
        Case(testDescription: "unreadable", supplies: nil, battery: .silent, power: .silent),
        Case(
            testDescription: "a laptop that is plugged in",
            supplies: [battery, line(true)],
            battery: .value(40),
            power: .value(1)
        ),
        Case(
            testDescription: "a laptop that is not",
            supplies: [battery, line(false)],
            battery: .value(40),
            power: .value(0)
        ),
        Case(
            testDescription: "one of two lines is connected",
            supplies: [battery, line(false), line(true)],
            battery: .value(40),
            power: .value(1)
        ),
        Case(
            testDescription: "a battery, and no line that tells",
            supplies: [battery, line(nil)],
            battery: .value(40),
            power: .silent
        ),
        Case(
            testDescription: "a desktop whose USB port can take power",
            supplies: [line(false)],
            battery: .noDevice,
            power: .noDevice
        ),
        Case(
            testDescription: "two batteries count by their size",
            supplies: [battery, second, line(false)],
            battery: .value(70),
            power: .value(0)
        ),
        Case(
            testDescription: "a battery that does not tell",
            supplies: [silent, line(false)],
            battery: .silent,
            power: .value(0)
        ),
    ]

    @Test(arguments: cases)
    func `the supplies say what is known, and no more`(supplied: Case) {
        let reading = PowerReading(supplied.supplies)
        #expect(reading.battery == supplied.battery)
        #expect(reading.power == supplied.power)
    }

    @Test(arguments: [nil, []] as [[PowerSupply]?])
    func `what was there and is not any more is lost, until it is there again`(
        supplies: [PowerSupply]?
    ) {
        let laptop = PowerReading([Self.battery, Self.line(false)])
        let lost = PowerReading(supplies, after: laptop)
        #expect(lost.battery == .lost && lost.power == .lost)
        #expect(PowerReading(supplies, after: lost) == lost)
        #expect(PowerReading([Self.battery, Self.line(false)], after: lost) == laptop)
    }

    // MARK: The daemon

    private func plug(_ online: Int, capacity: Int = 50, _ bench: DaemonBench) throws {
        try bench.daemon.scratch.write("supplies/BAT0/type", "Battery\n")
        try bench.daemon.scratch.write("supplies/BAT0/capacity", "\(capacity)\n")
        try bench.daemon.scratch.write("supplies/AC/type", "Mains\n")
        try bench.daemon.scratch.write("supplies/AC/online", "\(online)\n")
    }

    /// As if the kernel had told of a change, or the daemon had been awake a minute later.
    private func look(_ bench: DaemonBench) throws { try bench.daemon.send(Signal.hangUp) }

    private func submit(_ bench: DaemonBench, _ options: [String: Value]) throws -> Value {
        var options: ValueMap = ValueMap(options.map { ($0, $1) })
        options["kind"] = "processing"
        options["command"] = ["sh", "-c", "echo ran >> ran"]
        options["id"] = "once"
        return try bench.ask("Submit", .map(options))
    }

    @Test func `processing that asks for power waits on an unplugged laptop, and runs at the plug`()
        throws
    {
        let bench = try DaemonBench(starting: false)
        try plug(0, bench)
        try bench.daemon.start()
        #expect(try bench.condition("power")["value"] == "off")
        #expect(try bench.condition("battery")["value"] == "50 %")
        #expect(try bench.condition("battery")["source"] == "the kernel")
        _ = try submit(bench, ["power": true])
        let held = try bench.ask("Explain", "once", .map([:])).listValue?.first
        #expect(held?["holds"]?.listValue?.map { $0["gate"] } == ["external-power"])
        try plug(1, bench)
        try look(bench)
        try bench.wait(for: "ran")
        // The battery is taken out, the line with it: cautious, and said so.
        try Files.removeTree(bench.daemon.scratch("supplies/BAT0"))
        try Files.removeTree(bench.daemon.scratch("supplies/AC"))
        try look(bench)
        try bench.wait(until: "lost") { try bench.condition("power")["sensing"] == "lost" }
        #expect(try bench.condition("battery")["sensing"] == "lost")
    }

    @Test func `a machine without a battery says so, and runs what asks for power`() throws {
        let bench = try DaemonBench()
        #expect(try bench.condition("power")["sensing"] == "none")
        #expect(try submit(bench, ["power": true])["unsensed"]?.listValue == ["idle"])
        try bench.wait(for: "ran")
    }

    @Test func `what nothing senses is said in doctor, explain and the answer to a submit`() throws
    {
        let bench = try DaemonBench(options: ["--power-supplies", "off"])
        let answer = try submit(bench, ["power": true, "network": true])
        #expect(answer["unsensed"]?.listValue == ["power", "network", "idle"])
        let place = Value.string(bench.daemon.scratch.path)
        let files: Value = [["url": "http://localhost/a"]]
        let options: ValueMap = ["directory": place, "unmetered": true, "power": true]
        let stored = try bench.ask("Download", files, .map(options))
        #expect(stored["unsensed"]?.listValue == ["power", "metered"])
        let held = try bench.ask("Explain", "once", .map([:])).listValue?.first
        let holds = held?["holds"]?.listValue ?? []
        let gates = holds.compactMap { $0["gate"]?.stringValue }
        #expect(gates.sorted() == ["external-power", "network"])
        #expect(holds.allSatisfy { $0["value"] == "unknown" })
        let checks = try bench.ask("Doctor").listValue ?? []
        let sensor = checks.first { $0["check"] == "sensor power" }
        #expect(sensor?["ok"] == false)
        #expect(sensor?["found"]?.stringValue?.hasPrefix("unknown: no source reports ") == true)
        // Nobody asks the message bus here.
        #expect(sensor?["fix"] == "set it by hand: offstage set power VALUE")
        try bench.ask("Set", "power", "on", .map([:]))
        try bench.ask("Set", "network", "on", .map([:]))
        try bench.wait(for: "ran")
    }
}
