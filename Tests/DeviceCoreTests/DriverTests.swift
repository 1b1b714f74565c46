import DeviceCore
import Testing
import Vocabulary

/// The turn: handle all, commit once, perform in order, answer; and what happens when the store
/// takes no writes.
struct DriverTests {
    private static let submit = Event.user(
        .submit(Submission(kind: .refresh, command: ["sync"])),
        reply: ReplyToken(1)
    )

    @Test func `a receipt that the marker says as well waits for the next commit to be synced`() {
        var setup = Setup(Self.submit)
        for _ in 0..<4 where setup.driver.device.apps.at(0)?.launches.isEmpty ?? true {
            setup.pass(.hours(1))
            setup.turn(.timer)
        }
        let launch = setup.driver.device.apps.at(0)?.launches.first?.id ?? LaunchID(0)
        #expect(setup.driver.port.durabilities.allSatisfy { $0 == .powerLoss })
        setup.turn(.process(launch, .started(ProcessID(pid: 7, startTime: 9))))
        #expect(setup.driver.port.durabilities.last == .kill)
        // What demands something, or comes with something that does, is synced.
        setup.turn(
            .process(launch, .started(ProcessID(pid: 7, startTime: 9))),
            .user(.pause(nil), reply: ReplyToken(2))
        )
        #expect(setup.driver.port.durabilities.last == .powerLoss)
        setup.turn(.process(launch, .exited(.status(0), nil)))
        #expect(setup.driver.port.durabilities.last == .powerLoss)
    }

    @Test func `the port hears before the commit what follows it, and of a failure after it`() {
        var setup = Setup(Self.submit)
        for _ in 0..<24 where setup.spawned.isEmpty {
            setup.pass(.hours(1))
            setup.turn(.timer)
        }
        #expect(!setup.spawned.isEmpty)
        #expect(setup.driver.port.preparedSpawns.last == setup.spawned)
        setup.fail()
        setup.turn(.user(.pause(nil), reply: ReplyToken(2)))
        #expect(setup.driver.port.steps.contains(.rollback(1)))
        #expect(setup.driver.port.foretold.isEmpty)
    }

