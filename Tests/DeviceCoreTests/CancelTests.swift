import DeviceCore
import Testing
import Vocabulary

/// Taking back what was asked for (C2).
struct CancelTests {
    @Test func `an app cancels one of its requests, or all`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.after = .hours(1) }
        bench.submit(launch, "app.tidy.1", .processing) { $0.after = .hours(1) }
        bench.submit(launch, "app.tidy.2", .processing) { $0.after = .hours(1) }
        bench.say(launch, .cancel(identifier: "app.tidy.1", reply: bench.nextReply()))
        #expect(bench.reply == .done)
        #expect(bench.requests("app").map(\.identifier) == ["app.refresh", "app.tidy.2"])
        bench.say(launch, .cancel(identifier: nil, reply: bench.nextReply()))
        #expect(bench.requests("app").isEmpty)
        #expect(bench.dropped == ["cancelled", "cancelled", "cancelled"])
    }

    @Test func `the user cancels a command that runs: it is asked to end and does not come back`()
        throws
    {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, every: .hours(1), command: ["sync"])))
        let launch = try #require(bench.spawn(of: "command.sync"))
        bench.started(launch)
        bench.ask(.cancel(AppID("command.sync"), identifier: nil))
        #expect(bench.contains(.terminate(launch)))
        bench.exited(launch, status: 143)
        #expect(bench.results == [.expired(.cancelled)])
        #expect(bench.requests("command.sync").isEmpty)
    }

    @Test func `cancelled while it is being ended for another reason, it does not come back`()
        throws
    {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .processing, every: .hours(1), command: ["sync"])))
        let launch = try #require(bench.spawn(of: "command.sync"))
        bench.started(launch)
        bench.set(.idle, 0)
        #expect(bench.contains(.terminate(launch)))
        bench.ask(.cancel(AppID("command.sync"), identifier: nil))
        #expect(bench.reply == .done)
        bench.exited(launch, status: 143)
        #expect(bench.results == [.expired(.deviceInUse)])
        #expect(bench.requests("command.sync").isEmpty)
    }

    @Test func `cancelled while its result is read, it does not come back`() throws {
        let manifest = AppManifest.processing("app") {
            $0.permittedTaskIdentifiers = ["app.every"]
            $0.failedFrom = ["check"]
        }
        var bench = Bench()
        bench.set(.idle, 0)
        bench.install(manifest)
        bench.ask(
            .submit(
                Submission(
                    app: AppID("app"),
                    identifier: "app.every",
                    kind: .processing,
                    every: .hours(1)
                )
            )
        )
        bench.ask(.run(AppID("app"), identifier: "app.every"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.exited(launch)
        bench.ask(.cancel(AppID("app"), identifier: "app.every"))
        #expect(bench.reply == .done)
        bench.send(.process(launch, .probed(.failed, .read(Fingerprint(), status: 0))))
        #expect(bench.results == [.succeeded])
        #expect(bench.requests("app").map(\.origin) == [.command])
    }

    @Test func `the user cancels what an app runs: it expires, and its process lives on`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh")
        bench.ask(.leave(AppID("app")))
        let delivery = try bench.accept(launch)
        bench.ask(.cancel(AppID("app"), identifier: "app.refresh"))
        #expect(!bench.contains(.terminate(launch)))
        #expect(!bench.contains(.kill(launch)))
        #expect(bench.told(launch) == [.expire(delivery, .cancelled)])
        bench.say(launch, .completed(delivery, .unsuccessful))
        #expect(bench.results == [.expired(.cancelled)])
    }

    enum Caller: CaseIterable, Sendable { case user, app, helper }

    @Test(arguments: Caller.allCases)
    func `cancelled while an app runs it, what repeats does not come back`(_ caller: Caller) throws
    {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.every = .hours(2) }
        bench.ask(.leave(AppID("app")))
        let delivery = try bench.accept(launch)
        switch caller {
        case .user: bench.ask(.cancel(AppID("app"), identifier: "app.refresh"))
        case .app:
            bench.say(launch, .cancel(identifier: "app.refresh", reply: bench.nextReply()))
        case .helper: bench.ask(.cancelPending(AppID("app"), identifier: "app.refresh"))
        }
        #expect(bench.reply == .done)
        // An app takes back what is to come; only its user ends what has begun.
        #expect(bench.told(launch).contains(.expire(delivery, .cancelled)) == (caller == .user))
        bench.say(launch, .completed(delivery, .succeeded))
        #expect(bench.results == [.succeeded])
        #expect(bench.requests("app").isEmpty)
        #expect(!bench.records.keys.contains { $0.section == .request })
    }

    @Test func `cancelled before its receipt, an offer does not come back`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh")
        bench.ask(.leave(AppID("app")))
        #expect(bench.offers(launch).count == 1)
        bench.say(launch, .cancel(identifier: nil, reply: bench.nextReply()))
        bench.killed(launch, signal: 11)
        #expect(bench.requests("app").isEmpty)
    }

    @Test(arguments: [false, true])
    func `what is stopped before its receipt ends no app`(isOffered: Bool) throws {
        var bench = Bench()
        bench.install(.linked("app", identifiers: ["app.*"]))
        bench.ask(.submit(Submission(app: AppID("app"), identifier: "app.0", kind: .processing)))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        if isOffered {
            bench.say(launch, .finishedLaunching(registered: ["app.0"]))
            #expect(bench.offers(launch).count == 1)
        }
        bench.ask(.cancel(AppID("app"), identifier: "app.0"))
        bench.advance(.seconds(10))
        #expect(!bench.contains(.terminate(launch)))
        #expect(!bench.contains(.kill(launch)))
        #expect(bench.results == [.expired(.cancelled)])
        #expect(bench.requests("app").isEmpty)
        #expect(bench.app("app")?.record.failures.count == 0)
    }

    @Test func `what stands in a manifest cannot be cancelled`() throws {
        var bench = Bench()
        bench.set(.network, 0)
        bench.install(.refreshing("app"))
        bench.ask(.cancel(AppID("app"), identifier: "refresh"))
        #expect(bench.refusal?.code == .held)
        bench.ask(.cancel(AppID("app"), identifier: "nothing"))
        #expect(bench.refusal?.code == .notFound)
        bench.ask(.cancel(AppID("x"), identifier: nil))
        #expect(bench.refusal?.code == .notFound)
        bench.ask(.cancel(AppID("app"), identifier: nil))
        #expect(bench.refusal?.code == .held)
        #expect(bench.refusal?.value == "refresh")
    }

    @Test func `a refusal says each thing once, and what to do`() {
        let twice = Refusal(.held, reason: "pw is running already", value: "pw", fix: "wait")
        #expect(twice.text == "pw is running already (wait)")
        let other = Refusal(.notFound, reason: "no app of that name", value: "no")
        #expect(other.text == "no app of that name: no")
        var bench = Bench()
        bench.set(.network, 0)
        bench.install(.refreshing("app"))
        var off = AppSettings(app: AppID("app"))
        off.backgroundRefresh = false
        bench.configure { $0.apps = [off] }
        bench.ask(.run(AppID("app"), identifier: nil))
        #expect(bench.refusal?.fix == "offstage set background-refresh on --app app")
        bench.configure { $0.backgroundRefresh = false }
        bench.ask(.run(AppID("app"), identifier: nil))
        #expect(bench.refusal?.fix == "offstage set background-refresh on")
    }

    @Test func `a command that was stopped is not said to have run`() throws {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, command: ["sync"])))
        let launch = try #require(bench.spawn(of: "command.sync"))
        bench.started(launch)
        bench.advance(.seconds(26))
        bench.exited(launch, status: 1)
        let sentence = bench.sentence("command.sync")
        #expect(sentence.contains("stopped before it finished (its time was over)"), "\(sentence)")
        #expect(sentence.hasSuffix("submit it again; --every repeats it."))
    }

    @Test func `what is refused has changed nothing`() throws {
        var bench = Bench()
        bench.set(.idle, 0)
        bench.install(
            .processing("app") {
                $0.modes = [.fetch, .processing]
                $0.refreshCommand = ["reload"]
            }
        )
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.ask(.cancel(AppID("app"), identifier: "processing"))
        #expect(bench.refusal?.code == .held)
        #expect(!bench.contains(.terminate(launch)))
        // Of all of them, what can be cancelled is.
        bench.ask(.cancel(AppID("app"), identifier: nil))
        #expect(bench.reply == .done)
        #expect(bench.contains(.terminate(launch)))
    }

    @Test func `requests of an app that is gone can be cancelled`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.submit(launch, "app.refresh") { $0.after = .days(1) }
        bench.exited(launch)
        bench.send(.manifests([.removed(AppID("app"))]))
        bench.ask(.cancel(AppID("app"), identifier: "app.refresh"))
        #expect(bench.reply == .done)
        #expect(bench.requests("app").isEmpty)
    }
}
