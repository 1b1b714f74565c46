import DeviceCore
import Testing
import Vocabulary

/// Work handed to linked apps: offer, receipt, go, completion or expiry (B1 to B9, C3, C7 to C9).
struct DeliveryTests {
    /// An app that was opened, has submitted what `kinds` say, and was left.
    static func bench(
        _ kinds: [TaskKind] = [.refresh],
        isSuspended: Bool = false,
        needs: Needs = Needs()
    ) throws -> (Bench, LaunchID) {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.openApp("app", registered: ["app.*"])
        // So that all are offered together.
        bench.ask(.pause(nil))
        for (number, kind) in kinds.enumerated() {
            bench.submit(launch, "app.\(number)", kind) {
                $0.needs = needs
                if isSuspended { $0.after = .minutes(1) }
            }
        }
        bench.ask(.leave(AppID("app")))
        if isSuspended { bench.advance(.minutes(1)) }
        bench.ask(.continue)
        return (bench, launch)
    }

    // MARK: Offer, receipt, completion

    @Test func `an offer, its receipt, go, the completion, and the app is suspended`() throws {
        var (bench, launch) = try Self.bench(isSuspended: true)
        #expect(bench.contains(.thaw(launch)))
        #expect(bench.contains(.holdAwake(true)))
        let delivery = try #require(bench.offers(launch).first)
        let offer = Offer(kind: .trigger(.refresh), identifier: "app.0")
        #expect(bench.told(launch) == [.offer(delivery, offer)])
        #expect(bench.requests("app").map(\.state) == [.offered(launch)])
        bench.say(launch, .accepted(delivery))
        #expect(bench.told(launch) == [.go(delivery)])
        #expect(bench.requests("app").map(\.state) == [.running(launch)])
        bench.advance(.seconds(3))
        bench.say(launch, .completed(delivery, .succeeded))
        #expect(bench.contains(.freeze(launch)))
        #expect(bench.contains(.holdAwake(false)))
        #expect(bench.results == [.succeeded])
        #expect(bench.runs.first?.resumed == true)
        #expect(bench.runs.first?.identifier == "app.0")
        #expect(bench.requests("app").isEmpty)
        #expect(bench.launch(launch)?.presence == .suspended)
    }

