import DeviceCore
@testable import DeviceShell
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// The daemon with services of the machine on a message bus of the test's: the real upowerd on a
/// laptop of umockdev's, and for orders that real services do not give on command, mocks.
final class ServiceTests {
    private let bench: DaemonBench
    private let bus: MessageBus

    init() throws {
        bench = try DaemonBench(options: ["--power-supplies", "off"], starting: false)
        bus = try MessageBus(bench.daemon.scratch, "system")
        bench.daemon.options += ["--system-bus", bus.address]
    }

    private func wait(_ condition: String, _ field: String, _ value: String) throws {
        try bench.wait(until: "\(condition): \(field) \(value)") {
            try bench.condition(condition)[field] == .string(value)
        }
    }

    private func gates(_ app: String) throws -> [String] {
        (try bench.explain(app)["holds"]?.listValue ?? []).compactMap { $0["gate"]?.stringValue }
    }

    private func waitUntilHeld(_ app: String, by gate: String) throws {
        try bench.wait(until: "\(app) held by \(gate)") { try gates(app).contains(gate) }
    }

    private func reasons(_ app: String) throws -> [String] {
        try bench.runs(app).compactMap { $0["reason"]?.stringValue }
    }

    // MARK: UPower

    @Test func `a laptop's battery and power line end work, hold it and let it go`() throws {
        let laptop = try TestLaptop(bench.daemon.scratch, on: bus)
        try bench.daemon.start()
        try wait("battery", "value", "80 %")
        #expect(try bench.condition("power")["value"] == "on")
        #expect(try bench.condition("battery")["source"] == "UPower")
        try bench.set("idle", "on")
        try bench.submit("echo began >> began; exec sleep 1000", id: "index", ["power": true])
        try bench.wait(for: "began")
        try laptop.plug(false)
        try waitUntilHeld("index", by: "external-power")
        #expect(try reasons("index").first?.contains("power") == true, "\(bench.report)")
        try laptop.charge(19)
        try wait("battery", "value", "19 %")
        try bench.submit("echo ran >> ran", id: "news", kind: "refresh")
        try waitUntilHeld("news", by: "battery")
        try laptop.plug(true)
        try bench.wait(for: "ran")
        try bench.wait(for: "began") { $0 == "began\nbegan\n" }
    }

    @Test(arguments: ["Full", "Unknown"])
    func `a laptop is unplugged, whatever its battery says that it does`(status: String) throws {
        let laptop = try TestLaptop(bench.daemon.scratch, on: bus)
        try laptop.battery(is: status)
        try bench.daemon.start()
        try wait("power", "value", "on")
        #expect(try bench.condition("power")["source"] == "UPower")
        try laptop.plug(false)
        try wait("power", "value", "off")
        #expect(try bench.condition("power")["source"] == "UPower")
        try laptop.plug(true)
        try wait("power", "value", "on")
    }

    @Test func `a service that ends is lost, and heard again when it is back`() throws {
        let laptop = try TestLaptop(bench.daemon.scratch, on: bus)
        try bench.daemon.start()
        try wait("power", "value", "on")
        try laptop.endService()
        try wait("power", "sensing", "lost")
        #expect(try bench.condition("power")["value"] == "off")
        try laptop.startService()
        try wait("power", "sensing", "known")
        #expect(try bench.condition("power")["value"] == "on")
        try laptop.plug(false)
        try wait("power", "value", "off")
    }

    @Test func `a service that comes after the daemon is found, and so is the bus`() throws {
        try bench.daemon.start()
        #expect(try bench.condition("power")["sensing"] == "unknown")
        let laptop = try TestLaptop(bench.daemon.scratch, on: bus)
        try wait("power", "value", "on")
        bus.end()
        try wait("power", "sensing", "lost")
        let check = try bench.ask("Doctor").listValue?.first { $0["check"] == "system bus" }
        #expect(check?["ok"] == false)
        try bus.start()
        try laptop.endService()
        try laptop.startService()
        try wait("power", "value", "on")
    }

