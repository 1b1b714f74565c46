import DeviceCore
import Testing
import Vocabulary

/// Clocks that are set, zones that change, devices that wake up.
struct ClockTests {
    @Test func `a clock set back holds nothing back for longer than a wait lasts`() throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.useFrom = .file("/x") })
        let first = try #require(bench.spawn(of: "app"))
        bench.started(first)
        bench.exited(first, status: 1)
        bench.advance(.seconds(5))
        bench.send(.used(AppID("app")))
        bench.now.wall = bench.now.wall - .days(400)
        bench.send(.clockChanged)
        let record = bench.app("app")?.record
        #expect(record?.lastUsed == bench.now.wall)
        #expect(record?.lastEnd(of: .refresh) == bench.now.wall)
        bench.advance(.minutes(15))
        #expect(bench.spawn(of: "app") == nil)
        bench.advance(.hours(4))
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `a clock set back while no daemon lives is noticed by the next one`() throws {
        var bench = Bench()
        let manifest = AppManifest.refreshing("app") { $0.useFrom = .file("/x") }
        bench.install(manifest)
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch, status: 0)
        bench.advance(.seconds(5))
        bench.send(.used(AppID("app")))
        #expect(bench.app("app")?.record.lastUsed == bench.now.wall)
        bench.ask(.pause(nil))
        bench.now.wall = bench.now.wall - .days(1)
        try bench.restart(manifests: [manifest])
        #expect(bench.app("app")?.record.lastUsed == bench.now.wall)
        #expect(bench.device.pausedAt == bench.now.wall)
    }

    @Test func `a pause alone tells too that the clock was set back while no daemon lived`() throws
    {
        var bench = Bench()
        bench.ask(.pause(.hours(2)))
        bench.now.wall = bench.now.wall - .days(1)
        try bench.restart(manifests: [])
        #expect(bench.device.pausedAt == bench.now.wall)
    }

    @Test func `a clock set forth makes due what is due then`() {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, after: .hours(5), command: ["sync"])))
        bench.now.wall = bench.now.wall + .hours(6)
        #expect(bench.spawned.isEmpty)
        bench.send(.clockChanged)
        #expect(bench.spawn(of: "command.sync") != nil)
    }

    @Test func `a span that was asked for while the clock was ahead begins when it is set right`()
        throws
    {
        var bench = Bench()
        let right = bench.now.wall
        bench.now.wall = right + .days(365)
        bench.send(.clockChanged)
        let date = bench.now.wall + .hours(1)
        bench.ask(.submit(Submission(kind: .refresh, after: .hours(5), command: ["after"])))
        bench.ask(.submit(Submission(kind: .refresh, earliest: date, command: ["date"])))
        bench.ask(.submit(Submission(kind: .refresh, every: .hours(3), command: ["every"])))
        bench.ask(.submit(Submission(kind: .refresh, command: ["retry"])))
        for (name, status) in [("command.every", Int32(0)), ("command.retry", 75)] {
            let launch = try #require(bench.app(name)?.launches.first?.id)
            bench.started(launch)
            bench.exited(launch, status: status)
        }
        bench.now.wall = right
        bench.send(.clockChanged)
        #expect(bench.app("command.every")?.record.lastRun?.at == right)
        func earliest(_ name: String) -> WallTime? { bench.requests(name).first?.earliest }
        #expect(earliest("command.after") == right + .hours(5))
        #expect(bench.requests("command.every").first?.lastEnd == right)
        #expect(earliest("command.retry") == right + .minutes(15))
        // What its caller said is not ours to move.
        #expect(earliest("command.date") == date)
    }

    /// As on a board that has no clock of its own.
    @Test func `a command that has run is not forgotten because the clock is set right`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, command: ["once"])))
        let launch = try #require(bench.spawn(of: "command.once"))
        bench.started(launch)
        bench.exited(launch, status: 0)
        bench.now.wall = bench.now.wall + .days(20_000)
        bench.send(.clockChanged)
        #expect(bench.app("command.once") != nil)
        bench.advance(.days(7))
        #expect(bench.app("command.once") == nil)
    }

    @Test func `how long a command may stay frozen is not told by the wall clock`() throws {
        var bench = Bench()
        bench.install(.processing("app") { $0.whenInterrupted = .freeze })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.set(.idle, 0)
        bench.now.wall = bench.now.wall + .days(3)
        bench.send(.clockChanged)
        #expect(!bench.contains(.terminate(launch)))
        bench.now.wall = bench.now.wall - .days(30)
        bench.send(.clockChanged)
        bench.advance(.days(1) - .milliseconds(1))
        #expect(!bench.contains(.terminate(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.terminate(launch)))
    }

    @Test func `grants do not care about the wall clock`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        for hours: Int64 in [40, -80] {
            bench.now.wall = bench.now.wall + .hours(hours)
            bench.send(.clockChanged)
            bench.advance(.seconds(10))
            #expect(!bench.contains(.terminate(launch)))
        }
        bench.advance(.seconds(5))
        #expect(bench.contains(.terminate(launch)))
    }

    @Test func `waking hours are those of the zone that the user is in`() {
        var bench = Bench(at: .hours(3), isCalm: false)
        bench.configure { $0.pauseAfterStart = .zero }
        bench.set(.idle, 0)
        bench.install(.refreshing("app"))
        #expect(bench.gates("app") == ["better-moment"])
        bench.now.utcOffset = 5 * 3600
        bench.send(.clockChanged)
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `quotas begin anew at local midnight`() throws {
        var bench = Bench(at: .hours(20))
        bench.set(.battery, 90)
        bench.set(.power, 0)
        bench.configure { $0.appWakesPerDay = 1 }
        bench.now.utcOffset = 2 * 3600
        bench.send(.clockChanged)
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch)
        bench.advance(.hours(2) - .milliseconds(1))
        #expect(bench.spawned.isEmpty)
        #expect(bench.gates("app") == ["app-quota"])
        bench.advance(.milliseconds(1))
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `after waking up the device has 10 s for itself`() {
        var bench = Bench()
        bench.configure { $0.pauseAfterResume = .seconds(10) }
        bench.ask(.submit(Submission(kind: .refresh, after: .hours(1), command: ["sync"])))
        bench.sleep(.hours(2))
        #expect(bench.spawned.isEmpty)
        #expect(bench.gates("command.sync") == ["start-pause"])
        bench.advance(.seconds(10) - .milliseconds(1))
        #expect(bench.spawned.isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.spawn(of: "command.sync") != nil)
    }

    @Test func `boot and the daemon's start have pauses of their own`() {
        for (sinceBoot, wait): (Interval, Interval) in [
            (.seconds(20), .seconds(40)), (.seconds(58), .seconds(5)), (.hours(1), .seconds(5)),
        ] {
            var settings = Settings.calm
            settings.pauseAfterBoot = .seconds(60)
            settings.pauseAfterStart = .seconds(5)
            var bench = Bench(sinceBoot: sinceBoot, settings: settings)
            bench.install(.refreshing("app"))
            bench.advance(wait - .milliseconds(1))
            #expect(bench.spawned.isEmpty)
            bench.advance(.milliseconds(1))
            #expect(bench.spawn(of: "app") != nil)
        }
    }

    @Test func `a sleeping device is woken for work that is due, not to forget what is over`()
        throws
    {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, after: .hours(5), command: ["sync"])))
        #expect(bench.sleepUntilAlarm(atMost: .days(30)) == .hours(5))
        let launch = try #require(bench.spawn(of: "command.sync"))
        bench.started(launch)
        bench.exited(launch)
        #expect(bench.app("command.sync") != nil)
        #expect(bench.sleepUntilAlarm(atMost: .days(30)) == .days(30))
        #expect(bench.app("command.sync") == nil)
    }

    @Test func `the timer is asked for only when it changes, and never for the past`() {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, after: .hours(5), command: ["sync"])))
        #expect(bench.armed == bench.now.boot + .hours(5))
        bench.advance(.hours(1))
        bench.set(.thermal, 1)
        #expect(bench.effects.isEmpty)
        bench.ask(.cancel(AppID("command.sync"), identifier: nil))
        // What is left is forgetting the command after a week.
        #expect(bench.armed == bench.now.boot + .days(7) - .hours(1))
    }
}
