@testable import DeviceCore
import Testing
import Vocabulary

/// The connection of a linked app: how it begins, what is told with deadlines, and what a second
/// word is answered.
struct LinkTests {
    /// An app that was opened and left, with a refresh that is offered to it.
    private static func offered() throws -> (Bench, LaunchID, DeliveryID) {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.suspendApp("app", registered: ["app.*"])
        bench.submit(launch, "app.news")
        let delivery = try #require(bench.offers(launch).first)
        return (bench, launch, delivery)
    }

    @Test func `a greeting says what kind of launch it is, and whether refresh is on`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.say(launch, .connected(reply: bench.nextReply()))
        #expect(
            bench.reply
                == .greeted(
                    Greeting(
                        app: AppID("app"),
                        launch: launch,
                        state: .foreground,
                        backgroundRefresh: .available
                    )
                )
        )
        bench.configure { $0.backgroundRefresh = false }
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .connected(reply: bench.nextReply()))
        guard case .greeted(let greeting) = bench.reply else {
            Issue.record("no greeting")
            return
        }
        #expect(greeting.state == .background)
        #expect(greeting.backgroundRefresh == .denied)
    }

    @Test func `who says twice that it has finished launching is refused, and keeps its handlers`()
        throws
    {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.openApp("app", registered: ["one"])
        bench.say(launch, .finishedLaunching(registered: ["two"], reply: bench.nextReply()))
        #expect(bench.refusal?.code == .invalid)
        #expect(bench.refusal?.value == "two")
        #expect(bench.launch(launch)?.registered == ["one"])
        bench.say(launch, .disconnected)
        bench.say(launch, .finishedLaunching(registered: ["two"], reply: bench.nextReply()))
        #expect(bench.reply == .done)
        #expect(bench.launch(launch)?.registered == ["two"])
    }

    @Test func `what is told has the end of its time, in the clock that sleep stops`() throws {
        var (bench, launch, delivery) = try Self.offered()
        let end = bench.now.awake + .seconds(30)
        bench.say(launch, .accepted(delivery))
        #expect(bench.toldInFull(launch) == [.go(delivery, until: end)])
        bench.say(launch, .expirationHandler(delivery, set: true, reply: bench.nextReply()))
        #expect(bench.reply == .done)
        bench.say(
            launch,
            .taskBegan(
                name: "t",
                hasHandler: true,
                reply: bench.nextReply()
            )
        )
        let beyond = end + .seconds(5)
        #expect(
            bench.reply
                == .begun(BegunTask(task: 1, deadline: beyond.monotonicSeconds ?? 0))
        )
        bench.advance(.seconds(25))
        #expect(bench.toldInFull(launch) == [.expire(delivery, .timeout, until: end)])
        bench.say(launch, .completed(delivery, .succeeded, reply: bench.nextReply()))
        let rest = bench.now.awake + .seconds(5)
        #expect(bench.toldInFull(launch) == [.expireTask(task: 1, .timeout, until: rest)])
    }

    @Test func `a task that is begun again by its token is the same`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.openApp("app")
        for (token, task) in [("one", 1), ("two", 2), ("one", 1)] {
            bench.say(
                launch,
                .taskBegan(name: "t", hasHandler: true, token: token, reply: bench.nextReply())
            )
            #expect(bench.reply == .begun(BegunTask(task: Int64(task))))
        }
        #expect(bench.launch(launch)?.tasks.map(\.number) == [1, 2])
    }

    @Test func `leaving tells until when tasks may go on; a task of the foreground has no end`()
        throws
    {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.openApp("app")
        bench.say(
            launch,
            .taskBegan(
                name: "t",
                hasHandler: true,
                reply: bench.nextReply()
            )
        )
        #expect(bench.reply == .begun(BegunTask(task: 1)))
        bench.ask(.leave(AppID("app")))
        let end = bench.now.awake + .minutes(3)
        #expect(bench.toldInFull(launch) == [.didEnterBackground(until: end)])
        bench.advance(.seconds(175))
        #expect(bench.toldInFull(launch) == [.expireTask(task: 1, .timeout, until: end)])
    }

    @Test func `what is completed twice, or was never given, is refused and noted`() throws {
        var (bench, launch, delivery) = try Self.offered()
        bench.say(launch, .completed(delivery, .newData, reply: bench.nextReply()))
        #expect(bench.refusal?.code == .notFound, "it has no receipt yet")
        bench.say(launch, .accepted(delivery))
        bench.say(launch, .completed(delivery, .newData, reply: bench.nextReply()))
        #expect(bench.reply == .done)
        for id in [delivery, DeliveryID(4711)] {
            bench.say(launch, .completed(id, .newData, reply: bench.nextReply()))
            #expect(bench.refusal?.code == .notFound)
            #expect(bench.refusal?.value == "\(id)")
            bench.say(launch, .expirationHandler(id, set: true, reply: bench.nextReply()))
            #expect(bench.refusal?.code == .notFound)
        }
        bench.say(launch, .taskEnded(task: 9, reply: bench.nextReply()))
        #expect(bench.refusal?.code == .notFound)
        #expect(bench.results == [.newData])
    }

    @Test func `leaving tells until when what was given before goes on`() throws {
        var (bench, launch, delivery) = try Self.offered()
        bench.say(launch, .accepted(delivery))
        bench.ask(.open(AppID("app"), attach: nil))
        bench.advance(.minutes(10))
        bench.ask(.leave(AppID("app")))
        let now = bench.now.awake
        #expect(
            bench.toldInFull(launch) == [
                .didEnterBackground(
                    until: now + .minutes(3),
                    work: [DeliveryEnd(delivery, now + .seconds(30))]
                )
            ]
        )
    }

    @Test func `an activity is begun again by who holds it, and by nobody else`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.openApp("app")
        let holders = [ProcessID(pid: 7, startTime: 1), ProcessID(pid: 8, startTime: 1)]
        for (holder, task) in [(holders[0], 1), (holders[1], 2), (holders[0], 1)] {
            bench.say(
                launch,
                .taskBegan(
                    name: "t",
                    hasHandler: true,
                    by: holder,
                    token: "same",
                    reply: bench.nextReply()
                )
            )
            #expect(bench.reply == .begun(BegunTask(task: Int64(task))))
        }
    }

    @Test func `of too many background tasks it is said that they are too many`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.openApp("app")
        for number in 1...256 { #expect(bench.beginTask(launch) == Int64(number)) }
        // The user is in the app: its time is not over.
        bench.say(launch, .taskBegan(name: "one", hasHandler: false, reply: bench.nextReply()))
        let refusal = try #require(bench.refusal)
        #expect(refusal.reason == "the app has 256 background tasks open, and can have no more")
        bench.say(launch, .taskEnded(task: 7))
        #expect(bench.beginTask(launch) == 257)
    }

    @Test func `who connects again is not told of an expiry that the user's return undid`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.openApp("app")
        let task = bench.beginTask(launch)
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.advance(.seconds(175))
        #expect(bench.told(launch) == [.expireTask(task: task, .timeout)])
        bench.ask(.open(AppID("app"), attach: nil))
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .disconnected)
        bench.say(launch, .reconnected(running: [], finished: []))
        #expect(bench.told(launch).isEmpty, "its time has begun anew")
        bench.advance(.seconds(175))
        #expect(bench.told(launch) == [.expireTask(task: task, .timeout)])
    }

    @Test func `what a library saw its app do wrong is noted once`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.openApp("app")
        for subject in ["news", "news", "clean"] {
            bench.say(
                launch,
                .mistaken(.registeredLate, subject: subject, reply: bench.nextReply())
            )
            #expect(bench.reply == .done)
        }
        for subject in ["news", "clean"] {
            let words = "registered a handler after launching had ended: " + subject
            #expect(bench.lines.count { $0 == .note(words) } == 1)
        }
    }

    @Test func `what the manifest does not permit is refused each time and noted once`() throws {
        var (bench, launch, _) = try Self.offered()
        for identifier in ["bogus", "bogus", "other", "bogus"] {
            let submission = Submission(identifier: identifier, kind: .refresh)
            bench.say(launch, .submit(submission, reply: bench.nextReply()))
            #expect(bench.refusal?.code == .notPermitted)
        }
        let beginning = "submitted what its manifest does not permit: "
        for identifier in ["bogus", "other"] {
            #expect(bench.lines.count { $0 == .note(beginning + identifier) } == 1)
        }
        for number in 1...100 {
            let submission = Submission(identifier: "bogus.\(number)", kind: .refresh)
            bench.say(launch, .submit(submission, reply: bench.nextReply()))
        }
        #expect(bench.lines.count < 20, "nobody fills the history with it")
    }

    @Test func `what the app declines has failed, is not offered again, and the app is suspended`()
        throws
    {
        var (bench, launch, delivery) = try Self.offered()
        bench.say(launch, .declined(delivery, reason: "no such object"))
        #expect(bench.results == [.failed])
        #expect(bench.runs.first?.reason == "the app declined it: no such object")
        #expect(bench.requests("app").isEmpty)
        #expect(bench.told(launch).isEmpty)
        #expect(bench.contains(.freeze(launch)))
        // A decline after the receipt, or of another's, is nothing.
        bench.submit(launch, "app.news")
        bench.advance(.minutes(15))
        let next = try bench.accept(launch)
        bench.say(launch, .declined(next, reason: "late"))
        #expect(bench.requests("app").map(\.state) == [.running(launch)])
    }

    @Test func `who connects anew without a word of what it runs is told to go on`() throws {
        var (bench, launch, delivery) = try Self.offered()
        bench.say(launch, .accepted(delivery))
        bench.say(launch, .disconnected)
        bench.say(launch, .connected(reply: bench.nextReply()))
        bench.say(launch, .finishedLaunching(registered: ["app.*"], reply: bench.nextReply()))
        #expect(bench.told(launch) == [.go(delivery)])
        bench.say(launch, .disconnected)
        bench.say(
            launch,
            .reconnected(
                running: [delivery],
                finished: [],
                registered: ["app.news"],
                reply: bench.nextReply()
            )
        )
        #expect(bench.told(launch) == [.go(delivery)], "once more: it may not have heard the first")
        #expect(bench.launch(launch)?.registered == ["app.news"])
    }

    @Test func `what an app says that it runs gets go, once each, whatever it had before`() throws {
        for isOffered in [false, true] {
            var (bench, launch, delivery) = try Self.offered()
            if isOffered { bench.say(launch, .accepted(delivery)) }
            bench.say(launch, .disconnected)
            bench.say(launch, .reconnected(running: [delivery], finished: []))
            #expect(bench.told(launch) == [.go(delivery)])
            #expect(bench.requests("app").map(\.state) == [.running(launch)])
        }
    }

    @Test func `a change of background refresh is told once, to a suspended app when it goes on`()
        throws
    {
        var bench = Bench()
        bench.install(.linked("one"), .linked("two"))
        let one = try bench.openApp("one")
        let two = try bench.suspendApp("two")
        bench.configure { $0.backgroundRefresh = false }
        #expect(bench.told(one) == [.refreshChanged(.denied)])
        #expect(bench.told(two).isEmpty)
        bench.configure { $0.runSlots = 3 }
        #expect(bench.told(one).isEmpty)
        bench.ask(.open(AppID("two"), attach: nil))
        #expect(
            bench.told(two) == [.refreshChanged(.denied), .willEnterForeground, .didBecomeActive]
        )
        bench.configure {
            $0.backgroundRefresh = true
            var two = AppSettings(app: AppID("two"))
            two.backgroundRefresh = false
            $0.apps = [two]
        }
        #expect(bench.told(one) == [.refreshChanged(.available)])
        #expect(bench.told(two).isEmpty)
    }

    @Test func `what changed while no daemon ran an app is told when it has connected`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.openApp("app")
        let process = bench.launch(launch)?.process
        var settings = bench.device.settings.value
        settings.backgroundRefresh = false
        bench.device.settings = Shared(settings)
        try bench.restart(
            survivors: [Survivor(launch: launch, process: process, alive: true)],
            manifests: [.linked("app")]
        )
        #expect(bench.told(launch).isEmpty)
        bench.say(launch, .reconnected(running: [], finished: []))
        #expect(bench.told(launch) == [.refreshChanged(.denied)])
    }

    @Test func `whoever began a task is told of its expiry, connected as the app or not`() throws {
        var bench = Bench()
        bench.install(.linked("app") { $0.noDisplay = true })
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        for holder in [nil, ProcessID(pid: 7, startTime: 70)] {
            bench.say(
                launch,
                .taskBegan(
                    name: "t",
                    hasHandler: true,
                    by: holder,
                    reply: bench.nextReply()
                )
            )
        }
        bench.ask(.leave(AppID("app")))
        bench.advance(.seconds(175))
        #expect(
            bench.told(launch) == [
                .expireTask(task: 2, to: ProcessID(pid: 7, startTime: 70), .timeout)
            ]
        )
    }

    @Test func `a task begun in a simulated run that follows the user's leaving goes on beyond it`()
        throws
    {
        var bench = Bench()
        bench.configure {
            $0.taskBeyondWake = .seconds(2)
            $0.expiryWarning = .seconds(1)
        }
        bench.install(.linked("app", identifiers: ["news"]))
        let launch = try bench.openApp("app", registered: ["news"])
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.ask(.simulate(.launch, AppID("app"), identifier: "news", kind: .refresh))
        let delivery = try bench.accept(launch)
        #expect(bench.beginTask(launch) == 1)
        bench.say(launch, .completed(delivery, .succeeded))
        #expect(bench.told(launch) == [.expireTask(task: 1, .timeout)])
        bench.advance(.seconds(1))
        bench.say(launch, .taskEnded(task: 1))
        #expect(bench.contains(.freeze(launch)))
    }
}
