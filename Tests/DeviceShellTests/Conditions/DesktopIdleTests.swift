@testable import DeviceShell
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// What desktops tell on the session bus (python-dbusmock plays them): whether anybody is there.
final class DesktopIdleTests {
    private let bench: DaemonBench
    private let bus: MessageBus

    init() throws {
        bench = try DaemonBench(starting: false)
        bus = try MessageBus(bench.daemon.scratch, "session")
        bench.daemon.environment = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
    }

    /// A service that has one object, its methods with their signatures and Python lines.
    private func mock(
        _ object: ServiceObject,
        _ methods: [(name: String, takes: String, gives: String, code: String)]
    ) throws {
        try bus.mock(object.interface, object.path, object.interface)
        for method in methods {
            try bus.addMethod(
                method.name,
                of: object.interface,
                at: object.path,
                takes: method.takes,
                gives: method.gives,
                method.code
            )
        }
    }

    private func mockMutter(idleFor milliseconds: Int) throws {
        try mock(
            IdleMonitor.core,
            [
                ("GetIdletime", "", "t", "ret = \(milliseconds)"),
                ("AddIdleWatch", "t", "u", "ret = 7"), ("AddUserActiveWatch", "", "u", "ret = 8"),
                ("RemoveWatch", "u", "", ""),
            ]
        )
    }

    private func fire(_ watch: Int64) throws {
        let core = IdleMonitor.core
        try bus.emit(
            "WatchFired",
            of: IdleMonitor.name,
            at: core.path,
            core.interface,
            "u",
            [.integer(watch)]
        )
    }

    /// Until the daemon has asked so often to be told of input. The answer comes before what is
    /// fired after that.
    private func waitForInputWatch(_ count: Int) throws {
        try Wait.until(file: bench.daemon.scratch(IdleMonitor.name + ".log")) {
            $0.split(separator: "AddUserActiveWatch").count > count
        }
    }

    private func use() throws {
        try waitForInputWatch(1)
        try fire(8)
        try wait("off")
    }

    private func change(_ saver: ServiceObject, isActive: Bool) throws {
        try bus.emit(
            "ActiveChanged",
            of: saver.interface,
            at: saver.path,
            saver.interface,
            "b",
            [.bool(isActive)]
        )
    }

    /// What nobody tells of counts as idle too: it must be the desktop's word.
    private func wait(_ value: String) throws {
        try bench.wait(until: "idle: \(value)") {
            let idle = try bench.condition("idle")
            return idle["source"] == "the desktop" && idle["value"] == .string(value)
        }
    }

    @Test func `Mutter's word holds processing back and lets it go`() throws {
        try mockMutter(idleFor: 1000)
        try bench.daemon.start()
        try wait("off")
        try bench.set("power", "on")
        try bench.submit("echo began >> began; exec sleep 1000", id: "index", ["power": true])
        try bench.wait(until: "held") {
            (try bench.explain("index")["holds"]?.listValue ?? []).contains {
                $0["gate"] == "device-in-use"
            }
        }
        try fire(7)
        try bench.wait(for: "began")
        // The user is back.
        try use()
        try bench.wait(until: "ended") { try !bench.runs("index").isEmpty }
        // Once is not for all time.
        try fire(7)
        try wait("on")
        bus.end(IdleMonitor.name)
        try bench.wait(until: "lost") { try bench.condition("idle")["sensing"] == "lost" }
    }

    @Test func `Mutter is told how long to wait, and again when that is set anew`() throws {
        try mockMutter(idleFor: 100_000)
        try bench.daemon.start()
        try wait("off")
        // Idle for longer than that.
        let file = bench.daemon.scratch("offstage.conf")
        try Files.replace(file, with: DaemonBench.quick + "idle-patience = 90s\n")
        try wait("on")
    }

    @Test func `who was idle before the daemon started is so, until there is input`() throws {
        try mockMutter(idleFor: 400_000)
        try bench.daemon.start()
        try wait("on")
        try use()
    }

    /// Mutter takes that for input, and tells its watch so.
    @Test func `a machine that returns from sleep is not used for that`() throws {
        let system = try MessageBus(bench.daemon.scratch, "system")
        let logind = try MockLogind(on: system)
        bench.daemon.options += ["--system-bus", system.address]
        try mockMutter(idleFor: 400_000)
        try bench.daemon.start()
        try waitForInputWatch(1)
        // The daemon has heard of the sleep when it lets it begin.
        try logind.wait(forInhibitors: ["sleep delay"])
        try logind.prepareForSleep(true)
        try logind.wait(forInhibitors: [])
        try fire(8)
        try waitForInputWatch(2)
        try wait("on")
        // Whoever comes then is seen.
        try fire(8)
        try wait("off")
    }

    @Test func `a blank screen is idle, one that was never blank says nothing`() throws {
        let (never, saver) = (ScreenSaver.places[0], ScreenSaver.places[2])
        try mock(never, [("GetActive", "", "b", "ret = False")])
        try mock(saver, [("GetActive", "", "b", "ret = True")])
        try bench.daemon.start()
        try wait("on")
        try change(never, isActive: false)
        try change(saver, isActive: false)
        try wait("off")
        // The first would have the word, if it had one.
        try change(saver, isActive: true)
        try wait("on")
        try change(never, isActive: true)
        try change(never, isActive: false)
        try wait("off")
    }

    @Test func `a stranger who says that he is the desktop is not heard`() throws {
        try mockMutter(idleFor: 0)
        try bench.daemon.start()
        try wait("off")
        let core = IdleMonitor.core
        try bus.bus().emit(
            "WatchFired",
            of: core.interface,
            at: core.path,
            [.integer(7)],
            signature: "u"
        )
        try bench.letOthersWork()
        #expect(try bench.condition("idle")["value"] == "off")
    }
}
