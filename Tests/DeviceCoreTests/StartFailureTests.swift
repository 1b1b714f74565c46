import DeviceCore
import Testing
import Vocabulary

/// A program that the machine could not start is not to blame: it waits, and is tried again.
struct StartFailureTests {
    static let causes = [StartFailure.Cause.storage, .processes, .groups]

    private func gate(_ cause: StartFailure.Cause) -> String {
        switch cause {
        case .storage: "storage"
        case .processes, .groups: "processes"
        case .program: "none"
        }
    }

    /// A refresh of the app `app` that was not started.
    private func failed(_ cause: StartFailure.Cause) throws -> (Bench, LaunchID) {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.send(.process(launch, .notStarted(StartFailure(cause, reason: "no room"))))
        return (bench, launch)
    }

    @Test(arguments: causes)
    func `its request waits again, nothing is booked, and a gate says why`(
        _ cause: StartFailure.Cause
    ) throws {
        let (bench, launch) = try failed(cause)
        #expect(bench.runs.isEmpty)
        #expect(bench.app("app")?.record.failures.count == 0)
        #expect(bench.app("app")?.record.ledger.wakes == 0)
        #expect(bench.device.ledger.wakes == 0)
        #expect(bench.app("app")?.requests.first?.state == .pending)
        #expect(bench.app("app")?.launches.isEmpty == true)
        #expect(bench.gates("app") == [gate(cause)])
        #expect(bench.device.running.all == 0)
        #expect(bench.contains(.release(launch)))
    }

