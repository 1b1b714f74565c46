import DeviceCore
import Testing
import Vocabulary

/// Submitting and cancelling (C1 to C4, C11).
struct RequestTests {
    private static func number(_ reply: Reply?) -> UInt64? {
        if case .requested(let task) = reply { task.request.number } else { nil }
    }

    // MARK: Answers

    @Test func `a request is answered with its number and is durable by then`() throws {
        var (bench, launch) = try Bench.withApp()
        let reply = bench.submit(launch, "app.refresh")
        let number = try #require(Self.number(reply))
        guard case .requested(let task) = reply else {
            Issue.record("\(reply)")
            return
        }
        #expect(task.app == AppID("app"))
        #expect(task.identifier == "app.refresh")
        #expect(bench.records[RecordKey(.request, "\(number)")] != nil)
        guard case .save = bench.effects.first else {
            Issue.record("the save does not come first")
            return
        }
    }

    @Test func `the same identifier replaces what is pending`() throws {
        var (bench, launch) = try Bench.withApp()
        let first = Self.number(bench.submit(launch, "app.refresh") { $0.after = .hours(1) })
        let second = Self.number(bench.submit(launch, "app.refresh") { $0.after = .hours(2) })
        #expect(first != second)
        #expect(bench.requests("app").count == 1)
        #expect(bench.requests("app").first?.earliest == bench.now.wall + .hours(2))
        #expect(bench.records[RecordKey(.request, "\(first ?? 0)")] == nil)
    }

    @Test func `the same token is answered as the first time`() throws {
        var (bench, launch) = try Bench.withApp()
        let first = bench.submit(launch, "app.refresh") { $0.token = "t" }
        let again = bench.submit(launch, "app.refresh") { $0.token = "t" }
        #expect(first == again)
        bench.ask(.leave(AppID("app")))
        let delivery = try bench.accept(launch)
        bench.say(launch, .completed(delivery, .succeeded))
        #expect(bench.requests("app").isEmpty)
        #expect(bench.submit(launch, "app.refresh") { $0.token = "t" } == first)
        #expect(bench.requests("app").isEmpty)
        #expect(bench.submit(launch, "app.refresh") { $0.token = "u" } != first)
    }

    @Test func `only so many tokens are remembered, each of bounded length`() throws {
        var (bench, launch) = try Bench.withApp()
        for number in 0..<100 { bench.submit(launch, "app.refresh") { $0.token = "\(number)" } }
        #expect(bench.app("app")?.record.tokens.count == 32)
        bench.submit(launch, "app.refresh") { $0.token = String(repeating: "x", count: 65) }
        #expect(bench.refusal?.code == .invalid)
    }

