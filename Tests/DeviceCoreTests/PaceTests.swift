@testable import DeviceCore
import Testing
import Vocabulary

/// Launches that follow too closely: an app that asks to run again as soon as it has run.
struct PaceTests {
    /// An app in the background that may be given `app.x` at any time, and has just run it.
    private static func bench() throws -> (Bench, LaunchID) {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.suspendApp("app", registered: ["app.*"])
        bench.submit(launch, "app.x", .processing)
        try loop(&bench, launch)
        return (bench, launch)
    }

    /// What was offered is accepted, asked for again at once, and done.
    private static func loop(
        _ bench: inout Bench,
        _ launch: LaunchID,
        _ change: (inout Submission) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let delivery = try bench.accept(launch, sourceLocation: sourceLocation)
        bench.submit(launch, "app.x", .processing, change)
        bench.say(launch, .completed(delivery, .succeeded))
    }

    @Test func `asked for again at once it runs once more, then waits longer each time`() throws {
        var (bench, launch) = try Self.bench()
        // Once is free: that is how an app tries again.
        try Self.loop(&bench, launch)
        for minutes: Int64 in [5, 10, 20, 40, 80, 160, 240, 240] {
            #expect(bench.gates("app") == ["back-off"])
            bench.advance(.minutes(minutes) - .milliseconds(1))
            #expect(bench.offers(launch).isEmpty, "\(minutes)")
            bench.advance(.milliseconds(1))
            try Self.loop(&bench, launch)
        }
        let beginning = "submitted again too soon after its last launch (9 times"
        #expect(bench.sentence("app").contains(beginning))
    }

    @Test func `it is told since when and until when, apart from failures`() throws {
        var (bench, launch) = try Self.bench()
        try Self.loop(&bench, launch)
        func hold() throws -> Hold {
            try #require(bench.device.explain(AppID("app"), at: bench.now).first?.holds.first)
        }
        #expect(try hold().value == "submitted again too soon once")
        #expect(try hold().since == bench.now.wall)
        #expect(try hold().next == bench.now.wall + .minutes(5))
        #expect(bench.app("app")?.record.failures.count == 0)
        // The longer wait is the one that counts, and is told.
        bench.advance(.minutes(5))
        let delivery = try bench.accept(launch)
        bench.submit(launch, "app.x", .processing)
        bench.killed(launch, signal: 11)
        #expect(bench.sentence("app").contains("it failed once (ended by SIGSEGV)"))
        bench.advance(.minutes(10))
        #expect(bench.gates("app") == ["back-off"])
        #expect(bench.launch(launch) == nil && delivery.number > 0)
    }

    @Test func `a later time, a longer run and the user's visit begin anew`() throws {
        for way in ["later", "long", "opened", "off"] {
            var (bench, launch) = try Self.bench()
            try Self.loop(&bench, launch)
            #expect(bench.gates("app") == ["back-off"])
            switch way {
            case "later": bench.submit(launch, "app.x", .processing) { $0.after = .minutes(5) }
            case "opened": bench.ask(.open(AppID("app"), attach: nil))
            case "off": bench.configure { $0.launchSpacing = .zero }
            case _: break
            }
            if way == "later" || way == "long" { bench.advance(.minutes(5)) }
            if way == "long" {
                let delivery = try bench.accept(launch)
                bench.submit(launch, "app.x", .processing)
                bench.advance(.minutes(6))
                bench.say(launch, .completed(delivery, .succeeded))
            }
            // Free again, and then once more as the first time.
            try Self.loop(&bench, launch)
            if way == "later" { try Self.loop(&bench, launch) }
            #expect(bench.gates("app").contains("back-off") == (way == "later"), "\(way)")
        }
    }

    @Test func `what was asked for together runs together, one after the other or not`() throws {
        var bench = Bench()
        bench.configure { $0.runSlots = 1 }
        bench.install(.linked("app", identifiers: ["app.*"]))
        let launch = try bench.suspendApp("app", registered: ["app.*"])
        bench.set(.power, 0)
        bench.set(.battery, 90)
        for number in 0..<10 {
            bench.submit(launch, "app.\(number)", .processing) { $0.needs.power = true }
        }
        bench.set(.power, 1)
        #expect(bench.gates("app").isEmpty)
        #expect(bench.offers(launch).count == 10)
    }

    @Test func `a rhythm that the user or a manifest asked for is not slowed down`() throws {
        var bench = Bench()
        bench.configure { $0.minimumRefreshInterval = .zero }
        bench.install(.processing("app") { $0.processingInterval = .minutes(1) })
        bench.ask(.submit(Submission(kind: .refresh, every: .minutes(1), command: ["sync"])))
        for _ in 0..<10 {
            for name in ["app", "command.sync"] {
                let launch = try #require(bench.app(name)?.launches.first?.id)
                bench.started(launch)
                bench.exited(launch)
                #expect(!bench.gates(name).contains("back-off"))
            }
            // And by hand as often as the user likes.
            bench.ask(.submit(Submission(kind: .refresh, command: ["once"])))
            let once = try #require(bench.spawn(of: "command.once"))
            bench.started(once)
            bench.exited(once)
            bench.advance(.minutes(1))
        }
    }

    @Test func `each of an app's sessions has its pace, beside those of its last tasks`() {
        var record = AppRecord(id: AppID("app"))
        record.sessions = (0..<100).map {
            TransferSession(identifier: "session \($0)", sendsLaunchEvents: true)
        }
        var now = Bench().now.wall
        func begin(_ identifier: String, _ trigger: Trigger, _ origin: Work.Origin) {
            let work = Work(
                trigger: trigger,
                origin: origin,
                mode: .normal,
                identifier: identifier,
                needs: Needs(),
                since: now
            )
            record.began(work, at: now, .calm)
            now = now + .milliseconds(1)
        }
        for round in 0..<3 {
            for session in record.sessions { begin(session.identifier, .sessionEvents, .event) }
            for number in 0..<20 { begin("task \(round) \(number)", .processing, .submitted) }
        }
        let (sessions, tasks) = (record.paces.prefix(100), record.paces.dropFirst(100))
        #expect(sessions.map(\.identifier) == record.sessions.map(\.identifier))
        #expect(sessions.allSatisfy { $0.close == 2 })
        #expect(tasks.map(\.identifier) == (4..<20).map { "task 2 \($0)" })
    }

    @Test func `a user-initiated run skips it, a restart keeps it, a set clock ends with it`()
        throws
    {
        var (bench, launch) = try Self.bench()
        try Self.loop(&bench, launch)
        bench.now.wall = bench.now.wall - .days(3)
        bench.send(.clockChanged)
        #expect(
            bench.device.explain(AppID("app"), at: bench.now).first?.next
                == bench.now.wall + .minutes(5)
        )
        try bench.restart(manifests: [.linked("app", identifiers: ["app.*"])])
        bench.advance(.seconds(10))
        #expect(bench.gates("app").contains("back-off"))
        bench.ask(.run(AppID("app"), identifier: "app.x"))
        #expect(bench.refusal == nil)
    }
}
