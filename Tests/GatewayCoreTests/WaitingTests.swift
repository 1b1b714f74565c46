import GatewayCore
import Testing
import Vocabulary

/// What waits goes as soon as it may, and nothing that is out of date comes behind what is newer.
struct WaitingTests {
    // MARK: Room

    @Test func `the newest of more than may be on their way goes with an acknowledgement`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let sent = (0..<64).flatMap { _ in bench.push().effects.sendings }
        #expect(sent.count == 64)
        let newest = bench.push()
        #expect(newest.effects.storeReasons == [.busy])
        let freed = bench.acknowledge(sent[0].id)
        #expect(freed.sendings.map(\.number) == [newest.push.number])
    }

    @Test func `an app that leaves makes room for what waits for another`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let other = AppNumber(2)
        _ = bench.after {
            $0.register(other, renewing: false, over: LinkID(1), at: $1, into: &$2)
        }
        for _ in 0..<64 { _ = bench.push() }
        let waiting = bench.push(to: other).push
        let effects = bench.after {
            $0.unregister(AppNumber(1), over: LinkID(1), at: $1, into: &$2)
        }
        #expect(effects.sendings.map(\.number) == [waiting.number])
    }

    @Test func `priority 1 waits for a reason of its own, however full the link`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let sent = (0..<64).flatMap { _ in bench.push().effects.sendings }
        #expect(bench.push(priority: .passive).effects.storeReasons == [.passive])
        #expect(bench.acknowledge(sent[0].id).sendings.isEmpty)
    }

    @Test func `a full link does not lift the budget of silent pushes`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let sent = (0..<64).flatMap { _ in bench.push().effects.sendings }
        let reasons = (0..<4).flatMap { _ in bench.push(silent: true).effects.storeReasons }
        #expect(reasons == [.busy, .busy, .busy, .overBudget])
        #expect(bench.acknowledge(sent[0].id).sendings.count == 1)
    }

    @Test func `what could not be read from the store is tried again`() {
        var bench = GatewayBench()
        let push = bench.push().push
        let sending = bench.connect().sendings[0]
        bench.gateway.notSent(sending.id, over: LinkID(1))
        let again = bench.after { $0.keptAlive(LinkID(1), nil, at: $1, into: &$2) }
        #expect(again.sendings.map(\.number) == [push.number])
    }

    @Test func `what waits for room still does after a batch that failed`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let sent = (0..<64).flatMap { _ in bench.push().effects.sendings }
        let kept = bench.push().push
        bench.gateway.committed(bench.gateway.closeBatch())
        _ = bench.push()
        let record = StoredDevice(
            registrations: [Registration(app: bench.app, generation: 1, isActive: true)],
            stored: [.init(app: bench.app, number: kept.number, expiration: kept.end)]
        )
        let device = bench.device
        _ = bench.after { $0.failed([(device, record)], at: $1, into: &$2) }
        #expect(bench.acknowledge(sent[0].id).sendings.map(\.number) == [kept.number])
    }

    // MARK: Collapsing

    @Test func `a stored push gives way to a newer one with its collapse identifier`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let old = bench.push(priority: .passive, collapseID: "game").push
        let new = bench.push(collapseID: "game")
        #expect(new.effects.sendings.map(\.number) == [new.push.number])
        let effects = bench.acknowledge(new.effects.sendings[0].id)
        #expect(effects.contains(.remove(old.slot, old.number)))
        let replaced = LogEvent.replaced(by: new.push.number)
        #expect(effects.contains(.logNumber(old.number, replaced, bench.now.wall)))
        #expect(bench.connect(2).sendings.isEmpty)
    }

    @Test(arguments: ["", "other"])
    func `one with another identifier, or none, stays`(_ identifier: String) {
        var bench = GatewayBench()
        _ = bench.connect()
        let old = bench.push(priority: .passive, collapseID: identifier).push
        let new = bench.push(collapseID: "game").effects.sendings
        #expect(new.map(\.number).last == old.number)
    }

    @Test func `the older of two on their way is not sent again once the newer was had`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let old = bench.push(collapseID: "game")
        let new = bench.push(collapseID: "game").effects.sendings[0]
        let effects = bench.acknowledge(new.id)
        let told = GatewayEffect.answer(old.call, .accepted(old.push.number), afterCommit: true)
        #expect(effects.contains(told))
        let end = bench.after { $0.disconnected(LinkID(1), at: $1, into: &$2) }
        #expect(end.deeds.isEmpty)
        #expect(bench.connect(2).sendings.isEmpty)
    }

    @Test func `one that may be tried once replaces what is stored when it is sent`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let old = bench.push(priority: .passive, collapseID: "game").push
        let new = bench.push(expiration: .once, collapseID: "game").effects
        #expect(new.contains(.remove(old.slot, old.number)))
    }

    @Test func `what was read from the store collapses as well`() {
        var bench = GatewayBench()
        let kept = bench.push(priority: .passive, collapseID: "game").push
        var fresh = GatewayBench()
        fresh.gateway = Gateway(lastPush: kept.number.number)
        let stored = StoredDevice.Stored(
            app: kept.app,
            number: kept.number,
            expiration: kept.end,
            collapse: CollapseKey(kept.collapseID)
        )
        let active = Registration(app: kept.app, generation: 1, isActive: true)
        fresh.gateway.load(
            kept.device,
            StoredDevice(registrations: [active], stored: [stored])
        )
        // It goes with the connection; the newer one follows.
        let sent = fresh.connect().sendings
        fresh.gateway.notSent(sent[0].id, over: LinkID(1))
        let new = fresh.push(collapseID: "game").effects.sendings
        #expect(new.count == 1)
        #expect(fresh.acknowledge(new[0].id).contains(.remove(kept.slot, kept.number)))
    }

    // MARK: Figures

    @Test func `what is answered 503 counts neither as accepted nor as stored`() {
        var bench = GatewayBench()
        _ = bench.push()
        let device = bench.device
        let active = Registration(app: bench.app, generation: 1, isActive: true)
        _ = bench.gateway.closeBatch()
        _ = bench.push()
        let record = StoredDevice(registrations: [active])
        _ = bench.after { $0.failed([(device, record)], at: $1, into: &$2) }
        #expect(bench.gateway.counters == GatewayCounters())
        _ = bench.push()
        bench.gateway.committed(bench.gateway.closeBatch())
        #expect(bench.gateway.counters.accepted == 1)
        #expect(bench.gateway.counters.stored == 1)
    }

    @Test func `what expires in its slot is counted and logged once`() {
        var bench = GatewayBench()
        let push = bench.push(expiration: .until(bench.now.wall + .seconds(5))).push
        bench.gateway.committed(bench.gateway.closeBatch())
        _ = bench.pass(.seconds(6))
        let swept = bench.after { $0.expire(push.slot, push.number, at: $1, into: &$2) }
        #expect(swept.contains(.remove(push.slot, push.number)))
        // Neither by the store's next look nor by the device's coming.
        #expect(bench.after { $0.expire(push.slot, push.number, at: $1, into: &$2) }.isEmpty)
        #expect(bench.connect().deeds.isEmpty)
        bench.gateway.committed(bench.gateway.closeBatch())
        #expect(bench.gateway.counters.expired == 1)
    }
}
