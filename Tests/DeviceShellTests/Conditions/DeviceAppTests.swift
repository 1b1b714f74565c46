import AppProtocol
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
        try app.wait(for: "screen kept on true")
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
        try set("low-data", "on")
        try app.wait(for: "path satisfied expensive constrained")
        try set("low-data", "auto")
        try app.wait(for: "path satisfied expensive", times: 2)
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
        try app.wait(for: "screen kept on false")
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
