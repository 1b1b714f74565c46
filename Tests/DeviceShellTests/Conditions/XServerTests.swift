import DeviceCore
@testable import DeviceShell
import EventLoop
import Linux
import TestKit
import Testing
import Vocabulary
import X11

/// What a real X server tells of input: whether anybody is there.
@Suite(.enabled(if: TestScreen.isInstalled, "Xvfb, xauth and xdotool are not installed"))
final class XServerTests {
    private let scratch = ScratchDirectory()
    private let loop: EventLoop
    private var readings: [Reading] = []

    init() throws { loop = try EventLoop() }

    private func source(
        _ environment: [String],
        patience: Interval
    ) -> XServerIdle {
        XServerIdle(loop, patience: patience, environment: { environment }) { [unowned self] in
            readings.append($0)
        }
    }

    private func wait(for reading: Reading) throws {
        try Wait.until("\(reading), not \(readings)", { readings.last == reading }) {
            try Wait.until(readable: loop.descriptor, "\(reading), not \(readings)")
            _ = try loop.runReady()
        }
    }

    @Test func `a time without input is idle, and the next input is its end`() throws {
        let screen = try TestScreen(scratch)
        let source = source(["DISPLAY=" + screen.display], patience: .milliseconds(400))
        source.connect()
        try wait(for: .value(1))
        try screen.move()
        try wait(for: .value(0))
        // Once is not for all time.
        try wait(for: .value(1))
        try screen.move()
        try wait(for: .value(0))
        #expect(source.problem == nil)
    }

    @Test func `who was idle before is so at once`() throws {
        let screen = try TestScreen(scratch)
        let first = source(["DISPLAY=" + screen.display], patience: .milliseconds(200))
        first.connect()
        try wait(for: .value(1))
        readings = []
        let second = source(["DISPLAY=" + screen.display], patience: .milliseconds(100))
        second.connect()
        try wait(for: .value(1))
        #expect(readings == [.value(1)])
    }

    @Test func `a server that ends is lost, and found when it is back`() throws {
        let screen = try TestScreen(scratch)
        let source = source(["DISPLAY=" + screen.display], patience: .minutes(5))
        source.connect()
        try wait(for: .value(0))
        try screen.end()
        try wait(for: .lost)
        try screen.start()
        try wait(for: .value(0))
        #expect(readings == [.value(0), .lost, .value(0)])
    }

    @Test func `a server that asks for a cookie gets the session's`() throws {
        let cookie = String(repeating: "a1", count: 16)
        let screen = try TestScreen(scratch, cookie: cookie)
        let file = scratch("cookies")
        for (display, cookie) in [
            (":4711", String(repeating: "00", count: 16)), (screen.display, cookie),
        ] {
            let entry = Command("xauth", "-f", file, "add", display, ".", cookie)
            #expect(try entry.run().succeeded)
        }
        let stranger = source(
            ["DISPLAY=" + screen.display, "XAUTHORITY=/dev/null"],
            patience: .minutes(5)
        )
        stranger.connect()
        try Wait.until("refused", { stranger.problem != nil }) {
            try Wait.until(readable: loop.descriptor)
            _ = try loop.runReady()
        }
        #expect(stranger.problem?.text == "no X server answers at \(screen.display)")
        #expect(readings.isEmpty, "one that never was there is not lost")
        let source = source(
            ["DISPLAY=" + screen.display, "XAUTHORITY=" + file],
            patience: .minutes(5)
        )
        source.connect()
        try wait(for: .value(0))
    }

    // MARK: The daemon

    private func wait(_ bench: DaemonBench, _ field: String, _ value: String) throws {
        try bench.wait(until: "idle: \(field) \(value)") {
            try bench.condition("idle")[field] == .string(value)
        }
    }

    @Test func `status and doctor name the server, and who hangs holds up nobody`() throws {
        let screen = try TestScreen(scratch)
        let bench = try DaemonBench(starting: false)
        bench.daemon.environment = ["DISPLAY": screen.display]
        try bench.daemon.start()
        // It is not waited for by the start.
        try Wait.until(
            "the X server",
            { try bench.condition("idle")["source"] == "the X server" }
        )
        #expect(try bench.condition("idle")["value"] == "off")
        let checks = try bench.ask("Doctor").listValue ?? []
        let check = try #require(checks.first { $0["check"] == "sensor idle" })
        #expect(check["found"]?.stringValue?.contains("off (the X server)") == true, "\(check)")
        #expect(!checks.contains { $0["check"] == "X server" })
        try bench.kill()
        try screen.stop()
        try bench.daemon.start()
        #expect(try bench.condition("idle")["sensing"] == "unknown")
    }
}

/// Which server is asked, and with what.
struct XDisplayTests {
    private func display(_ entries: String...) -> XServerIdle.Display? {
        XServerIdle.Display(["HOME=/home/me"] + entries)
    }

    @Test func `only a server of this machine, and not Xwayland's`() {
        #expect(display("DISPLAY=:1")?.number == 1)
        #expect(display("DISPLAY=:12.0")?.number == 12)
        #expect(display("DISPLAY=:1", "XAUTHORITY=/run/x")?.authority == "/run/x")
        #expect(display() == nil)
        #expect(display("DISPLAY=") == nil)
        #expect(display("DISPLAY=localhost:10.0") == nil)
        #expect(display("DISPLAY=:x") == nil)
        #expect(display("DISPLAY=:0", "WAYLAND_DISPLAY=wayland-0") == nil)
        #expect(display("DISPLAY=:0", "WAYLAND_DISPLAY=") != nil)
    }

    /// Of `xauth`: family, address, number, name, data.
    private func entry(_ number: String, _ name: String, _ data: [UInt8]) -> [UInt8] {
        let fields = [Array("host".utf8), Array(number.utf8), Array(name.utf8), data]
        return [1, 0] + fields.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
    }

    @Test func `the cookie is the display's, or one for all`() {
        let kind = "MIT-MAGIC-COOKIE-1"
        let file =
            entry("1", "XDM-AUTHORIZATION-1", [9]) + entry("0", kind, [7])
            + entry("1", kind, [8, 8])
        #expect(XAuthority.cookie(for: 1, in: file) == [8, 8])
        #expect(XAuthority.cookie(for: 0, in: file) == [7])
        #expect(XAuthority.cookie(for: 2, in: file) == nil)
        #expect(XAuthority.cookie(for: 2, in: file + entry("", kind, [6])) == [6])
        #expect(XAuthority.cookie(for: 1, in: Array(file.dropLast())) == nil)
        #expect(XAuthority.cookie(for: 1, in: []) == nil)
        #expect(XAuthority.cookie(for: 1, in: [1]) == nil)
    }
}
