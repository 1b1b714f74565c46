import DeviceCore
import Testing
import Vocabulary

/// Dates and deadlines of transfers over restarts, and while the clock is set.
struct TransferDateTests {
    private var bench = Bench()
    private static let stopped = TransferEvent.ended(.interrupted(.init(.stopped)), durable: 0)

    private mutating func enqueue(_ change: (inout TransferOrder) -> Void = { _ in }) throws
        -> TransferID
    {
        var order = TransferOrder(url: "http://example.org/a.iso", directory: "/home/user")
        change(&order)
        bench.ask(.transfer(.enqueue([order], token: nil)))
        guard case .transfers(let ids)? = bench.reply else { throw DidNotEnqueue() }
        return try #require(ids.first)
    }

    private struct DidNotEnqueue: Error {}

    private mutating func setClock(by span: Interval) {
        bench.now.wall = bench.now.wall + span
        bench.send(.clockChanged)
    }

    private func isUnderWay(_ id: TransferID) -> Bool { bench.transfer(id)?.isUnderWay == true }

    // MARK: A better moment

    /// Two that wait for a better moment. The younger one was moved to the front, and may still
    /// wait when the older one may not.
    private mutating func waiting(
        apart span: Interval
    ) throws -> (older: TransferID, younger: TransferID) {
        bench.set(.network, 2)
        bench.set(.power, 0)
        let older = try enqueue { $0.isDiscretionary = true }
        bench.advance(span)
        let younger = try enqueue { $0.isDiscretionary = true }
        bench.ask(.transfer(.move([younger], TransferMove(place: .first))))
        return (older, younger)
    }

    @Test mutating func `one that has waited its time begins before those that have not`() throws {
        let (older, younger) = try waiting(apart: .hours(6))
        bench.advance(.hours(6) - .seconds(1))
        #expect(bench.transferGates(older) == ["better-moment"])
        bench.advance(.seconds(1))
        #expect(isUnderWay(older))
        #expect(bench.transferGates(younger) == ["better-moment"])
        bench.advance(.hours(6))
        #expect(isUnderWay(younger))
    }

    @Test mutating func `one with little time waits for half of it, and is not late with that`()
        throws
    {
        bench.set(.network, 2)
        bench.set(.power, 0)
        let id = try enqueue {
            ($0.isDiscretionary, $0.resourceTimeout) = (true, .hours(6))
        }
        bench.advance(.hours(3) - .seconds(1))
        #expect(bench.transferGates(id) == ["better-moment"])
        bench.advance(.seconds(1))
        #expect(isUnderWay(id))
    }

    @Test mutating func `a setting that lets them wait less counts at once`() throws {
        let (older, younger) = try waiting(apart: .hours(2))
        bench.advance(.hours(1))
        var settings = Settings()
        settings.discretionaryWait = .hours(2)
        bench.send(.settings(settings))
        #expect(isUnderWay(older))
        #expect(bench.transferGates(younger) == ["better-moment"])
    }

    // MARK: The earliest date

    /// Their turn passes by itself.
    @Test mutating func `other transfers are the last reason of one that has another`() throws {
        for _ in 0..<6 { _ = try enqueue() }
        let date = bench.now.wall + .hours(2)
        let id = try enqueue { $0.earliest = date }
        let explained = try #require(bench.device.explain(id, at: bench.now))
        #expect(explained.holds.map(\.gate) == ["earliest", "transfer-slots"])
        #expect(!explained.sentence.contains("other transfers"), "\(explained.sentence)")
        #expect(explained.sentence.contains("and 1 more reason"))
    }

    @Test mutating func `a date is the caller's own, also when the clock is set back`() throws {
        let date = bench.now.wall + .hours(2)
        let id = try enqueue { $0.earliest = date }
        setClock(by: .zero - .hours(3))
        bench.advance(.hours(5) - .seconds(1))
        #expect(bench.transferGates(id) == ["earliest"])
        bench.advance(.seconds(1))
        #expect(isUnderWay(id))
    }

