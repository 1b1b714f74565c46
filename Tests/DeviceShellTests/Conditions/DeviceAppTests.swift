import AppProtocol
@testable import DeviceShell
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// The device as an app sees it, with everything real: the library in an app of Swift 5, the
/// daemon, and a day that is played by `offstage set`.
struct DeviceAppTests {
    private let app: SampleApp

    init() throws {
        app = try SampleApp("DevicePeer", "", environment: "")
        for (name, value) in [
            ("battery", "62"), ("power", "off"), ("network", "on"), ("metered", "off"),
            ("low-power", "off"), ("thermal", "nominal"),
        ] { try set(name, value) }
    }

    /// `offstage set`.
    private func set(_ words: String...) throws {
        let socket = ["--socket", app.bench.daemon.socket]
        let outcome = try Command([Products.path(of: "offstage"), "set"] + words + socket).run()
        #expect(outcome.succeeded, "\(outcome.errors)")
    }

    @Test func `an app that runs is told what is set, as it is set`() throws {
        try app.open(saying: "active")
        try app.wait(for: "unplugged")
        try app.wait(for: "level 0.62")
        try app.wait(for: "path satisfied free")
        try app.wait(for: "sequence satisfied")
        try set("battery", "61")
        try app.wait(for: "posted level 0.61")
        try set("power", "on")
        try app.wait(for: "posted charging")
        try set("battery", "100")
        try app.wait(for: "posted full")
        try set("low-power", "on")
        try app.wait(for: "posted low power true")
        try set("thermal", "serious")
        try app.wait(for: "posted thermal serious")
        try set("metered", "on")
        try app.wait(for: "path satisfied expensive")
        try set("network", "off")
        try app.wait(for: "path unsatisfied free")
        try app.wait(for: "sequence unsatisfied")
        try set("low-power", "off")
        try app.wait(for: "posted low power false")
        // The next daemon tells what has changed while there was none.
        try app.bench.kill()
        try app.bench.daemon.start()
        try set("low-power", "on")
        try app.wait(for: "posted low power true", times: 2)
    }

    @Test func `a suspended app is told once, before it goes on`() throws {
        try app.open(saying: "active")
        try app.leave()
        try app.wait(for: "left")
        try app.waitUntilSuspended()
        for level in ["50", "40", "30"] { try set("battery", level) }
        try set("power", "on")
        try app.open(saying: "back with 0.3, charging")
        try app.wait(for: "posted level 0.3")
        try app.wait(for: "posted charging")
        let told = app.lines.filter { $0.hasPrefix("posted level") }
        #expect(told == ["posted level 0.3"], "what came between is not told")
    }
}

/// The screen that an app keeps on, with a desktop and a logind that python-dbusmock plays.
final class IdleInhibitionTests {
    private let bench: DaemonBench
    private let session: MessageBus
    private let system: MessageBus
    private let stage: LinkedApp.Stage

    init() throws {
        bench = try DaemonBench(starting: false)
        session = try MessageBus(bench.daemon.scratch, "session")
        system = try MessageBus(bench.daemon.scratch, "system")
        bench.daemon.environment = ["DBUS_SESSION_BUS_ADDRESS": session.address]
        bench.daemon.options += ["--system-bus", system.address]
        try system.start(
            ServiceRow.logind.name,
            "/usr/bin/python3",
            "-m",
            "dbusmock",
            "--system",
            "--template",
            "logind"
        )
        try system.wait(forOwnerOf: ServiceRow.logind.name)
        stage = try LinkedApp.Stage(bench, "film", "", entry: "NoDisplay=true")
        try startScreenSaver()
        try bench.daemon.start()
    }

    /// It remembers what it was asked, and tells a test.
    private func startScreenSaver() throws {
        let object = ScreenSaverInhibitor.object
        try session.mock(object.interface, object.path, object.interface)
        let methods = [
            ("GetActive", "", "b", "ret = False"),
            ("Inhibit", "ss", "u", "self.held = args[0] + ': ' + args[1]; ret = 42"),
            ("UnInhibit", "u", "", "self.held = '' if args[0] == 42 else 'not mine'"),
            ("Held", "", "s", "ret = getattr(self, 'held', '')"),
        ]
        for (name, takes, gives, code) in methods {
            try session.addMethod(
                name,
                of: object.interface,
                at: object.path,
                takes: takes,
                gives: gives,
                code
            )
        }
    }

    private func wait(_ isHeld: Bool) throws {
        let saver = ScreenSaverInhibitor.object
        let held = Target(saver.interface, saver.path, saver.interface, "Held")
        let wanted: Value = isHeld ? "Offstage: an app keeps the screen on" : ""
        try Wait.until("the screen saver is held: \(isHeld)") {
            try session.bus().call(held).first == wanted
        }
        let list = Target(
            ServiceRow.logind.name,
            Logind.manager.path,
            Logind.manager.interface,
            "ListInhibitors"
        )
        try Wait.until("logind is held: \(isHeld)") {
            let rows = try system.bus().call(list).first?.listValue ?? []
            return rows.contains { $0[0] == "idle" && $0[1] == "Offstage" } == isHeld
        }
    }

    @Test func `the screen stays on while the app is in the foreground, and not longer`() throws {
        let app = try stage.open()
        try wait(false)
        try app.call("SetIdleTimer", true)
        try wait(true)
        try bench.ask("Leave", "film", [:])
        try app.answer(app.next("EnterBackground"))
        try wait(false)
        try bench.ask("Open", "film", [:])
        try wait(true)
        try app.exit()
        try wait(false)
    }

    @Test func `a screen saver that comes later is asked too`() throws {
        let app = try stage.open()
        session.end(ScreenSaverInhibitor.object.interface)
        try app.call("SetIdleTimer", true)
        try startScreenSaver()
        try wait(true)
        try app.call("SetIdleTimer", false)
        try wait(false)
    }

    @Test func `only an app that said hello keeps the screen on`() throws {
        try bench.ask("Open", "film", [:])
        let app = try stage.next()
        try app.connect()
        #expect(try app.refusal("SetIdleTimer", true).text.contains("Hello"))
        // Any process of an app may look at the device.
        try bench.set("battery", "33")
        #expect(try app.call("WatchConditions")[0]["battery"] == 33)
        try bench.set("battery", "34")
        try app.call("Hello", ["version": 1])
        try app.call("FinishedLaunching", [])
        #expect(try app.next().method == "BecomeActive")
        #expect(app.calls.isEmpty, "it asked before its hello")
        #expect(try app.call("WatchConditions")[0]["battery"] == 34)
        try bench.set("battery", "35")
        #expect(try app.next("ConditionsChanged").options["battery"] == 35)
    }
}
