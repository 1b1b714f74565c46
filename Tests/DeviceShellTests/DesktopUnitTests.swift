@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Apps that the desktop starts count as used.
struct DesktopUnitTests {
    @Test(
        arguments: [
            ("app-gnome-org.gnome.Podcasts-4711.scope", "org.gnome.Podcasts"),
            ("app-org.kde.kate-0a1b2c.scope", "org.kde.kate"),
            ("app-org.kde.kate@0a1b2c.service", "org.kde.kate"),
            ("app-flatpak-com.example.App@7.service", "com.example.App"),
            ("app-gnome-my\\x2dreader-12.scope", "my-reader"),
            ("app-gnome-firefox\\x2desr-12.scope", "firefox-esr"),
            ("app-org.example.Tray@autostart.service", nil),
            ("app-org.gnome.Terminal.slice", nil), ("offstage-x.scope", nil),
            ("app-gnome-bad\\xzz-1.scope", nil), ("app.scope", nil), ("dbus-1.2@0.service", nil),
        ] as [(String, String?)]
    )
    func `the name of a unit has the app`(name: String, app: String?) {
        #expect(DesktopUnits.app(ofUnit: name) == app.map { AppID($0) })
    }

    private func uses(_ bench: DaemonBench, _ app: String) throws -> Int {
        try bench.history(app).count { $0["what"] == "seen" }
    }

    @Test func `a start by the desktop is a use, and of an app with UseFrom it is not a second`()
        throws
    {
        let bench = try DaemonBench(starting: false)
        let slice = bench.daemon.scratch("app.slice")
        try Files.makeDirectory(slice, permissions: 0o755)
        bench.daemon.options += ["--app-slice", slice]
        let keys = "BackgroundModes=fetch;\nRefreshCommand=true\n"
        try bench.manifest("reader", keys)
        try bench.manifest("watched", keys + "UseFrom=file:\(bench.home("watched-file"))\n")
        try bench.daemon.start()
        for name in ["app-gnome-watched-1.scope", "app-gnome-unknown-2.scope"] {
            try Files.makeDirectory(slice + "/" + name, permissions: 0o755)
        }
        try Files.makeDirectory(slice + "/app-gnome-reader-3.scope", permissions: 0o755)
        try bench.wait(until: "the use of reader") { try uses(bench, "reader") == 1 }
        #expect(try uses(bench, "watched") == 0)
    }

    @Test func `the slice goes with its last app, and comes again with the next`() throws {
        let bench = try DaemonBench(starting: false)
        let slice = bench.daemon.scratch("user/app.slice")
        try Files.makeDirectory(slice, permissions: 0o755, parents: true)
        bench.daemon.options += ["--app-slice", slice]
        for name in ["first", "second"] {
            try bench.manifest(name, "BackgroundModes=fetch;\nRefreshCommand=true\n")
        }
        try bench.daemon.start()
        for name in ["first", "second"] {
            let unit = slice + "/app-gnome-\(name)-1.scope"
            try Files.makeDirectory(unit, permissions: 0o755, parents: true)
            try bench.wait(until: "the use of \(name)") { try uses(bench, name) == 1 }
            for directory in [unit, slice] { try Files.removeDirectory(directory) }
        }
    }

    /// A process that the desktop has started, in a unit of that name.
    private func start(_ unit: String) throws -> PidFD {
        try Files.makeDirectory(unit, permissions: 0o755, parents: true)
        let process = try Command("sleep", "1000").start(logging: "/dev/null")
        try Files.replace(unit + "/cgroup.procs", with: "\(process.pid)\n")
        return process
    }

    @Test func `what the desktop has started is neither frozen nor ended, as apps of ours are`()
        throws
    {
        let bench = try DaemonBench("suspend-delay = 0s\n", starting: false)
        let slice = bench.daemon.scratch("app.slice")
        try Files.makeDirectory(slice, permissions: 0o755)
        bench.daemon.options += ["--app-slice", slice]
        try bench.script("app.sh", "echo $$ > pid; while :; do sleep 0.1; done")
        for name in ["reader", "browser"] {
            let keys = "BackgroundModes=fetch;"
            try bench.manifest(name, exec: "sh app.sh", entry: "NoDisplay=true", keys)
        }
        try bench.daemon.start()
        let unit = slice + "/app-gnome-browser-1.scope"
        let browser = try start(unit)
        defer {
            try? browser.send(Signal.kill)
            _ = try? browser.wait(block: true)
        }
        try bench.wait(until: "its use") { try uses(bench, "browser") == 1 }
        try bench.ask("Open", "reader", [:])
        let reader = try bench.process(from: "pid")
        try bench.ask("Leave", "reader", [:])
        try bench.waitUntilFrozen(reader)
        try bench.set("memory", "critical")
        try Wait.untilGone(reader)
        try bench.ask("Close", "browser", [:])
        try bench.letOthersWork()
        #expect(try browser.wait(block: false) == nil)
        #expect(ProcessStatus(of: browser.pid)?.state == UInt8(ascii: "S"))
        #expect(try Files.list(unit) == ["cgroup.procs"], "nothing is written there")
    }
}