    /// `offstage download --after 2h`, while the clock is a year ahead.
    @Test mutating func `a span of time is no longer after the clock was set back`() throws {
        setClock(by: .days(365))
        let date = bench.now.wall + .hours(2)
        let id = try enqueue { ($0.earliest, $0.delay) = (date, .hours(2)) }
        bench.advance(.hours(1))
        setClock(by: .days(-365))
        #expect(bench.stored(id)?.order.earliest == bench.now.wall + .hours(1))
        bench.advance(.hours(1) - .seconds(1))
        #expect(bench.transferGates(id) == ["earliest"])
        bench.advance(.seconds(1))
        #expect(isUnderWay(id))
    }

    @Test mutating func `a date that the clock has passed at once is not waited for`() throws {
        let date = bench.now.wall + .days(30)
        let id = try enqueue { ($0.earliest, $0.resourceTimeout) = (date, .days(60)) }
        setClock(by: .days(30))
        #expect(isUnderWay(id))
    }

    /// It stands among those that wait for a gate.
    @Test mutating func `a date that had come lies ahead again when the clock is set back`() throws
    {
        bench.set(.network, 0)
        bench.advance(.minutes(5))
        let date = bench.now.wall + .minutes(1)
        let id = try enqueue { $0.earliest = date }
        bench.advance(.minutes(2))
        #expect(bench.transferGates(id) == ["network"])
        setClock(by: .zero - .hours(1))
        bench.set(.network, 2)
        bench.advance(.minutes(58))
        #expect(bench.transferGates(id) == ["earliest"])
        bench.advance(.minutes(1))
        #expect(isUnderWay(id))
    }

    @Test mutating func `what was set back while no daemon lived holds for the next one`() throws {
        let date = bench.now.wall + .hours(2)
        let id = try enqueue { $0.earliest = date }
        bench.now.wall = bench.now.wall - .hours(3)
        try bench.restart()
        bench.advance(.hours(5) - .seconds(1))
        #expect(bench.transferGates(id) == ["earliest"])
        bench.advance(.seconds(1))
        #expect(isUnderWay(id))
    }

    @Test mutating func `the wait for another attempt is no longer after the clock was set back`()
        throws
    {
        let id = try enqueue()
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
        setClock(by: .zero - .days(400))
        bench.advance(.seconds(2))
        #expect(isUnderWay(id))
    }

    // MARK: The deadline

    @Test mutating func `one that runs again after a restart ends with its time`() throws {
        let id = try enqueue()
        bench.advance(.days(3))
        try bench.restart()
        bench.advance(.minutes(1))
        #expect(isUnderWay(id))
        bench.advance(.days(4) - .minutes(1) - .seconds(1))
        #expect(!bench.contains(.transfer(id, .stop)) && bench.transfer(id)?.isEnded == false)
        bench.advance(.seconds(1))
        #expect(bench.contains(.transfer(id, .stop)))
        bench.report(id, Self.stopped)
        #expect(bench.transfer(id)?.failure == .timedOut)
    }

    @Test mutating func `one that runs while the clock is set ends with its time`() throws {
        for span in [Interval.days(-400), .days(1), .days(20_000)] {
            let id = try enqueue()
            setClock(by: span)
            bench.advance(.days(7) - .seconds(1))
            #expect(isUnderWay(id) && !bench.contains(.transfer(id, .stop)))
            bench.advance(.seconds(1))
            #expect(bench.contains(.transfer(id, .stop)))
            bench.report(id, Self.stopped)
            #expect(bench.transfer(id)?.failure == .timedOut)
        }
    }

    @Test mutating func `one whose time has passed while no daemon lived fails at once`() throws {
        let id = try enqueue()
        bench.move(.days(8))
        try bench.restart()
        #expect(bench.begun[id] == nil)
        #expect(bench.transfer(id)?.failure == .timedOut)
    }

