import DeviceCore
import Testing
import Vocabulary

/// A task that begins while another of its app is running: what is told of its time is its own.
struct JoinedTaskTests {
    private static func sentence(of task: String, _ bench: Bench) -> String {
        bench.device.explain(AppID("app"), identifier: task, at: bench.now)
            .map(\.sentence).joined()
    }

    private static func running(_ bench: Bench) -> Report.Launch? {
        bench.device.status(at: bench.now).running.first
    }

    /// Processing that has been running for 20 s, and a refresh that joins it. `needs`: of the
    /// former. `accepts`: the app takes the latter.
    static func joined(
        sinceBoot: Interval = .hours(1),
        needs: Needs = Needs(),
        accepts: Bool = true
    ) throws -> (Bench, LaunchID, long: DeliveryID, late: DeliveryID) {
        var bench = Bench(sinceBoot: sinceBoot)
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.openApp("app", registered: ["app.*"])
        // Processing does not wait for the user to leave: it would begin in the foreground.
        bench.ask(.pause(nil))
        bench.submit(launch, "app.long", .processing) { $0.needs = needs }
        bench.submit(launch, "app.late") { $0.after = .seconds(20) }
        bench.ask(.leave(AppID("app")))
        bench.ask(.continue)
        let long = try bench.accept(launch)
        bench.advance(.seconds(20))
        let late = try #require(bench.offers(launch).first)
        if accepts { _ = try bench.accept(launch) }
        return (bench, launch, long, late)
    }

    @Test func `explain counts each from its own start to its own end`() throws {
        var (bench, _, _, _) = try Self.joined()
        bench.advance(.seconds(2))
        let late = Self.sentence(of: "app.late", bench)
        #expect(late.contains("has been running for 2s and has 28s left"), "\(late)")
        let long = Self.sentence(of: "app.long", bench)
        #expect(long.contains("has been running for 22s and has "), "\(long)")
        #expect(!long.contains("has 28s left"), "\(long)")
    }

    @Test func `each is told why its own time is over, and so is the history`() throws {
        var (bench, launch, long, late) = try Self.joined(needs: Needs(network: true))
        bench.set(.network, 0)
        #expect(bench.told(launch) == [.expire(long, .networkLost)])
        bench.say(launch, .completed(long, .unsuccessful))
        bench.advance(.seconds(25))
        #expect(bench.told(launch) == [.expire(late, .timeout)])
        // The next daemon knows it too.
        let process = bench.launch(launch)?.process
        try bench.restart(
            survivors: [Survivor(launch: launch, process: process, alive: true)],
            manifests: [.linked("app", identifiers: ["app.*"])]
        )
        bench.say(launch, .reconnected(running: [late], finished: []))
        #expect(bench.told(launch).contains(.expire(late, .timeout)))
        bench.say(launch, .completed(late, .unsuccessful))
        #expect(bench.results == [.expired(.networkLost), .expired(.timeout)])
    }

    @Test func `who does not take an offer in its whole time is ended, whatever ended the other`()
        throws
    {
        var (bench, launch, long, _) = try Self.joined(
            needs: Needs(network: true),
            accepts: false
        )
        bench.set(.network, 0)
        bench.say(launch, .completed(long, .unsuccessful))
        bench.advance(.seconds(30))
        #expect(bench.contains(.kill(launch)))
        bench.killed(launch)
        #expect(bench.results == [.expired(.networkLost), .terminated(.neverCompleted)])
    }

    @Test func `the history tells how long each took`() throws {
        var (bench, launch, long, late) = try Self.joined()
        bench.advance(.seconds(2))
        bench.say(launch, .completed(late, .succeeded))
        bench.advance(.seconds(3))
        bench.say(launch, .completed(long, .succeeded))
        #expect(bench.runs.map(\.identifier) == ["app.late", "app.long"])
        #expect(bench.runs.map(\.runTime) == [.seconds(2), .seconds(25)])
    }

    @Test func `status tells of the one that may run longest, and then of what is left`() throws {
        var (bench, launch, long, _) = try Self.joined()
        let joined = bench.now.wall
        bench.advance(.seconds(2))
        #expect(Self.running(bench)?.task == "app.long")
        #expect(Self.running(bench)?.trigger == "processing")
        #expect(Self.running(bench)?.seconds == 22)
        bench.say(launch, .completed(long, .succeeded))
        let left = try #require(Self.running(bench))
        #expect(left.task == "app.late" && left.trigger == "refresh")
        #expect(left.seconds == 2 && left.secondsLeft == 28)
        #expect(left.since?.wall == joined)
    }
}
