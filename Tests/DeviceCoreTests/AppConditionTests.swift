import DeviceCore
import Testing
import Vocabulary

/// The device as apps are told of it, and its screen.
struct AppConditionTests {
    private func conditions(_ change: (inout DeviceConditions) -> Void) -> DeviceConditions {
        var conditions = DeviceConditions()
        change(&conditions)
        return conditions
    }

    /// One app in the foreground that watches the device, which has a battery of 80 percent.
    private func watching() throws -> (Bench, LaunchID) {
        var (bench, launch) = try Bench.withApp()
        bench.sense(.battery, .value(80))
        bench.sense(.power, .value(0))
        bench.say(launch, .conditionsWatched(reply: bench.nextReply()))
        return (bench, launch)
    }

    private func told(_ bench: Bench, _ launch: LaunchID) -> [DeviceConditions] {
        bench.told(launch).compactMap {
            if case .conditionsChanged(let conditions) = $0 { conditions } else { nil }
        }
    }

    @Test func `an app is answered what is known, and told what changes`() throws {
        var (bench, launch) = try watching()
        var known = conditions {
            ($0.battery, $0.power, $0.metered, $0.lowPower) = (80, false, false, false)
            $0.lowData = false
            ($0.network, $0.thermal) = (Word(.on), Word(.nominal))
        }
        #expect(bench.reply == .conditions(known))
        bench.sense(.battery, .value(79))
        known.battery = 79
        #expect(told(bench, launch) == [known])
        bench.sense(.battery, .value(79))
        #expect(told(bench, launch) == [], "nothing has changed")
        bench.ask(.override(.lowPower, .value(1)))
        known.lowPower = true
        #expect(told(bench, launch) == [known])
        bench.ask(.override(.lowData, .value(1)))
        known.lowData = true
        #expect(told(bench, launch) == [known])
        bench.sense(.network, .value(1))
        known.network = Word(.portal)
        #expect(told(bench, launch) == [known])
        bench.sense(.thermal, .value(2))
        known.thermal = Word(.serious)
        #expect(told(bench, launch) == [known])
        bench.sense(.battery, .lost)
        known.battery = nil
        #expect(told(bench, launch) == [known], "what is lost is not known")
        bench.sense(.locked, .value(1))
        #expect(told(bench, launch) == [], "that is not for apps")
    }

    @Test func `without a source nothing is known`() throws {
        var bench = Bench(isSensed: false)
        bench.install(.linked("app", identifiers: Bench.identifiers))
        let launch = try bench.openApp("app")
        bench.say(launch, .conditionsWatched(reply: bench.nextReply()))
        #expect(bench.reply == .conditions(DeviceConditions()))
    }

    @Test func `a suspended app is told once, when it goes on, before anything else`() throws {
        var (bench, launch) = try watching()
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.sense(.battery, .value(78))
        #expect(told(bench, launch).map(\.battery) == [78], "it runs in the background")
        bench.advance(.seconds(5))
        try #require(bench.contains(.freeze(launch)))
        bench.sense(.battery, .value(77))
        #expect(bench.told(launch) == [])
        bench.sense(.battery, .value(76))
        #expect(bench.told(launch) == [])
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(told(bench, launch).map(\.battery) == [76])
        guard case .conditionsChanged = bench.told(launch).first else {
            Issue.record("it comes too late: \(bench.told(launch))")
            return
        }
        // What has become as it was is no news.
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.advance(.seconds(5))
        try #require(bench.contains(.freeze(launch)))
        bench.sense(.battery, .value(70))
        bench.sense(.battery, .value(76))
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(told(bench, launch) == [])
    }

    @Test func `who has not asked, or has lost its connection, is not told`() throws {
        var (bench, launch) = try watching()
        bench.say(launch, .disconnected)
        bench.sense(.battery, .value(70))
        #expect(bench.told(launch) == [])
        bench.say(launch, .reconnected(running: [], finished: [], reply: bench.nextReply()))
        bench.sense(.battery, .value(60))
        #expect(told(bench, launch) == [])
        bench.say(launch, .conditionsWatched(reply: bench.nextReply()))
        guard case .conditions(let now) = bench.reply else {
            Issue.record("\(String(describing: bench.reply))")
            return
        }
        #expect(now.battery == 60)
        bench.sense(.battery, .value(59))
        #expect(told(bench, launch).map(\.battery) == [59])
    }

