import DeviceCore
import Testing
import Vocabulary

/// Each gate: it closes, says so in words, and opens.
struct GateTests {
    struct Scenario: Sendable, CustomStringConvertible {
        var gate: String
        /// Makes an app wait for this gate and no other.
        var close: @Sendable (inout Bench) throws -> Void
        /// Then it runs, or is offered.
        var open: @Sendable (inout Bench) throws -> Void
        /// Part of what `explain` says.
        var sentence: String
        /// The wait has an end that time alone brings.
        var hasNext = false
        var description: String { gate }
    }

    /// Installs after the condition, so that the gate is closed from the beginning.
    private static func condition(
        _ gate: String,
        _ condition: Condition,
        _ closed: Int,
        _ open: Int,
        _ sentence: String,
        needs: Needs? = nil,
        first: @escaping @Sendable (inout Bench) -> Void = { _ in }
    ) -> Scenario {
        Scenario(
            gate: gate,
            close: {
                first(&$0)
                $0.set(condition, closed)
                if let needs {
                    $0.install(.processing("app") { $0.processingNeeds = needs })
                } else {
                    $0.install(.refreshing("app"))
                }
            },
            open: { $0.set(condition, open) },
            sentence: sentence
        )
    }

    /// Runs the app's command, which ends with `status`.
    private static func run(_ bench: inout Bench, status: Int32 = 0) throws {
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch, status: status)
    }

    static let scenarios: [Scenario] =
        [
            Scenario(
                gate: "unknown-app",
                close: {
                    $0.install(.linked("app", identifiers: ["x"]))
                    let open = try $0.openApp("app", registered: ["x"])
                    $0.submit(open, "x") { $0.after = .minutes(1) }
                    $0.exited(open)
                    $0.send(
                        .manifests([
                            .invalid(
                                AppID("app"),
                                file: "/app.desktop",
                                reason: "line 3: no such key"
                            )
                        ])
                    )
                    $0.advance(.minutes(1))
                },
                open: { $0.install(.linked("app", identifiers: ["x"])) },
                sentence: "line 3: no such key"
            ),
            Scenario(
                gate: "not-permitted",
                close: {
                    $0.install(.linked("app", identifiers: ["x"]))
                    let launch = try $0.openApp("app", registered: ["x"])
                    $0.submit(launch, "x") { $0.after = .minutes(1) }
                    $0.exited(launch)
                    $0.install(.linked("app", identifiers: ["y"]))
                    $0.advance(.minutes(1))
                },
                open: { $0.install(.linked("app", identifiers: ["x"])) },
                sentence: "PermittedTaskIdentifiers=x;"
            ),
            Scenario(
                gate: "closed-by-user",
                close: {
                    $0.set(.network, 0)
                    $0.install(.refreshing("app") { $0.useFrom = .file("/x") })
                    $0.ask(.close(AppID("app")))
                    $0.set(.network, 2)
                },
                open: {
                    $0.send(.used(AppID("app"))); $0.advance(.minutes(15))
                },
                sentence: "you closed it"
            ),
            Scenario(
                gate: "refresh-off",
                close: {
                    $0.configure { $0.backgroundRefresh = false }; $0.install(.refreshing("app"))
                },
                open: { $0.configure { $0.backgroundRefresh = true } },
                sentence: "turned off for all apps"
            ),
            Scenario(
                gate: "paused",
                close: {
                    $0.ask(.pause(nil)); $0.install(.refreshing("app"))
                },
                open: { $0.ask(.continue) },
                sentence: "you paused all background work"
            ),
            condition("before-first-unlock", .locked, 2, 1, "not been unlocked since it started"),
            Scenario(
                gate: "data-protection",
                close: {
                    $0.set(.locked, 1)
                    $0.ask(
                        .submit(
                            Submission(
                                kind: .refresh,
                                needs: Needs(unlocked: true),
                                command: ["app"]
                            )
                        )
                    )
                },
                open: { $0.set(.locked, 0) },
                sentence: "it needs data that the lock protects"
            ),
            condition("low-power", .lowPower, 1, 0, "low-power mode is on"),
            Scenario(
                gate: "earliest",
                close: {
                    $0.ask(.submit(Submission(kind: .refresh, after: .hours(30), command: ["app"])))
                },
                open: { $0.advance(.hours(30)) },
                sentence: "it is to begin tomorrow at 18:00 or later",
                hasNext: true
            ),
            Scenario(
                gate: "quiet",
                close: {
                    $0.install(.refreshing("app") { $0.refreshInterval = .hours(1) })
                    try run(&$0)
                    $0.advance(.minutes(20))
                },
                open: { $0.advance(.minutes(40)) },
                sentence: "its quiet period is 1h",
                hasNext: true
            ),
            condition("network", .network, 0, 2, "there is no network connection"),
            condition("network", .network, 1, 2, "the network requires a sign-in"),
            condition(
                "metered",
                .metered,
                1,
                0,
                "the network is metered",
                first: { $0.configure { $0.refreshOnMetered = false } }
            ),
            condition(
                "metered",
                .metered,
                1,
                0,
                "the network is metered",
                needs: Needs(unmetered: true)
            ),
            condition(
                "external-power",
                .power,
                0,
                1,
                "the device is not on external power",
                needs: Needs(power: true),
                first: { $0.set(.battery, 90) }
            ),
            condition(
                "battery",
                .battery,
                12,
                50,
                "the battery is low (12 %)",
                first: { $0.set(.power, 0) }
            ),
            condition("device-in-use", .idle, 0, 1, "the device is in use", needs: Needs()),
            Scenario(
                gate: "app-in-foreground",
                close: {
                    $0.install(.linked("app", identifiers: ["x"]))
                    let launch = try $0.openApp("app", registered: ["x"])
                    $0.submit(launch, "x")
                },
                open: { $0.ask(.leave(AppID("app"))) },
                sentence: "you have it open"
            ),
            condition("thermal", .thermal, 2, 1, "the device is too warm"),
            condition("memory", .memory, 2, 1, "memory is low"),
            condition("storage", .storage, 1, 0, "the disk is full"),
            Scenario(
                gate: "unused",
                close: {
                    $0.install(.refreshing("app") { $0.useFrom = .file("/x") })
                    let launch = try #require($0.spawn(of: "app"))
                    $0.set(.network, 0)
                    $0.started(launch)
                    $0.exited(launch)
                    $0.advance(.days(7))
                    $0.set(.network, 2)
                },
                open: {
                    $0.send(.used(AppID("app"))); $0.advance(.minutes(15))
                },
                sentence: "you have not opened it for 7d or more"
            ),
            Scenario(
                gate: "app-quota",
                close: {
                    $0.set(.battery, 90)
                    $0.set(.power, 0)
                    $0.configure { $0.appWakesPerDay = 1 }
                    $0.install(.refreshing("app"))
                    try run(&$0)
                    $0.advance(.hours(1))
                },
                open: { $0.advance(.hours(11)) },
                sentence: "used up what it may spend today",
                hasNext: true
            ),
            Scenario(
                gate: "device-quota",
                close: {
                    $0.set(.battery, 90)
                    $0.set(.power, 0)
                    $0.configure { $0.deviceTimePerDay = .seconds(10) }
                    $0.install(.refreshing("app"))
                    let launch = try #require($0.spawn(of: "app"))
                    $0.started(launch)
                    $0.advance(.seconds(10))
                    $0.exited(launch)
                    $0.advance(.hours(1))
                },
                open: { $0.set(.power, 1) },
                sentence: "all apps together have used up",
                hasNext: true
            ),
            Scenario(
                gate: "back-off",
                close: {
                    $0.configure { $0.minimumRefreshInterval = .zero }
                    $0.configure { $0.refreshesPerDay = 100_000 }
                    $0.install(.refreshing("app"))
                    try run(&$0, status: 4)
                    $0.advance(.minutes(1))
                },
                open: { $0.advance(.minutes(14)) },
                sentence: "it failed once (exit status 4)",
                hasNext: true
            ),
            Scenario(
                gate: "still-running",
                close: {
                    $0.ask(.submit(Submission(kind: .refresh, command: ["app"])))
                    $0.started(try #require($0.spawn(of: "command.app")))
                    $0.ask(.submit(Submission(kind: .refresh, command: ["app"])))
                },
                open: { $0.exited(try #require($0.app("command.app")?.launches.first?.id)) },
                sentence: "its last run has not ended"
            ),
            Scenario(
                gate: "start-pause",
                close: {
                    $0.configure { $0.pauseAfterResume = .seconds(10) }
                    $0.sleep(.hours(1))
                    $0.install(.refreshing("app"))
                },
                open: { $0.advance(.seconds(10)) },
                sentence: "the device has just woken up",
                hasNext: true
            ),
            Scenario(
                gate: "better-moment",
                close: {
                    $0.configure {
                        $0.refreshesPerDay = 12
                        $0.minimumRefreshInterval = .zero
                    }
                    $0.install(.refreshing("app"))
                    try run(&$0)
                },
                open: { $0.advance(.hours(2)) },
                sentence: "spread over your day",
                hasNext: true
            ),
            Scenario(
                gate: "shared-wake",
                close: {
                    $0.configure { $0.sharedWake = .minutes(5) }
                    $0.move(.seconds(1))
                    $0.install(.refreshing("app"))
                },
                open: { $0.advance(.minutes(5)) },
                sentence: "shares the next wake",
                hasNext: true
            ),
            Scenario(
                gate: "run-slots",
                close: {
                    $0.configure { $0.runSlots = 1 }
                    $0.install(.refreshing("other"))
                    $0.install(.refreshing("app"))
                },
                open: {
                    let launch = try #require($0.app("other")?.launches.first?.id)
                    $0.started(launch)
                    $0.exited(launch)
                },
                sentence: "its turn comes after them"
            ),
        ] + ofTheDaemon + ofTransfers

    @Test func `every gate has a scenario`() {
        #expect(Set(Self.scenarios.map(\.gate)) == Set(Gate.allCases.map(\.name)))
    }

    @Test(arguments: scenarios)
    func `it closes, says so in words, and opens`(_ scenario: Scenario) throws {
        var bench = Bench()
        try scenario.close(&bench)
        let explanations = (0..<bench.device.apps.endIndex).lazy
            .compactMap { bench.device.apps.at($0)?.id }
            .flatMap { bench.device.explain($0, at: bench.now) }
        let waiting = explanations.filter { $0.state == .waiting }
        let explanation = try #require(
            waiting.first { $0.app.name.hasSuffix("app") || $0.app == Device.downloads }
        )
        #expect(explanation.holds.map(\.gate) == [scenario.gate])
        let hold = try #require(explanation.holds.first)
        #expect(!hold.title.isEmpty)
        #expect(!hold.value.isEmpty)
        #expect(!hold.needed.isEmpty)
        #expect(hold.sentence.contains(scenario.sentence))
        #expect(explanation.sentence.contains(hold.sentence))
        #expect(explanation.sentence.hasSuffix("."))
        #expect((hold.next != nil) == scenario.hasNext)
        #expect(explanation.next == hold.next)
        #expect(try #require(hold.since) <= bench.now.wall)
        if let next = hold.next { #expect(next > bench.now.wall) }

        let closed = bench.now.boot
        try scenario.open(&bench)
        let gates = bench.gates(explanation.app.name, explanation.identifier)
        #expect(!gates.contains(scenario.gate))
        let runs = bench.app(explanation.app.name)?.launches.compactMap(\.wake)
        let hasTransfer = bench.effects.contains {
            if case .transfer(_, .begin) = $0 { true } else { false }
        }
        #expect(runs?.contains { $0.began.boot >= closed } == true || hasTransfer)
    }

    @Test func `what holds is told since when, and what held before is remembered for a while`()
        throws
    {
        var bench = Bench()
        bench.configure { $0.backgroundRefresh = false }
        let off = bench.now.wall
        bench.install(.refreshing("app"))
        bench.advance(.hours(1))
        func explained() throws -> Explanation {
            try #require(bench.device.explain(AppID("app"), at: bench.now).first)
        }
        #expect(try explained().holds.map(\.since) == [off])
        #expect(try explained().held.isEmpty)
        bench.set(.network, 0)
        bench.configure { $0.backgroundRefresh = true }
        #expect(
            try explained().held
                == [HoldTime(gate: .refreshOff, since: off, until: bench.now.wall)]
        )
        let list = [try explained()].report(at: bench.now)
        #expect(list.first?.held.first?.gate == "refresh-off")
        for _ in 0..<20 {
            bench.advance(.minutes(1))
            bench.ask(.pause(nil))
            bench.ask(.continue)
        }
        #expect(try explained().held.map(\.gate) == [.paused, .refreshOff], "each once")
        #expect(try explained().held.first?.since == bench.now.wall)
        #expect(try explained().holds.map(\.gate) == ["network"])
    }

    @Test func `after a start of the daemon alone the device has not woken up`() throws {
        var bench = Bench(isCalm: false)
        bench.configure { $0.pauseAfterStart = .minutes(20) }
        bench.install(.refreshing("app"))
        let hold = try #require(
            bench.device.explain(AppID("app"), at: bench.now).first?.holds.first {
                $0.gate == "start-pause"
            }
        )
        #expect(hold.sentence == "Offstage has just started")
    }

    @Test func `of several gates all are named, those that wait for an event first`() {
        var bench = Bench()
        bench.set(.network, 0)
        bench.set(.thermal, 2)
        bench.ask(
            .submit(
                Submission(
                    kind: .refresh,
                    after: .hours(2),
                    needs: Needs(network: true),
                    command: ["app"]
                )
            )
        )
        #expect(bench.gates("command.app") == ["network", "thermal", "earliest"])
        let explanations = bench.device.explain(AppID("command.app"), at: bench.now)
        #expect(explanations.map(\.next) == [nil])
    }

    @Test func `a request that asks for a network waits for one, whatever the manifest says`()
        throws
    {
        for asks in [false, true] {
            var bench = Bench()
            bench.install(.linked("app", identifiers: ["x"]) { $0.needsNetwork = false })
            let launch = try bench.openApp("app", registered: ["x"])
            bench.set(.network, 0)
            bench.submit(launch, "x") { $0.needs.network = asks }
            bench.ask(.leave(AppID("app")))
            #expect(bench.gates("app").contains("network") == asks)
        }
    }

    @Test func `what an app submits waits for a better moment, a command of the user's does not`()
        throws
    {
        var bench = Bench(at: .hours(3), isCalm: false)
        bench.move(.minutes(10))
        bench.install(.linked("app", identifiers: ["x"]))
        let launch = try bench.openApp("app", registered: ["x"])
        bench.submit(launch, "x")
        bench.ask(.leave(AppID("app")))
        #expect(bench.gates("app") == ["better-moment", "shared-wake"])
        bench.ask(.submit(Submission(kind: .refresh, command: ["sync"])))
        #expect(bench.spawn(of: "command.sync") != nil)
    }

    @Test func `of two requests of one identifier each has its own sentence`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, command: ["sync"])))
        bench.started(try #require(bench.spawn(of: "command.sync")))
        bench.ask(.submit(Submission(kind: .refresh, command: ["sync"])))
        let tasks = try #require(bench.device.taskList(of: AppID("command.sync"), at: bench.now))
        #expect(tasks.compactMap(\.state.known) == [.running, .waiting])
    }

    @Test func `a last run that was stopped gives its reason once`() throws {
        var bench = Bench()
        bench.install(.refreshing("app"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.ask(.pause(nil))
        bench.exited(launch, status: 143)
        func lastRun() -> Report.LastRun? {
            bench.device.explain(AppID("app"), at: bench.now).report(at: bench.now).first?.lastRun
        }
        #expect(lastRun()?.result == "expired: background work was paused")
        #expect(lastRun()?.reason == nil)
        #expect(lastRun()?.failed == nil, "it was not its fault")
        bench.ask(.continue)
        bench.advance(.minutes(15))
        let next = try #require(bench.spawn(of: "app"))
        bench.started(next)
        bench.exited(next, status: 4)
        #expect(lastRun()?.reason == "exit status 4")
        #expect(lastRun()?.failed == true)
    }
}
