import DeviceCore
import Testing
import Vocabulary

/// Failures in a row, and the wait after them.
struct FailureTests {
    @Test func `the wait doubles from 15 minutes to 4 hours, and a success ends it`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        var launch = try #require(bench.spawn(of: "app"))
        for minutes: Int64 in [15, 30, 60, 120, 240, 240] {
            bench.started(launch)
            bench.exited(launch, status: 1)
            #expect(bench.gates("app").contains("back-off"))
            bench.advance(.minutes(minutes) - .milliseconds(1))
            #expect(bench.spawned.isEmpty)
            bench.advance(.milliseconds(1))
            launch = try #require(bench.spawn(of: "app"))
        }
        #expect(bench.app("app")?.record.failures.count == 6)
        bench.started(launch)
        bench.exited(launch)
        #expect(bench.app("app")?.record.failures.count == 0)
        #expect(try #require(bench.app("app")).record.failures.until == nil)
        bench.advance(.minutes(15))
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `the failure command runs once, after the third failure in a row`() throws {
        var bench = Bench()
        bench.configure { $0.failureCommand = "notify-send Offstage" }
        bench.install(.refreshing("app"))
        var notified: [Int] = []
        for turn in 1...5 {
            let launch = try #require(bench.spawn(of: "app"))
            bench.started(launch)
            bench.exited(launch, status: 2)
            for case .notifyFailures(let app, let count, let reason, let command) in bench.effects {
                notified.append(turn)
                #expect(app == AppID("app"))
                #expect(count == 3)
                #expect(reason == "exit status 2")
                #expect(command == "notify-send Offstage")
            }
            bench.advance(.hours(4))
        }
        #expect(notified == [3])
        #expect(bench.sentence("app").isEmpty == false)
    }

    @Test func `of what its app called failed after its time the result is told too`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.openApp("app", registered: ["app.*"])
        bench.submit(launch, "app.0", .refresh)
        bench.ask(.leave(AppID("app")))
        let delivery = try bench.accept(launch)
        bench.advance(.seconds(25))
        bench.say(launch, .completed(delivery, .unsuccessful))
        let reason = "expired: \(StopReason.timeout.summary): reported by the app"
        #expect(bench.app("app")?.record.failures.reason == reason)
    }

    @Test func `after a success the failure command may run again`() throws {
        var bench = Bench()
        bench.configure {
            $0.failureCommand = "notify"
            $0.failuresBeforeCommand = 1
        }
        bench.install(.refreshing("app"))
        var notified: [Bool] = []
        for status: Int32 in [1, 1, 0, 1] {
            let launch = try #require(bench.spawn(of: "app"))
            bench.started(launch)
            bench.exited(launch, status: status)
            notified.append(
                bench.effects.contains { if case .notifyFailures = $0 { true } else { false } }
            )
            bench.advance(.hours(4))
        }
        #expect(notified == [true, false, false, true])
    }

    @Test func `what the device did to a run is no failure of the app`() throws {
        for change: (Condition, Int) in [(.idle, 0), (.lowPower, 1), (.thermal, 2), (.memory, 2)] {
            var bench = Bench()
            bench.install(.processing("app"))
            let launch = try #require(bench.spawn(of: "app"))
            bench.started(launch)
            bench.set(change.0, change.1)
            #expect(bench.contains(.terminate(launch)), "\(change.0)")
            bench.exited(launch, status: 143)
            #expect(bench.app("app")?.record.failures.count == 0)
            #expect(bench.requests("app").map(\.state) == [.pending])
            bench.set(change.0, change.0.row.harmless)
            #expect(bench.spawn(of: "app") != nil, "\(change.0)")
        }
    }

    @Test func `unknown is neither failure nor success`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let first = try #require(bench.spawn(of: "app"))
        bench.started(first)
        bench.exited(first, status: 1)
        bench.advance(.minutes(15))
        let second = try #require(bench.spawn(of: "app"))
        bench.started(second)
        bench.send(.process(second, .exited(.unknown, nil)))
        #expect(bench.app("app")?.record.failures.count == 1)
        #expect(bench.results == [.failed, .unknown])
    }

    @Test func `RetryExit is run again after the back-off, and is no failure`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, command: ["sync"])))
        let first = try #require(bench.spawn(of: "command.sync"))
        bench.started(first)
        bench.exited(first, status: 75)
        #expect(bench.results == [.retry])
        #expect(bench.app("command.sync")?.record.failures.count == 0)
        #expect(bench.gates("command.sync") == ["earliest"])
        bench.advance(.minutes(15))
        let second = try #require(bench.spawn(of: "command.sync"))
        bench.started(second)
        bench.exited(second)
        #expect(bench.requests("command.sync").isEmpty)
    }

    /// A command that was submitted for one run and failed.
    private static func failedOnce() throws -> Bench {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .processing, command: ["backup"])))
        let launch = try #require(bench.spawn(of: "command.backup"))
        bench.started(launch)
        bench.exited(launch, status: 1)
        #expect(bench.requests("command.backup").isEmpty)
        return bench
    }

    private static func failing(_ bench: Bench) -> [String] {
        bench.device.status(at: bench.now).failing.map(\.app.name)
    }

    @Test func `a failure that is not tried again is told for a day, or as long as is set`() throws
    {
        var bench = try Self.failedOnce()
        bench.advance(.days(1) - .milliseconds(1))
        #expect(Self.failing(bench) == ["command.backup"])
        bench.advance(.milliseconds(1))
        #expect(Self.failing(bench).isEmpty)
        bench.configure { $0.failureAge = .days(3) }
        #expect(Self.failing(bench) == ["command.backup"])
        bench.configure { $0.failureAge = .zero }
        #expect(Self.failing(bench).isEmpty)
    }

    @Test func `a failure that is tried again is told until it succeeds`() throws {
        var bench = Bench()
        bench.configure { $0.failureAge = .zero }
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch, status: 1)
        #expect(Self.failing(bench) == ["app"])
        bench.install(.refreshing("app") { $0.refreshCommand = nil })
        #expect(Self.failing(bench).isEmpty, "nothing is left to be tried")
    }

    @Test func `what is dismissed is told no longer, and waits for its failures no longer`() throws
    {
        var bench = try Self.failedOnce()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch, status: 1)
        #expect(Self.failing(bench).sorted() == ["app", "command.backup"])
        bench.ask(.dismiss(AppID("command.backup")))
        #expect(bench.reply == .done)
        #expect(Self.failing(bench) == ["app"])
        #expect(bench.gates("app").contains("back-off"))
        bench.ask(.dismiss(nil))
        #expect(Self.failing(bench).isEmpty)
        #expect(!bench.gates("app").contains("back-off"))
        for (app, reason) in [("app", "no failure to dismiss"), ("nobody", "no app of that name")] {
            bench.ask(.dismiss(AppID(app)))
            #expect(bench.refusal?.reason.contains(reason) == true, "\(app)")
        }
    }
}