    // MARK: NetworkManager

    @Test func `what NetworkManager says of the network holds work that needs it`() throws {
        try mockNetwork()
        try bench.daemon.start()
        try wait("network", "value", "on")
        #expect(try bench.condition("network")["source"] == "NetworkManager")
        #expect(try bench.condition("metered")["value"] == "off")
        let sensor = try bench.ask("Doctor").listValue?.first { $0["check"] == "sensor network" }
        let found = sensor?["found"]?.stringValue ?? ""
        #expect(found.contains("not validated: NetworkManager's connectivity check is off"))
        try bench.set("idle", "on")
        try changeNetwork(["Connectivity": 2])
        try wait("network", "value", "portal")
        try bench.submit("echo ran >> ran", id: "sync", ["network": true, "unmetered": true])
        try waitUntilHeld("sync", by: "network")
        try changeNetwork(["Metered": 1])
        try changeNetwork(["Connectivity": 4])
        try waitUntilHeld("sync", by: "metered")
        try changeNetwork(["Metered": 2])
        try bench.wait(for: "ran")
    }

    private func mockNetwork() throws {
        let (path, name) = (NetworkManager.service.path, NetworkManager.service.interface)
        try bus.mock(name, path, name)
        let properties: ValueMap = [
            "State": 70, "Connectivity": 4, "Metered": 4, "ConnectivityCheckEnabled": false,
        ]
        try bus.add(path, of: name, main: path, name, properties)
    }

    private func changeNetwork(_ properties: ValueMap) throws {
        let (path, name) = (NetworkManager.service.path, NetworkManager.service.interface)
        try bus.change(path, of: name, name, properties)
    }

    // MARK: logind

    @Test func `the lock, and the user's return, hold work and end it`() throws {
        let (main, name) = (Logind.manager.path, "org.freedesktop.login1")
        let user = Logind.user(CurrentProcess.user)
        try bus.mock(name, main, Logind.manager.interface)
        try bus.add(
            Logind.seat.path,
            of: name,
            main: main,
            Logind.seat.interface,
            ["CanGraphical": true]
        )
        try bus.add(user.path, of: name, main: main, user.interface, ["Sessions": []])
        try bench.daemon.start()
        try wait("locked", "value", "before-first-unlock")
        try bench.submit("echo ran >> ran", id: "news", kind: "refresh")
        try waitUntilHeld("news", by: "before-first-unlock")
        // The user logs in.
        let session = ServiceObject(
            path: main + "/session/_31",
            interface: "org.freedesktop.login1.Session"
        )
        let properties: ValueMap = [
            "Class": "user", "State": "active", "Type": "wayland", "LockedHint": false,
            "IdleHint": false, "IdleSinceHint": 7,
        ]
        try bus.add(session.path, of: name, main: main, session.interface, properties)
        // What else a service says is no reason not to read what is asked for.
        try bus.addNever("RuntimeMaxUSec", to: session.path, of: name, session.interface)
        let sessions: Value = [["1", .string(session.path)]]
        try bus.change(user.path, of: name, user.interface, ["Sessions": sessions])
        try bus.emit(
            "SessionNew",
            of: name,
            at: main,
            Logind.manager.interface,
            "so",
            ["1", .string(session.path)]
        )
        try bench.wait(for: "ran")
        try wait("idle", "value", "off")
        #expect(try bench.condition("idle")["source"] == "logind")
        // And leaves, and comes back.
        try bench.submit("echo began >> began; exec sleep 1000", id: "index")
        try waitUntilHeld("index", by: "device-in-use")
        func change(_ properties: ValueMap) throws {
            try bus.change(session.path, of: name, session.interface, properties)
        }
        try change(["IdleHint": true])
        try bench.wait(for: "began")
        try change(["IdleHint": false])
        try waitUntilHeld("index", by: "device-in-use")
        #expect(try reasons("index").first?.contains("in use") == true, "\(bench.report)")
        try change(["LockedHint": true])
        try wait("locked", "value", "on")
        try bench.submit("echo opened >> opened", id: "mail", kind: "refresh", ["unlocked": true])
        try waitUntilHeld("mail", by: "data-protection")
        try change(["LockedHint": false, "IdleHint": true])
        try bench.wait(for: "opened")
    }

