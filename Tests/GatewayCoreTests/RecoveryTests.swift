import GatewayCore
import Testing
import Vocabulary

/// A batch that could not be written, and a store that cannot be read when it is asked what it has.
struct RecoveryTests {
    /// A gateway with an app and a channel of it; the test is its store.
    private struct Bench {
        static let bundle = "org.example.app"
        let channel = ChannelID(high: 1, low: 2)
        var driver: GatewayDriver
        var now = GatewayBench().now
        private(set) var actions: [GatewayAction] = []

        init(_ limits: GatewayLimits = GatewayLimits()) {
            let app = AppNumber(1)
            let channel = Channel(id: channel, app: app, keepsNewest: true)
            driver = GatewayDriver(
                limits,
                StoredGateway(
                    lastDevice: 7,
                    lastApp: 1,
                    apps: [(app, Self.bundle)],
                    channels: [channel]
                )
            )
        }

        /// Only what this event brought is remembered.
        mutating func handle(_ event: GatewayEvent) {
            actions = []
            driver.handle(event, at: now, into: &actions)
        }

        mutating func pass(_ interval: Interval) {
            now.boot = now.boot + interval
            now.wall = now.wall + interval
            handle(.passed)
        }

        /// It happens, and the batch with it cannot be written.
        mutating func failWriting(_ event: GatewayEvent) {
            handle(event)
            handle(.turnEnded)
            for case .write(let batch) in actions {
                return handle(.written(batch.number, problem: "full"))
            }
        }

        var questions: [StoreQuestion] {
            actions.compactMap { if case .ask(let question) = $0 { question } else { nil } }
        }
        var problems: [OperationProblem?] {
            actions.compactMap {
                if case .done(_, let problem) = $0 { .some(problem) } else { nil }
            }
        }
        /// A provider sends to the channel.
        mutating func broadcast(_ call: CallID) {
            let broadcast = Broadcast(
                number: PushNumber(call.number),
                channel: channel,
                priority: .immediate,
                expiration: .once,
                payload: Array("{}".utf8)
            )
            handle(.broadcast(broadcast, provider: "K", call))
        }

        var followProblems: [FollowProblem?] {
            actions.compactMap {
                if case .follows(_, _, let problem) = $0 { .some(problem) } else { nil }
            }
        }
        var answers: [Answer] {
            actions.compactMap { if case .answer(_, let answer) = $0 { answer } else { nil } }
        }

        var hasApp: StoreQuestion { .hasApp(AppNumber(1), bundle: Self.bundle) }
        var stored: StoreAnswer {
            .channels([Channel(id: channel, app: AppNumber(1), keepsNewest: true)])
        }
    }

    @Test(arguments: [true, false])
    func `whether an app was removed is asked until the store can say`(isThere: Bool) {
        var bench = Bench()
        bench.failWriting(.removeApp(Bench.bundle, OperationID(1)))
        #expect(bench.questions == [bench.hasApp, .channels])
        bench.handle(.answered(.channels, bench.stored))
        // Not at once: a store that answers at once would be asked without end.
        bench.handle(.answered(bench.hasApp, .failed))
        #expect(bench.questions == [])
        #expect(bench.problems == [.notKept])
        for _ in 0..<3 {
            let alarm = bench.driver.alarm
            #expect(alarm.map { $0 > bench.now.boot } == true)
            bench.pass(.seconds(10))
            #expect(bench.questions == [bench.hasApp])
            bench.handle(.answered(bench.hasApp, .failed))
        }
        // No provider is told meanwhile that its token is for another app.
        #expect(bench.driver.apps.number(of: Bench.bundle) == AppNumber(1))
        bench.pass(.seconds(10))
        bench.handle(.answered(bench.hasApp, .isKnown(isThere)))
        #expect(bench.driver.isSettled)
        #expect(bench.driver.apps.number(of: Bench.bundle) == (isThere ? AppNumber(1) : nil))
    }