    @Test func `what changes while an app launches is told when it has`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: Bench.identifiers))
        bench.sense(.battery, .value(80))
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.say(launch, .connected(reply: bench.nextReply()))
        bench.say(launch, .conditionsWatched(reply: bench.nextReply()))
        bench.sense(.battery, .value(20))
        #expect(bench.told(launch) == [])
        bench.say(launch, .finishedLaunching(registered: []))
        #expect(told(bench, launch).map(\.battery) == [20])
    }

    // MARK: The screen

    @Test func `the screen stays on while an app that wants it is in the foreground`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.say(launch, .idleTimer(disabled: true, reply: bench.nextReply()))
        #expect(bench.reply == .done)
        #expect(bench.contains(.inhibitIdle(true)))
        bench.ask(.leave(AppID("app")))
        #expect(bench.contains(.inhibitIdle(false)))
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(bench.contains(.inhibitIdle(true)), "it wants that still")
        bench.say(launch, .idleTimer(disabled: false, reply: bench.nextReply()))
        #expect(bench.contains(.inhibitIdle(false)))
        bench.ask(.leave(AppID("app")))
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(!bench.contains(.inhibitIdle(true)))
    }

    @Test func `in the background nobody keeps the screen on`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: Bench.identifiers))
        let launch = try bench.suspendApp("app")
        bench.say(launch, .idleTimer(disabled: true, reply: bench.nextReply()))
        #expect(!bench.contains(.inhibitIdle(true)))
    }

    @Test(arguments: [AppEvent?.none, .disconnected])
    func `the end of an app, or of its connection, lets the screen go off`(
        event: AppEvent?
    ) throws {
        var (bench, launch) = try Bench.withApp()
        bench.say(launch, .idleTimer(disabled: true, reply: bench.nextReply()))
        if let event {
            bench.say(launch, event)
        } else {
            bench.send(.process(launch, .exited(.status(0), nil)))
        }
        #expect(bench.contains(.inhibitIdle(false)))
    }

    @Test func `a locked screen goes off, and stays on again when it is unlocked`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.sense(.locked, .value(0))
        bench.say(launch, idleTimerDisabled: true)
        bench.sense(.locked, .value(1))
        #expect(bench.contains(.inhibitIdle(false)))
        bench.sense(.locked, .value(0))
        #expect(bench.contains(.inhibitIdle(true)))
        bench.sense(.locked, .value(1))
        bench.sense(.locked, .lost)
        #expect(bench.contains(.inhibitIdle(true)), "nobody says that it is locked")
    }

    @Test func `what is said while the screen is locked holds from when it is unlocked`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.sense(.locked, .value(1))
        bench.say(launch, idleTimerDisabled: true)
        #expect(!bench.contains(.inhibitIdle(true)))
        bench.sense(.locked, .value(0))
        #expect(bench.contains(.inhibitIdle(true)))
    }

    @Test func `each app keeps the screen on for itself`() throws {
        var bench = Bench()
        bench.install(.linked("film"), .linked("map"))
        let film = try bench.openApp("film")
        let map = try bench.openApp("map")
        bench.say(film, idleTimerDisabled: true)
        #expect(bench.contains(.inhibitIdle(true)))
        bench.say(map, idleTimerDisabled: true)
        #expect(!bench.contains(.inhibitIdle(true)), "it stays on already")
        bench.say(film, idleTimerDisabled: false)
        #expect(!bench.contains(.inhibitIdle(false)), "the map wants it still")
        bench.say(film, idleTimerDisabled: true)
        bench.exited(film)
        #expect(!bench.contains(.inhibitIdle(false)), "the map wants it still")
        bench.ask(.leave(AppID("map")))
        #expect(bench.contains(.inhibitIdle(false)))
    }

    @Test func `the end of a command of an app is not that of what its process asked for`() throws {
        var bench = Bench()
        bench.install(
            .linked("app", identifiers: Bench.identifiers) { $0.refreshCommand = ["reload"] }
        )
        let command = try #require(bench.spawn(of: "app"))
        bench.started(command)
        bench.sense(.battery, .value(80))
        let launch = try bench.openApp("app")
        bench.say(launch, .conditionsWatched(reply: bench.nextReply()))
        bench.say(launch, idleTimerDisabled: true)
        try #require(bench.contains(.inhibitIdle(true)))
        try #require(bench.launch(command) != nil)
        bench.exited(command)
        try #require(bench.launch(command) == nil)
        #expect(!bench.contains(.inhibitIdle(false)))
        bench.sense(.battery, .value(79))
        #expect(told(bench, launch).map(\.battery) == [79])
    }

    @Test func `what a launch says when it is over is not heard, however late`() throws {
        var (bench, last) = try watching()
        bench.say(last, idleTimerDisabled: true)
        bench.exited(last)
        try #require(bench.contains(.inhibitIdle(false)))
        let launch = try bench.openApp("app")
        bench.say(last, idleTimerDisabled: true)
        #expect(bench.refusal?.code == .notFound)
        #expect(!bench.contains(.inhibitIdle(true)))
        // Only what changes is done: until now it could go off.
        bench.say(launch, idleTimerDisabled: true)
        #expect(bench.contains(.inhibitIdle(true)))
        bench.say(launch, .conditionsWatched(reply: bench.nextReply()))
        bench.say(last, idleTimerDisabled: false)
        #expect(!bench.contains(.inhibitIdle(false)))
        bench.say(last, .disconnected)
        #expect(!bench.contains(.inhibitIdle(false)))
        bench.say(last, .conditionsWatched(reply: bench.nextReply()))
        #expect(bench.refusal?.code == .notFound)
        bench.sense(.battery, .value(70))
        #expect(told(bench, launch).map(\.battery) == [70])
        #expect(bench.told(last) == [])
    }
}

extension Bench {
    fileprivate mutating func say(_ launch: LaunchID, idleTimerDisabled isDisabled: Bool) {
        say(launch, .idleTimer(disabled: isDisabled, reply: nextReply()))
    }

    fileprivate mutating func sense(_ condition: Condition, _ reading: Reading) {
        send(.condition(condition, .kernel, reading))
    }
}
