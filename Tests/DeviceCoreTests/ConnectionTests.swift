@testable import DeviceCore
import Testing
import Vocabulary

/// Downloads over several connections as the device decides them: how many each one gets, and what
/// is known of its ranges.
struct ConnectionTests {
    private var bench = Bench()
    private static let tag = Validator.entityTag("\"1\"")

    private mutating func enqueue(_ url: String, _ connections: Int64 = 1) throws -> TransferID {
        var order = TransferOrder(url: url, directory: "/home/user")
        order.moreConnections = connections - 1
        bench.ask(.transfer(.enqueue([order], token: nil)))
        guard case .transfers(let ids)? = bench.reply else { throw DidNotEnqueue() }
        return try #require(ids.first)
    }

    private struct DidNotEnqueue: Error {}

    private mutating func answer(
        _ id: TransferID,
        _ connections: Int64,
        status: Int = 200,
        startsAnew: Bool = false
    ) {
        var answer = ExchangeAnswer(
            status: status,
            url: "http://one.example/",
            total: 100,
            validator: Self.tag,
            startsAnew: startsAnew
        )
        answer.moreConnections = connections - 1
        bench.report(id, .answered(answer))
    }

    // MARK: How many

    @Test mutating func `each connection counts as one transfer of its host`() throws {
        let id = try enqueue("http://one.example/a", 4)
        #expect(bench.begun[id]?.exchange.moreConnections == 3)
        let second = try enqueue("http://one.example/b", 4)
        #expect(bench.begun[second]?.exchange.moreConnections == 1)
        let third = try enqueue("http://one.example/c")
        #expect(bench.transfer(third)?.isUnderWay == false)
        #expect(bench.transferGates(third) == ["transfer-slots"])
        // A server that sends no ranges makes room at once.
        answer(id, 1)
        #expect(bench.transfer(third)?.isUnderWay == true)
    }

    @Test mutating func `it begins with as many as there is room for, and waits for none`() throws {
        for number in 0..<4 { _ = try enqueue("http://one.example/\(number)") }
        let few = try enqueue("http://one.example/a", 16)
        #expect(bench.begun[few]?.exchange.moreConnections == 1)
        let none = try enqueue("http://one.example/b", 16)
        #expect(bench.transfer(none)?.isUnderWay == false)
        // Of all hosts together there are 32.
        for host in 0..<4 { _ = try enqueue("http://h\(host).example/", 6) }
        let last = try enqueue("http://last.example/", 6)
        #expect(bench.begun[last]?.exchange.moreConnections == 1)
    }

    @Test mutating func `what goes on over fewer is reported so`() throws {
        let id = try enqueue("http://one.example/a", 4)
        answer(id, 3)
        #expect(bench.device.transferList(at: bench.now).first?.connections == 3)
        bench.ask(.transfer(.pause([id])))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.device.transferList(at: bench.now).first?.connections == 4)
    }

    @Test(arguments: [-1, 16] as [Int64])
    mutating func `a number that cannot be is refused`(more: Int64) {
        var order = TransferOrder(url: "http://one.example/", directory: "/home/user")
        order.moreConnections = more
        bench.ask(.transfer(.enqueue([order], token: nil)))
        #expect(bench.refusal?.reason == "a file is fetched over 1 to 16 connections")
    }

    // MARK: Ranges

    @Test mutating func `ranges are stored with the bytes before them, and gone on with`() throws {
        let id = try enqueue("http://one.example/a", 3)
        answer(id, 3)
        bench.report(id, .ranges([50..<60, 80..<90]))
        bench.report(id, .progress(received: 45, durable: 20))
        #expect(bench.stored(id)?.resume?.ranges == [50..<60, 80..<90])
        try bench.restart()
        let resume = try #require(bench.begun[id]?.exchange.resume)
        #expect(resume.offset == 20 && resume.ranges == [50..<60, 80..<90])
        #expect(bench.transfer(id)?.received == 40)
        // Nobody has to repeat what has not changed.
        answer(id, 3, status: 206)
        bench.report(id, .progress(received: 43, durable: 23))
        #expect(bench.stored(id)?.resume?.ranges == [50..<60, 80..<90])
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 55))
        #expect(bench.stored(id)?.resume?.filled == FilledBytes(prefix: 55, ranges: [80..<90]))
    }

    @Test mutating func `ranges alone are worth going on with`() throws {
        let id = try enqueue("http://one.example/a", 2)
        answer(id, 2)
        bench.report(id, .ranges([50..<60]))
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
        #expect(bench.stored(id)?.resume?.filled == FilledBytes(prefix: 0, ranges: [50..<60]))
        #expect(bench.transfer(id)?.received == 10)
    }

    @Test mutating func `what starts anew has forgotten its ranges before it proceeds`() throws {
        let id = try enqueue("http://one.example/a", 2)
        answer(id, 2)
        bench.report(id, .ranges([50..<60]))
        bench.report(id, .progress(received: 30, durable: 20))
        answer(id, 2, startsAnew: true)
        #expect(bench.stored(id)?.resume == nil)
        bench.report(id, .progress(received: 5, durable: 5))
        #expect(bench.stored(id)?.resume?.filled == FilledBytes(prefix: 5))
    }

    @Test mutating func `a server that mixes versions is asked over one connection from then on`()
        throws
    {
        let id = try enqueue("http://one.example/a", 4)
        answer(id, 4)
        let anew = ExchangeAnswer(status: 0, url: "http://one.example/a", startsAnew: true)
        bench.report(id, .answered(anew))
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
        try bench.restart()
        bench.advance(.minutes(1))
        #expect(bench.transfer(id)?.isUnderWay == true)
        #expect(bench.transfer(id)?.connections == 1)
        // A whole file of another version is no such mixture.
        let other = try enqueue("http://two.example/a", 4)
        answer(other, 4, startsAnew: true)
        bench.report(other, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.begun[other]?.exchange.moreConnections == 3)
    }
}
