import DeviceCore
import Testing
import Vocabulary

/// What a launch waits for, by which a virtual clock does not outrun it.
struct ActivityTests {
    @Test func `a command is started, works, knows that its time is over, and is ended`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        #expect(bench.launch(launch)?.activity == .handling)
        bench.started(launch)
        #expect(bench.launch(launch)?.activity == .work)
        bench.advance(.seconds(26))
        #expect(bench.launch(launch)?.activity == .expiry)
        bench.advance(.seconds(5))
        #expect(bench.launch(launch)?.activity == .handling)
    }

    @Test func `an app is handed work, does it, knows that its time is over, and rests`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.openApp("app", registered: ["app.*"])
        #expect(bench.launch(launch)?.activity == .nothing, "the user looks at it")
        bench.ask(.leave(AppID("app")))
        #expect(bench.launch(launch)?.activity == .work, "it saves its state")
        bench.say(launch, .enteredBackground)
        #expect(bench.launch(launch)?.activity == .nothing, "only time passes")
        bench.advance(.minutes(1))
        #expect(bench.launch(launch)?.presence == .suspended)
        #expect(bench.launch(launch)?.activity == .nothing)
        bench.submit(launch, "app.news")
        let delivery = try #require(bench.offers(launch).first)
        #expect(bench.launch(launch)?.activity == .handling)
        bench.say(launch, .accepted(delivery))
        #expect(bench.launch(launch)?.activity == .work)
        bench.advance(.seconds(26))
        #expect(bench.launch(launch)?.activity == .expiry)
        bench.say(launch, .completed(delivery, .unsuccessful))
        #expect(bench.launch(launch)?.activity == .nothing)
    }

    @Test func `an app that is left while it launches is waited for until it has done so`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        #expect(bench.launch(launch)?.activity == .nothing, "the user looks at it")
        bench.ask(.leave(AppID("app")))
        #expect(bench.launch(launch)?.activity == .handling)
        bench.say(launch, .connected(reply: bench.nextReply()))
        #expect(bench.launch(launch)?.activity == .handling)
        bench.say(launch, .finishedLaunching(registered: []))
        #expect(bench.launch(launch)?.activity == .work, "it saves its state")
        bench.say(launch, .enteredBackground)
        #expect(bench.launch(launch)?.activity == .nothing)
    }

    @Test func `a program that says nothing is not waited for`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.ask(.leave(AppID("app")))
        bench.advance(.seconds(6))
        #expect(bench.launch(launch)?.activity == .nothing)
    }

    @Test func `a task beyond the foreground is work until its time is nearly over`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.say(
            launch,
            .taskBegan(name: "save", hasHandler: true, reply: bench.nextReply())
        )
        #expect(bench.launch(launch)?.activity == .nothing, "the user looks at it")
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        #expect(bench.launch(launch)?.activity == .work)
        let end = try #require(bench.launch(launch)?.finishUp?.end)
        bench.advance(end - bench.now.awake - .seconds(1))
        #expect(bench.launch(launch)?.activity == .expiry)
    }
}
