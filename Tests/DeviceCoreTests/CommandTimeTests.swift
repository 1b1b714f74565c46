import DeviceCore
import Testing
import Vocabulary

/// The end of a command's time: SIGTERM, then SIGKILL; or frozen, to go on later.
struct CommandTimeTests {
    @Test func `SIGTERM comes 5 s before the end and SIGKILL at it, in awake time`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.advance(.seconds(10))
        bench.sleep(.hours(2))
        bench.advance(.seconds(15) - .milliseconds(1))
        #expect(!bench.contains(.terminate(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.terminate(launch)))
        bench.advance(.seconds(5) - .milliseconds(1))
        #expect(!bench.contains(.kill(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.kill(launch)))
        bench.advance(.hours(1))
        #expect(!bench.contains(.kill(launch)))
        // Only a confirmed exit ends it.
        #expect(bench.launch(launch) != nil)
        bench.killed(launch)
        #expect(bench.results == [.terminated(.timeout)])
    }

    @Test func `a command that breaks off at SIGTERM has expired, in good order`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.advance(.seconds(26))
        bench.exited(launch, status: 143)
        #expect(bench.results == [.expired(.timeout)])
        bench.advance(.seconds(10))
        #expect(!bench.contains(.kill(launch)))
    }

    @Test(arguments: [
        (Int32(0), RunResult.succeeded), (3, .noData), (75, .retry), (1, .expired(.timeout)),
    ])
    func `after SIGTERM, and before SIGKILL, its exit status is its completion`(
        _ status: Int32,
        _ result: RunResult
    ) throws {
        for isKilled in [false, true] {
            var bench = Bench()
            bench.install(.processing("app") { $0.noDataExit = [3] })
            let launch = try #require(bench.spawn(of: "app"))
            bench.started(launch)
            bench.advance(.minutes(30) - .seconds(isKilled ? 0 : 1))
            #expect(bench.contains(.kill(launch)) == isKilled)
            bench.exited(launch, status: status)
            #expect(bench.results == [isKilled ? .terminated(.timeout) : result])
            guard !isKilled, result == .succeeded else { continue }
            #expect(bench.gates("app") == ["quiet"])
        }
    }

    @Test func `done at SIGTERM, its result sources are read`() throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.failedFrom = ["check"] })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.advance(.seconds(26))
        bench.exited(launch)
        #expect(bench.probes.map(\.step) == [.failed])
        bench.advance(.seconds(6))
        #expect(!bench.contains(.kill(launch)))
        bench.send(.process(launch, .probed(.failed, .read(Fingerprint(), status: 0))))
        #expect(bench.results == [.newData])
    }

    @Test func `a timer that comes very late does both steps in order`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.move(.minutes(10))
        bench.send(.timer)
        #expect(bench.contains(.terminate(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.kill(launch)))
    }

    @Test func `a timer that comes early is asked for again`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        let armed = bench.timers
        #expect(armed.timer != nil)
        bench.move(.seconds(1))
        bench.send(.timer)
        #expect(bench.contains(.arm(armed)))
    }

    @Test(arguments: [
        (nil, Interval.seconds(5)), (Interval.seconds(2), .seconds(2)),
        (Interval.minutes(1), .seconds(5)),
    ])
    func `stopped for another reason, StopTimeout may only shorten the wait for SIGKILL`(
        _ stopTimeout: Interval?,
        _ wait: Interval
    ) throws {
        var bench = Bench()
        bench.install(.refreshing("app") { $0.stopTimeout = stopTimeout })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.ask(.pause(nil))
        #expect(bench.contains(.terminate(launch)))
        bench.advance(wait - .milliseconds(1))
        #expect(!bench.contains(.kill(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.kill(launch)))
    }

    @Test func `processing has 5 minutes, and 30 while idle on external power`() throws {
        for (power, minutes) in [(0, Int64(5)), (1, 30)] {
            var bench = Bench()
            bench.set(.battery, 80)
            bench.set(.power, power)
            bench.install(.processing("app"))
            let launch = try #require(bench.spawn(of: "app"))
            bench.started(launch)
            bench.advance(.minutes(minutes) - .seconds(5) - .milliseconds(1))
            #expect(!bench.contains(.terminate(launch)))
            bench.advance(.milliseconds(1))
            #expect(bench.contains(.terminate(launch)))
            bench.exited(launch, status: 143)
            // Not done: due again at once, but for the wait after a time-out.
            #expect(bench.requests("app").map(\.state) == [.pending])
            #expect(bench.gates("app") == ["back-off"])
        }
    }

    @Test func `processing has more time from when the charger comes, and less when it goes`()
        throws
    {
        for kind in ["command", "linked"] {
            var bench = Bench()
            bench.set(.battery, 80)
            bench.set(.power, 0)
            let launch: LaunchID
            if kind == "command" {
                bench.install(.processing("app"))
                launch = try #require(bench.spawn(of: "app"))
                bench.started(launch)
            } else {
                bench.install(.linked("app", identifiers: ["x"]))
                launch = try bench.openApp("app", registered: ["x"])
                bench.submit(launch, "x", .processing)
                bench.ask(.leave(AppID("app")))
                // Offered while the user still had it open.
                let delivery = try #require(bench.launch(launch)?.deliveries.first?.id)
                bench.say(launch, .accepted(delivery))
                bench.say(launch, .expirationHandler(delivery, set: true))
            }
            func isStopped(_ bench: Bench) -> Bool {
                bench.contains(.terminate(launch)) || !bench.told(launch).isEmpty
            }
            bench.advance(.minutes(4))
            bench.set(.power, 1)
            bench.advance(.minutes(20))
            #expect(!isStopped(bench), "\(kind)")
            // More than it would have had: it has the time of a warning.
            bench.set(.power, 0)
            #expect(isStopped(bench), "\(kind)")
            #expect(!bench.contains(.kill(launch)))
            bench.advance(.seconds(5))
            #expect(bench.contains(.kill(launch)))
        }
    }

    @Test func `a frozen command goes on in the next window`() throws {
        var bench = Bench()
        bench.install(.processing("app") { $0.whenInterrupted = .freeze })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.advance(.minutes(1))
        bench.set(.idle, 0)
        #expect(bench.contains(.freeze(launch)))
        #expect(bench.contains(.holdAwake(false)))
        #expect(!bench.contains(.terminate(launch)))
        #expect(bench.results == [.interrupted(.deviceInUse)])
        #expect(bench.gates("app") == ["device-in-use"])
        #expect(bench.sentence("app").contains("frozen in mid-run"))
        bench.advance(.hours(1))
        bench.set(.idle, 1)
        #expect(bench.contains(.thaw(launch)))
        #expect(bench.contains(.holdAwake(true)))
        #expect(bench.spawned.isEmpty)
        bench.advance(.minutes(2))
        bench.exited(launch)
        #expect(bench.results == [.interrupted(.deviceInUse), .succeeded])
        #expect(bench.runs.last?.resumed == true)
        #expect(bench.runs.last?.runTime == .minutes(2))
        #expect(bench.gates("app") == ["quiet"])
    }

    @Test func `a frozen command's time is over: it waits like any other for its next window`()
        throws
    {
        var bench = Bench()
        bench.install(.processing("app") { $0.whenInterrupted = .freeze })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.advance(.minutes(30))
        // Frozen, and at once in the next window, as nothing else waits.
        #expect(bench.contains(.freeze(launch)))
        #expect(bench.contains(.thaw(launch)))
        #expect(bench.results == [.interrupted(.timeout)])
    }

    @Test func `interrupted for more than a day, it is ended and begins anew`() throws {
        var bench = Bench()
        bench.install(.processing("app") { $0.whenInterrupted = .freeze })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.set(.idle, 0)
        bench.advance(.days(1) - .milliseconds(1))
        #expect(!bench.contains(.terminate(launch)))
        bench.advance(.milliseconds(1))
        #expect(bench.contains(.thaw(launch)))
        #expect(bench.contains(.terminate(launch)))
        bench.advance(.seconds(5))
        #expect(bench.contains(.kill(launch)))
        bench.killed(launch)
        #expect(bench.requests("app").map(\.state) == [.pending])
        #expect(bench.requests("app").map(\.interruptedAt) == [nil])
        bench.set(.idle, 1)
        let next = try #require(bench.spawn(of: "app"))
        #expect(next != launch)
    }

    @Test func `frozen and killed from outside, it begins anew`() throws {
        var bench = Bench()
        bench.install(.processing("app") { $0.whenInterrupted = .freeze })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.set(.idle, 0)
        bench.killed(launch)
        #expect(bench.launch(launch) == nil)
        #expect(bench.requests("app").map(\.state) == [.pending])
        #expect(bench.requests("app").map(\.interruptedAt) == [nil])
    }

    @Test func `an interrupted command ends first when memory is short`() throws {
        var bench = Bench()
        bench.install(.processing("app") { $0.whenInterrupted = .freeze })
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.set(.idle, 0)
        bench.set(.memory, 2)
        #expect(bench.contains(.kill(launch)))
        bench.killed(launch)
        #expect(bench.requests("app").map(\.state) == [.pending])
    }
}
