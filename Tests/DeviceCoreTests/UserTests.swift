import DeviceCore
import TestKit
import Testing
import Vocabulary

/// What the user asks for: pause, run, simulate (C12).
struct UserTests {
    @Test func `pause stops what runs and holds the rest, continue lets go`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.ask(.pause(nil))
        #expect(bench.reply == .done)
        #expect(bench.contains(.terminate(launch)))
        bench.exited(launch, status: 143)
        #expect(bench.results == [.expired(.paused)])
        bench.advance(.days(1))
        #expect(bench.spawned.isEmpty)
        #expect(bench.gates("app") == ["paused"])
        bench.ask(.continue)
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `a pause for a while ends by itself, and counts sleep`() throws {
        var bench = Bench()
        bench.ask(.pause(.hours(2)))
        bench.install(.refreshing("app"))
        bench.advance(.hours(1))
        #expect(bench.spawned.isEmpty)
        bench.sleep(.hours(1))
        #expect(bench.spawn(of: "app") != nil)
        #expect(bench.device.pause == .none)
    }

    @Test func `a pause survives the daemon and the boot, and ends when it was to end`() throws {
        var bench = Bench()
        bench.ask(.pause(.hours(2)))
        bench.move(.minutes(30))
        try bench.restart()
        #expect(bench.device.pause != .none)
        #expect(bench.device.pausedAt != nil)
        try bench.restart(bootID: "boot-2")
        #expect(bench.device.pause == .until(bench.now.boot + .minutes(90)))
        bench.move(.minutes(100))
        try bench.restart(bootID: "boot-3")
        #expect(bench.device.pause == .none)
        #expect(bench.device.pausedAt == nil)
        bench.ask(.pause(nil))
        try bench.restart(bootID: "boot-4")
        #expect(bench.device.pause == .untilContinued)
    }

    @Test(arguments: [Interval.days(-400), .days(400)])
    func `a clock that is set moves the end of a pause with it`(_ shift: Interval) throws {
        var bench = Bench()
        bench.ask(.pause(.hours(2)))
        bench.now.wall = bench.now.wall + shift
        bench.send(.clockChanged)
        try bench.restart(bootID: "boot-2")
        #expect(bench.device.pause == .until(bench.now.boot + .hours(2)))
    }

    @Test func `a pause until a date ends at that date, however the clock is set`() throws {
        var bench = Bench()
        let date = bench.now.wall + .hours(2)
        #expect(bench.ask(.pause(nil, until: date)) == .done)
        bench.install(.refreshing("app"))
        bench.now.wall = bench.now.wall + .minutes(90)
        bench.send(.clockChanged)
        #expect(bench.device.pause == .untilDate(date))
        #expect(bench.gates("app") == ["paused"])
        try bench.restart()
        #expect(bench.device.pause == .untilDate(date))
        try bench.restart(bootID: "boot-2")
        #expect(bench.device.pause == .untilDate(date))
        bench.advance(.minutes(29))
        #expect(bench.device.pause == .untilDate(date) && bench.spawned.isEmpty)
        // By its own timer.
        bench.advance(.minutes(2))
        #expect(bench.device.pause == .none)
        #expect(!bench.gates("app").contains("paused"))
    }

    @Test func `a date that comes while no daemon lives ends the pause`() throws {
        var bench = Bench()
        bench.ask(.pause(nil, until: bench.now.wall + .hours(2)))
        bench.move(.hours(3))
        try bench.restart(bootID: "boot-2")
        #expect(bench.device.pause == .none && bench.device.pausedAt == nil)
    }

