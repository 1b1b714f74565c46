@testable import DeviceCore
import Testing
import Vocabulary

/// Rules of transfers of which each was broken once, unnoticed.
struct TransferRuleTests {
    private var bench = Bench()
    private static let url = "http://example.org/a.iso"

    private mutating func enqueue(
        _ url: String = url,
        _ change: (inout TransferOrder) -> Void = { _ in }
    ) throws -> TransferID {
        var order = TransferOrder(url: url, directory: "/home/user")
        change(&order)
        bench.ask(.transfer(.enqueue([order], token: nil)))
        guard case .transfers(let ids)? = bench.reply else { throw DidNotEnqueue() }
        return try #require(ids.first)
    }

    private struct DidNotEnqueue: Error {}

    private mutating func answer(_ id: TransferID, _ tag: String, startsAnew: Bool = false) {
        let answer = ExchangeAnswer(
            status: 200,
            url: Self.url,
            total: 100,
            validator: .entityTag("\"\(tag)\""),
            startsAnew: startsAnew
        )
        bench.report(id, .answered(answer))
    }

    @Test mutating func `a password in the URL is sent, and neither shown nor kept for long`()
        throws
    {
        let url = "http://you:pw@example.org/a.iso"
        let id = try enqueue(url)
        #expect(bench.begun[id]?.exchange.url == url)
        let shown = "http://you:***@example.org/a.iso"
        #expect(bench.device.transferList(at: bench.now).map(\.url) == [shown])
        #expect(bench.device.explain(id, at: bench.now)?.identifier == shown)
        let failure = ExchangeFailure(.status, reason: "the server answered 404")
        bench.report(id, .ended(.failed(failure), durable: 0))
        let ends: [String] = bench.lines.compactMap {
            if case .transferred(id, let url, _) = $0 { url } else { nil }
        }
        #expect(ends == [shown])
    }

