import GatewayCore
import Testing
import Vocabulary

/// Broadcast channels: one message to all that follow, the newest kept where that was asked for.
struct BroadcastTests {
    private let one = ChannelID(high: 1, low: 2)
    private let other = ChannelID(high: 3, low: 4)

    private func bench(
        _ limits: GatewayLimits = GatewayLimits(),
        keepsNewest: Bool = true
    ) -> GatewayBench {
        var bench = GatewayBench(limits)
        _ = bench.after { gateway, _, effects in
            let channel = Channel(id: one, app: AppNumber(1), keepsNewest: keepsNewest)
            gateway.create(channel, into: &effects)
        }
        return bench
    }

    private func follow(_ bench: inout GatewayBench, last: UInt64 = 0) -> [GatewayEffect] {
        bench.after {
            $0.follow(one, of: AppNumber(1), last: last, over: LinkID(1), at: $1, into: &$2)
        }
    }

    private func send(
        _ bench: inout GatewayBench,
        _ priority: PushPriority = .immediate,
        lasting: Interval? = .hours(1)
    ) -> (broadcast: Broadcast, effects: [GatewayEffect]) {
        let broadcast = Broadcast(
            number: bench.gateway.takeNumber(at: bench.now),
            channel: one,
            priority: priority,
            expiration: lasting.map { .until(bench.now.wall + $0) } ?? .once,
            payload: Array("{}".utf8)
        )
        return (
            broadcast,
            bench.after { $0.take(broadcast, from: "KEY", for: CallID(1), at: $1, into: &$2) }
        )
    }

