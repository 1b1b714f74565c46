import DeviceCore
import Testing
import Vocabulary

/// What failed, or asked for another run: when it is tried again, by itself and by hand.
struct TriedAgainTests {
    private static let backup = AppID("command.backup")

    private static func submitted(
        _ kind: TaskKind,
        every: Interval? = nil,
        after: Interval? = nil
    ) -> Bench {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: kind, after: after, every: every, command: ["backup"])))
        return bench
    }

    private static func run(_ bench: inout Bench, status: Int32) throws {
        let launch = try #require(bench.spawn(of: "command.backup"))
        bench.started(launch)
        bench.advance(.seconds(1))
        bench.exited(launch, status: status)
    }

    // MARK: Failures

    @Test func `a daily backup that fails is tried again the same day, and then the next`() throws {
        var bench = Self.submitted(.processing, every: .days(1))
        for minutes: Int64 in [15, 30, 60] {
            try Self.run(&bench, status: 1)
            #expect(bench.gates("command.backup") == ["back-off"])
            bench.advance(.minutes(minutes) - .milliseconds(1))
            #expect(bench.spawned.isEmpty)
            bench.advance(.milliseconds(1))
        }
        try Self.run(&bench, status: 0)
        #expect(bench.gates("command.backup") == ["quiet"])
        bench.advance(.days(1) - .milliseconds(1))
        #expect(bench.spawned.isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.spawn(of: "command.backup") != nil)
    }

    @Test func `that of a manifest, too`() throws {
        var bench = Bench()
        bench.install(.processing("app"))
        var launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch, status: 1)
        #expect(bench.gates("app") == ["back-off"])
        bench.advance(.minutes(15))
        launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch)
        #expect(bench.gates("app") == ["quiet"])
    }

    /// Each success of the refresh would end the wait after failures.
    @Test func `beside a refresh, what failed waits for its next time`() throws {
        var bench = Bench()
        bench.install(
            .processing("app") {
                $0.modes = [.fetch, .processing]
                $0.refreshCommand = ["fetch"]
            }
        )
        var hasFailed = false
        for _ in 0..<100 {
            for (launch, spec) in bench.spawned {
                let isTidy = spec.arguments.first == "tidy"
                #expect(!(isTidy && hasFailed), "tried again within a day")
                hasFailed = hasFailed || isTidy
                bench.started(launch)
                bench.exited(launch, status: isTidy ? 1 : 0)
            }
            bench.advance(.minutes(10))
        }
        #expect(hasFailed)
    }

    @Test func `a refresh that failed has had its turn`() throws {
        var bench = Self.submitted(.refresh, every: .days(1))
        try Self.run(&bench, status: 1)
        #expect(Set(bench.gates("command.backup")) == ["quiet", "back-off"])
    }

    @Test func `without a back-off what failed waits for its next time, and does not run on`()
        throws
    {
        var bench = Bench()
        bench.configure { $0.backOff = .zero }
        let daily = Submission(kind: .processing, every: .days(1), command: ["backup"])
        bench.ask(.submit(daily))
        try Self.run(&bench, status: 1)
        #expect(bench.gates("command.backup") == ["quiet"])
        bench.install(.processing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch, status: 1)
        #expect(bench.gates("app") == ["quiet"])
    }

    // MARK: Ends that nobody saw

    private static func vanish(_ app: String, _ bench: inout Bench) throws {
        let launch = try #require(bench.spawn(of: app))
        bench.started(launch)
        bench.advance(.seconds(1))
        bench.send(.process(launch, .exited(.unknown, nil)))
        #expect(bench.results.last == .unknown)
        #expect(bench.app(app)?.record.failures.count == 0)
    }

    @Test func `a daily backup whose end nobody saw runs again soon, and then the next day`() throws
    {
        var bench = Self.submitted(.processing, every: .days(1))
        try Self.vanish("command.backup", &bench)
        #expect(bench.gates("command.backup") == ["earliest"])
        let words = "how its last run ended is not known, so it runs again "
        #expect(bench.sentence("command.backup").contains(words))
        bench.advance(.minutes(15) - .milliseconds(1))
        #expect(bench.spawned.isEmpty)
        bench.advance(.milliseconds(1))
        try Self.run(&bench, status: 0)
        #expect(bench.gates("command.backup") == ["quiet"])
    }

    /// It waits by itself, and shares no failures.
    @Test func `that of a manifest, too, also beside a refresh`() throws {
        for modes: [BackgroundMode] in [[.processing], [.fetch, .processing]] {
            var bench = Bench()
            bench.install(
                .processing("app") {
                    $0.modes = modes
                    $0.refreshCommand = modes.contains(.fetch) ? ["fetch"] : nil
                    $0.refreshInterval = .days(1)
                }
            )
            var tidied: [WallTime] = []
            var waiting = bench.spawned
            for _ in 0..<26 * 60 {
                while !waiting.isEmpty {
                    let (launch, spec) = waiting.removeFirst()
                    bench.started(launch)
                    waiting += bench.spawned
                    let isTidy = spec.arguments.first == "tidy"
                    if isTidy { tidied.append(bench.now.wall) }
                    bench.send(.process(launch, .exited(isTidy ? .unknown : .status(0), nil)))
                    waiting += bench.spawned
                }
                bench.advance(.minutes(1))
                waiting = bench.spawned
            }
            let waits = zip(tidied, tidied.dropFirst()).map { $1 - $0 }
            // Only every other time: it may be what keeps its end from being seen.
            try #require(waits.count == 3, "\(modes): \(tidied)")
            let soon = Interval.minutes(15)...Interval.hours(1)
            #expect(soon.contains(waits[0]) && soon.contains(waits[2]), "\(modes): \(waits)")
            #expect(waits[1] >= .days(1), "\(modes): \(waits)")
        }
    }

    @Test func `after a run that is done it is run again soon once more`() throws {
        for isSubmitted in [true, false] {
            var bench = Self.submitted(.processing, every: .days(1))
            let app = isSubmitted ? "command.backup" : "app"
            if !isSubmitted {
                bench = Bench()
                bench.install(.processing("app"))
            }
            for wait in [Interval.minutes(15), .days(1), .minutes(15), .days(1)] {
                try Self.vanish(app, &bench)
                bench.advance(wait - .milliseconds(1))
                #expect(bench.spawned.isEmpty, "\(app), \(wait)")
                bench.advance(.milliseconds(1))
            }
            // One that is done between two begins it anew, without a word of the day before.
            let done = try #require(bench.spawn(of: app))
            bench.started(done)
            bench.exited(done)
            bench.advance(.days(1))
            try Self.vanish(app, &bench)
            bench.advance(.minutes(15))
            #expect(bench.spawn(of: app) != nil)
        }
    }

    @Test func `without a back-off it waits for its next time`() throws {
        var bench = Bench()
        bench.configure { $0.backOff = .zero }
        bench.ask(.submit(Submission(kind: .processing, every: .days(1), command: ["backup"])))
        try Self.vanish("command.backup", &bench)
        #expect(bench.spawned.isEmpty && bench.gates("command.backup") == ["quiet"])
    }

    @Test func `what was asked for once is not run twice for that`() throws {
        var bench = Self.submitted(.processing)
        try Self.vanish("command.backup", &bench)
        #expect(bench.requests("command.backup").isEmpty)
        bench.advance(.days(2))
        #expect(bench.spawned.isEmpty)
    }

    @Test func `a refresh whose end nobody saw has had its turn`() throws {
        var bench = Self.submitted(.refresh, every: .days(1))
        try Self.vanish("command.backup", &bench)
        #expect(bench.gates("command.backup") == ["quiet"])
    }

    // MARK: Another run

    @Test(arguments: [TaskKind.refresh, .processing])
    func `a command that asked for another run is run at once by who says so`(
        kind: TaskKind
    ) throws {
        for every in [nil, Interval.days(1)] {
            var bench = Self.submitted(kind, every: every)
            try Self.run(&bench, status: 75)
            #expect(bench.gates("command.backup") == ["earliest"])
            let words = "its command asked for another run, which begins "
            #expect(bench.sentence("command.backup").contains(words))
            bench.advance(.minutes(1))
            #expect(bench.spawned.isEmpty, "it waits, when nobody says so")
            bench.ask(.run(Self.backup, identifier: nil))
            #expect(bench.refusal == nil)
            try Self.run(&bench, status: 0)
        }
    }

    @Test func `also one of a manifest`() throws {
        var bench = Bench()
        bench.install(.processing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch, status: 75)
        bench.ask(.run(AppID("app"), identifier: nil))
        #expect(bench.refusal == nil && bench.spawn(of: "app") != nil)
    }

    @Test func `after the caller's date another run is no date of the caller's`() throws {
        var bench = Self.submitted(.processing, after: .hours(1))
        bench.advance(.hours(1))
        try Self.run(&bench, status: 75)
        bench.ask(.run(Self.backup, identifier: nil))
        #expect(bench.refusal == nil && bench.spawn(of: "command.backup") != nil)
    }

    // MARK: A caller's date

    @Test func `a date of the caller's holds who says run, and the way out is named`() throws {
        var bench = Self.submitted(.processing, after: .hours(1))
        // A clock that is set back moves the date, and makes it nobody else's.
        for step: Interval in [.zero, .minutes(-10), .days(-3)] {
            bench.now.wall = bench.now.wall + step
            bench.send(.clockChanged)
            bench.ask(.run(Self.backup, identifier: nil))
            #expect(bench.refusal?.reason.contains("it is to begin") == true)
            #expect(bench.refusal?.fix == "submit it again without --after")
        }
        var (app, launch) = try Bench.withApp()
        app.submit(launch, "app.refresh") { $0.after = .hours(1) }
        app.ask(.run(AppID("app"), identifier: "app.refresh"))
        #expect(app.refusal?.fix == "offstage simulate launch app app.refresh tries it now")
    }

    // MARK: Names

    @Test func `a name that is copied from what is printed is that of the same task`() throws {
        var bench = Self.submitted(.processing, after: .hours(1))
        for identifier in ["command.backup", "backup"] {
            let again = Submission(
                identifier: identifier,
                kind: .processing,
                after: .hours(2),
                command: ["backup"]
            )
            guard case .requested(let task) = bench.ask(.submit(again)) else {
                Issue.record("\(identifier) is refused")
                continue
            }
            #expect(task.app == Self.backup && task.identifier == "backup")
            #expect(bench.requests("command.backup").count == 1, "it replaces the one before")
        }
        let other = Submission(kind: .processing, command: ["/opt/command.backup"])
        guard case .requested(let task) = bench.ask(.submit(other)) else {
            Issue.record("another program of that name is refused")
            return
        }
        #expect(task.app == AppID("command.command.backup"), "nobody has named it")
    }
}
