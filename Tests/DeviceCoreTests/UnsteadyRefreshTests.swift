import Testing
import Vocabulary

@testable import DeviceCore

/// Refreshes that learn, on a device whose clock is set, that travels, or that loses its power.
struct UnsteadyRefreshTests {
    private typealias Day = LearnedRefreshTests.Day

    private static func bench(days: Int, set: (inout Settings) -> Void = { _ in }) -> Bench {
        LearnedRefreshTests.bench(days: days, budget: 6, set: set)
    }

    private static func day(_ bench: Bench) -> Day {
        Day(midnight: bench.now.wall, failing: "", slow: "")
    }

    private static func moments(_ bench: Bench) throws -> MomentRing {
        let index = try #require(bench.device.apps.index(of: AppID("mail")))
        return bench.device.apps[index].moments
    }

    @Test func `what was used in the future of a clock set back was used just now`() {
        var bench = Self.bench(days: 12)
        bench.now.wall = bench.now.wall - .days(30)
        bench.send(.clockChanged)
        var runs = 0
        for _ in 0..<3 { runs += LearnedRefreshTests.live(&bench, []).count }
        #expect(runs > 0)
    }

    @Test func `after the clock was set no chance of the old time decides`() throws {
        var bench = Self.bench(days: 12) { $0.wakePrice = 1000 }
        var day = Self.day(bench)
        day.pass(&bench, until: .hours(11) + .minutes(51))
        day.send(&bench, .condition(.idle, .hand, .value(0)))
        bench.now.wall = bench.now.wall - .hours(4)
        bench.send(.clockChanged)
        for _ in 0..<2 {
            let next = try #require(bench.armed)
            bench.move(max(.milliseconds(1), next - bench.now.boot))
            bench.send(.timer)
            // At 7:51 nobody opens what is opened at noon.
            #expect(bench.requests("mail").allSatisfy { $0.decision == nil })
            #expect(!bench.spawned.contains { $0.spec.app.name == "mail" })
        }
    }

    @Test func `half-hours that a clock set forward skipped are not looked back at`() throws {
        var bench = Self.bench(days: 9)
        var day = Self.day(bench)
        day.pass(&bench, until: .hours(6))
        let before = bench.device.planner.today
        bench.now.wall = bench.now.wall + .hours(12)
        bench.send(.clockChanged)
        #expect(bench.device.planner.today == before)
    }

    @Test func `a restart just after midnight adds no day`() throws {
        var bench = Self.bench(days: 9)
        var day = Self.day(bench)
        day.pass(&bench, until: .minutes(10))
        day.send(&bench, .condition(.thermal, .kernel, .value(0)))
        let before = try Self.moments(bench)
        bench.device = Device(restoring: try bench.loaded())
        bench.send(.condition(.thermal, .kernel, .value(1)))
        #expect(try Self.moments(bench).days == before.days)
        #expect(try Self.moments(bench).past == before.past)
    }

    @Test func `who travels back over midnight has no second purse for the day`() throws {
        var bench = Self.bench(days: 10)
        var day = Self.day(bench)
        day.pass(&bench, until: .hours(15))
        let spent = bench.device.planner.spent
        #expect(spent > 0)
        bench.now.utcOffset = -16 * 3600
        bench.send(.clockChanged)
        #expect(bench.device.planner.spent == spent)
        day.pass(&bench, until: .hours(17))
        #expect(bench.device.planner.spent >= spent)
    }

    @Test func `nobody saw when the use ended of what was open as the power went`() throws {
        var bench = Bench()
        let manifest = AppManifest.linked("app", identifiers: ["app.refresh"])
        bench.install(manifest)
        _ = try bench.openApp("app")
        let used = bench.device.use.lastUse
        let seen = bench.app("app")?.record.lastUsed
        bench.move(.hours(9))
        try bench.restart(bootID: "boot-2", manifests: [manifest])
        #expect(!bench.device.use.isInUse)
        #expect(bench.device.use.lastUse == used)
        #expect(bench.app("app")?.use.isOpen == false)
        #expect(bench.app("app")?.use.lastUse == used)
        #expect(bench.app("app")?.record.lastUsed == seen)
    }

    @Test func `what a sensor tells of use is kept, and its end is seen after a restart`() throws {
        var bench = Bench()
        bench.send(.condition(.idle, .kernel, .value(0)))
        #expect(bench.device.use.isInUse)
        let use = bench.device.use
        try bench.restart()
        #expect(bench.device.use == use)
        bench.send(.condition(.idle, .kernel, .value(1)))
        #expect(!bench.device.use.isInUse)
    }
}