    @Test func `one commit for all events of a turn, then the effects and the replies`() throws {
        var setup = Setup()
        setup.turn(
            Self.submit,
            .manifests([.present(.refreshing("app"))]),
            .user(.pause(nil), reply: ReplyToken(2))
        )
        let steps = setup.driver.port.steps
        guard case .commit = steps.first else {
            Issue.record("the commit does not come first")
            return
        }
        #expect(steps.dropFirst().allSatisfy { if case .commit = $0 { false } else { true } })
        let firstReply = try #require(
            steps.firstIndex { if case .reply = $0 { true } else { false } }
        )
        #expect(steps[firstReply...].contains { if case .effect = $0 { true } else { false } })
        #expect(
            steps.compactMap {
                if case .reply(let token, _) = $0 { Int(token.number) } else { nil }
            } == [1, 2]
        )
        #expect(!setup.effects.contains { if case .save = $0 { true } else { false } })
    }

    @Test func `what was begun is answered before it is told that its time is over`() throws {
        var setup = Setup(
            .manifests([.present(.linked("app"))]),
            .user(.open(AppID("app"), attach: nil), reply: ReplyToken(1))
        )
        let launch = try #require(setup.driver.device.apps.at(0)?.launches.first?.id)
        setup.turn(.process(launch, .started(ProcessID(pid: 2, startTime: 3))))
        setup.turn(.app(launch, .finishedLaunching(registered: [])))
        setup.turn(.user(.leave(AppID("app")), reply: ReplyToken(2)))
        // The turn comes late: time was asked for before, and is over when it is answered.
        let begun = Event.app(
            launch,
            .taskBegan(name: "t", hasHandler: true, reply: ReplyToken(3))
        )
        var late = setup.now
        late.boot = late.boot + .seconds(176)
        late.awake = late.awake + .seconds(176)
        late.wall = late.wall + .seconds(176)
        setup.driver.port.steps.removeAll()
        setup.turn([.init(begun, at: setup.now), .init(.timer, at: late)])
        let said = setup.driver.port.steps.compactMap { step in
            switch step {
            case .reply: "answered"
            case .effect(.tell): "told"
            case .effect, .commit, .failed, .rollback: nil
            }
        }
        #expect(said == ["answered", "told"])
    }

    @Test func `what changes nothing durable commits nothing`() {
        var setup = Setup()
        setup.turn(.timer)
        #expect(setup.driver.port.steps.isEmpty)
    }

    @Test func `a commit that fails leaves the device as it was and performs nothing`() {
        var setup = Setup()
        let before = setup.driver.device
        setup.fail()
        setup.turn(Self.submit)
        #expect(setup.spawned.isEmpty)
        #expect(setup.replies.count == 1)
        guard case .refused(let refusal) = setup.replies.first else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.code == .storage)
        #expect(refusal.reason.contains("no space left on device"))
        #expect(setup.driver.device.apps == before.apps)
        #expect(setup.driver.device.conditions.storage == 1)
        #expect(setup.driver.mustRetry)
        #expect(setup.driver.port.steps.contains(.rollback(1)))
    }

    @Test(arguments: [CommitError.Cause.full, .gone])
    func `who opens an app is answered once, when it is stored what became of it`(
        cause: CommitError.Cause
    ) throws {
        var setup = Setup(.manifests([.present(.linked("app"))]))
        setup.turn(.user(.open(AppID("app"), attach: nil), reply: ReplyToken(1)))
        let launch = try #require(setup.spawned.first)
        setup.driver.port.error = CommitError(cause, reason: "x")
        setup.turn(.process(launch, .started(ProcessID(pid: 2, startTime: 3))))
        #expect(setup.replies == [], "it runs")
        // What is asked in the turn that fails has not been done.
        setup.turn(.user(.open(AppID("app"), attach: nil), reply: ReplyToken(2)))
        guard case .refused = setup.replies.first else {
            Issue.record("answered by \(setup.driver.port.steps)")
            return
        }
        #expect(setup.replies.count == 1)
        setup.driver.port.error = nil
        setup.turn(.timer)
        let answered = setup.driver.port.steps.compactMap {
            if case .reply(let token, .opened) = $0 { token } else { nil }
        }
        #expect(answered == [ReplyToken(1)])
        #expect(setup.replies.count == 1)
    }

    @Test func `while the store fails nothing new starts, and it says why`() {
        var setup = Setup(.condition(.network, .kernel, .value(0)))
        setup.turn(.manifests([.present(.refreshing("app"))]))
        setup.fail(full: false)
        setup.turn(Self.submit)
        #expect(setup.driver.device.conditions.storage == 2)
        setup.turn(.condition(.network, .kernel, .value(2)))
        #expect(setup.spawned.isEmpty)
        let explanation = setup.driver.device.explain(AppID("app"), at: setup.now)
        #expect(explanation.first?.holds.map(\.gate).contains("storage") == true)
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(!setup.driver.mustRetry)
        #expect(setup.driver.device.conditions.storage == 0)
        #expect(setup.spawned.count == 1)
    }

    @Test func `a start that is not stored yet meets no machine, and no other event`() throws {
        var setup = Setup(.manifests([.present(.refreshing("app"))]))
        let launch = try #require(setup.spawned.first)
        setup.turn(.process(launch, .started(ProcessID(pid: 1, startTime: 2))))
        let stored = setup.driver.port.records.values
        setup.driver = Driver(device: Device(restoring: stored), port: Port())
        setup.fail(full: false)
        setup.turn(.started(Start(bootID: "b", seed: 1)))
        #expect(setup.driver.mustRetry)
        #expect(setup.driver.port.events.count == 1)
        setup.driver.port.error = nil
        setup.now.boot = setup.now.boot + .hours(6)
        setup.turn(.timer)
        #expect(setup.driver.device.startedAt == setup.now.boot)
        #expect(setup.driver.port.events.count == 4)
        #expect(setup.effects.contains(.release(launch)))
    }

    @Test func `a start that waits begins with the manifests and settings that were read last`() {
        func spawned(_ events: Event...) -> [[String]] {
            var setup = Setup()
            setup.driver = Driver(device: Device(), port: Port())
            setup.fail()
            let manifests: [ManifestChange] = [
                .present(.refreshing("app")), .present(.refreshing("gone")),
            ]
            setup.turn(
                .started(Start(bootID: "b", seed: 1, settings: .calm, manifests: manifests))
            )
            for event in events { setup.turn(event) }
            setup.driver.port.error = nil
            setup.turn(.timer)
            return setup.effects.compactMap {
                if case .spawn(_, let spec) = $0 { spec.arguments } else { nil }
            }
        }
        #expect(spawned() == [["reload", "app"], ["reload", "gone"]])
        let other = AppManifest.refreshing("app") { $0.refreshCommand = ["other"] }
        #expect(
            spawned(.manifests([.present(other)]), .manifests([.removed(AppID("gone"))]))
                == [["other"]]
        )
        var off = Settings.calm
        off.backgroundRefresh = false
        #expect(spawned(.settings(off)) == [])
        #expect(spawned(.settings(off), .settings(.calm)).count == 2)
    }

    @Test func `a start that waited begins nothing when the daemon stops`() {
        var setup = Setup()
        setup.driver = Driver(device: Device(), port: Port())
        setup.fail()
        let manifests: [ManifestChange] = [.present(.refreshing("app"))]
        setup.turn(.started(Start(bootID: "b", seed: 1, settings: .calm, manifests: manifests)))
        setup.driver.port.error = nil
        setup.turn(.timer, .stopping)
        #expect(!setup.driver.mustRetry)
        #expect(setup.spawned.isEmpty)
    }

    @Test func `exits and receipts are fed again, once, when the store works`() throws {
        var setup = Setup(.manifests([.present(.refreshing("app"))]))
        let launch = try #require(setup.spawned.first)
        setup.fail()
        setup.turn(.process(launch, .started(ProcessID(pid: 1, startTime: 2))))
        setup.turn(.process(launch, .exited(.status(0), nil)))
        setup.turn(.timer)
        #expect(setup.driver.unsettled.count == 2)
        #expect(!setup.effects.contains(.release(launch)))
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(setup.effects.contains(.release(launch)))
        #expect(setup.driver.unsettled.isEmpty)
        setup.turn(.timer)
        #expect(!setup.effects.contains(.release(launch)))
    }

    @Test func `what a caller was refused is not fed again`() {
        var setup = Setup()
        setup.fail()
        setup.turn(Self.submit)
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(setup.spawned.isEmpty)
        #expect(setup.driver.device.apps.index(of: AppID("command.sync")) == nil)
    }

    @Test func `sensors that speak while the store fails are kept, the last word of each`() {
        var setup = Setup()
        setup.fail()
        setup.turn(Self.submit)
        for level in 0..<100 { setup.turn(.condition(.battery, .kernel, .value(level))) }
        #expect(setup.driver.unsettled.count <= 1)
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(setup.driver.device.conditions.battery == 99)
    }

    @Test func `what is measured while the store fails is kept, the last word of each`() throws {
        var setup = Setup(.manifests([.present(.refreshing("app"))]))
        let launch = try #require(setup.spawned.first)
        setup.fail()
        setup.turn(.process(launch, .started(ProcessID(pid: 1, startTime: 2))))
        for number: Int64 in 1...100 {
            let usage = Usage(cpu: .seconds(number), memory: number)
            setup.turn(
                .process(launch, .measured(usage)),
                .process(launch, .seen(memory: number))
            )
        }
        #expect(setup.driver.unsettled.count == 3)
    }

    @Test(arguments: [CommitError.Cause.failing, .gone])
    func `the store follows the device, whichever commit fails`(
        cause: CommitError.Cause
    ) throws {
        for failing in 0..<12 {
            // Beside what happens, something that nobody touches.
            let later = Submission(kind: .processing, after: .hours(9), command: ["later"])
            var setup = Setup(.user(.submit(later), reply: ReplyToken(9)))
            var turn = 0
            func step(_ events: Event...) {
                setup.driver.port.error =
                    turn == failing ? CommitError(cause, reason: "x") : nil
                turn += 1
                setup.driver.port.steps.removeAll()
                setup.turn(events.map { .init($0, at: setup.now) })
                setup.now.boot = setup.now.boot + .seconds(1)
                setup.now.awake = setup.now.awake + .seconds(1)
                setup.now.wall = setup.now.wall + .seconds(1)
            }
            step(.manifests([.present(.refreshing("app"))]))
            step(.user(.pause(.seconds(2)), reply: ReplyToken(1)))
            for _ in 0..<4 { step(.timer) }
            let launch = try #require(
                setup.driver.device.apps.at(1)?.launches.first?.id,
                "after commit \(failing) failed, \(cause)"
            )
            step(.process(launch, .started(ProcessID(pid: 1, startTime: 2))))
            step(.process(launch, .exited(.status(0), nil)))
            for _ in 0..<6 { step(.timer) }
            #expect(!setup.driver.mustRetry)
            let records = setup.driver.port.records.sorted { $0.key < $1.key }
            let restored = Device(restoring: records.map(\.value))
            #expect(
                Durable(restored) == Durable(setup.driver.device),
                "after commit \(failing) failed, \(cause)"
            )
        }
    }

    @Test(arguments: [CommitError.Cause.full, .failing])
    func `a submit that is heard again is answered by a store that takes no writes`(
        cause: CommitError.Cause
    ) {
        func submit(_ token: String) -> Event {
            .user(
                .submit(Submission(kind: .refresh, token: token, command: ["sync"])),
                reply: ReplyToken(1)
            )
        }
        var setup = Setup(submit("t"))
        let first = setup.replies
        setup.driver.port.error = CommitError(cause, reason: "x")
        for _ in 0..<2 {
            setup.turn(submit("t"))
            #expect(setup.replies == first)
            setup.turn(submit("other"))
            guard case .refused = setup.replies.first else {
                Issue.record("answered by \(setup.driver.port.steps)")
                return
            }
        }
    }

    @Test func `a submit that is heard again is not answered by a store that has gone`() {
        let submit = Event.user(
            .submit(Submission(kind: .refresh, token: "t", command: ["sync"])),
            reply: ReplyToken(1)
        )
        var setup = Setup(submit)
        setup.turn(submit)
        guard case .requested = setup.replies.first else {
            Issue.record("not answered: \(setup.effects)")
            return
        }
        setup.driver.port.error = CommitError(.gone, reason: "x has been deleted")
        setup.turn(submit)
        guard case .refused = setup.replies.first else {
            Issue.record("answered by \(setup.driver.port.steps)")
            return
        }
    }

    /// An app in the foreground, and its launch.
    private func open() throws -> (Setup, LaunchID) {
        var setup = Setup(.manifests([.present(.linked("app"))]))
        setup.turn(.user(.open(AppID("app"), attach: nil), reply: ReplyToken(1)))
        let launch = try #require(setup.spawned.first)
        setup.turn(.process(launch, .started(ProcessID(pid: 2, startTime: 3))))
        setup.turn(.app(launch, .finishedLaunching(registered: [])))
        setup.turn(.condition(.battery, .kernel, .value(80)))
        return (setup, launch)
    }

    @Test(arguments: [CommitError.Cause.full, .gone])
    func `the device is watched also while nothing can be stored`(
        cause: CommitError.Cause
    ) throws {
        var (setup, launch) = try open()
        setup.driver.port.error = CommitError(cause, reason: "x")
        // The first turn that fails has something to store.
        for number: UInt64 in 2...3 {
            let watched = Event.app(launch, .conditionsWatched(reply: ReplyToken(number)))
            if number == 2 { setup.turn(Self.submit, watched) } else { setup.turn(watched) }
            guard case .conditions(let known)? = setup.replies.last else {
                Issue.record("answered by \(setup.driver.port.steps)")
                return
            }
            #expect(known.battery == 80)
            // In the log it comes once more than it was rolled back.
            #expect(setup.driver.port.events.count { $0 == watched } == 2)
            #expect(setup.driver.port.events.last == watched)
        }
        #expect(setup.driver.mustRetry)
        setup.turn(.condition(.battery, .kernel, .value(79)))
        #expect(setup.effects == [], "it waits for the store")
        setup.driver.port.error = nil
        setup.turn(.timer)
        let told = setup.effects.compactMap {
            if case .tell(launch, .conditionsChanged(let now)) = $0 { now.battery } else { nil }
        }
        #expect(told == [79])
    }

    @Test func `what is due with a question waits for the store, and so does the answer`() throws {
        var (setup, launch) = try open()
        setup.turn(.user(.leave(AppID("app")), reply: ReplyToken(2)))
        setup.fail()
        setup.turn(Self.submit)
        setup.pass(.minutes(1))
        setup.turn(.app(launch, .conditionsWatched(reply: ReplyToken(3))))
        guard case .refused(let refusal)? = setup.replies.first else {
            Issue.record("answered by \(setup.driver.port.steps)")
            return
        }
        #expect(refusal.code == .storage)
        #expect(setup.effects == [])
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(setup.effects.contains(.freeze(launch)))
    }

    @Test func `a store that has gone is noticed where nothing is stored, and said to be`() {
        var setup = Setup()
        setup.driver.port.error = CommitError(.gone, reason: "x has been deleted")
        setup.turn(.timer)
        #expect(!setup.driver.mustRetry)
        setup.turn([.init(.timer, at: setup.now)], looksAtStore: true)
        #expect(setup.driver.mustRetry)
        #expect(setup.driver.device.conditions.storage == 3)
        setup.turn(Self.submit)
        guard case .refused(let refusal) = setup.replies.first else {
            Issue.record("\(setup.replies)")
            return
        }
        #expect(refusal.code == .storage)
        #expect(refusal.reason.contains("x has been deleted"), "\(refusal)")
        #expect(refusal.fix.contains("recreated"), "\(refusal)")
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(!setup.driver.mustRetry)
        #expect(setup.driver.device.conditions.storage == 0)
    }

    @Test func `what is kept while the store fails is bounded`() throws {
        var setup = Setup(.manifests([.present(.linked("app", identifiers: ["x"]))]))
        setup.turn(.user(.open(AppID("app"), attach: nil), reply: ReplyToken(1)))
        let launch = try #require(setup.spawned.first)
        setup.turn(.process(launch, .started(ProcessID(pid: 2, startTime: 3))))
        setup.fail()
        for number in 0..<3 {
            setup.now.wall = setup.now.wall + .minutes(1)
            let said = (0..<200).map {
                Event.app(launch, .taskEnded(task: Int64(1000 * number + $0)))
            }
            let events: [Event] = [
                .settings(.calm), .clockChanged, .used(AppID("app")), .used(AppID("other")),
                .manifests([.present(.linked("app") { $0.name = "App \(number)" })]),
            ]
            let moved = (1...200 as ClosedRange<Int64>).flatMap { count in
                [
                    TransferEvent.sent(SentPart(count: count, sha256: [])), .ranges([0..<count]),
                    .resource(UploadResource(url: "a", interop: .eight)),
                    .answered(ExchangeAnswer(status: 200, url: "a", startsAnew: count == 9)),
                ]
            }
            let transfers = moved.map { Event.transfer(TransferID(1), $0) }
            setup.turn((events + said + transfers).map { .init($0, at: setup.now) })
        }
        // Of the answers the last one, and the last one that starts anew.
        #expect(setup.driver.unsettled.count == 5 + 5 + 256)
        setup.driver.port.error = nil
        setup.turn(.timer)
        let index = try #require(setup.driver.device.apps.index(of: AppID("app")))
        // The last word of each was heard.
        #expect(setup.driver.device.apps[index].manifest?.name == "App 2")
        #expect(setup.driver.unsettled.isEmpty)
    }

    @Test func `a device that does not settle at once goes on a moment later`() throws {
        var device = Device()
        var effects: [Effect] = []
        var now = Bench().now
        device.handle(.settings(.calm), at: now, into: &effects)
        device.handle(.started(Start(bootID: "b", seed: 1)), at: now, into: &effects)
        effects.removeAll()
        let manifests = ["a", "b", "c"].map { ManifestChange.present(.refreshing($0)) }
        device.handle(.manifests(manifests), at: now, rounds: 2, into: &effects)
        let soon = now.boot + .milliseconds(1)
        #expect(effects.contains(.arm(Timers(timer: soon))))
        func started(_ effects: [Effect]) -> Int {
            effects.count { if case .spawn = $0 { true } else { false } }
        }
        #expect(started(effects) < 3)
        now.boot = soon
        device.handle(.timer, at: now, into: &effects)
        #expect(started(effects) == 3)
    }
}