    @Test func `those who follow get each message, those who come later the newest`() {
        var bench = bench()
        let first = send(&bench)
        #expect(
            first.effects.deeds == [
                .keepBroadcast(first.broadcast),
                .answer(CallID(1), .accepted(first.broadcast.number), afterCommit: true),
            ]
        )
        let second = send(&bench).broadcast
        _ = bench.connect()
        #expect(
            follow(&bench) == [
                .follows(LinkID(1), one, nil), .broadcast(LinkID(1), second),
            ]
        )
        let third = send(&bench)
        #expect(third.effects.contains(.broadcast(LinkID(1), third.broadcast)))
        // Whoever had it does not get it again.
        _ = bench.connect(2)
        let again = bench.after {
            $0.follow(
                one,
                of: AppNumber(1),
                last: third.broadcast.number.number,
                over: LinkID(2),
                at: $1,
                into: &$2
            )
        }
        #expect(again == [.follows(LinkID(2), one, nil)])
        _ = bench.after { gateway, _, _ in gateway.unfollow(one, over: LinkID(2)) }
        let fourth = send(&bench)
        #expect(!fourth.effects.contains(.broadcast(LinkID(2), fourth.broadcast)))
        #expect(!fourth.effects.contains(.broadcast(LinkID(1), fourth.broadcast)))
    }

    @Test func `a channel without storage is for those who are there`() {
        var bench = bench(keepsNewest: false)
        let early = send(&bench, lasting: nil)
        let answer = GatewayEffect.answer(
            CallID(1),
            .accepted(early.broadcast.number),
            afterCommit: false
        )
        #expect(early.effects.deeds == [answer])
        _ = bench.connect()
        #expect(follow(&bench) == [.follows(LinkID(1), one, nil)])
        let late = send(&bench, lasting: nil)
        #expect(late.effects.first == .broadcast(LinkID(1), late.broadcast))
    }

    @Test func `a message whose time is over is not sent, nor one that wakes nobody at once`() {
        var bench = bench()
        _ = send(&bench, lasting: .minutes(5))
        _ = bench.pass(.minutes(5))
        _ = bench.connect()
        #expect(follow(&bench) == [.follows(LinkID(1), one, nil)])
        let passive = send(&bench, .passive)
        #expect(!passive.effects.contains(.broadcast(LinkID(1), passive.broadcast)))
        let alive = bench.after { $0.keptAlive(LinkID(1), nil, at: $1, into: &$2) }
        #expect(alive == [.broadcast(LinkID(1), passive.broadcast)])
        #expect(bench.after { $0.keptAlive(LinkID(1), nil, at: $1, into: &$2) }.isEmpty)
    }

    @Test func `the log says to how many a message went, and whether it is kept`() {
        func said(_ effects: [GatewayEffect]) -> [LogEvent] {
            effects.compactMap {
                guard case .logBroadcast(_, AppNumber(1), let event, _, "KEY") = $0 else {
                    return nil
                }
                return event
            }
        }
        var bench = bench()
        #expect(said(send(&bench).effects) == [.sent(devices: 0, isKept: true)])
        _ = bench.connect()
        _ = follow(&bench)
        #expect(said(send(&bench).effects) == [.sent(devices: 1, isKept: true)])
        #expect(said(send(&bench, .passive).effects) == [.sent(devices: 0, isKept: true)])
        #expect(said(send(&bench, lasting: nil).effects) == [.sent(devices: 1, isKept: false)])
        _ = bench.after { $0.congested(LinkID(1), true, at: $1, into: &$2) }
        #expect(said(send(&bench).effects) == [.sent(devices: 0, isKept: true)])
        // It went while the message was looked at.
        _ = bench.after { gateway, _, effects in gateway.remove(one, into: &effects) }
        let late = send(&bench)
        let refused = Answer.refused(.channelNotRegistered)
        #expect(late.effects == [.answer(CallID(1), refused, afterCommit: false)])
    }

    @Test func `whoever does not read gets the newest later`() {
        var bench = bench()
        _ = bench.connect()
        _ = follow(&bench)
        _ = bench.after { $0.congested(LinkID(1), true, at: $1, into: &$2) }
        let missed = send(&bench).broadcast
        let newest = send(&bench)
        #expect(!newest.effects.contains(.broadcast(LinkID(1), newest.broadcast)))
        let effects = bench.after { $0.congested(LinkID(1), false, at: $1, into: &$2) }
        #expect(effects == [.broadcast(LinkID(1), newest.broadcast)])
        #expect(missed.number < newest.broadcast.number)
    }

    @Test func `channels are bounded, those of an app and those that a device follows`() {
        var limits = GatewayLimits()
        (limits.channelsPerApp, limits.channelsPerDevice) = (2, 1)
        var bench = bench(limits)
        func create(_ id: ChannelID, _ bench: inout GatewayBench) -> Reason? {
            if let reason = bench.gateway.channelRefusal(for: AppNumber(1)) { return reason }
            _ = bench.after { gateway, _, effects in
                let channel = Channel(id: id, app: AppNumber(1), keepsNewest: true)
                gateway.create(channel, into: &effects)
            }
            return nil
        }
        #expect(create(other, &bench) == nil)
        #expect(create(ChannelID(high: 5, low: 6), &bench) == .cannotCreateChannel)
        _ = bench.connect()
        _ = follow(&bench)
        let more = bench.after {
            $0.follow(other, of: AppNumber(1), last: 0, over: LinkID(1), at: $1, into: &$2)
        }
        #expect(more == [.follows(LinkID(1), other, .tooMany)])
        let removed = bench.after { gateway, _, effects in gateway.remove(one, into: &effects) }
        #expect(removed == [.removeChannel(Channel(id: one, app: AppNumber(1), keepsNewest: true))])
        let told = bench.after { gateway, _, effects in
            gateway.finishRemoval(of: one, into: &effects)
        }
        #expect(told == [.follows(LinkID(1), one, .noChannel)])
        #expect(create(one, &bench) == nil)
        bench.gateway.limits.channelsPerApp = 0
        #expect(create(ChannelID(high: 5, low: 6), &bench) == .featureNotEnabled)
    }

    @Test func `a channel that is refused leaves no app behind`() {
        var limits = GatewayLimits()
        limits.channelsPerApp = 0
        var driver = GatewayDriver(limits, StoredGateway())
        let bench = GatewayBench()
        var actions: [GatewayAction] = []
        driver.handle(
            .createChannel(one, bundle: "a.new", keepsNewest: true, OperationID(1)),
            at: bench.now,
            into: &actions
        )
        let isRefused = actions.contains {
            if case .done(OperationID(1), .refused(.featureNotEnabled)) = $0 { true } else { false }
        }
        #expect(isRefused)
        #expect(driver.senders.refusals.map(\.reason) == [.featureNotEnabled])
        #expect(driver.apps.number(of: "a.new") == nil)
    }

    @Test func `a channel is its app's`() {
        var bench = bench()
        _ = bench.connect()
        #expect(bench.gateway.refusal(of: one, for: AppNumber(1)) == nil)
        #expect(bench.gateway.refusal(of: one, for: AppNumber(2)) == .topicMismatch)
        #expect(bench.gateway.refusal(of: other, for: AppNumber(1)) == .channelNotRegistered)
        let foreign = bench.after {
            $0.follow(one, of: AppNumber(2), last: 0, over: LinkID(1), at: $1, into: &$2)
        }
        #expect(foreign == [.follows(LinkID(1), one, .noChannel)])
        // A link that is gone follows nothing.
        let nobody = bench.after {
            $0.follow(one, of: AppNumber(1), last: 0, over: LinkID(9), at: $1, into: &$2)
        }
        #expect(nobody.isEmpty)
    }

    @Test func `an id has one text, and is read in either alphabet`() {
        let id = ChannelID(high: .max, low: 0xFFFF_FFFF_FFFF_FFFB)
        #expect(id.text == String(repeating: "/", count: 20) + "+w==")
        #expect(ChannelID(id.text.utf8) == id)
        #expect(ChannelID(Base64.urlText(id.bytes).utf8) == id)
        #expect(ChannelID("AAAA".utf8) == nil)
    }
}
