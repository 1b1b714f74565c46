import GatewayCore
import Testing
import Vocabulary

/// What is kept of Web Push for a device that is away.
struct WebPushKeptTests {
    private static func bench(keeping kept: Int = 16) -> GatewayBench {
        var limits = GatewayLimits()
        limits.webPushKept = kept
        return GatewayBench(limits)
    }

    /// The numbers of what the device gets when it comes.
    private static func waiting(_ bench: inout GatewayBench) -> [PushNumber] {
        bench.connect().sendings.map(\.number)
    }

    @Test func `messages without a topic replace none, and come in their order`() {
        var bench = Self.bench()
        let sent = (0..<16).map { _ in bench.push(isWebPush: true).push.number }
        #expect(Self.waiting(&bench) == sent)
    }

    @Test func `one with the same topic replaces`() {
        var bench = Self.bench()
        let old = bench.push(collapseID: "mail", isWebPush: true).push
        let other = bench.push(collapseID: "chat", isWebPush: true).push
        let new = bench.push(collapseID: "mail", isWebPush: true)
        let slot = SlotKey(bench.device, bench.app, place: 1)
        #expect(new.effects.contains(.store(new.push, in: slot, until: new.push.end)))
        let replaced = LogEvent.replaced(by: new.push.number)
        #expect(new.effects.contains(.logNumber(old.number, replaced, bench.now.wall)))
        #expect(Self.waiting(&bench) == [other.number, new.push.number])
    }

    @Test func `one that is not to be kept takes the older one with its topic away`() {
        var bench = Self.bench()
        let score = bench.push(collapseID: "score", isWebPush: true).push
        let other = bench.push(collapseID: "chat", isWebPush: true).push
        let over = bench.push(expiration: .once, collapseID: "score", isWebPush: true)
        let replaced = LogEvent.replaced(by: over.push.number)
        #expect(over.effects.contains(.logNumber(score.number, replaced, bench.now.wall)))
        let answer = Answer.accepted(over.push.number)
        #expect(over.effects.last == .answer(over.call, answer, afterCommit: true))
        #expect(Self.waiting(&bench) == [other.number])
    }

    @Test func `of too many the oldest is dropped, and that is logged`() {
        var bench = Self.bench(keeping: 2)
        let sent = (0..<2).map { _ in bench.push(isWebPush: true).push }
        let last = bench.push(isWebPush: true)
        let slot = SlotKey(bench.device, bench.app, place: 1)
        #expect(
            last.effects.deeds == [
                .store(last.push, in: slot, until: last.push.end),
                .remove(slot, sent[0].number),
                .answer(last.call, .accepted(last.push.number), afterCommit: true),
            ]
        )
        let dropped = LogEvent.dropped(.tooMany)
        #expect(last.effects.contains(.logNumber(sent[0].number, dropped, bench.now.wall)))
        #expect(Self.waiting(&bench) == [sent[1].number, last.push.number])
    }

    @Test func `one that is given up late is dropped if newer ones took all places`() {
        var bench = Self.bench(keeping: 2)
        _ = bench.connect()
        let old = bench.push(isWebPush: true)
        _ = bench.after { $0.congested(LinkID(1), true, at: $1, into: &$2) }
        let newer = (0..<2).map { _ in bench.push(isWebPush: true).push.number }
        let late = bench.pass(.seconds(2))
        #expect(
            late.deeds == [.answer(old.call, .accepted(old.push.number), afterCommit: true)]
        )
        #expect(late.contains(.log(old.push, .dropped(.tooMany), bench.now.wall, nil)))
        _ = bench.after { $0.disconnected(LinkID(1), at: $1, into: &$2) }
        #expect(bench.connect(2).sendings.map(\.number) == newer)
    }

    @Test func `a lower limit drops what is too much with the next message`() {
        var bench = Self.bench(keeping: 3)
        for _ in 0..<3 { _ = bench.push(isWebPush: true) }
        bench.gateway.limits.webPushKept = 1
        let last = bench.push(isWebPush: true)
        #expect(last.effects.deeds.count { if case .remove = $0 { true } else { false } } == 3)
        #expect(Self.waiting(&bench) == [last.push.number])
    }

    @Test func `pushes of APNs keep their one place beside them, whatever their identifiers`() {
        var bench = Self.bench(keeping: 1)
        let message = bench.push(collapseID: "a", isWebPush: true).push
        let old = bench.push(collapseID: "a")
        #expect(!old.effects.contains { if case .remove = $0 { true } else { false } })
        let new = bench.push(collapseID: "a").push
        #expect(Self.waiting(&bench) == [message.number, new.number])
    }

    @Test func `an acknowledgement empties its own place, and a topic goes with a newer one`() {
        var bench = Self.bench()
        let first = bench.push(collapseID: "mail", isWebPush: true).push
        let second = bench.push(isWebPush: true).push
        let sent = bench.connect().sendings
        let place = { SlotKey(DeviceID(7), AppNumber(1), place: $0) }
        #expect(bench.acknowledge(sent[1].id).deeds == [.remove(place(2), second.number)])
        let newer = bench.push(collapseID: "mail", isWebPush: true)
        let effects = bench.acknowledge(newer.effects.sendings[0].id)
        #expect(effects.deeds.contains(.remove(place(1), first.number)))
    }

    @Test func `all of them go with the registration`() {
        var bench = Self.bench()
        for _ in 0..<3 { _ = bench.push(isWebPush: true) }
        _ = bench.connect()
        let app = bench.app
        let effects = bench.after { $0.unregister(app, over: LinkID(1), at: $1, into: &$2) }
        #expect(effects.deeds.count { if case .remove = $0 { true } else { false } } == 3)
    }
}
