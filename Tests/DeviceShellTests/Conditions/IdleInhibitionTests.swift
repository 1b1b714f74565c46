import AppProtocol
@testable import DeviceShell
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// The screen that an app keeps on, with a desktop and a logind that python-dbusmock plays.
final class IdleInhibitionTests {
    private let bench: DaemonBench
    private let session: MessageBus
    private let logind: MockLogind
    private let stage: LinkedApp.Stage

    init() throws {
        bench = try DaemonBench(starting: false)
        session = try MessageBus(bench.daemon.scratch, "session")
        let system = try MessageBus(bench.daemon.scratch, "system")
        bench.daemon.environment = ["DBUS_SESSION_BUS_ADDRESS": session.address]
        bench.daemon.options += ["--system-bus", system.address]
        logind = try MockLogind(on: system)
        stage = try LinkedApp.Stage(bench, "film", "", entry: "NoDisplay=true")
        try startScreenSaver()
        try bench.daemon.start()
    }

    /// It remembers what it was asked, and tells a test. As that of a desktop it can be asked as
    /// soon as it has its name.
    private func startScreenSaver() throws {
        let name = ScreenSaverInhibitor.object.interface
        try session.start(name, "/usr/bin/python3", "-c", Self.screenSaver)
        try session.wait(forOwnerOf: name)
    }

    private static let screenSaver = """
        import dbus, dbus.mainloop.glib, dbus.service
        from gi.repository import GLib

        NAME = "org.freedesktop.ScreenSaver"

        class ScreenSaver(dbus.service.Object):
            held = ""

            @dbus.service.method(NAME, in_signature="ss", out_signature="u")
            def Inhibit(self, program, reason):
                self.held = program + ": " + reason
                return 42

            @dbus.service.method(NAME, in_signature="u")
            def UnInhibit(self, cookie):
                self.held = "" if cookie == 42 else "not mine"

            @dbus.service.method(NAME, out_signature="s")
            def Held(self):
                return self.held

            @dbus.service.method(NAME, out_signature="b")
            def GetActive(self):
                return False

        dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
        bus = dbus.SessionBus()
        saver = ScreenSaver(bus, "/org/freedesktop/ScreenSaver")
        name = dbus.service.BusName(NAME, bus)
        GLib.MainLoop().run()
        """

    private func wait(_ isHeld: Bool) throws {
        let saver = ScreenSaverInhibitor.object
        let held = Target(saver.interface, saver.path, saver.interface, "Held")
        let wanted: Value = isHeld ? "Offstage: an app keeps the screen on" : ""
        try Wait.until("the screen saver is held: \(isHeld)") {
            try session.bus().call(held).first == wanted
        }
        try Wait.until("logind is held: \(isHeld)") {
            try logind.locks().contains {
                $0[0] == "idle" && $0[2] == .string(IdleInhibition.reason)
            } == isHeld
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
        try app.call("FinishedLaunching", .list([]))
        #expect(try app.next().method == "BecomeActive")
        #expect(app.calls.isEmpty, "it asked before its hello")
        #expect(try app.call("WatchConditions")[0]["battery"] == 34)
        try bench.set("battery", "35")
        #expect(try app.next("ConditionsChanged").options["battery"] == 35)
    }
}
