import GatewayCore
import Testing
import Vocabulary

/// What is kept, for how long, and what a provider is told about it.
struct SlotTests {
    @Test func `a push for a device that is away is answered once it is kept`() {
        var bench = GatewayBench()
        let (push, call, effects) = bench.push()
        #expect(
            effects.deeds == [
                .store(push, in: push.slot, until: push.end),
                .answer(call, .accepted(push.number), afterCommit: true),
            ]
        )
        #expect(bench.connect().sendings.map(\.number) == [push.number])
    }

    @Test func `a push that is delivered and acknowledged is never kept`() throws {
        var bench = GatewayBench()
        _ = bench.connect()
        let (push, call, effects) = bench.push()
        let sending = try #require(effects.sendings.first)
        #expect(effects.deeds.count == 1)
        #expect(
            bench.acknowledge(sending.id).deeds == [
                .answer(call, .accepted(push.number), afterCommit: false)
            ]
        )
        #expect(bench.connect(2).sendings.isEmpty)
    }

    @Test func `a push that is not acknowledged in time is kept, and goes when it is at last`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let (push, call, effects) = bench.push()
        #expect(bench.pass(.milliseconds(1999)).isEmpty)
        let late = bench.pass(.milliseconds(1))
        #expect(
            late.deeds == [
                .store(push, in: push.slot, until: push.end),
                .answer(call, .accepted(push.number), afterCommit: true),
            ]
        )
        #expect(late.storeReasons == [.unacknowledged])
        let sent = effects.sendings.map(\.id)
        #expect(bench.acknowledge(sent[0]).deeds == [.remove(push.slot, push.number)])
    }

    @Test func `of two for one app the newer is kept, whatever the order they are given up in`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let first = bench.push().push
        let second = bench.push().push
        let effects = bench.after { $0.disconnected(LinkID(1), at: $1, into: &$2) }
        #expect(effects.contains(.store(second, in: second.slot, until: second.end)))
        #expect(bench.connect(2).sendings.map(\.number) == [second.number])
        #expect(
            effects.contains(.logNumber(first.number, .replaced(by: second.number), bench.now.wall))
        )
    }

    @Test func `an acknowledgement of the older one leaves the newer where it is`() {
        var bench = GatewayBench()
        _ = bench.push()
        let old = bench.connect().sendings
        let isAway = bench.after { $0.congested(LinkID(1), true, at: $1, into: &$2) }
        #expect(isAway.isEmpty)
        let newer = bench.push().push
        #expect(bench.acknowledge(old[0].id).deeds.isEmpty)
        let effects = bench.after { $0.congested(LinkID(1), false, at: $1, into: &$2) }
        #expect(effects.sendings.map(\.number) == [newer.number])
    }

    @Test func `with expiration 0 there is one attempt and nothing is kept`() {
        var bench = GatewayBench()
        let away = bench.push(expiration: .once)
        #expect(
            away.effects.deeds == [
                .answer(away.call, .accepted(away.push.number), afterCommit: true)
            ]
        )
        _ = bench.connect()
        let sent = bench.push(expiration: .once)
        #expect(sent.effects.sendings.map(\.number) == [sent.push.number])
        let answer = GatewayEffect.answer(
            sent.call,
            .accepted(sent.push.number),
            afterCommit: false
        )
        #expect(sent.effects.deeds.last == answer)
        #expect(bench.pass(.seconds(10)).isEmpty)
        #expect(bench.connect(2).sendings.isEmpty)
    }

    @Test func `what has expired is not delivered`() {
        var bench = GatewayBench()
        let push = bench.push(expiration: .until(bench.now.wall + .seconds(60))).push
        _ = bench.pass(.seconds(60))
        let effects = bench.connect()
        #expect(effects.sendings.isEmpty)
        #expect(effects.deeds == [.remove(push.slot, push.number)])
        #expect(effects.contains(.logNumber(push.number, .expired, bench.now.wall)))
    }

    @Test func `an app that the device does not have is registered no more, and its push is told`()
    {
        var bench = GatewayBench()
        _ = bench.push()
        _ = bench.connect()
        let (push, call, sent) = bench.push()
        let sending = sent.sendings[0].id
        let effects = bench.after { $0.refused(sending, over: LinkID(1), at: $1, into: &$2) }
        let gone = Answer.refused(.unregistered, timestamp: bench.now.wall)
        #expect(effects.deeds.contains(.answer(call, gone, afterCommit: true)))
        #expect(bench.gateway.refusal(of: bench.token) == gone)
        #expect(effects.deeds.contains { if case .save = $0 { true } else { false } })
        // Nothing of it is kept, not even what was before.
        #expect(effects.deeds.contains { if case .remove = $0 { true } else { false } })
        #expect(effects.contains(.logNumber(push.number, .dropped(.refused), bench.now.wall)))
        #expect(bench.connect(2).sendings.isEmpty)
    }

    @Test func `a token that was renewed or given back is gone, with the time at which it went`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let old = bench.token
        let app = bench.app
        let at = bench.now.wall
        _ = bench.after { $0.register(app, renewing: true, over: LinkID(1), at: $1, into: &$2) }
        #expect(bench.gateway.refusal(of: old) == .refused(.unregistered, timestamp: at))
        let new = DeviceToken(device: old.device, app: app, generation: 2)
        #expect(bench.gateway.refusal(of: new) == nil)
        _ = bench.pass(.seconds(5))
        _ = bench.after { $0.unregister(app, over: LinkID(1), at: $1, into: &$2) }
        #expect(
            bench.gateway.refusal(of: new) == .refused(.unregistered, timestamp: at + .seconds(5))
        )
        #expect(bench.gateway.refusal(of: old) == .refused(.unregistered, timestamp: at))
        let never = DeviceToken(device: old.device, app: AppNumber(2), generation: 1)
        #expect(bench.gateway.refusal(of: never) == .refused(.badDeviceToken))
    }
}