    @Test func `a pause until a date that has passed is refused, and stops nothing`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.ask(.pause(nil, until: bench.now.wall - .hours(1)))
        #expect(bench.refusal?.code == .invalid)
        #expect(bench.device.pause == .none && !bench.contains(.terminate(launch)))
    }

    /// Else it could not be replayed: an event log has no zones.
    @Test func `an answer does not depend on when clocks are set elsewhere in the year`() {
        let answers = [nil, Zones.berlin].map { zone in
            var bench = Bench()
            bench.now.zone = zone
            return bench.ask(.pause(nil, until: bench.now.wall - .days(180)))
        }
        #expect(answers[0] != nil && answers[0] == answers[1])
    }

    @Test func `a clock that was lost with the boot makes no pause longer`() throws {
        var bench = Bench()
        bench.ask(.pause(.hours(2)))
        bench.now.wall = bench.now.wall - .days(400)
        try bench.restart(bootID: "boot-2")
        #expect(bench.device.pause == .until(bench.now.boot + .hours(2)))
    }

    @Test func `an app without tasks can be started straight into the background`() throws {
        var bench = Bench()
        bench.install(.linked("app"), .refreshing("news"))
        bench.set(.storage, 1)
        bench.ask(.simulate(.launch, AppID("app"), identifier: nil))
        #expect(bench.refusal?.code == .held)
        bench.set(.storage, 0)
        bench.ask(.simulate(.launch, AppID("app"), identifier: nil))
        #expect(bench.reply == .done)
        let launch = try #require(bench.spawn(of: "app"))
        #expect(bench.spawned.first?.spec.weight == .background)
        bench.started(launch)
        bench.ask(.simulate(.launch, AppID("app"), identifier: nil))
        #expect(bench.refusal?.code == .held)
        bench.say(launch, .finishedLaunching(registered: []))
        #expect(bench.contains(.freeze(launch)))
        #expect(bench.device.ledger.wakes == 1)
    }

    @Test func `what is launched for an identifier is of the kind that the manifest declares`()
        throws
    {
        for (modes, trigger) in [
            ([BackgroundMode.fetch], Trigger.refresh), ([.processing], .processing),
        ] {
            var bench = Bench()
            bench.install(.linked("app", identifiers: ["app.x"]) { $0.modes = modes })
            bench.ask(.simulate(.launch, AppID("app"), identifier: "app.x"))
            let launch = try #require(bench.spawn(of: "app"), "\(modes)")
            #expect(bench.launch(launch)?.wake?.trigger == trigger)
        }
    }

    @Test func `one that may be of either kind is what it was submitted as, or it is asked`() throws
    {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        bench.ask(.simulate(.launch, AppID("app"), identifier: "app.x"))
        #expect(bench.spawned.isEmpty && bench.refusal?.code == .invalid)
        let command = "offstage simulate launch app app.x"
        #expect(bench.refusal?.fix == "\(command) --refresh, or: \(command) --processing")
        for kind in TaskKind.allCases {
            bench.ask(.simulate(.launch, AppID("app"), identifier: "app.x", kind: kind))
            let launch = try #require(bench.spawn(of: "app"))
            #expect(bench.launch(launch)?.wake?.trigger == kind.trigger)
            bench.exited(launch)
        }
        let launch = try bench.openApp("app", registered: ["app.*"])
        for (number, kind) in [TaskKind.processing, .refresh, .processing].enumerated() {
            bench.submit(launch, "app.x", kind)
            bench.say(launch, .cancel(identifier: nil, reply: bench.nextReply()))
            bench.submit(launch, "app.\(number)", .refresh)
            bench.say(launch, .cancel(identifier: nil, reply: bench.nextReply()))
        }
        // Also by the next daemon.
        try bench.restart(manifests: [.linked("app", identifiers: ["app.*"])])
        bench.ask(.simulate(.launch, AppID("app"), identifier: "app.x"))
        let simulated = bench.requests("app").first { $0.mode == .simulated }
        #expect(simulated?.trigger == .processing)
        #expect(bench.app("app")?.record.kinds.count == 4)
        bench.ask(.simulate(.launch, AppID("app"), identifier: "app.z"))
        #expect(bench.refusal?.code == .invalid)
    }

    @Test(arguments: [TaskKind.refresh, .processing])
    func `what waits is launched as its own kind only`(kind: TaskKind) throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.x"]))
        let app = try bench.openApp("app", registered: ["app.x"])
        bench.set(.idle, 0)
        bench.submit(app, "app.x", .processing)
        bench.exited(app)
        bench.ask(.simulate(.launch, AppID("app"), identifier: "app.x", kind: kind))
        guard kind == .refresh else {
            let launch = try #require(bench.spawn(of: "app"))
            #expect(bench.launch(launch)?.wake?.trigger == .processing)
            return
        }
        #expect(bench.refusal?.code == .invalid && bench.spawned.isEmpty)
        #expect(bench.refusal?.reason.hasSuffix("as a processing task, not as refresh") == true)
        #expect(bench.refusal?.fix == "offstage simulate launch app app.x")
    }

    @Test func `a kind that the manifest does not declare is refused`() {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.x"]) { $0.modes = [.fetch] })
        bench.ask(.simulate(.launch, AppID("app"), identifier: "app.x", kind: .processing))
        #expect(bench.refusal?.code == .notPermitted && bench.spawned.isEmpty)
    }

    @Test func `a process cannot become an app that runs, and nothing is said of a use`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let process = ProcessID(pid: 7, startTime: 70)
        let launch = try bench.suspendApp("app")
        let lines = bench.history.count
        let lastUsed = bench.app("app")?.record.lastUsed
        bench.advance(.minutes(1))
        bench.ask(.open(AppID("app"), attach: process))
        #expect(bench.refusal?.reason.hasPrefix("app is already running in the background") == true)
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(bench.history.count == lines + 1)
        bench.ask(.open(AppID("app"), attach: process))
        #expect(bench.refusal?.reason.hasPrefix("app is already open") == true)
        #expect(bench.history.count == lines + 1)
        #expect(bench.app("app")?.record.lastUsed != lastUsed)
        // While it ends, who waits for it to be opened again is not forgotten.
        bench.ask(.close(AppID("app")))
        bench.ask(.open(AppID("app"), attach: nil))
        let closed = bench.history.count
        bench.ask(.open(AppID("app"), attach: process))
        #expect(bench.refusal?.reason == "app is being terminated")
        #expect(bench.history.count == closed)
        bench.exited(launch)
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `a question in a sentence ends it`() throws {
        var bench = Bench()
        let problem = "line 2: BackgroundModes: \"fetsh\" is not a mode. Did you mean fetch?"
        bench.send(.manifests([.invalid(AppID("app"), file: "/app.desktop", reason: problem)]))
        let explanation = try #require(bench.device.explain(AppID("app"), at: bench.now).first)
        #expect(explanation.sentence.hasSuffix("Did you mean fetch?"), "\(explanation.sentence)")
    }

    @Test func `a pause leaves what the user looks at alone`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.openApp("app", registered: ["app.*"])
        bench.submit(launch, "app.0", .processing)
        #expect(bench.offers(launch).count == 1)
        bench.ask(.pause(nil))
        #expect(bench.told(launch).isEmpty)
    }

    @Test func `run skips what only saves, counts, and is refused by rules with their words`()
        throws
    {
        var bench = Bench(at: .hours(3), isCalm: false)
        bench.set(.battery, 10)
        bench.set(.power, 0)
        bench.install(.refreshing("app"))
        #expect(Set(bench.gates("app")).isSuperset(of: ["battery", "better-moment"]))
        bench.set(.network, 0)
        bench.ask(.run(AppID("app"), identifier: nil))
        #expect(bench.refusal?.code == .held)
        #expect(bench.refusal?.reason == "app does not run: there is no network connection")
        #expect(bench.requests("app").map(\.mode) == [.normal])
        bench.set(.network, 2)
        bench.ask(.run(AppID("app"), identifier: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.ask(.run(AppID("app"), identifier: nil))
        #expect(bench.refusal?.code == .held)
        bench.exited(launch)
        #expect(bench.device.ledger.wakes == 1)
        #expect(bench.runs.first?.simulated == false)
        #expect(bench.requests("app").map(\.mode) == [.normal])
    }

    @Test func `run of what is not there says so`() {
        var bench = Bench()
        bench.ask(.run(AppID("x"), identifier: nil))
        #expect(bench.refusal?.code == .notFound)
        bench.install(.linked("app"))
        bench.ask(.run(AppID("app"), identifier: nil))
        #expect(bench.refusal?.code == .notFound)
        bench.ask(.run(AppID("app"), identifier: "x"))
        #expect(bench.refusal?.value == "x")
    }

    @Test func `a simulated launch skips the gates, is marked, and counts for nothing`() throws {
        var bench = Bench(at: .hours(3), isCalm: false)
        bench.set(.network, 0)
        bench.set(.thermal, 3)
        bench.ask(.pause(nil))
        bench.install(.refreshing("app"))
        let before = bench.app("app")?.record
        bench.ask(.simulate(.launch, AppID("app"), identifier: nil))
        #expect(bench.reply == .done)
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch, status: 1)
        #expect(bench.runs.map(\.simulated) == [true])
        #expect(bench.device.ledger.wakes == 0)
        var after = bench.app("app")?.record
        after?.lastRun = nil
        #expect(after == before)
        #expect(bench.requests("app").map(\.mode) == [.normal])
    }

    @Test func `a simulated run that is interrupted stays a test, and waits like any other`() throws
    {
        var bench = Bench()
        bench.set(.idle, 0)
        bench.install(.processing("app") { $0.whenInterrupted = .freeze })
        bench.ask(.simulate(.launch, AppID("app"), identifier: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.set(.lowPower, 1)
        #expect(bench.contains(.freeze(launch)))
        #expect(!bench.contains(.thaw(launch)))
        bench.set(.lowPower, 0)
        #expect(!bench.contains(.thaw(launch)))
        bench.set(.idle, 1)
        #expect(bench.contains(.thaw(launch)))
        #expect(bench.device.ledger.wakes == 0)
        bench.exited(launch)
        #expect(bench.runs.map(\.simulated) == [true, true])
        // And the real one is still to come.
        #expect(bench.requests("app").count == 1)
        #expect(bench.spawn(of: "app") != nil)
        #expect(bench.device.ledger.wakes == 1)
    }

    @Test func `a simulation needs an app, its mode, the store and a slot`() throws {
        var bench = Bench()
        bench.configure { $0.runSlots = 1 }
        bench.ask(.simulate(.launch, AppID("x"), identifier: nil))
        #expect(bench.refusal?.code == .notFound)
        bench.install(.refreshing("a"), .refreshing("b"))
        let launch = try #require(bench.spawn(of: "a"))
        bench.ask(.simulate(.launch, AppID("b"), identifier: nil))
        #expect(bench.refusal?.code == .held)
        bench.started(launch)
        bench.exited(launch)
        bench.set(.storage, 2)
        bench.ask(.simulate(.launch, AppID("a"), identifier: nil))
        #expect(bench.refusal?.code == .held)
        #expect(bench.requests("a").count == 1)
    }

    @Test func `a simulated expiry ends a command as a real one`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.ask(.simulate(.expire, AppID("app"), identifier: nil))
        #expect(bench.contains(.terminate(launch)))
        bench.exited(launch, status: 143)
        #expect(bench.results == [.expired(.simulated)])
        bench.ask(.simulate(.expire, AppID("app"), identifier: nil))
        #expect(bench.refusal?.code == .notFound)
    }

    @Test func `fetch and expiry can be forced on an app, launched and resumed`() throws {
        for isRunning in [false, true] {
            var bench = Bench()
            bench.install(.linked("app"))
            var launch = LaunchID(0)
            if isRunning { launch = try bench.suspendApp("app") }
            bench.ask(.simulate(.fetch, AppID("app"), identifier: nil))
            if isRunning {
                #expect(bench.contains(.thaw(launch)))
            } else {
                launch = try #require(bench.spawn(of: "app"))
                bench.started(launch)
                bench.say(launch, .finishedLaunching(registered: []))
            }
            let delivery = try bench.accept(launch)
            bench.ask(.simulate(.expire, AppID("app"), identifier: nil))
            #expect(bench.told(launch) == [.expire(delivery, .simulated)])
            bench.say(launch, .completed(delivery, .newData))
            #expect(bench.runs.map(\.simulated) == [true])
            #expect(bench.runs.map(\.resumed) == [isRunning])
            // The rules of suspension are the same.
            #expect(bench.contains(.freeze(launch)))
            #expect(bench.requests("app").isEmpty)
        }
    }

    @Test
    func `an app at the same task is given a simulated one beside it, which counts for nothing`()
        throws
    {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.x"]))
        let launch = try bench.openApp("app", registered: ["app.x"])
        bench.submit(launch, "app.x")
        bench.ask(.leave(AppID("app")))
        let first = try bench.accept(launch)
        bench.ask(.simulate(.launch, AppID("app"), identifier: "app.x"))
        #expect(bench.reply == .done)
        let second = try bench.accept(launch)
        #expect(second != first && bench.spawned.isEmpty)
        bench.say(launch, .completed(second, .failed))
        #expect(bench.launch(launch)?.deliveries.map(\.id) == [first])
        bench.say(launch, .completed(first, .succeeded))
        #expect(bench.runs.map(\.simulated) == [true, false])
        #expect(bench.results == [.failed, .succeeded])
        #expect(bench.app("app")?.record.failures.count == 0)
        bench.advance(.seconds(5))
        #expect(bench.contains(.freeze(launch)))
        #expect(bench.requests("app").isEmpty)
    }

    @Test func `a run that is being expired is given nothing more, not even by a simulation`()
        throws
    {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.x"]))
        let launch = try bench.openApp("app", registered: ["app.x"])
        bench.submit(launch, "app.x")
        bench.ask(.leave(AppID("app")))
        _ = try bench.accept(launch)
        for (wait, reason) in [
            (Interval.seconds(25), "the run of app is ending"),
            (.seconds(5), "app is being terminated"),
        ] {
            bench.advance(wait)
            bench.ask(.simulate(.launch, AppID("app"), identifier: "app.x"))
            #expect(bench.refusal?.code == .held)
            #expect(bench.refusal?.reason == reason)
            #expect(bench.spawned.isEmpty && bench.requests("app").count == 1)
        }
    }

    @Test func `a plain program is not run a second time beside the first, frozen or not`() throws {
        var bench = Bench()
        bench.set(.idle, 0)
        bench.install(.processing("app") { $0.whenInterrupted = .freeze })
        bench.ask(.run(AppID("app"), identifier: nil))
        let launch = try #require(bench.spawn(of: "app"))
        for isFrozen in [false, true] {
            if isFrozen {
                bench.started(launch)
                bench.set(.lowPower, 1)
                #expect(bench.contains(.freeze(launch)))
            }
            bench.ask(.simulate(.launch, AppID("app"), identifier: nil))
            #expect(bench.refusal?.code == .held)
            #expect(bench.refusal?.fix == "offstage simulate expire app")
            #expect(bench.spawned.isEmpty && bench.requests("app").count == 1)
        }
    }

    @Test func `who would expire nothing but background tasks is told of them`() throws {
        var (bench, launch) = try Bench.withApp()
        for name in ["leak", "save"] {
            bench.say(
                launch,
                .taskBegan(name: name, hasHandler: true, reply: bench.nextReply())
            )
        }
        bench.ask(.leave(AppID("app")))
        for (identifier, isOpen) in [(nil, true), ("leak", true), ("app.x", false)] {
            bench.ask(.simulate(.expire, AppID("app"), identifier: identifier))
            #expect(bench.refusal?.code == (isOpen ? .held : .notFound))
            #expect(bench.refusal?.value == (isOpen ? "leak, save" : "app.x"))
        }
    }

    @Test func `each task has its own last run, and no other's`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.suspendApp("app", registered: ["app.*"])
        bench.submit(launch, "app.news")
        let delivery = try bench.accept(launch)
        bench.say(launch, .completed(delivery, .succeeded))
        bench.submit(launch, "app.news") { $0.after = .hours(5) }
        bench.submit(launch, "app.clean", .processing) { $0.after = .hours(5) }
        func last(_ task: String?) -> [String?] {
            bench.device.explain(AppID("app"), identifier: task, at: bench.now)
                .map { $0.lastRun?.identifier }
        }
        #expect(last("app.news") == ["app.news"])
        #expect(last("app.clean") == [nil])
        #expect(last("app.other") == [nil])
    }
}
