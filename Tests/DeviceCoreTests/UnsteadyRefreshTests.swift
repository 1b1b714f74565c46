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

    private static func gains(_ bench: Bench) throws -> GainHistory {
        let index = try #require(bench.device.apps.index(of: AppID("mail")))
        return bench.device.apps[index].gains
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
        let mail = try #require(bench.device.apps.index(of: AppID("mail")))
        let before = bench.device.refreshPolicy.members.slots(of: mail)
        bench.now.wall = bench.now.wall + .hours(12)
        bench.send(.clockChanged)
        #expect(bench.device.refreshPolicy.members.slots(of: mail) == before)
    }

    @Test func `a restart just after midnight adds no day`() throws {
        var bench = Self.bench(days: 9)
        var day = Self.day(bench)
        day.pass(&bench, until: .minutes(10))
        day.send(&bench, .condition(.thermal, .kernel, .value(0)))
        let before = try Self.gains(bench)
        bench.device = Device(restoring: try bench.loaded())
        bench.send(.condition(.thermal, .kernel, .value(1)))
        #expect(try Self.gains(bench).days == before.days)
        #expect(try Self.gains(bench).past == before.past)
    }

    @Test func `who travels back over midnight has no second budget for the day`() throws {
        var bench = Self.bench(days: 10)
        var day = Self.day(bench)
        day.pass(&bench, until: .hours(15))
        let spent = bench.device.refreshPolicy.budget.spent
        #expect(spent > 0)
        bench.now.utcOffset = -16 * 3600
        bench.send(.clockChanged)
        #expect(bench.device.refreshPolicy.budget.spent == spent)
        day.pass(&bench, until: .hours(17))
        #expect(bench.device.refreshPolicy.budget.spent >= spent)
    }

    @Test func `a clock set back by a day leaves each of the two days its own budget`() throws {
        var bench = Self.bench(days: 10)
        var day = Self.day(bench)
        day.pass(&bench, until: .hours(21))
        #expect(bench.device.refreshPolicy.budget.spent > 0)
        bench.now.wall = bench.now.wall - .days(1)
        bench.send(.clockChanged)
        #expect(bench.device.refreshPolicy.budget.spent == 0)
        day = Day(midnight: bench.now.wall - .hours(21), failing: "", slow: "")
        day.send(&bench, .condition(.idle, .hand, .value(0)))
        day.send(&bench, .condition(.idle, .hand, .value(1)))
        day.pass(&bench, until: .days(1) - .minutes(1))
        let known = try Self.gains(bench).days
        bench.spent(12)
        let count = bench.device.refreshPolicy.use.days.count
        day.pass(&bench, until: .days(1))
        #expect(bench.device.refreshPolicy.budget.spent == 0)
        #expect(try Self.gains(bench).days == known + 1)
        let runs = LearnedRefreshTests.live(&bench)
        #expect(runs.contains { $0.app == "mail" && $0.at < .hours(12) }, "\(runs)")
        #expect(bench.device.refreshPolicy.use.days.count == count + 1)
    }

    @Test func `a clock that is set right over midnight begins no day twice`() throws {
        var bench = Self.bench(days: 10)
        var day = Self.day(bench)
        day.pass(&bench, until: .minutes(5))
        day.send(&bench, .condition(.idle, .hand, .value(0)))
        day.send(&bench, .condition(.idle, .hand, .value(1)))
        let count = bench.device.refreshPolicy.use.days.count
        bench.spent(12)
        bench.now.wall = bench.now.wall - .hours(2)
        bench.send(.clockChanged)
        bench.set(.idle, 0, by: .hand)
        bench.set(.idle, 1, by: .hand)
        bench.advance(.hours(3))
        bench.set(.idle, 0, by: .hand)
        #expect(bench.device.refreshPolicy.budget.spent == 12)
        #expect(bench.device.refreshPolicy.use.days.count == count)
    }

    @Test func `who travels back over midnight has that day counted once`() throws {
        var bench = Self.bench(days: 10)
        var day = Self.day(bench)
        day.pass(&bench, until: .minutes(20))
        day.send(&bench, .condition(.idle, .hand, .value(0)))
        let count = bench.device.refreshPolicy.use.days.count
        bench.now.utcOffset = -3600
        bench.send(.clockChanged)
        day.send(&bench, .used(AppID("mail")))
        day.pass(&bench, until: .hours(1) + .minutes(20))
        day.send(&bench, .used(AppID("mail")))
        #expect(bench.device.refreshPolicy.use.days.count == count)
        // It was used on it.
        day.send(&bench, .condition(.idle, .hand, .value(1)))
        let known = try Self.gains(bench).days
        day.pass(&bench, until: .hours(26))
        #expect(try Self.gains(bench).days == known + 1)
    }

    /// Another boot, and the daemon alone.
    @Test(arguments: ["boot-2", "boot-1"])
    func `nobody saw when the use ended of what was open as the power went, or the daemon`(
        _ bootID: String
    ) throws {
        var bench = Bench()
        let manifest = AppManifest.linked("app", identifiers: ["app.refresh"])
        bench.install(manifest)
        _ = try bench.openApp("app")
        let used = bench.device.refreshPolicy.use.lastUse
        let seen = bench.app("app")?.record.lastUsed
        bench.move(.hours(9))
        try bench.restart(bootID: bootID, manifests: [manifest])
        #expect(!bench.device.refreshPolicy.use.isInUse)
        #expect(bench.device.refreshPolicy.use.lastUse == used)
        #expect(bench.app("app")?.use.isOpen == false)
        #expect(bench.app("app")?.use.lastUse == used)
        #expect(bench.app("app")?.record.lastUsed == seen)
    }

    @Test func `what is in front of its user after a restart is in use, and so is the device`()
        throws
    {
        var bench = Bench(isSensed: false)
        let manifests = [AppManifest.linked("gone"), AppManifest.linked("here")]
        bench.send(.manifests(manifests.map { .present($0) }))
        _ = try bench.openApp("gone")
        let used = bench.now.wall
        bench.move(.minutes(1))
        let here = try bench.openApp("here")
        let survivor = Survivor(launch: here, process: bench.launch(here)?.process, alive: true)
        bench.move(.hours(9))
        try bench.restart(survivors: [survivor], manifests: manifests)
        #expect(bench.app("gone")?.use.isOpen == false)
        #expect(bench.app("gone")?.use.lastUse == used)
        #expect(bench.app("here")?.use.isOpen == true)
        #expect(bench.device.refreshPolicy.use.isInUse)
    }

    @Test(arguments: ["boot-2", "boot-1"])
    func `a use whose end nobody saw teaches no gap, and ends no day`(_ bootID: String) throws {
        var bench = Bench(at: .hours(9))
        let manifest = AppManifest.linked("app", identifiers: ["app.refresh"])
        bench.install(manifest)
        bench.set(.idle, 0)
        _ = try bench.openApp("app")
        let before = (device: bench.device.refreshPolicy.use.gaps, app: bench.app("app")?.use.gaps)
        bench.move(.hours(6))
        try bench.restart(bootID: bootID, manifests: [manifest])
        // Another restart knows it still.
        bench.device = Device(restoring: try bench.loaded())
        bench.install(manifest)
        bench.move(.minutes(2))
        bench.set(.idle, 0)
        _ = try bench.openApp("app")
        #expect(bench.device.refreshPolicy.use.gaps == before.device)
        #expect(bench.app("app")?.use.gaps == before.app)
        #expect(bench.device.refreshPolicy.use.awakeSeconds(at: UseTime(bench.now)) > 6 * 3600)
        // The end of this one is seen.
        bench.set(.idle, 1)
        bench.move(.hours(1))
        bench.set(.idle, 0)
        #expect(bench.device.refreshPolicy.use.gaps != before.device)
    }

    @Test func `who uses the device on another day got up, whenever the last use ended`() throws {
        var bench = Bench(at: .hours(20))
        bench.set(.idle, 0)
        bench.move(.hours(11))
        try bench.restart(bootID: "boot-2")
        bench.set(.idle, 0)
        #expect(bench.device.refreshPolicy.use.awakeSeconds(at: UseTime(bench.now)) == 0)
    }

    @Test func `a daemon that starts on an idle device does not take that for the end of use`()
        throws
    {
        var bench = Bench(at: .hours(22))
        bench.set(.idle, 0)
        let (used, gaps) = (bench.now.wall, bench.device.refreshPolicy.use.gaps)
        bench.move(.minutes(5))
        bench.set(.idle, 1)
        bench.move(.minutes(85))
        try bench.restart()
        bench.set(.idle, 1)
        #expect(!bench.device.refreshPolicy.use.isInUse)
        #expect(bench.device.refreshPolicy.use.lastUse == used)
        bench.move(.hours(8))
        bench.set(.idle, 0)
        #expect(bench.device.refreshPolicy.use.gaps == gaps)
    }

    @Test func `opens less than five minutes apart are one of the five that are wanted`() throws {
        var bench = Self.bench(days: 0)
        for _ in 0..<5 {
            bench.send(.used(AppID("mail")))
            bench.advance(.minutes(2))
        }
        let opens = try #require(bench.app("mail")).record.refresh.opens
        #expect(opens == 1)
        bench.advance(.minutes(5))
        bench.send(.used(AppID("mail")))
        #expect(bench.app("mail")?.record.refresh.opens == 2)
    }

    @Test func `what a sensor tells of use is kept, and its end is seen after a restart`() throws {
        var bench = Bench(isSensed: false)
        bench.send(.condition(.idle, .kernel, .value(0)))
        #expect(bench.device.refreshPolicy.use.isInUse)
        let use = bench.device.refreshPolicy.use
        try bench.restart()
        #expect(bench.device.refreshPolicy.use == use)
        bench.send(.condition(.idle, .kernel, .value(1)))
        #expect(!bench.device.refreshPolicy.use.isInUse)
    }
}