    /// It has 40 bytes, and waits for another attempt.
    private mutating func interrupted() throws -> TransferID {
        let id = try enqueue()
        answer(id, "1")
        bench.report(id, .progress(received: 60, durable: 40))
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 40))
        return id
    }

    @Test mutating func `what the user asks for is what is fetched`() throws {
        let sum = [UInt8](repeating: 7, count: 32)
        let id = try enqueue {
            ($0.sha256, $0.headers) = (sum, [HTTPField("X-A", "b")])
            ($0.rateLimit, $0.proxy) = (1000, "http://proxy:1")
            ($0.timeout, $0.overwrites) = (.seconds(7), true)
        }
        let exchange = try #require(bench.begun[id]?.exchange)
        #expect(exchange.sha256 == sum && exchange.headers == [HTTPField("X-A", "b")])
        #expect(exchange.rateLimit == 1000 && exchange.proxy == "http://proxy:1")
        #expect(exchange.timeout == .seconds(7))
        answer(id, "1")
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        #expect(bench.placed[id]?.overwrites == true)
    }

    @Test(arguments: [0, 0o600, 0o640, 0o666] as [UInt16])
    mutating func `a file gets the permissions that were asked for, after a restart too`(
        permissions: UInt16
    ) throws {
        let id = try enqueue { $0.permissions = permissions }
        #expect(bench.begun[id]?.file.permissions == permissions)
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        try bench.restart()
        #expect(bench.transfer(id)?.file.permissions == permissions)
    }

    @Test(arguments: [0o200, 0o400, 0o644 | 0o100, 0o601, 0o4600, 0o777, .max] as [UInt16])
    mutating func `permissions that no file of a user has are refused`(permissions: UInt16) {
        var order = TransferOrder(url: Self.url, directory: "/home/user")
        order.permissions = permissions
        bench.ask(.transfer(.enqueue([order], token: nil)))
        #expect(bench.refusal?.reason == "a file cannot have these permissions")
    }

    @Test mutating func `without leave no file is overwritten`() throws {
        let id = try enqueue()
        answer(id, "1")
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        #expect(bench.placed[id]?.overwrites == false)
    }

    @Test mutating func `an attempt that gets no answer loses nothing`() throws {
        let id = try interrupted()
        bench.advance(.seconds(3))
        #expect(bench.begun[id]?.exchange.resume?.offset == 40)
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
        #expect(bench.stored(id)?.resume?.offset == 40)
        bench.advance(.seconds(6))
        #expect(bench.begun[id]?.exchange.resume?.offset == 40)
    }

    @Test mutating func `a part that is lost is not gone on with`() throws {
        let id = try interrupted()
        bench.advance(.seconds(3))
        #expect(bench.begun[id]?.exchange.resume?.offset == 40)
        bench.report(id, .lost)
        #expect(bench.stored(id)?.resume == nil)
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: nil))
        #expect(try #require(bench.begun[id]).exchange.resume == nil)
    }

    @Test mutating func `a complete file that is lost is fetched anew, later each time`() throws {
        let id = try enqueue()
        for least in [1, 2, 4] as [Int64] {
            answer(id, "1")
            bench.report(id, .progress(received: 60, durable: 40))
            bench.report(id, .ended(.complete(size: 100), durable: 100))
            #expect(bench.placed[id]?.size == 100)
            bench.report(id, .lost)
            #expect(bench.transfer(id)?.end == nil)
            #expect(bench.begun[id] == nil)
            let wait = try #require(bench.transfer(id)?.retry).wait
            let due = (least * 1_000_000_000)...(least * 1_500_000_000)
            #expect(due.contains(wait.nanoseconds))
            bench.advance(wait)
            #expect(try #require(bench.begun[id]).exchange.resume == nil)
        }
    }

    @Test mutating func `a server that failed is not said to be busy`() throws {
        let id = try enqueue()
        let reason = "the server failed (status 500)"
        bench.report(id, .ended(.interrupted(.init(.busy, reason: reason)), durable: 0))
        let sentence = try #require(bench.device.explain(id, at: bench.now)?.sentence)
        #expect(sentence.contains("waits: \(reason)"), "\(sentence)")
    }

    @Test mutating func `a date is said once`() throws {
        let date = bench.now.wall + .hours(1)
        let id = try enqueue { $0.earliest = date }
        let sentence = try #require(bench.device.explain(id, at: bench.now)?.sentence)
        #expect(sentence.hasSuffix(" or later."), "\(sentence)")
    }

    @Test mutating func `a file is not overwritten by what is to stop`() throws {
        let id = try interrupted()
        bench.advance(.seconds(3))
        bench.ask(.transfer(.pause([id])))
        answer(id, "2", startsAnew: true)
        #expect(!bench.contains(.transfer(id, .proceed)))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.stored(id)?.resume == nil)
        #expect(bench.transfer(id)?.state == .paused)
    }

    @Test mutating func `what is to stop is told once, and what is cancelled is not only paused`()
        throws
    {
        let id = try enqueue()
        bench.ask(.transfer(.pause([id])))
        #expect(bench.contains(.transfer(id, .stop)))
        for request in [TransferRequest.cancel([id]), .pause([id])] {
            bench.ask(.transfer(request))
            #expect(!bench.contains(.transfer(id, .stop)))
        }
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.transfer(id)?.end == "cancelled")
    }

    /// It was answered when the exchange had not ended yet.
    @Test mutating func `what is to stop has stopped when a new daemon starts`() throws {
        let ids = [try enqueue(), try enqueue(), try enqueue()]
        for id in ids {
            answer(id, "1")
            bench.report(id, .progress(received: 60, durable: 40))
        }
        bench.ask(.transfer(.pause([ids[0], ids[2]])))
        bench.ask(.transfer(.cancel([ids[1]])))
        bench.ask(.transfer(.resume([ids[2]])))
        try bench.restart()
        #expect(bench.stored(ids[0])?.state == .paused)
        #expect(bench.transfer(ids[1])?.end == "cancelled")
        #expect(Set(bench.discarded) == [ids[1]])
        bench.advance(.hours(1))
        #expect(Set(bench.begun.keys).isDisjoint(with: ids[...1]))
        #expect(bench.transfer(ids[0])?.state == .paused)
        #expect(bench.transfer(ids[2])?.isUnderWay == true)
        bench.ask(.transfer(.resume([ids[0]])))
        #expect(bench.begun[ids[0]]?.exchange.resume?.offset == 40)
    }

    @Test mutating func `who resumes what waits does not wait`() throws {
        let id = try interrupted()
        #expect(bench.transferGates(id) == ["retry"])
        bench.ask(.transfer(.resume([id])))
        #expect(bench.begun[id]?.exchange.resume?.offset == 40)
    }

    @Test mutating func `the time for which it was paused does not count`() throws {
        let id = try enqueue()
        bench.ask(.transfer(.pause([id])))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        bench.advance(.days(10))
        bench.ask(.transfer(.resume([id])))
        try bench.restart()
        bench.advance(.days(6))
        #expect(bench.transfer(id)?.isEnded == false)
        bench.advance(.days(2))
        #expect(bench.transfer(id)?.isEnded == false, "it is told to stop first")
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.transfer(id)?.end == "failed")
    }

    @Test mutating func `no more are kept than fit`() throws {
        let order = TransferOrder(url: Self.url, directory: "/home/user")
        let most = [TransferOrder](repeating: order, count: Device.mostTransfers)
        bench.ask(.transfer(.enqueue(most + [order], token: nil)))
        #expect(bench.refusal?.reason.hasPrefix("no more than") == true)
        #expect(bench.device.transferCount == 0)
    }

    // MARK: Turns

    @Test func `an app in front of its user goes first, and else whoever has fewest`() throws {
        var (bench, launch) = try Bench.withApp()
        let orders = (0..<40).map { number in
            SessionOrder(
                task: SessionTask(session: "s", number: Int64(number)),
                order: TransferOrder(url: "http://h\(number / 5).example/a", directory: "/spool")
            )
        }
        let enqueue = SessionRequest.enqueue(orders, token: nil)
        bench.say(launch, .session("s", enqueue, reply: bench.nextReply()))
        let tasks = bench.device.transfers.all().map(\.id)
        let mine = TransferOrder(url: "http://mine.example/a", directory: "/home/user")
        guard
            case .transfers(let ids) = bench.ask(.transfer(.enqueue([mine, mine], token: nil)))
        else { throw DidNotEnqueue() }
        #expect(tasks.count { bench.transfer($0)?.isUnderWay == true } == 32)
        func end(_ id: TransferID) {
            bench.report(id, .ended(.complete(size: 1), durable: 1))
        }
        end(tasks[0])
        #expect(bench.transfer(tasks[32])?.isUnderWay == true)
        #expect(bench.transfer(ids[0])?.isUnderWay == false)
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        end(tasks[1])
        #expect(bench.transfer(tasks[33])?.isUnderWay == false)
        #expect(bench.transfer(ids[0])?.isUnderWay == true)
        end(tasks[2])
        #expect(bench.transfer(ids[1])?.isUnderWay == true)
    }
}