    @Test func `a channel whose removal failed is there when the channels can be read again`() {
        var bench = Bench()
        bench.failWriting(.removeChannel(bench.channel, OperationID(1)))
        #expect(bench.questions == [.channels])
        bench.handle(.answered(.channels, .failed))
        #expect(!bench.driver.isSettled)
        bench.pass(.seconds(1))
        #expect(bench.questions == [.channels])
        bench.handle(.answered(.channels, bench.stored))
        #expect(bench.driver.isSettled)
        #expect(bench.driver.gateway.channel(bench.channel) != nil)
    }

    @Test func `whoever comes meanwhile asks again, and is refused if that fails`() {
        var bench = Bench()
        bench.failWriting(.removeChannel(bench.channel, OperationID(1)))
        bench.handle(.answered(.channels, .failed))
        bench.handle(.removeApp(Bench.bundle, OperationID(2)))
        #expect(bench.questions == [.channels])
        bench.handle(.answered(.channels, .failed))
        #expect(bench.problems == [.notKept])
        bench.handle(.identify(OperationID(3), key: [1]))
        bench.handle(.answered(.channels, .failed))
        let unknown = bench.actions.contains {
            if case .identified(OperationID(3), nil) = $0 { true } else { false }
        }
        #expect(unknown)
        bench.broadcast(CallID(4))
        bench.handle(.answered(.channels, .failed))
        #expect(bench.answers == [.refused(.serviceUnavailable)])
        // The provider of the channel was refused as well, and operators do not count.
        #expect(bench.driver.senders.refusals.map(\.count) == [2])
        // And is served if it does not.
        bench.broadcast(CallID(5))
        bench.handle(.answered(.channels, bench.stored))
        #expect(bench.answers == [.accepted(PushNumber(5))])
    }

    @Test func `the end of the gateway asks once more, and writes what waited`() {
        var bench = Bench()
        bench.failWriting(.removeChannel(bench.channel, OperationID(1)))
        bench.handle(.answered(.channels, .failed))
        bench.handle(.removeChannel(bench.channel, OperationID(2)))
        bench.handle(.ending)
        bench.handle(.answered(.channels, bench.stored))
        let batches = bench.actions.count { if case .write = $0 { true } else { false } }
        #expect(batches == 1)
    }

    /// Who is told 410 sends nothing to the token again.
    @Test(arguments: [true, false])
    func `that a token is no more is told when that is on the disk`(isWritten: Bool) throws {
        var bench = Bench()
        let (device, link, app) = (DeviceID(7), LinkID(1), AppNumber(1))
        let active = Registration(app: app, generation: 1, isActive: true)
        let record = StoreAnswer.record(
            StoredDevice(registrations: [active], seen: bench.now.wall)
        )
        bench.handle(.connected(device, link, DeviceCondition()))
        bench.handle(.answered(.record(device), record))
        bench.handle(.link(link, .unregister(Bench.bundle)))
        let push = try #require(admitted(by: &bench.driver, at: bench.now))
        bench.handle(.push(push, CallID(1)))
        #expect(bench.answers.isEmpty)
        bench.handle(.turnEnded)
        for case .write(let batch) in bench.actions {
            bench.handle(.written(batch.number, problem: isWritten ? nil : "full"))
        }
        if isWritten {
            #expect(bench.answers == [.refused(.unregistered, timestamp: bench.now.wall)])
        } else {
            bench.handle(.answered(.record(device), record))
            bench.handle(.answered(.channels, bench.stored))
            #expect(bench.answers == [.refused(.serviceUnavailable)])
        }
    }

    /// Its place among those that may leave memory was kept, and it went as soon as it was there.
    @Test func `a device that could not be read again is served when it comes back`() {
        var limits = GatewayLimits()
        limits.devicesInMemory = 0
        var bench = Bench(limits)
        let device = DeviceID(7)
        let active = Registration(app: AppNumber(1), generation: 1, isActive: true)
        let record = StoreAnswer.record(
            StoredDevice(registrations: [active], seen: bench.now.wall)
        )
        bench.handle(.connected(device, LinkID(1), DeviceCondition()))
        bench.handle(.answered(.record(device), record))
        bench.failWriting(.link(LinkID(1), .unregister(Bench.bundle)))
        bench.handle(.answered(.record(device), .failed))
        bench.handle(.answered(.channels, bench.stored))
        bench.handle(.connected(device, LinkID(2), DeviceCondition()))
        bench.handle(.answered(.record(device), record))
        #expect(bench.questions == [])
        #expect(bench.driver.gateway.isConnected(device))
    }