    @Test func `one refresh and ten processing requests may be pending`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.after = .hours(1) }
        bench.submit(launch, "app.other") { $0.after = .hours(1) }
        #expect(bench.refusal?.code == .tooManyPendingTaskRequests)
        #expect(bench.refusal?.value == "1")
        for number in 1...10 {
            bench.submit(launch, "app.tidy.\(number)", .processing) { $0.after = .hours(1) }
            #expect(bench.refusal == nil)
        }
        bench.submit(launch, "app.tidy.11", .processing)
        #expect(bench.refusal?.code == .tooManyPendingTaskRequests)
        #expect(bench.refusal?.value == "10")
        #expect(bench.refusal?.fix.isEmpty == false)
        bench.submit(launch, "app.tidy.3", .processing)
        #expect(bench.refusal == nil)
        #expect(bench.requests("app").count == 11)
    }

    struct Wrong: Sendable, CustomStringConvertible {
        var description: String
        var submission: Submission
        var code: Refusal.Code
        var value: String
        var change: @Sendable (inout Bench) -> Void = { _ in }
    }

    @Test(arguments: [
        Wrong(
            description: "off for all",
            submission: Submission(identifier: "app.refresh", kind: .refresh),
            code: .unavailable,
            value: "all apps",
            change: { $0.configure { $0.backgroundRefresh = false } }
        ),
        Wrong(
            description: "off for the app",
            submission: Submission(identifier: "app.refresh", kind: .refresh),
            code: .unavailable,
            value: "app",
            change: {
                $0.configure {
                    var app = AppSettings(app: AppID("app"))
                    app.backgroundRefresh = false
                    $0.apps = [app]
                }
            }
        ),
        Wrong(
            description: "not permitted",
            submission: Submission(identifier: "app.secret", kind: .refresh),
            code: .notPermitted,
            value: "app.secret"
        ),
        Wrong(
            description: "mode not declared",
            submission: Submission(identifier: "app.refresh", kind: .processing),
            code: .notPermitted,
            value: "processing",
            change: {
                $0.install(.linked("app", identifiers: ["app.refresh"]) { $0.modes = [.fetch] })
            }
        ),
        Wrong(
            description: "no identifier",
            submission: Submission(kind: .refresh),
            code: .invalid,
            value: ""
        ),
        Wrong(
            description: "a command of an app",
            submission: Submission(identifier: "app.refresh", kind: .refresh, command: ["rm"]),
            code: .invalid,
            value: "rm"
        ),
        Wrong(
            description: "a condition that a refresh does not wait for",
            submission: Submission(
                identifier: "app.refresh",
                kind: .refresh,
                needs: Needs(power: true, network: true)
            ),
            code: .invalid,
            value: "power"
        ),
    ])
    func `what cannot be is refused with reason, value and fix`(_ wrong: Wrong) throws {
        var (bench, launch) = try Bench.withApp()
        wrong.change(&bench)
        bench.say(launch, .submit(wrong.submission, reply: bench.nextReply()))
        let refusal = try #require(bench.refusal)
        #expect(refusal.code == wrong.code)
        #expect(refusal.value == wrong.value)
        #expect(!refusal.reason.isEmpty)
        #expect(!refusal.fix.isEmpty)
        #expect(bench.requests("app").isEmpty)
        #expect(bench.spawned.isEmpty)
    }

    @Test(
        arguments: TaskKind.allCases,
        [
            (Needs(power: true), "external-power"), (Needs(network: true), "network"),
            (Needs(unmetered: true), "metered"), (Needs(unlocked: true), "data-protection"),
        ]
    )
    func `what a request is stored with it waits for, and all else is refused`(
        _ kind: TaskKind,
        _ condition: (needs: Needs, gate: String)
    ) throws {
        let needs = condition.needs
        var bench = Bench()
        let lacking: [(Condition, Int)] = [(.power, 0), (.network, 0), (.metered, 1), (.locked, 1)]
        for (condition, value) in lacking { bench.set(condition, value) }
        bench.ask(.submit(Submission(identifier: "x", kind: kind, command: ["x"])))
        #expect(!bench.gates("command.x").contains(condition.gate))
        bench.ask(.submit(Submission(identifier: "x", kind: kind, needs: needs, command: ["x"])))
        guard bench.refusal == nil else {
            #expect((kind, needs) == (.refresh, Needs(power: true)))
            #expect(bench.refusal?.code == .invalid)
            #expect(bench.refusal?.reason == "a refresh does not support this condition")
            #expect(bench.requests("command.x").map(\.needs) == [Needs()], "as it was")
            return
        }
        #expect(bench.gates("command.x").contains(condition.gate))
    }

    @Test(arguments: ["", "a b", "a/b", "ä", String(repeating: "x", count: 65)])
    func `the name of a command is plain`(_ name: String) {
        var bench = Bench()
        bench.ask(.submit(Submission(identifier: name, kind: .refresh, command: ["x"])))
        #expect(bench.refusal?.code == .invalid)
        #expect(bench.refusal?.value == name)
    }

    @Test func `a command without a program is refused`() {
        var bench = Bench()
        for command: [String]? in [nil, [], [""]] {
            bench.ask(.submit(Submission(kind: .refresh, command: command)))
            #expect(bench.refusal?.code == .invalid)
        }
    }

    @Test func `an app that there is not is not found, and a likely one is named`() {
        var bench = Bench()
        bench.install(.refreshing("newsboat"))
        for request: UserRequest in [
            .run(AppID("newsbaot"), identifier: nil), .close(AppID("newsbaot")),
            .open(AppID("newsbaot"), attach: nil), .leave(AppID("newsbaot")),
        ] {
            bench.ask(request)
            #expect(bench.refusal?.code == .notFound)
            #expect(bench.refusal?.value == "newsbaot")
            #expect(bench.refusal?.fix == "did you mean newsboat?")
        }
        bench.ask(.run(AppID("xyz"), identifier: nil))
        #expect(bench.refusal?.fix == "offstage apps lists those that are known")
    }

    @Test func `an app whose manifest is not valid is known, and what is wrong is said`() {
        var bench = Bench()
        bench.send(
            .manifests([.invalid(AppID("bad"), file: "/app.desktop", reason: "line 3: no such key")]
            )
        )
        for request: UserRequest in [
            .open(AppID("bad"), attach: nil), .leave(AppID("bad")), .close(AppID("bad")),
        ] {
            bench.ask(request)
            #expect(bench.refusal?.code == .held)
            #expect(bench.refusal?.reason.hasSuffix("its manifest is not valid") == true)
            #expect(bench.refusal?.value == "line 3: no such key")
        }
    }

    // MARK: Commands of the user

    @Test func `a command runs once, with its own arguments, directory and environment`() throws {
        var bench = Bench()
        let variable = EnvironmentVariable(name: "A", value: "b")
        bench.ask(
            .submit(
                Submission(
                    kind: .refresh,
                    command: ["/usr/bin/sync", "-x"],
                    directory: "/home",
                    environment: [variable]
                )
            )
        )
        let launch = try #require(bench.spawn(of: "command.sync"))
        let spec = try #require(bench.spawned.first?.spec)
        #expect(spec.arguments == ["/usr/bin/sync", "-x"])
        #expect(spec.directory == "/home")
        #expect(spec.environment == [variable])
        bench.started(launch)
        bench.exited(launch)
        bench.advance(.days(3))
        #expect(bench.spawned.isEmpty)
        #expect(bench.requests("command.sync").isEmpty)
    }

    @Test func `a user-initiated run skips the rest between the runs of every`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, every: .hours(2), command: ["sync"])))
        let first = try #require(bench.spawn(of: "command.sync"))
        bench.started(first)
        bench.advance(.seconds(10))
        bench.exited(first)
        bench.advance(.minutes(1))
        #expect(bench.gates("command.sync") == ["quiet"])
        #expect(bench.sentence("command.sync").contains("quiet period is 2h"))
        bench.ask(.run(AppID("command.sync"), identifier: nil))
        #expect(bench.spawn(of: "command.sync") != nil)
    }

    @Test func `a user-initiated run waits for the date of a first run, whatever comes after it`() {
        var bench = Bench()
        bench.ask(
            .submit(
                Submission(kind: .refresh, after: .hours(2), every: .hours(2), command: ["sync"])
            )
        )
        bench.ask(.run(AppID("command.sync"), identifier: nil))
        #expect(bench.refusal?.code == .held)
        bench.advance(.hours(2))
        #expect(bench.spawn(of: "command.sync") != nil)
    }

    @Test func `with every it comes back so long after each run`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, every: .hours(2), command: ["sync"])))
        let first = try #require(bench.spawn(of: "command.sync"))
        bench.started(first)
        bench.advance(.seconds(10))
        bench.exited(first)
        bench.advance(.hours(2) - .milliseconds(1))
        #expect(bench.spawned.isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.spawn(of: "command.sync") != nil)
    }

    @Test func `submitted again while it runs, the new one replaces what would come back`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, every: .hours(2), command: ["sync"])))
        let first = try #require(bench.spawn(of: "command.sync"))
        bench.started(first)
        bench.ask(.submit(Submission(kind: .refresh, every: .hours(5), command: ["sync"])))
        #expect(bench.refusal == nil)
        bench.exited(first)
        #expect(bench.requests("command.sync").count == 1)
        #expect(bench.requests("command.sync").first?.every == .hours(5))
    }

    @Test func `submitted again before the receipt, the new one replaces the offered one`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, command: ["sync"])))
        let first = try #require(bench.spawn(of: "command.sync"))
        bench.ask(.submit(Submission(kind: .refresh, command: ["sync"])))
        #expect(bench.refusal == nil)
        bench.started(first)
        bench.exited(first)
        let second = try #require(bench.spawn(of: "command.sync"))
        bench.started(second)
        bench.exited(second)
        #expect(bench.requests("command.sync").isEmpty)
    }

    @Test func `a command of the user's with nothing to do is remembered for a week`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, command: ["sync"])))
        let launch = try #require(bench.spawn(of: "command.sync"))
        bench.started(launch)
        bench.exited(launch)
        bench.advance(.days(7) - .milliseconds(1))
        #expect(bench.app("command.sync") != nil)
        bench.advance(.milliseconds(1))
        #expect(bench.app("command.sync") == nil)
        #expect(!bench.records.keys.contains(RecordKey(.app, "command.sync")))
    }

    // MARK: The earliest begin date and the week rule

    @Test func `never before the earliest begin date, not even when the user asks`() throws {
        var (bench, launch) = try Bench.withApp()
        let earliest = bench.now.wall + .hours(3)
        bench.submit(launch, "app.refresh") { $0.earliest = earliest }
        bench.ask(.leave(AppID("app")))
        bench.advance(.hours(3) - .milliseconds(1))
        #expect(bench.offers(launch).isEmpty)
        #expect(bench.gates("app") == ["earliest"])
        bench.ask(.run(AppID("app"), identifier: "app.refresh"))
        #expect(bench.refusal?.code == .held)
        bench.advance(.milliseconds(1))
        #expect(bench.offers(launch).count == 1)
    }

    @Test func `a request is launched once`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh")
        bench.ask(.leave(AppID("app")))
        let delivery = try bench.accept(launch)
        bench.say(launch, .completed(delivery, .succeeded))
        #expect(bench.requests("app").isEmpty)
        bench.advance(.days(2))
        #expect(bench.offers(launch).isEmpty)
        #expect(bench.spawned.isEmpty)
    }

    @Test func `unused for a week it is held, and released when the user opens the app`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.after = .days(8) }
        bench.ask(.leave(AppID("app")))
        bench.advance(.days(10))
        #expect(bench.offers(launch).isEmpty)
        #expect(bench.gates("app") == ["unused"])
        #expect(bench.sentence("app").contains("7d"))
        let note = HistoryLine.Entry.note("not used for 7d: it waits until you open it")
        #expect(bench.lines.count { $0 == note } == 1)
        // Told once, also by the next daemon.
        try bench.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
        bench.advance(.hours(1))
        #expect(bench.gates("app") == ["unused"])
        #expect(bench.lines.count { $0 == note } == 1)
        launch = try bench.openApp("app", registered: Bench.identifiers)
        bench.ask(.open(AppID("app"), attach: nil))
        bench.ask(.leave(AppID("app")))
        #expect(bench.offers(launch).count == 1)
    }

    @Test func `unused for 30 days it is dropped, which stands in the history`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.after = .days(8) }
        bench.ask(.leave(AppID("app")))
        bench.advance(.days(30) - .milliseconds(1))
        #expect(bench.requests("app").count == 1)
        bench.advance(.milliseconds(1))
        #expect(bench.requests("app").isEmpty)
        #expect(bench.dropped == ["the app was not used for 30d"])
        #expect(!bench.records.keys.contains { $0.section == .request })
    }

    @Test func `an app that its user has open is used, however long`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.after = .days(8) }
        bench.advance(.days(40))
        #expect(bench.gates("app") == ["app-in-foreground"])
        #expect(!bench.lines.contains(.note("not used for 7d: it waits until you open it")))
        #expect(bench.dropped == [])
        bench.ask(.leave(AppID("app")))
        #expect(bench.offers(launch).count == 1)
    }

    @Test func `what was open as the power went was used until the device was used last`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.after = .days(60) }
        bench.advance(.days(31))
        bench.set(.idle, 0)
        let used = bench.now.wall
        bench.advance(.hours(1))
        try bench.restart(
            bootID: "boot-2",
            manifests: [.linked("app", identifiers: Bench.identifiers)]
        )
        #expect(bench.app("app")?.record.lastUsed == used)
        #expect(bench.requests("app").count == 1)
    }

    @Test func `without a source that tells of use the week rule does not apply`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, after: .days(60), command: ["sync"])))
        bench.advance(.days(60))
        #expect(bench.spawn(of: "command.sync") != nil)
        bench.install(.refreshing("app"))
        bench.advance(.days(60))
        #expect(try #require(bench.app("app")).record.lastUsed == nil)
        #expect(!bench.gates("app").contains("unused"))
    }

    @Test func `requests of an app that is gone are dropped after 30 days`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.after = .days(1) }
        bench.exited(launch)
        bench.send(.manifests([.removed(AppID("app"))]))
        #expect(bench.gates("app").contains("unknown-app"))
        bench.advance(.days(31))
        #expect(bench.requests("app").isEmpty)
        #expect(bench.dropped == ["its app has been gone for 30d"])
    }

    @Test func `the timer rests until the request of a gone app is dropped`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.after = .days(1) }
        bench.exited(launch)
        bench.set(.network, 0)
        bench.advance(.days(20))
        bench.ask(.open(AppID("app"), attach: nil))
        bench.send(.manifests([.removed(AppID("app"))]))
        bench.advance(.days(15))
        #expect(bench.requests("app").count == 1)
        #expect(bench.armed == bench.now.boot + .days(15))
        bench.advance(.days(15))
        #expect(bench.dropped == ["its app has been gone for 30d"])
    }

    @Test func `a plain command is not held by the week rule, whatever else can be opened`() throws
    {
        var bench = Bench()
        bench.install(.processing("backup") { $0.exec = ["browse-backups"] })
        let first = try #require(bench.spawn(of: "backup"))
        bench.started(first)
        bench.exited(first)
        bench.ask(.open(AppID("backup"), attach: nil))
        let browser = try #require(bench.spawn(of: "backup"))
        bench.started(browser)
        bench.exited(browser)
        for _ in 0..<9 {
            bench.advance(.days(1))
            let launch = try #require(bench.spawn(of: "backup"), "\(bench.gates("backup"))")
            bench.started(launch)
            bench.exited(launch)
        }
    }

    @Test func `a backup whose program was never opened is not held by the week rule`() throws {
        var bench = Bench()
        bench.set(.idle, 0)
        bench.install(.processing("backup") { $0.exec = ["browse-backups"] })
        bench.advance(.days(8))
        bench.set(.idle, 1)
        #expect(bench.spawn(of: "backup") != nil, "\(bench.gates("backup"))")
    }
}