    @Test mutating func `one that may begin after its time-out has its time from then on`() throws {
        let date = bench.now.wall + .days(25)
        let id = try enqueue { $0.earliest = date }
        bench.advance(.days(25) - .seconds(1))
        #expect(bench.transfer(id)?.isEnded == false && bench.begun[id] == nil)
        bench.advance(.seconds(1))
        #expect(isUnderWay(id))
        bench.advance(.days(7) - .seconds(1))
        #expect(!bench.contains(.transfer(id, .stop)))
        bench.advance(.seconds(1))
        #expect(bench.contains(.transfer(id, .stop)))
    }

    /// A board without a clock of its own starts in the past, and is set right by the network.
    @Test mutating func `what has ended is not forgotten because the clock is set right`() throws {
        let right = bench.now.wall
        let id = try enqueue()
        bench.report(id, .ended(.complete(size: 1), durable: 1))
        bench.report(id, .placed(name: "a.iso"))
        let retried = try enqueue { $0.delay = .hours(2) }
        bench.now.wall = right - .days(20_000)
        try bench.restart()
        setClock(by: .days(20_000))
        #expect(bench.transfer(id)?.isEnded == true)
        #expect(bench.transfer(retried)?.isEnded == false)
        bench.advance(.days(7) - .seconds(1))
        #expect(bench.transfer(id)?.isEnded == true)
        bench.advance(.seconds(1))
        #expect(bench.transfer(id) == nil)
    }

    /// By whoever corrects a mistake: nothing is older or younger for it.
    @Test mutating func `a clock that is set there and back changes nothing`() throws {
        let ids = [try enqueue(), try enqueue { $0.delay = .days(1) }]
        bench.report(ids[0], .ended(.complete(size: 1), durable: 1))
        bench.report(ids[0], .placed(name: "a.iso"))
        bench.advance(.hours(1))
        let before = ids.map { bench.stored($0) }
        setClock(by: .days(365))
        // Its event may be lost on a full disk.
        bench.now.wall = bench.now.wall - .days(365)
        bench.set(.thermal, 1)
        #expect(ids.map { bench.stored($0) } == before)
    }

    @Test mutating func `what is paused and resumed is tried at once`() throws {
        let id = try enqueue()
        for _ in 0..<3 {
            bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
            #expect(!isUnderWay(id))
            bench.ask(.transfer(.pause([id])))
            bench.ask(.transfer(.resume([id])))
            #expect(isUnderWay(id))
        }
    }

    // MARK: The network's return

    /// A network that has just come back often goes again.
    @Test mutating func `when the network is back, what failed for want of it waits to settle`()
        throws
    {
        bench.configure { $0.settleTime = .seconds(5) }
        bench.set(.network, 2)
        let id = try enqueue()
        for _ in 0..<8 {
            bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
            bench.advance(bench.transfer(id)?.retry?.wait ?? .zero)
        }
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
        bench.set(.network, 0)
        bench.advance(.seconds(10))
        bench.set(.network, 2)
        #expect(!isUnderWay(id))
        bench.advance(.seconds(5) - .milliseconds(1))
        #expect(!isUnderWay(id))
        bench.advance(.milliseconds(1))
        #expect(isUnderWay(id))
    }

    @Test mutating func `a server that is busy is not asked sooner for that`() throws {
        bench.set(.network, 2)
        let id = try enqueue()
        let busy = ExchangeEnd.Interruption(.busy, retryAfter: .minutes(30))
        bench.report(id, .ended(.interrupted(busy), durable: 0))
        bench.set(.network, 0)
        bench.advance(.minutes(1))
        bench.set(.network, 2)
        bench.advance(.minutes(28))
        #expect(!isUnderWay(id))
        bench.advance(.minutes(1))
        #expect(isUnderWay(id))
    }
}

extension Transfer {
    fileprivate var failure: TransferFailure.Code? {
        guard case .ended(.failed(let failure), _) = state else { return nil }
        return failure.code
    }
}