    // MARK: A store that has written the first changes of a batch that failed

    /// In this order a push is lost at no point of a batch whose token stays in force.
    @Test(arguments: ["unregister", "renew", "refuse"])
    func `that a token ends is written before what was kept goes`(way: String) throws {
        var bench = GatewayBench()
        let kept = bench.push().push
        let sending = try #require(bench.connect().sendings.first)
        let effects = bench.after { gateway, now, effects in
            switch way {
            case "unregister":
                gateway.unregister(AppNumber(1), over: LinkID(1), at: now, into: &effects)
            case "renew":
                gateway.register(
                    AppNumber(1),
                    renewing: true,
                    over: LinkID(1),
                    at: now,
                    into: &effects
                )
            default: gateway.refused(sending.id, over: LinkID(1), at: now, into: &effects)
            }
        }
        let end = effects.firstIndex { if case .save = $0 { true } else { false } }
        let removal = effects.firstIndex(of: .remove(kept.slot, kept.number))
        #expect(try #require(end) < #require(removal))
        // A new token is written when nothing is left of what was kept for the old one.
        let isRenewal = way == "renew"
        if case .save(_, let last)? = effects.last(where: {
            if case .save = $0 { true } else { false }
        }) {
            #expect(last.isActive == isRenewal)
        }
        let ends = effects.prefix { $0 != .remove(kept.slot, kept.number) }
        for case .save(_, let registration) in ends { #expect(!registration.isActive) }
    }

    @Test func `what is left of an app that is unregistered goes when it is so again`() {
        var bench = GatewayBench()
        let kept = bench.push().push
        var registration = Registration(app: bench.app, generation: 1, isActive: false)
        registration.ended = [Registration.Ended(generation: 1, at: bench.now.wall)]
        let record = StoredDevice(
            registrations: [registration],
            stored: [.init(app: bench.app, number: kept.number, expiration: kept.end)]
        )
        var fresh = GatewayBench()
        fresh.gateway = Gateway(lastPush: kept.number.number)
        fresh.gateway.load(bench.device, record)
        _ = fresh.connect()
        let effects = fresh.after {
            $0.unregister(AppNumber(1), over: LinkID(1), at: $1, into: &$2)
        }
        #expect(effects.contains(.remove(kept.slot, kept.number)))
    }

    @Test func `an app is removed before what was kept for it`() throws {
        var bench = Bench()
        let device = DeviceID(7)
        let active = Registration(app: AppNumber(1), generation: 1, isActive: true)
        let stored = StoredDevice.Stored(
            app: AppNumber(1),
            number: PushNumber(5),
            expiration: bench.now.wall + .hours(1)
        )
        let record = StoredDevice(registrations: [active], stored: [stored])
        bench.handle(.connected(device, LinkID(1), DeviceCondition()))
        bench.handle(.answered(.record(device), .record(record)))
        bench.handle(.removeApp(Bench.bundle, OperationID(1)))
        bench.handle(.turnEnded)
        var names: [String] = []
        for case .write(let batch) in bench.actions {
            names = batch.changes.map { GatewayWorld.ChangeKind($0).rawValue }
        }
        #expect(names == ["seen", "removeChannel", "removeApp", "remove"])
    }

    // MARK: What is being removed

    private func list(_ bench: inout Bench) -> [ChannelID]? {
        var (arrival, sender) = (PushArrival(), PushSender())
        arrival.method = Array("GET".utf8)[...]
        arrival.authorization = Array("t".utf8)[...]
        let path = ChannelPath(Array("/1/apps/\(Bench.bundle)/all-channels".utf8)[...])
        guard let path else { return nil }
        let verdict = try? bench.driver.admit(
            ChannelArrival(path, arrival, field: nil),
            from: &sender,
            OpenProofs(second: bench.now.wall.nanoseconds / 1_000_000_000),
            .production,
            at: bench.now
        )
        if case .list(let channels) = verdict { return channels }
        return nil
    }

    /// Whoever is told that there is no channel, or that a token is for another app, is lost.
    @Test(arguments: [true, false])
    func `what is being removed is not said to be gone before it is`(isWritten: Bool) throws {
        var bench = Bench()
        let (device, link, app) = (DeviceID(7), LinkID(1), AppNumber(1))
        let active = Registration(app: app, generation: 1, isActive: true)
        let record = StoreAnswer.record(
            StoredDevice(registrations: [active], seen: bench.now.wall)
        )
        bench.handle(.connected(device, link, DeviceCondition()))
        bench.handle(.answered(.record(device), record))
        let early = try #require(admitted(by: &bench.driver, at: bench.now))
        let follow = GatewayEvent.link(link, .follow(bench.channel, bundle: Bench.bundle, last: 0))
        bench.handle(follow)
        #expect(bench.followProblems == [nil])
        bench.handle(.removeApp(Bench.bundle, OperationID(1)))
        #expect(bench.followProblems == [])
        for event in [follow, .link(link, .unfollow(bench.channel))] {
            bench.handle(event)
            #expect(bench.followProblems == [])
        }
        bench.handle(.push(early, CallID(1)))
        #expect(bench.answers == [.refused(.serviceUnavailable)])
        #expect(refusal(by: &bench.driver, at: bench.now) == .serviceUnavailable)
        #expect(list(&bench) == [bench.channel])
        bench.handle(.turnEnded)
        for case .write(let batch) in bench.actions {
            bench.handle(.written(batch.number, problem: isWritten ? nil : "full"))
        }
        guard isWritten else {
            bench.handle(.answered(bench.hasApp, .isKnown(true)))
            bench.handle(.answered(.channels, bench.stored))
            bench.handle(.answered(.record(device), record))
            #expect(bench.followProblems == [nil], "it is answered who asked meanwhile")
            // What the device asked last holds.
            bench.broadcast(CallID(2))
            let sent = bench.actions.contains { if case .broadcast = $0 { true } else { false } }
            #expect(!sent)
            #expect(refusal(by: &bench.driver, at: bench.now) == nil)
            return
        }
        #expect(bench.followProblems == [.noChannel, .noChannel])
        #expect(refusal(by: &bench.driver, at: bench.now) == .deviceTokenNotForTopic)
        #expect(list(&bench) == [])
    }

    private func refusal(by driver: inout GatewayDriver, at now: Moment) -> Reason? {
        do throws(Reason) {
            _ = try admit(to: &driver, at: now)
            return nil
        } catch {
            return error
        }
    }

    private func admitted(by driver: inout GatewayDriver, at now: Moment) -> AdmittedPush? {
        try? admit(to: &driver, at: now)
    }

    private func admit(
        to driver: inout GatewayDriver,
        at now: Moment
    ) throws(Reason) -> AdmittedPush {
        var (request, arrival, sender) = (PushRequest(), PushArrival(), PushSender())
        request.topic = Array(Bench.bundle.utf8)[...]
        request.payload = Array(#"{"aps":{"alert":"x"}}"#.utf8)
        arrival.method = Array("POST".utf8)[...]
        arrival.authorization = Array("t".utf8)[...]
        let token = DeviceToken(device: DeviceID(7), app: AppNumber(1), generation: 1)
        arrival.token = token.bytes[...]
        arrival.push = request
        return try driver.admit(
            arrival,
            from: &sender,
            OpenProofs(second: now.wall.nanoseconds / 1_000_000_000),
            .production,
            id: PushUUID(high: 0, low: 1),
            at: now
        )
    }
}
