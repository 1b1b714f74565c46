import DeviceCore
import Testing
import Vocabulary

/// Foreground, background, suspended (A1 to A12, F3).
struct LifecycleTests {
    private static func bench() -> Bench {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.refresh", "app.tidy"]))
        return bench
    }

    @Test func `opening starts the app in the foreground, without gates`() throws {
        var bench = Self.bench()
        bench.set(.storage, 1)
        bench.set(.thermal, 3)
        bench.ask(.pause(nil))
        bench.ask(.open(AppID("app"), attach: nil))
        let spec = try #require(bench.spawned.first?.spec)
        #expect(spec.arguments == ["app"])
        #expect(spec.weight == .foreground)
        #expect(spec.memoryLimit == nil)
        #expect(bench.app("app")?.record.lastUsed == nil)
        bench.started(try #require(bench.spawn(of: "app")))
        #expect(bench.app("app")?.record.lastUsed == bench.now.wall)
    }

    @Test func `opening again brings the running app back`() throws {
        var bench = Self.bench()
        let launch = try bench.suspendApp("app")
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(bench.spawned.isEmpty)
        #expect(bench.contains(.thaw(launch)))
        #expect(bench.contains(.weigh(launch, .foreground)))
        #expect(bench.contains(.limitMemory(launch, nil)))
        #expect(bench.told(launch) == [.willEnterForeground, .didBecomeActive])
        #expect(bench.launch(launch)?.presence == .foreground)
    }

    @Test func `whose user leaves while it launches is told so when launching is over`() throws {
        var bench = Self.bench()
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.ask(.leave(AppID("app")))
        #expect(bench.told(launch).isEmpty)
        bench.say(launch, .finishedLaunching(registered: []))
        #expect(bench.told(launch) == [.didEnterBackground()])
    }

    @Test func `a process that asked for it is attached, once, and told when it is`() throws {
        var bench = Self.bench()
        let caller = ProcessID(pid: 4711, startTime: 1)
        bench.ask(.open(AppID("app"), attach: caller))
        let launch = try #require(
            bench.effects.lazy.compactMap { effect -> LaunchID? in
                if case .attach(let id, caller, _) = effect { id } else { nil }
            }.first
        )
        #expect(bench.reply == nil, "not before it is known")
        bench.send(.process(launch, .started(caller)))
        guard case .opened(let app)? = bench.reply else {
            Issue.record("not answered")
            return
        }
        #expect(app.attach == true && app.launch == launch)
        bench.ask(.open(AppID("app"), attach: ProcessID(pid: 4712, startTime: 1)))
        #expect(bench.refusal?.code == .held)
    }