    @Test func `of several sessions each counts, and another user's only at the screen`() throws {
        let (main, name) = (Logind.manager.path, "org.freedesktop.login1")
        let user = Logind.user(CurrentProcess.user)
        try bus.mock(name, main, Logind.manager.interface)
        func path(_ number: Int) -> String { main + "/session/_3\(number)" }
        func add(_ path: String, _ interface: String, _ properties: ValueMap) throws {
            try bus.add(path, of: name, main: main, interface, properties)
        }
        func change(_ number: Int, _ properties: ValueMap) throws {
            try bus.change(path(number), of: name, Self.session, properties)
        }
        func show(_ number: Int) throws {
            let active: Value = ["\(number)", .string(path(number))]
            try bus.change(
                Logind.seat.path,
                of: name,
                Logind.seat.interface,
                ["ActiveSession": active]
            )
        }
        // Two of the user's, and one of another user's.
        for number in 1...3 {
            try add(
                path(number),
                Self.session,
                [
                    "Class": "user", "State": "online", "Type": "x11", "LockedHint": true,
                    "IdleHint": true, "IdleSinceHint": 7,
                ]
            )
        }
        let list = (1...2).map { Value.list([.string("\($0)"), .string(path($0))]) }
        try add(user.path, user.interface, ["Sessions": .list(list)])
        let active: Value = ["1", .string(path(1))]
        try add(
            Logind.seat.path,
            Logind.seat.interface,
            ["CanGraphical": true, "ActiveSession": active]
        )
        try bench.daemon.start()
        try wait("idle", "value", "on")
        try wait("locked", "value", "on")
        try bench.submit("echo began >> began; exec sleep 1000", id: "index")
        try bench.wait(for: "began")
        // The second session is not the one on the screen, and somebody works there from afar.
        try change(2, ["LockedHint": false, "IdleHint": false])
        try waitUntilHeld("index", by: "device-in-use")
        try wait("locked", "value", "off")
        try change(2, ["LockedHint": true, "IdleHint": true])
        try wait("locked", "value", "on")
        try wait("idle", "value", "on")
        // Another user works, out of sight, and then at the screen.
        try change(3, ["LockedHint": false, "IdleHint": false])
        try show(2)
        try bench.letOthersWork()
        #expect(try bench.condition("idle")["value"] == "on")
        try show(3)
        try wait("idle", "value", "off")
        #expect(try bench.condition("locked")["value"] == "on")
        try change(3, ["IdleHint": true])
        try wait("idle", "value", "on")
    }

    private static let session = "org.freedesktop.login1.Session"

    @Test func `a stranger who says that he is the service is not heard`() throws {
        let (path, name) = (PowerProfiles.service.path, PowerProfiles.service.interface)
        try bus.mock(name, path, name)
        try bus.add(path, of: name, main: path, name, ["ActiveProfile": "balanced"])
        try mockNetwork()
        try bench.daemon.start()
        try wait("low-power", "value", "off")
        try wait("network", "value", "on")
        let changed: Value = ["ActiveProfile": "power-saver"]
        try bus.bus().emit(
            "PropertiesChanged",
            of: "org.freedesktop.DBus.Properties",
            at: path,
            [.string(name), changed, []],
            signature: "sa{sv}as"
        )
        // What comes after it on the same connection has been heard.
        try changeNetwork(["Connectivity": 1])
        try wait("network", "value", "off")
        #expect(try bench.condition("low-power")["value"] == "off")
        try bus.change(path, of: name, name, ["ActiveProfile": "power-saver"])
        try wait("low-power", "value", "on")
        #expect(try bench.condition("low-power")["source"] == "power-profiles-daemon")
    }
}
