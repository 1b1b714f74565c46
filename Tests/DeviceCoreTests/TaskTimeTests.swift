import DeviceCore
import Testing
import Vocabulary

/// Time that tasks hold, at its edges: while the app enters the background, while nobody is
/// connected to be told that it is over, and where there is none.
struct TaskTimeTests {
    private static func bench() -> Bench {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        return bench
    }

    // MARK: Entering the background

    @Test(arguments: [true, false])
    func `the last task's end does not suspend an app that is entering the background`(
        hasLaunched: Bool
    ) throws {
        var bench = Self.bench()
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        if hasLaunched { bench.say(launch, .finishedLaunching(registered: ["app.*"])) }
        bench.ask(.leave(AppID("app")))
        if !hasLaunched { bench.say(launch, .finishedLaunching(registered: ["app.*"])) }
        #expect(bench.told(launch).contains(.didEnterBackground()))
        let task = bench.beginTask(launch)
        #expect(task == 1)
        bench.say(launch, .taskEnded(task: task))
        #expect(!bench.contains(.freeze(launch)))
        let next = bench.beginTask(launch)
        bench.say(launch, .enteredBackground)
        #expect(!bench.contains(.freeze(launch)))
        bench.say(launch, .taskEnded(task: next))
        #expect(bench.contains(.freeze(launch)))
    }

    @Test func `who never answers that it entered the background is suspended all the same`()
        throws
    {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .taskEnded(task: bench.beginTask(launch)))
        bench.advance(bench.device.settings.enteringBackground - .milliseconds(1))
        #expect(!bench.contains(.freeze(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.freeze(launch)))
    }

    // MARK: Told again

    @Test func `an expiry that came while nobody was connected is told when somebody is`() throws {
        for saysWhatItRuns in [true, false] {
            var bench = Self.bench()
            let launch = try bench.openApp("app")
            let task = bench.beginTask(launch)
            let silent = bench.beginTask(launch, hasHandler: false)
            bench.ask(.leave(AppID("app")))
            let end = bench.now.awake + .minutes(3)
            bench.say(launch, .enteredBackground)
            bench.say(launch, .disconnected)
            bench.advance(.seconds(175))
            #expect(silent == 2 && bench.told(launch).isEmpty)
            bench.say(
                launch,
                saysWhatItRuns
                    ? .reconnected(running: [], finished: [], registered: nil, reply: nil)
                    : .finishedLaunching(registered: [])
            )
            let expiries = bench.toldInFull(launch).filter { $0 != .didEnterBackground(until: end) }
            #expect(expiries == [.expireTask(task: task, .timeout, until: end)])
        }
    }

    @Test func `who connects anew is told of the expiry of what it runs once more`() throws {
        for saysWhatItRuns in [true, false] {
            var bench = Self.bench()
            let launch = try bench.suspendApp("app", registered: ["app.*"])
            bench.submit(launch, "app.news")
            let delivery = try bench.accept(launch)
            bench.advance(.seconds(25))
            #expect(bench.told(launch) == [.expire(delivery, .timeout)])
            bench.say(launch, .disconnected)
            bench.say(
                launch,
                saysWhatItRuns
                    ? .reconnected(running: [delivery], finished: [], registered: nil, reply: nil)
                    : .finishedLaunching(registered: ["app.*"])
            )
            #expect(bench.told(launch).last == .expire(delivery, .timeout))
        }
    }

    @Test func `who accepted while nobody listened is told of the expiry once`() throws {
        var bench = Self.bench()
        let launch = try bench.suspendApp("app", registered: ["app.*"])
        bench.submit(launch, "app.news")
        let delivery = try #require(bench.offers(launch).first)
        bench.say(launch, .disconnected)
        bench.advance(.seconds(25))
        bench.say(launch, .reconnected(running: [delivery], finished: []))
        #expect(bench.told(launch).count { $0 == .expire(delivery, .timeout) } == 1)
    }

    @Test func `an extension that begins its activity again is told that it has expired`() throws {
        var bench = Self.bench()
        let launch = try bench.openApp("app")
        let holder = ProcessID(pid: 7, startTime: 70)
        func begin() -> AppEvent {
            .taskBegan(
                name: "t",
                hasHandler: true,
                by: holder,
                token: "t",
                reply: bench.nextReply()
            )
        }
        bench.say(launch, begin())
        bench.ask(.leave(AppID("app")))
        bench.say(launch, begin())
        #expect(bench.told(launch).isEmpty)
        bench.advance(.seconds(175))
        bench.say(launch, begin())
        #expect(bench.told(launch) == [.expireTask(task: 1, to: holder, .timeout)])
        // Its user is there again: no time is over.
        bench.ask(.open(AppID("app"), attach: nil))
        bench.say(launch, begin())
        #expect(bench.told(launch).isEmpty)
    }

    // MARK: No time

    @Test func `a plain command has its run for what it begins, and no more`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        #expect(bench.beginTask(launch) == 0, "it has not started")
        bench.started(launch)
        let end = try #require(bench.launch(launch)?.wake?.end)
        #expect(bench.beginTask(launch) == 1)
        guard case .begun(let task) = bench.reply else {
            Issue.record("\(String(describing: bench.reply))")
            return
        }
        #expect(task.deadline == end.monotonicSeconds)
        #expect(bench.beginTask(launch) == 2)
        bench.say(launch, .taskEnded(task: 1))
        #expect(bench.effects.allSatisfy { if case .freeze = $0 { false } else { true } })
        #expect(bench.device.status(at: bench.now).running.first?.backgroundTasks == ["task"])
        // Its time is over at the end of the run, whatever it holds.
        bench.advance(.seconds(25))
        #expect(bench.contains(.terminate(launch)))
        #expect(bench.beginTask(launch) == 0)
        bench.exited(launch)
        #expect(bench.contains(.release(launch)) && bench.launch(launch) == nil)
    }
}