    @Test(arguments: causes)
    func `what is said fits the cause, and promises no more than a try`(
        _ cause: StartFailure.Cause
    ) throws {
        var (bench, _) = try failed(cause)
        let explanation = try #require(bench.device.explain(AppID("app"), at: bench.now).first)
        let words =
            switch cause {
            case .program: ""
            case .storage: "a file that the start needs could not be written"
            case .processes: "the machine cannot start another process"
            case .groups: "the kernel's directories for its processes are gone"
            }
        #expect(
            explanation.sentence
                == "app waits: \(words) (no room). It is tried again at 12:00:01."
        )
        #expect(explanation.holds.map(\.fix) == [cause.fix])
        #expect(explanation.next == bench.now.wall + .seconds(1))
        bench.ask(.run(AppID("app"), identifier: nil))
        #expect(bench.refusal?.reason == "app does not run: \(words) (no room)")
        #expect(bench.refusal?.fix == cause.fix)
    }

    @Test func `directories of the kernel that are gone are no want of room`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.send(.process(launch, .notStarted(StartFailure(.groups, reason: "no such place"))))
        #expect(bench.refusal?.reason == "app cannot be started: no such place")
        #expect(bench.refusal?.fix == "restart the daemon, then try again")
    }

    @Test func `a failure that nothing waits behind is over, and the next one is the first again`()
        throws
    {
        var bench = Bench()
        func check() -> Check { .starting(bench.device.startBlock, at: bench.now.boot) }
        func fail() throws {
            let launch = try #require(bench.spawn(of: "command.job"))
            let failure = StartFailure(.storage, reason: "no room")
            bench.send(.process(launch, .notStarted(failure)))
        }
        #expect(check().isGood)
        bench.ask(.submit(Submission(kind: .refresh, command: ["job"])))
        for _ in 0..<5 {
            try fail()
            #expect(check().found == "the last start failed: no room")
            #expect(check().fix == StartFailure.Cause.storage.fix)
            bench.advance(try #require(bench.armed) - bench.now.boot)
        }
        try fail()
        bench.ask(.cancel(AppID("command.job"), identifier: nil))
        #expect(!check().isGood)
        bench.advance(.minutes(2))
        #expect(check().isGood)
        bench.ask(.submit(Submission(kind: .refresh, command: ["job"])))
        try fail()
        #expect(!check().isGood)
        #expect(try #require(bench.armed) - bench.now.boot == .seconds(1))
    }

    @Test func `what we ended before it began is booked as ended, and closes no gate`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, command: ["app"])))
        let launch = try #require(bench.spawn(of: "command.app"))
        bench.ask(.cancel(AppID("command.app"), identifier: nil))
        let failure = StartFailure(.processes, reason: "it ended before its program began")
        bench.send(.process(launch, .notStarted(failure)))
        #expect(bench.device.startBlock == nil)
        #expect(bench.runs.count == 1)
        #expect(bench.contains(.release(launch)))
    }

    @Test func `it is tried again, at growing distance, and at once when a program was started`()
        throws
    {
        var bench = Bench()
        bench.install(.refreshing("app"))
        var waits: [Interval] = []
        for _ in 0..<9 {
            let launch = try #require(bench.spawn(of: "app"))
            bench.send(
                .process(launch, .notStarted(StartFailure(.processes, reason: "no room")))
            )
            #expect(bench.spawn(of: "app") == nil)
            let next = try #require(bench.armed)
            waits.append(next - bench.now.boot)
            bench.advance(next - bench.now.boot)
        }
        #expect(waits.map(\.seconds) == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        #expect(bench.device.startBlock == nil)
        bench.exited(launch)
        #expect(bench.results == [.newData])
    }

    @Test func `starts that fail together count as one try`() throws {
        var bench = Bench()
        for name in ["one", "two", "three"] { bench.install(.refreshing(name)) }
        let launches = bench.device.launchIDs
        #expect(launches.count == 3)
        for launch in launches {
            bench.send(
                .process(launch, .notStarted(StartFailure(.storage, reason: "no room")))
            )
        }
        #expect(try #require(bench.armed) - bench.now.boot == .seconds(1))
    }

    @Test func `a refresh that was chosen gets its place in the day back`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        let day = bench.now.local.day
        #expect(bench.app("app")?.record.refresh.spent(on: day) == 1)
        bench.send(.process(launch, .notStarted(StartFailure(.storage, reason: "no room"))))
        #expect(bench.app("app")?.record.refresh.spent(on: day) == 0)
    }

    @Test func `work for an app that was not started waits again, without a line`() throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["clean"]))
        let open = try bench.openApp("app", registered: ["clean"])
        bench.submit(open, "clean", .processing) { $0.after = .minutes(1) }
        bench.exited(open)
        bench.advance(.minutes(1))
        let launch = try #require(bench.device.launchIDs.first)
        bench.send(.process(launch, .notStarted(StartFailure(.processes, reason: "no room"))))
        #expect(bench.runs.isEmpty)
        #expect(bench.app("app")?.requests.first?.state == .pending)
        #expect(bench.gates("app") == ["processes"])
    }

    @Test func `a cancelled run that never began does not come back`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, command: ["job"])))
        let launch = try #require(bench.device.launchIDs.first)
        bench.ask(.cancel(bench.device.app(of: launch) ?? AppID(""), identifier: nil))
        bench.send(.process(launch, .notStarted(StartFailure(.processes, reason: "no room"))))
        #expect(bench.device.launchIDs.isEmpty)
        bench.advance(.hours(1))
        #expect(bench.device.launchIDs.isEmpty)
    }

    @Test func `the user who opens an app is told what the machine lacks`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.device.launchIDs.first)
        bench.send(.process(launch, .notStarted(StartFailure(.storage, reason: "no room"))))
        #expect(bench.refusal?.fix.contains("free some space") == true)
        #expect(bench.app("app")?.record.failures.count == 0)
    }

    @Test(arguments: [ProbeStep.before, .after, .failed])
    func `a result that could not be asked for is no failure of the app`(_ step: ProbeStep) throws {
        var bench = Bench()
        bench.install(
            .refreshing("app") {
                if step == .failed {
                    $0.failedFrom = ["check"]
                } else {
                    $0.newDataFrom = .file("/n")
                }
            }
        )
        let failure = StartFailure(.processes, reason: "no room")
        if step == .before {
            let launch = try #require(bench.device.launchIDs.first)
            bench.send(.process(launch, .probed(.before, .notAsked(failure))))
            #expect(bench.runs.isEmpty)
            #expect(bench.app("app")?.requests.first?.state == .pending)
        } else {
            let launch = try #require(bench.device.launchIDs.first)
            if step == .after {
                bench.send(.process(launch, .probed(.before, .read(Fingerprint(), status: 0))))
            }
            bench.started(launch)
            bench.exited(launch)
            bench.send(.process(launch, .probed(step, .notAsked(failure))))
            #expect(bench.results == [.unknown])
        }
        #expect(bench.app("app")?.record.failures.count == 0)
        #expect(bench.gates("app").contains("processes"))
    }
}
