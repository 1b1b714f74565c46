import DeviceCore
import Testing
import Vocabulary

/// Background fetch, the first API (B1 to B3, B7 to B9).
struct FetchTests {
    private static func bench(
        _ interval: FetchInterval = .minimum,
        _ change: (inout AppManifest) -> Void = { _ in }
    ) throws -> (Bench, LaunchID) {
        var bench = Bench()
        bench.install(.linked("app", change))
        let launch = try bench.openApp("app")
        bench.say(launch, .fetchInterval(interval, reply: bench.nextReply()))
        #expect(bench.reply == .done)
        bench.ask(.leave(AppID("app")))
        return (bench, launch)
    }

    private static func advanceToOffer(_ bench: inout Bench, _ launch: LaunchID) -> Interval? {
        let begin = bench.now.boot
        for _ in 0..<200 {
            bench.advance(.minutes(1))
            if !bench.offers(launch).isEmpty { return bench.now.boot - begin }
        }
        return nil
    }

    @Test func `without the mode, and by default, there is no fetch`() throws {
        var (bench, launch) = try Self.bench { $0.modes = [.processing] }
        #expect(Self.advanceToOffer(&bench, launch) == nil)
        (bench, launch) = try Self.bench(.never)
        #expect(Self.advanceToOffer(&bench, launch) == nil)
        bench = Bench()
        bench.install(.linked("app"))
        launch = try bench.suspendApp("app")
        #expect(Self.advanceToOffer(&bench, launch) == nil)
    }

    @Test func `minimum is 15 minutes, and an interval a quiet period after use and fetch`() throws
    {
        for (interval, minutes) in [
            (FetchInterval.minimum, Int64(15)), (.every(.hours(2)), 120), (.every(.seconds(1)), 15),
        ] {
            var (bench, launch) = try Self.bench(interval)
            #expect(Self.advanceToOffer(&bench, launch) == .minutes(minutes))
            let delivery = try bench.accept(launch)
            bench.say(launch, .completed(delivery, .newData))
            #expect(bench.results == [.newData])
            #expect(Self.advanceToOffer(&bench, launch) == .minutes(minutes))
        }
    }

    @Test func `no completion within 30 s means termination, handler or not`() throws {
        var (bench, launch) = try Self.bench()
        _ = Self.advanceToOffer(&bench, launch)
        let begin = bench.launch(launch)?.wake?.began
        _ = try bench.accept(launch, handler: false)
        bench.advance(.seconds(31))
        #expect(bench.contains(.kill(launch)))
        bench.killed(launch)
        #expect(bench.results == [.terminated(.neverCompleted)])
        #expect(begin != nil)
        // It stays a standing request.
        #expect(bench.requests("app").map(\.state) == [.pending])
    }

    @Test func `a handler freed without being called is reported at once with its trigger`() throws
    {
        var (bench, launch) = try Self.bench()
        _ = Self.advanceToOffer(&bench, launch)
        let delivery = try bench.accept(launch)
        bench.say(launch, .completed(delivery, .failed))
        #expect(bench.runs.last?.trigger == .refresh)
        #expect(bench.results == [.failed])
    }

    @Test func `one that never came to the app, because the daemon ended, is due at once`() throws {
        let interval = Interval.hours(2)
        var (bench, opened) = try Self.bench(.every(interval))
        bench.killed(opened)
        let manifest = AppManifest.linked("app")
        func start() -> LaunchID? {
            for _ in 0..<200 {
                bench.advance(.minutes(1))
                if let launch = bench.spawn(of: "app") { return launch }
            }
            return nil
        }
        let launch = try #require(start())
        // Nobody lives to see the next day begin.
        bench.move(.days(1))
        let unborn = Survivor(launch: launch, process: nil, alive: false)
        try bench.restart(survivors: [unborn], manifests: [manifest])
        #expect(bench.results == [.unknown])
        let began = bench.now.boot
        _ = try #require(start())
        #expect(bench.now.boot - began < interval)
    }

    @Test func `overlapping wakes have completions of their own`() throws {
        var (bench, launch) = try Self.bench()
        _ = Self.advanceToOffer(&bench, launch)
        let first = try bench.accept(launch)
        bench.ask(.simulate(.fetch, AppID("app"), identifier: nil))
        let second = try bench.accept(launch)
        bench.say(launch, .completed(second, .newData))
        #expect(bench.results == [.newData])
        #expect(bench.launch(launch)?.deliveries.map(\.id) == [first])
        bench.say(launch, .completed(first, .noData))
        #expect(bench.results == [.newData, .noData])
        #expect(bench.launch(launch)?.presence == .suspended)
    }

    @Test func `permitted task identifiers turn it off`() throws {
        var (bench, launch) = try Self.bench { $0.permittedTaskIdentifiers = ["x"] }
        #expect(bench.requests("app").isEmpty)
        #expect(Self.advanceToOffer(&bench, launch) == nil)
        bench.ask(.pause(nil))
        bench.install(.linked("app"))
        #expect(bench.requests("app").map(\.identifier) == ["fetch"])
        bench.install(.linked("app", identifiers: ["x"]))
        #expect(bench.requests("app").isEmpty)
    }

    @Test func `the interval changes at any time, at once, and survives relaunch and reboot`()
        throws
    {
        var (bench, launch) = try Self.bench(.every(.hours(8)))
        bench.advance(.hours(1))
        bench.ask(.open(AppID("app"), attach: nil))
        bench.say(launch, .fetchInterval(.minimum, reply: bench.nextReply()))
        bench.ask(.leave(AppID("app")))
        #expect(Self.advanceToOffer(&bench, launch) == .minutes(15))
        let delivery = try bench.accept(launch)
        bench.say(launch, .completed(delivery, .newData))
        try bench.restart(bootID: "boot-2", manifests: [.linked("app")])
        #expect(bench.app("app")?.record.fetchInterval == .minimum)
        #expect(bench.requests("app").map(\.identifier) == ["fetch"])
        bench.advance(.minutes(15))
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `turned off during a fetch, it does not come back`() throws {
        var (bench, launch) = try Self.bench()
        _ = Self.advanceToOffer(&bench, launch)
        let delivery = try bench.accept(launch)
        bench.say(launch, .fetchInterval(.never, reply: bench.nextReply()))
        bench.say(launch, .completed(delivery, .newData))
        #expect(bench.requests("app").isEmpty)
        #expect(!bench.records.keys.contains { $0.section == .request })
    }
}