    @Test func `the thaw comes before the offer, the save before all`() throws {
        let (bench, launch) = try Self.bench(isSuspended: true)
        let thaw = try #require(bench.effects.firstIndex(of: .thaw(launch)))
        let offer = try #require(
            bench.effects.firstIndex { if case .tell(launch, _) = $0 { true } else { false } }
        )
        #expect(thaw < offer)
    }

    @Test func `an app that does not run is launched in the background, invisible`() throws {
        var (bench, first) = try Self.bench(isSuspended: true)
        bench.exited(first)
        bench.advance(.minutes(15))
        let launch = try #require(bench.spawn(of: "app"))
        #expect(bench.spawned.first?.spec.weight == .background)
        #expect(bench.launch(launch)?.presence == .background)
        bench.started(launch)
        #expect(bench.offers(launch).isEmpty)
        bench.say(launch, .finishedLaunching(registered: ["app.0"]))
        let delivery = try bench.accept(launch)
        bench.say(launch, .completed(delivery, .newData))
        #expect(bench.runs.last?.resumed == false)
        #expect(bench.contains(.freeze(launch)))
    }

    @Test func `a task without a registered handler is a result, and used up`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.openApp("app", registered: ["app.other"])
        bench.submit(launch, "app.0")
        bench.ask(.leave(AppID("app")))
        #expect(bench.offers(launch).isEmpty)
        #expect(bench.runs.last?.reason == "no handler registered for app.0")
        #expect(bench.requests("app").isEmpty)
        bench.advance(.seconds(5))
        #expect(bench.contains(.freeze(launch)))
    }

    @Test func `an offer that another request has replaced counts as a refresh once it ran`() throws
    {
        var (bench, launch) = try Self.bench()
        let delivery = try #require(bench.offers(launch).first)
        let identifier = try #require(bench.requests("app").first?.identifier)
        bench.submit(launch, identifier) { $0.after = .hours(2) }
        bench.say(launch, .accepted(delivery))
        bench.say(launch, .completed(delivery, .newData))
        #expect(bench.app("app")?.record.lastEnd(of: .refresh) == bench.now.wall)
        #expect(bench.requests("app").map(\.identifier) == [identifier])
    }

    @Test func `what an app asks for again and again comes back after each run`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.every = .hours(2) }
        bench.ask(.leave(AppID("app")))
        let delivery = try bench.accept(launch)
        bench.say(launch, .completed(delivery, .newData))
        let request = try #require(bench.requests("app").first)
        #expect(request.every == .hours(2))
        #expect(request.lastEnd == bench.now.wall)
        #expect(request.earliest == nil)
    }

    @Test func `completing twice is harmless and noted`() throws {
        var (bench, launch) = try Self.bench()
        let delivery = try bench.accept(launch)
        bench.say(launch, .completed(delivery, .succeeded))
        bench.say(launch, .completed(delivery, .failed))
        #expect(bench.results == [.succeeded])
        #expect(
            bench.lines.contains(.note("completed twice, or never delivered: \(delivery)"))
        )
    }

    @Test func `accepting twice, or what was never offered, changes nothing`() throws {
        var (bench, launch) = try Self.bench()
        let delivery = try bench.accept(launch)
        bench.say(launch, .accepted(delivery))
        #expect(bench.told(launch).isEmpty)
        bench.say(launch, .accepted(DeliveryID(999)))
        #expect(bench.told(launch).isEmpty)
    }

    @Test func `an offer without a receipt goes back to pending when its app is gone`() throws {
        var (bench, launch) = try Self.bench()
        #expect(bench.offers(launch).count == 1)
        bench.killed(launch, signal: 11)
        #expect(bench.results == [.crashed(signal: 11)])
        #expect(bench.requests("app").map(\.state) == [.pending])
        #expect(bench.gates("app") == ["back-off", "better-moment"])
        #expect(bench.told(launch).isEmpty)
    }

    @Test func `an app that exits without a word is not started again at once`() throws {
        var (bench, first) = try Self.bench([.processing])
        bench.exited(first)
        #expect(bench.results == [.exited(status: 0)])
        #expect(bench.spawned.isEmpty)
        #expect(bench.gates("app") == ["back-off"])
        bench.advance(.minutes(15))
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `a received one is used up when its app is gone`() throws {
        var (bench, launch) = try Self.bench()
        _ = try bench.accept(launch)
        bench.send(.process(launch, .exited(.unknown, nil)))
        #expect(bench.results == [.unknown])
        #expect(bench.requests("app").isEmpty)
        #expect(bench.app("app")?.record.failures.count == 0)
    }

    // MARK: Expiry

    @Test func `a refresh has 30 s; its handler is called 5 s before, once`() throws {
        var (bench, launch) = try Self.bench()
        let delivery = try bench.accept(launch)
        bench.advance(.seconds(25) - .milliseconds(1))
        #expect(bench.told(launch).isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.told(launch) == [.expire(delivery, .timeout)])
        bench.send(.timer)
        #expect(bench.told(launch).isEmpty)
        bench.say(launch, .completed(delivery, .unsuccessful))
        #expect(bench.results == [.expired(.timeout)])
        #expect(bench.contains(.freeze(launch)))
    }

    @Test func `with a handler that did not complete, the app is terminated`() throws {
        var (bench, launch) = try Self.bench()
        _ = try bench.accept(launch)
        bench.advance(.seconds(30))
        #expect(bench.contains(.kill(launch)))
        bench.killed(launch)
        #expect(bench.results == [.terminated(.neverCompleted)])
        #expect(bench.requests("app").isEmpty)
    }

    @Test func `without a handler it counts as completed without success, and is suspended`() throws
    {
        var (bench, launch) = try Self.bench()
        _ = try bench.accept(launch, handler: false)
        bench.advance(.seconds(30))
        #expect(!bench.contains(.kill(launch)))
        #expect(bench.contains(.freeze(launch)))
        #expect(bench.results == [.unsuccessful])
    }

    @Test func `a receipt that comes after the warning is warned then`() throws {
        var (bench, launch) = try Self.bench()
        let delivery = try #require(bench.offers(launch).first)
        bench.advance(.seconds(26))
        #expect(bench.told(launch).isEmpty)
        bench.say(launch, .accepted(delivery))
        #expect(bench.told(launch) == [.go(delivery), .expire(delivery, .timeout)])
    }

    @Test func `the time of a run stands still while the device sleeps`() throws {
        var (bench, launch) = try Self.bench()
        _ = try bench.accept(launch)
        bench.advance(.seconds(20))
        bench.sleep(.hours(3))
        #expect(!bench.contains(.kill(launch)))
        bench.advance(.seconds(10) - .milliseconds(1))
        #expect(!bench.contains(.kill(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.kill(launch)))
    }

    @Test func `the user comes: no expiry, and after leaving there is time again`() throws {
        var (bench, launch) = try Self.bench()
        let delivery = try bench.accept(launch)
        bench.advance(.seconds(10))
        bench.ask(.open(AppID("app"), attach: nil))
        bench.advance(.hours(1))
        #expect(bench.told(launch).isEmpty)
        bench.ask(.leave(AppID("app")))
        bench.advance(.seconds(25))
        #expect(bench.told(launch) == [.expire(delivery, .timeout)])
    }

    // MARK: Several in one launch

    @Test func `several tasks run side by side, each with the length of its own kind`() throws {
        var (bench, launch) = try Self.bench([.refresh, .processing, .processing])
        let offers = bench.offers(launch)
        try #require(offers.count == 3)
        for offer in offers {
            bench.say(launch, .accepted(offer))
            bench.say(launch, .expirationHandler(offer, set: true))
        }
        bench.advance(.seconds(25))
        #expect(bench.told(launch) == [.expire(offers[0], .timeout)])
        bench.say(launch, .completed(offers[0], .succeeded))
        #expect(!bench.contains(.freeze(launch)))
        bench.advance(.minutes(30) - .seconds(30))
        #expect(
            bench.told(launch) == [.expire(offers[1], .timeout), .expire(offers[2], .timeout)]
        )
        bench.say(launch, .completed(offers[1], .succeeded))
        bench.say(launch, .completed(offers[2], .succeeded))
        #expect(bench.contains(.freeze(launch)))
        #expect(bench.results == [.succeeded, .succeeded, .succeeded])
        #expect(bench.runs.map(\.identifier) == ["app.0", "app.1", "app.2"])
    }

    @Test func `a launch that also processes takes the one place for processing`() throws {
        var (bench, launch) = try Self.bench([.refresh, .processing])
        #expect(bench.offers(launch).count == 2)
        bench.install(.processing("other"))
        #expect(bench.spawned.isEmpty)
        #expect(bench.gates("other") == ["run-slots"])
    }

    @Test func `what joins a run late ends with it, if its kind has no more`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        bench.configure { $0.pendingRefreshes = 5 }
        let launch = try bench.openApp("app", registered: ["app.*"])
        bench.submit(launch, "app.0")
        bench.submit(launch, "app.1") { $0.after = .seconds(20) }
        bench.ask(.leave(AppID("app")))
        _ = try bench.accept(launch)
        bench.advance(.seconds(20))
        let late = try bench.accept(launch)
        bench.advance(.seconds(5))
        #expect(bench.told(launch).contains(.expire(late, .timeout)))
    }

    // MARK: Conditions that stop holding

    @Test func `what it asked for expires a task when it is lost; a user only processing`()
        throws
    {
        let table: [(TaskKind, Needs, Condition, Int, StopReason?)] = [
            (.processing, Needs(power: true), .power, 0, .powerLost),
            (.processing, Needs(), .power, 0, nil),
            (.processing, Needs(network: true), .network, 0, .networkLost),
            (.processing, Needs(), .network, 0, nil),
            (.refresh, Needs(), .network, 0, nil),
            (.refresh, Needs(network: true), .network, 0, .networkLost),
            (.processing, Needs(unmetered: true), .metered, 1, .networkMetered),
            (.refresh, Needs(unmetered: true), .metered, 1, .networkMetered),
            (.processing, Needs(), .metered, 1, nil),
            (.processing, Needs(unmetered: true), .lowData, 1, .lowDataMode),
            (.refresh, Needs(unmetered: true), .lowData, 1, .lowDataMode),
            (.processing, Needs(), .lowData, 1, nil),
            (.processing, Needs(), .idle, 0, .deviceInUse),
            (.refresh, Needs(), .idle, 0, nil),
            (.refresh, Needs(unlocked: true), .locked, 1, .dataLocked),
            (.refresh, Needs(), .locked, 1, nil),
            (.processing, Needs(), .lowPower, 1, .lowPowerMode),
            (.refresh, Needs(), .lowPower, 1, nil),
            (.processing, Needs(), .thermal, 2, .thermal),
        ]
        for (kind, needs, condition, value, reason) in table {
            var (bench, launch) = try Self.bench([kind], needs: needs)
            let delivery = try bench.accept(launch)
            bench.set(.battery, 90)
            bench.set(condition, value)
            let expected = reason.map { [AppMessage.expire(delivery, $0)] } ?? []
            #expect(bench.told(launch) == expected, "\(kind) \(condition)")
            guard let reason else { continue }
            bench.advance(.seconds(5))
            #expect(bench.contains(.kill(launch)))
            bench.killed(launch)
            #expect(bench.results == [.terminated(.neverCompleted)])
            _ = reason
        }
    }

    @Test func `a task expired early that completes in good order has expired, with the reason`()
        throws
    {
        var (bench, launch) = try Self.bench([.processing])
        let delivery = try bench.accept(launch)
        bench.set(.idle, 0)
        bench.say(launch, .completed(delivery, .unsuccessful))
        #expect(bench.results == [.expired(.deviceInUse)])
        #expect(bench.app("app")?.record.failures.count == 0)
    }

    // MARK: Tasks begun during a run

    @Test func `a background task begun in a run gets 5 s beyond it`() throws {
        var (bench, launch) = try Self.bench(isSuspended: true)
        let delivery = try bench.accept(launch)
        let task = bench.beginTask(launch)
        #expect(task > 0)
        bench.advance(.seconds(1))
        bench.say(launch, .completed(delivery, .succeeded))
        #expect(!bench.contains(.freeze(launch)))
        #expect(bench.told(launch) == [.expireTask(task: task, .timeout)])
        bench.advance(.seconds(5) - .milliseconds(1))
        #expect(!bench.contains(.kill(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.kill(launch)))
    }

    @Test func `ended in time, the app is suspended at once`() throws {
        var (bench, launch) = try Self.bench(isSuspended: true)
        let delivery = try bench.accept(launch)
        let task = bench.beginTask(launch)
        bench.say(launch, .completed(delivery, .succeeded))
        bench.say(launch, .taskEnded(task: task))
        #expect(bench.contains(.freeze(launch)))
    }

    @Test func `a task begun in a run and taken to the foreground ends with the finish-up time`()
        throws
    {
        var (bench, launch) = try Self.bench(isSuspended: true)
        let delivery = try bench.accept(launch)
        let task = bench.beginTask(launch)
        bench.ask(.open(AppID("app"), attach: nil))
        bench.say(launch, .completed(delivery, .succeeded))
        bench.ask(.leave(AppID("app")))
        bench.advance(.seconds(175))
        #expect(bench.told(launch) == [.expireTask(task: task, .timeout)])
        bench.advance(.seconds(5))
        #expect(bench.contains(.kill(launch)))
    }

    @Test func `each task ends with its own run, not with an earlier one`() throws {
        var (bench, launch) = try Self.bench(isSuspended: true)
        let first = try bench.accept(launch)
        let early = bench.beginTask(launch)
        bench.say(launch, .completed(first, .succeeded))
        bench.advance(.seconds(2))
        bench.submit(launch, "app.1", .processing)
        let second = try bench.accept(launch)
        let late = bench.beginTask(launch)
        bench.say(launch, .taskEnded(task: early))
        bench.advance(.seconds(20))
        #expect(!bench.contains(.kill(launch)))
        bench.say(launch, .completed(second, .succeeded))
        #expect(bench.told(launch) == [.expireTask(task: late, .timeout)])
        bench.advance(.seconds(5) - .milliseconds(1))
        #expect(!bench.contains(.kill(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.kill(launch)))
    }

    @Test func `a task of an earlier run that goes on does not make the timer spin`() throws {
        var (bench, launch) = try Self.bench(isSuspended: true)
        let delivery = try bench.accept(launch)
        bench.ask(.open(AppID("app"), attach: nil))
        let kept = bench.beginTask(launch)
        bench.ask(.leave(AppID("app")))
        let task = bench.beginTask(launch)
        bench.say(launch, .completed(delivery, .succeeded))
        bench.say(launch, .taskEnded(task: task))
        // What was begun in the foreground has its own time; nothing else is due.
        bench.advance(.seconds(60))
        #expect(!bench.contains(.kill(launch)))
        bench.say(launch, .taskEnded(task: kept))
        #expect(bench.contains(.freeze(launch)))
    }

    @Test func `the user who comes after the warning takes it back`() throws {
        var (bench, launch) = try Self.bench()
        let delivery = try bench.accept(launch)
        bench.advance(.seconds(26))
        #expect(bench.told(launch) == [.expire(delivery, .timeout)])
        bench.ask(.open(AppID("app"), attach: nil))
        bench.advance(.minutes(5))
        bench.say(launch, .completed(delivery, .failed))
        #expect(bench.results == [.failed])
    }

    @Test func `a run costs what it used, not what the user's own use of the app did`() throws {
        var (bench, launch) = try Self.bench()
        let delivery = try bench.accept(launch)
        func measured(_ seconds: Int64) {
            #expect(bench.contains(.measure(launch)))
            let usage = Usage(cpu: .seconds(seconds), memory: 1)
            bench.send(.process(launch, .measured(usage)))
        }
        // In the foreground it had used so much.
        bench.send(.process(launch, .measured(Usage(cpu: .seconds(100), memory: 1))))
        bench.advance(.seconds(15))
        measured(104)
        bench.advance(.seconds(5))
        bench.say(launch, .completed(delivery, .succeeded))
        #expect(bench.runs.last?.cpu == .seconds(4))
        measured(106)
        #expect(bench.device.ledger.cpu == .seconds(6))
        #expect(bench.app("app")?.record.ledger.cpu == .seconds(6))

        // The user works with it, and what that takes is nobody's wake's.
        bench.ask(.open(AppID("app"), attach: nil))
        bench.advance(.minutes(20))
        bench.submit(launch, "app.0", .processing)
        bench.ask(.leave(AppID("app")))
        #expect(bench.device.ledger.cpu == .seconds(6))
        bench.send(.process(launch, .measured(Usage(cpu: .seconds(500), memory: 1))))
        let next = try #require(bench.launch(launch)?.deliveries.first?.id)
        bench.say(launch, .accepted(next))
        bench.say(launch, .completed(next, .succeeded))
        // Too short to have been measured in between.
        #expect(try #require(bench.runs.last).cpu == nil)
        measured(503)
        #expect(bench.device.ledger.cpu == .seconds(9))
    }
}