    @Test func `a process that cannot be attached is told why`() throws {
        var bench = Self.bench()
        bench.ask(.open(AppID("app"), attach: ProcessID(pid: 4711, startTime: 1)))
        let launch = try #require(
            bench.effects.lazy.compactMap { effect -> LaunchID? in
                if case .attach(let id, _, _) = effect { id } else { nil }
            }.first
        )
        bench.send(.process(launch, .notStarted(StartFailure(.program, reason: "no right to"))))
        #expect(bench.refusal?.code == .held)
        #expect(bench.refusal?.reason.hasSuffix("no right to") == true)
        #expect(bench.launch(launch) == nil)
    }

    @Test func `an app that is opened while it starts for a task is opened once`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let first = try bench.openApp("app", registered: ["app.*"])
        bench.submit(first, "app.0", .processing) { $0.after = .hours(1) }
        bench.ask(.leave(AppID("app")))
        bench.exited(first)
        bench.advance(.hours(1))
        let launch = try #require(bench.spawn(of: "app"))
        func opened() -> Int { bench.history.count { $0.entry == .use(.opened) } }
        let before = opened()
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(opened() == before, "it may not start")
        bench.started(launch)
        #expect(opened() == before + 1)
    }

    @Test func `who opens an app is told whether it was started`() throws {
        var bench = Self.bench()
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        #expect(bench.reply == nil, "not before it is known")
        bench.send(
            .process(launch, .notStarted(StartFailure(.program, reason: "app is not in PATH")))
        )
        #expect(bench.refusal?.code == .held)
        #expect(bench.refusal?.reason == "app cannot be started: app is not in PATH")
        func opened() -> Int { bench.history.count { $0.entry == .use(.opened) } }
        #expect(opened() == 0, "it was not")
        bench.ask(.open(AppID("app"), attach: nil))
        let next = try #require(bench.spawn(of: "app"))
        #expect(opened() == 0, "not before it is known")
        bench.started(next)
        guard case .opened(let app)? = bench.reply else {
            Issue.record("not answered")
            return
        }
        #expect(app.attach == false)
        #expect(opened() == 1)
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(opened() == 2, "it runs already")
    }

    @Test func `what needs a terminal is not started without one`() throws {
        var bench = Bench()
        bench.install(.linked("app") { $0.terminal = true })
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(bench.spawned.isEmpty)
        #expect(bench.refusal?.code == .held)
        #expect(bench.refusal?.reason.contains("needs a terminal") == true)
        #expect(try #require(bench.app("app")).record.lastUsed == nil)
    }

    @Test func `an app that asked for nothing is suspended 5 s after the user left it`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        bench.advance(.hours(1))
        bench.ask(.leave(AppID("app")))
        #expect(bench.contains(.weigh(launch, .background)))
        #expect(bench.told(launch) == [.didEnterBackground()])
        bench.advance(.seconds(5) - .milliseconds(1))
        #expect(!bench.contains(.freeze(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.freeze(launch)))
        #expect(bench.launch(launch)?.presence == .suspended)
    }

    @Test func `a program that does not speak with us keeps its window unfrozen`() throws {
        for (noDisplay, isFrozen) in [(false, false), (true, true)] {
            var bench = Bench()
            bench.install(.linked("app") { $0.noDisplay = noDisplay })
            bench.ask(.open(AppID("app"), attach: nil))
            let launch = try #require(bench.spawn(of: "app"))
            bench.started(launch)
            bench.ask(.leave(AppID("app")))
            bench.advance(.minutes(1))
            #expect(bench.contains(.freeze(launch)) == isFrozen)
        }
    }

    @Test func `finish-up time is 180 s for all tasks together, given back with the last`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        let first = bench.beginTask(launch)
        let second = bench.beginTask(launch)
        #expect(first == 1)
        #expect(second == 2)
        bench.advance(.hours(3))
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.advance(.seconds(100))
        let third = bench.beginTask(launch)
        #expect(third == 3)
        let running = bench.device.status(at: bench.now).running.first
        #expect(running?.backgroundTasks?.count == 3)
        #expect(running?.secondsLeft == 80)
        bench.say(launch, .taskEnded(task: first))
        bench.say(launch, .taskEnded(task: second))
        #expect(!bench.contains(.freeze(launch)))
        bench.say(launch, .taskEnded(task: third))
        #expect(bench.contains(.freeze(launch)))
    }

    @Test func `a task begun after leaving gets only what is left`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        _ = bench.beginTask(launch)
        bench.ask(.leave(AppID("app")))
        bench.advance(.seconds(170))
        let late = bench.beginTask(launch)
        bench.advance(.seconds(5))
        #expect(
            bench.told(launch) == [
                .expireTask(task: 1, .timeout), .expireTask(task: late, .timeout),
            ]
        )
        #expect(bench.beginTask(launch) == 0)
        bench.advance(.seconds(5))
        #expect(bench.contains(.kill(launch)))
    }

    @Test func `the handler is called once, 5 s before the end; who still holds on is terminated`()
        throws
    {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        let task = bench.beginTask(launch)
        let silent = bench.beginTask(launch, hasHandler: false)
        #expect(silent == 2)
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.advance(.seconds(175) - .milliseconds(1))
        #expect(bench.told(launch).isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.told(launch) == [.expireTask(task: task, .timeout)])
        bench.send(.timer)
        #expect(bench.told(launch).isEmpty)
        bench.advance(.seconds(5))
        #expect(bench.contains(.kill(launch)))
        bench.killed(launch)
        #expect(
            bench.lines.contains(
                .ended(
                    .terminated(.neverCompleted),
                    reason: RunResult.terminated(.neverCompleted).summary
                )
            )
        )
    }

    @Test func `finish-up time stands still while the device sleeps`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        _ = bench.beginTask(launch)
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.advance(.seconds(100))
        bench.sleep(.hours(8))
        #expect(bench.told(launch).isEmpty)
        bench.advance(.seconds(75))
        #expect(bench.told(launch).count == 1)
    }

    @Test func `pending tasks do not keep the device awake`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        _ = bench.beginTask(launch)
        bench.ask(.leave(AppID("app")))
        #expect(!bench.contains(.holdAwake(true)))
    }

    @Test func `a device that sleeps is not woken for what counts awake time`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        _ = bench.beginTask(launch)
        bench.ask(.leave(AppID("app")))
        #expect(bench.sleepUntilAlarm(atMost: .hours(8)) == .hours(8))
        #expect(bench.told(launch).isEmpty)
        bench.advance(.seconds(175) - .milliseconds(1))
        #expect(bench.told(launch).isEmpty)
        bench.advance(.milliseconds(1))
        #expect(!bench.told(launch).isEmpty)
    }

    @Test func `coming back in time makes foreground of finish-up time, without an expiry`() throws
    {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        let task = bench.beginTask(launch)
        bench.ask(.leave(AppID("app")))
        bench.advance(.seconds(100))
        bench.ask(.open(AppID("app"), attach: nil))
        bench.advance(.hours(1))
        #expect(bench.told(launch).isEmpty)
        // And the next time it leaves, all of it is there again.
        bench.ask(.leave(AppID("app")))
        bench.advance(.seconds(175) - .milliseconds(1))
        #expect(bench.told(launch).isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.told(launch) == [.expireTask(task: task, .timeout)])
    }

    @Test func `a suspended app may not begin a task`() throws {
        var bench = Self.bench()
        let launch = try bench.suspendApp("app")
        #expect(bench.beginTask(launch) == 0)
    }

    @Test func `a task is ended once; an unknown one is noted`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        bench.say(launch, .taskEnded(task: 9))
        #expect(bench.lines.contains(.note("ended an unknown background task: 9")))
    }

    // MARK: The user closes it

    @Test func `swiped away, the app ends, and nothing of it runs until it is opened`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app", registered: ["app.refresh"])
        bench.submit(launch, "app.refresh")
        bench.ask(.close(AppID("app")))
        #expect(bench.contains(.kill(launch)))
        bench.killed(launch)
        #expect(bench.lines.contains(.use(.closed)))
        bench.advance(.days(1))
        #expect(bench.spawned.isEmpty)
        #expect(bench.gates("app") == ["closed-by-user"])
        let again = try bench.openApp("app", registered: ["app.refresh"])
        #expect(try #require(bench.app("app")).record.closedAt == nil)
        bench.ask(.leave(AppID("app")))
        #expect(bench.offers(again).count == 1)
    }

    @Test func `opened while it is being ended, it is started again after that`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        bench.ask(.close(AppID("app")))
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(bench.spawned.isEmpty && bench.reply == nil)
        bench.killed(launch)
        #expect(bench.reply == nil)
        let next = try #require(bench.spawn(of: "app"))
        #expect(bench.spawned.first?.spec.weight == .foreground)
        bench.send(.process(next, .notStarted(StartFailure(.program, reason: "gone"))))
        #expect(bench.refusal?.reason == "app cannot be started: gone")
    }

    @Test func `who is unknown can be neither opened, left nor closed`() {
        var bench = Self.bench()
        for request: UserRequest in [
            .open(AppID("x"), attach: nil), .leave(AppID("x")), .close(AppID("x")),
        ] {
            bench.ask(request)
            #expect(bench.refusal?.code == .notFound)
            #expect(bench.refusal?.value == "x")
        }
        bench.ask(.leave(AppID("app")))
        #expect(bench.refusal?.code == .held)
        bench.install(.refreshing("news"))
        bench.ask(.open(AppID("news"), attach: nil))
        #expect(bench.refusal?.code == .held)
    }

    // MARK: The process ends

    @Test func `each end of an app's process is told as it was`() throws {
        for (exit, result): (Exit, RunResult) in [
            (.status(0), .exited(status: 0)), (.status(3), .exited(status: 3)),
            (.signal(11, outOfMemory: false), .crashed(signal: 11)),
            (.signal(9, outOfMemory: true), .terminated(.memoryLimit)), (.unknown, .unknown),
        ] {
            var bench = Self.bench()
            let launch = try bench.openApp("app")
            bench.send(.process(launch, .exited(exit, nil)))
            let reason =
                result == .terminated(.memoryLimit)
                ? "it asked for more memory than the setting memory-limit allows, 200 MiB"
                : result.summary
            #expect(bench.lines.contains(.ended(result, reason: reason)), "\(bench.lines)")
            #expect(bench.contains(.release(launch)))
            #expect(bench.app("app")?.launches.isEmpty == true)
        }
    }

    @Test func `what an app says after its end is refused or ignored`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        bench.exited(launch)
        bench.submit(launch, "app.refresh")
        #expect(bench.refusal?.code == .notFound)
        bench.say(launch, .taskEnded(task: 1))
        #expect(bench.effects.isEmpty)
    }

    @Test
    func `what can be neither opened nor seen in use is not closed, which nothing would lift`()
        throws
    {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, every: .hours(1), command: ["sync"])))
        bench.install(.refreshing("news"), .refreshing("seen") { $0.useFrom = .file("/x") })
        for (app, fix) in [
            ("command.sync", "offstage cancel command.sync"),
            ("news", "offstage set background-refresh off --app news"),
        ] {
            bench.ask(.close(AppID(app)))
            #expect(bench.refusal?.code == .invalid)
            #expect(bench.refusal?.fix == fix)
            #expect(try #require(bench.app(app)).record.closedAt == nil)
            #expect(!bench.gates(app).contains("closed-by-user"))
        }
        bench.ask(.close(AppID("seen")))
        #expect(bench.reply == .done)
    }
}
