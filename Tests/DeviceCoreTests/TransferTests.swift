import DeviceCore
import Testing
import Vocabulary

/// Transfers as the device decides them: which one runs, what becomes of an attempt, and what the
/// store knows when anything is overwritten.
struct TransferTests {
    private var bench = Bench()

    // MARK: The way of one

    @Test mutating func `a transfer begins, progresses, and ends with its file in place`() throws {
        let id = try enqueue("http://example.org/a.iso")
        let begun = try #require(bench.begun[id])
        #expect(begun.exchange.url == "http://example.org/a.iso")
        #expect(begun.exchange.resume == nil)
        #expect(begun.file.directory == "/home/user")
        answer(id, total: 100)
        bench.report(id, .progress(received: 60, durable: 40))
        #expect(bench.transfer(id)?.received == 60)
        #expect(bench.stored(id)?.resume?.offset == 40)
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        #expect(bench.placed[id]?.name == "a.iso")
        bench.report(id, .placed(name: "a.iso"))
        #expect(bench.stored(id)?.state.isFinished == true)
        #expect(bench.transferLines == ["finished"])
    }

    @Test mutating func `after a restart it goes on from what was durable, under its validator`()
        throws
    {
        let id = try enqueue("http://example.org/a.iso")
        answer(id, total: 100)
        bench.report(id, .progress(received: 60, durable: 40))
        try bench.restart()
        let begun = try #require(bench.begun[id])
        let tag = Validator.entityTag("\"1\"")
        #expect(begun.exchange.resume == ResumePoint(offset: 40, validator: tag, total: 100))
    }

    @Test mutating func `without a validator it begins anew`() throws {
        let id = try enqueue("http://example.org/a.iso")
        answer(id, total: 100, validator: nil)
        bench.report(id, .progress(received: 60, durable: 40))
        try bench.restart()
        #expect(bench.begun[id]?.exchange.resume == nil)
    }

    /// Else a daemon that dies in between joins the two versions.
    @Test mutating func `an answer from the start is let in only when the store has forgotten`()
        throws
    {
        let id = try enqueue("http://example.org/a.iso")
        answer(id, total: 100)
        bench.report(id, .progress(received: 60, durable: 40))
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 40))
        bench.advance(.seconds(3))
        #expect(bench.begun[id]?.exchange.resume?.offset == 40)
        answer(id, total: 90, validator: .entityTag("\"2\""), startsAnew: true)
        let save = bench.effects.firstIndex { if case .save = $0 { true } else { false } }
        let proceed = bench.effects.firstIndex(of: .transfer(id, .proceed))
        #expect(try #require(save) < #require(proceed))
        #expect(bench.stored(id)?.resume == nil)
        bench.report(id, .progress(received: 20, durable: 10))
        let stored = try #require(bench.stored(id)?.resume)
        #expect(stored.point == ResumePoint(offset: 10, validator: .entityTag("\"2\""), total: 90))
    }

    /// Otherwise durable bytes of the first version are taken for bytes of the second.
    @Test mutating func `a process that dies between two versions leaves nothing to resume`() throws
    {
        let id = try enqueue("http://example.org/a.iso")
        answer(id, total: 100)
        bench.report(id, .progress(received: 60, durable: 40))
        let lost = TransferEvent.ended(.interrupted(.init(.shortage)), durable: nil)
        bench.report(id, lost)
        #expect(bench.stored(id)?.resume?.offset == 40)
        bench.advance(.seconds(3))
        #expect(bench.begun[id]?.exchange.resume?.offset == 40)
        // It dies before it has answered, and nothing is lost by that.
        bench.report(id, lost)
        bench.advance(.seconds(6))
        #expect(bench.begun[id]?.exchange.resume?.offset == 40)
        answer(id, total: 100, validator: .entityTag("\"2\""), startsAnew: true)
        bench.report(id, lost)
        #expect(bench.stored(id)?.resume == nil)
        bench.advance(.seconds(12))
        #expect(try #require(bench.begun[id]).exchange.resume == nil)
    }

    @Test mutating func `a complete file without its name gets it after a restart`() throws {
        let id = try enqueue("http://example.org/a.iso")
        answer(id, total: 100)
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        try bench.restart()
        #expect(bench.placed[id]?.name == "a.iso")
        #expect(bench.begun[id] == nil)
        // Somebody has removed it meanwhile: from the start.
        bench.report(id, .lost)
        bench.advance(.seconds(3))
        #expect(try #require(bench.begun[id]).exchange.resume == nil)
    }

    // MARK: Attempts

    @Test mutating func `attempts that bring nothing wait twice as long, up to ten minutes`() throws
    {
        let id = try enqueue("http://example.org/a.iso")
        var waits: [Int64] = []
        for _ in 0..<12 {
            bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
            let retry = try #require(bench.transfer(id)?.retry)
            waits.append(retry.wait.nanoseconds / 1_000_000_000)
            bench.advance(retry.wait)
            #expect(bench.begun[id] != nil)
        }
        let plain: [Int64] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]
        for (wait, least) in zip(waits, plain) {
            #expect((least...least * 3 / 2).contains(wait), "\(wait) s where \(least) s is due")
        }
    }

    @Test mutating func `progress begins the doubling anew, and a server's own wait is kept`()
        throws
    {
        let id = try enqueue("http://example.org/a.iso")
        for _ in 0..<5 {
            bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
            bench.advance(.minutes(1))
        }
        answer(id, total: 100)
        bench.report(id, .ended(.interrupted(.init(.timedOut)), durable: 50))
        #expect(bench.transfer(id)?.retry?.attempts == 1)
        bench.advance(.seconds(2))
        let busy = ExchangeEnd.Interruption(.busy, retryAfter: .minutes(30))
        bench.report(id, .ended(.interrupted(busy), durable: 50))
        bench.advance(.minutes(29))
        #expect(bench.begun[id] == nil)
        #expect(bench.transferGates(id) == ["retry"])
        bench.advance(.minutes(1))
        #expect(bench.begun[id] != nil)
    }

    @Test mutating func `the network's return ends the wait for it`() throws {
        bench.set(.network, 2)
        let id = try enqueue("http://example.org/a.iso")
        for _ in 0..<8 {
            bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
            bench.advance(bench.transfer(id)?.retry?.wait ?? .zero)
        }
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
        bench.set(.network, 0)
        bench.advance(.seconds(10))
        bench.set(.network, 2)
        bench.advance(.seconds(6))
        #expect(bench.transfer(id)?.isUnderWay == true)
    }

    @Test mutating func `a failure is final, and what there was of the file goes`() throws {
        let id = try enqueue("http://example.org/a.iso")
        let failure = ExchangeFailure(.status, reason: "the server answered 404")
        bench.report(id, .ended(.failed(failure), durable: 0))
        #expect(bench.stored(id)?.isEnded == true)
        #expect(bench.discarded == [id])
        bench.advance(.hours(1))
        #expect(bench.begun[id] == nil)
        #expect(bench.device.status(at: bench.now).transfers?.failed == 1)
        bench.ask(.transfer(.forget(nil)))
        #expect(bench.device.status(at: bench.now).transfers == nil)
    }

    @Test mutating func `what is not done in a week fails, unless the user has paused it`() throws {
        bench.set(.network, 0)
        let waiting = try enqueue("http://example.org/a.iso")
        let paused = try enqueue("http://example.org/b.iso")
        bench.ask(.transfer(.pause([paused])))
        bench.advance(.days(7) + .seconds(1))
        #expect(bench.transfer(waiting)?.end == "failed")
        #expect(bench.transfer(paused)?.state == .paused)
        bench.ask(.transfer(.resume([paused])))
        bench.set(.network, 2)
        bench.advance(.seconds(6))
        #expect(bench.transfer(paused)?.isUnderWay == true)
    }

    // MARK: What the user does

    @Test mutating func `a paused transfer keeps its bytes, and runs when it is resumed`() throws {
        let id = try enqueue("http://example.org/a.iso")
        answer(id, total: 100)
        bench.ask(.transfer(.pause([id])))
        #expect(bench.contains(.transfer(id, .stop)))
        // Not before the exchange has ended.
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 30))
        #expect(bench.stored(id)?.state == .paused)
        #expect(bench.stored(id)?.resume?.offset == 30)
        bench.advance(.hours(1))
        bench.ask(.transfer(.resume([id])))
        #expect(bench.begun[id]?.exchange.resume?.offset == 30)
    }

    @Test mutating func `one that is resumed before its exchange has ended is begun once`() throws {
        let id = try enqueue("http://example.org/a.iso")
        bench.ask(.transfer(.pause([id])))
        bench.ask(.transfer(.resume([id])))
        #expect(bench.begun[id] == nil)
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.begun[id] != nil)
    }

    @Test mutating func `a cancelled transfer ends when its exchange has, and leaves no file`()
        throws
    {
        let id = try enqueue("http://example.org/a.iso")
        answer(id, total: 100)
        bench.ask(.transfer(.cancel([id])))
        #expect(bench.discarded.isEmpty)
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        #expect(bench.transfer(id)?.end == "cancelled")
        #expect(bench.discarded == [id])
        bench.ask(.transfer(.forget(nil)))
        #expect(bench.transfer(id) == nil)
        #expect(bench.stored(id) == nil)
    }

    @Test mutating func `an enqueue that is repeated is answered as the first time`() throws {
        let orders = [order("http://example.org/a"), order("http://example.org/b")]
        let request = UserRequest.transfer(.enqueue(orders, token: "t"))
        let first = bench.ask(request)
        #expect(bench.ask(request) == first)
        try bench.restart()
        #expect(bench.ask(request) == first)
        #expect(bench.device.transferCount == 2)
    }

    @Test(arguments: [
        ("ftp://example.org/a", "only http and https are supported"),
        ("http:///a", "the URL names no host"),
        ("http://example.org/a b", "a URL has at most"),
        ("http://[::1", "the host of the URL has no closing bracket"),
        ("http://[zz]/a", "the host of the URL is no IPv6 address"),
        ("http://a]/a", "the URL names no possible host"),
        ("http://127.0.0.1:99999/a", "the port of the URL"),
        ("http://[::1]a/", "the port of the URL"),
    ])
    mutating func `a URL that cannot be fetched is refused`(url: String, reason: String) throws {
        bench.ask(.transfer(.enqueue([order(url)], token: nil)))
        #expect(try #require(bench.refusal?.reason).hasPrefix(reason))
        #expect(bench.device.transferCount == 0)
    }

    // MARK: Gates and turns

    @Test mutating func `six run from one host, 32 in all, and apps in turn`() throws {
        let one = try (0..<10).map { try enqueue("http://one.example/\($0)") }
        #expect(one.count { bench.transfer($0)?.isUnderWay == true } == 6)
        #expect(bench.transferGates(one[9]) == ["transfer-slots"])
        var others: [TransferID] = []
        for host in 0..<10 {
            for file in 0..<4 { others.append(try enqueue("http://h\(host).example/\(file)")) }
        }
        #expect(others.count { bench.transfer($0)?.isUnderWay == true } == 26)
        bench.report(one[0], .ended(.complete(size: 1), durable: 1))
        // The oldest goes first.
        #expect(bench.transfer(one[6])?.isUnderWay == true)
    }

    @Test mutating func `what a full disk held begins when a launch has shown that there is room`()
        throws
    {
        bench.install(.linked("app", identifiers: Bench.identifiers))
        bench.ask(.open(AppID("app"), attach: nil))
        let launch = try #require(bench.spawn(of: "app"))
        bench.send(.process(launch, .notStarted(StartFailure(.storage, reason: "full"))))
        let id = try enqueue("http://example.org/a.iso")
        #expect(bench.transferGates(id) == ["storage"])
        bench.ask(.open(AppID("app"), attach: nil))
        bench.started(try #require(bench.spawn(of: "app")))
        #expect(bench.transfer(id)?.isUnderWay == true)
    }

    @Test mutating func `who waits for another attempt holds up nobody, however it was enqueued`()
        throws
    {
        bench.set(.network, 0)
        bench.advance(.minutes(5))
        let ids = try (0..<8).map { try enqueue("http://one.example/\($0)") }
        // They stand in line twice.
        bench.ask(.transfer(.pause(ids)))
        bench.ask(.transfer(.resume(ids)))
        let last = try enqueue("http://one.example/last")
        bench.set(.network, 2)
        bench.advance(.minutes(5))
        for id in ids.prefix(3) {
            bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
        }
        #expect(bench.transferGates(ids[0]).contains("retry"))
        #expect(bench.transfer(last)?.isUnderWay == true)
    }

    /// Else a disk that takes its time keeps the network waiting.
    @Test mutating func `what has all its bytes makes room for another, before it is durable`()
        throws
    {
        let ids = try (0..<10).map { try enqueue("http://one.example/\($0)") }
        answer(ids[0], total: 100)
        bench.report(ids[0], .progress(received: 99, durable: 0))
        #expect(bench.transfer(ids[6])?.isUnderWay == false)
        bench.report(ids[0], .progress(received: 100, durable: 0))
        #expect(bench.transfer(ids[6])?.isUnderWay == true)
        answer(ids[1], total: 100, isWhole: true)
        #expect(bench.transfer(ids[7])?.isUnderWay == true)
        #expect(bench.transfer(ids[8])?.isUnderWay == false)
        // It is still under way, and its end is no second room.
        #expect(bench.transfer(ids[0])?.isUnderWay == true)
        bench.report(ids[0], .ended(.complete(size: 100), durable: 100))
        #expect(bench.transfer(ids[8])?.isUnderWay == false)
    }

    @Test mutating func `no more are under way than may have their files open`() throws {
        let ids = try (0..<300).map { try enqueue("http://one.example/\($0)") }
        for id in ids where bench.transfer(id)?.isUnderWay == true {
            answer(id, total: 1, isWhole: true)
        }
        #expect(ids.count { bench.transfer($0)?.isUnderWay == true } == 256)
        bench.report(ids[0], .ended(.complete(size: 1), durable: 1))
        #expect(bench.transfer(ids[256])?.isUnderWay == true)
    }

    @Test mutating func `a closed gate leaves alone what has all its bytes`() throws {
        let ids = try (0..<2).map { try enqueue("http://one.example/\($0)") }
        answer(ids[0], total: 100, isWhole: true)
        bench.ask(.pause(nil))
        #expect(bench.contains(.transfer(ids[1], .stop)))
        #expect(!bench.contains(.transfer(ids[0], .stop)))
    }

    @Test mutating func `a discretionary transfer waits for an unmetered network and for power`()
        throws
    {
        bench.set(.metered, 1)
        let later = try enqueue("http://example.org/a", isDiscretionary: true)
        let now = try enqueue("http://example.org/b")
        #expect(bench.begun[now] != nil)
        #expect(bench.transferGates(later) == ["metered"])
        bench.set(.metered, 0)
        bench.advance(.seconds(6))
        #expect(bench.transfer(later)?.isUnderWay == true)
        bench.set(.lowPower, 1)
        #expect(bench.contains(.transfer(later, .stop)))
        #expect(!bench.contains(.transfer(now, .stop)))
        bench.report(later, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.transferGates(later) == ["low-power"])
        bench.set(.lowPower, 0)
        #expect(bench.transfer(later)?.isUnderWay == true)
    }

    @Test mutating func `a discretionary transfer begins when nobody uses the device any more`()
        throws
    {
        bench.set(.network, 2)
        bench.set(.power, 1)
        bench.set(.idle, 0)
        bench.advance(.minutes(5))
        let id = try enqueue("http://example.org/a.iso", isDiscretionary: true)
        #expect(bench.transferGates(id) == ["better-moment"])
        bench.set(.idle, 1)
        #expect(bench.transfer(id)?.isUnderWay == true)
    }

    @Test mutating func `a date holds a transfer, also over a restart and a clock set back`() throws
    {
        let date = bench.now.wall + .hours(2)
        let id = try enqueue("http://example.org/a", earliest: date)
        bench.advance(.minutes(119))
        #expect(bench.transferGates(id) == ["earliest"])
        try bench.restart()
        bench.advance(.seconds(30))
        #expect(bench.begun[id] == nil)
        bench.advance(.seconds(31))
        #expect(bench.transfer(id)?.isUnderWay == true)
    }

    @Test mutating func `waiting transfers set no timer`() throws {
        bench.set(.network, 0)
        for file in 0..<100 { _ = try enqueue("http://example.org/\(file)") }
        let next = try #require(bench.armed)
        #expect(next - bench.now.boot > .days(6))
    }

    @Test mutating func `pausing all background work stops transfers`() throws {
        let id = try enqueue("http://example.org/a")
        bench.ask(.pause(nil))
        #expect(bench.contains(.transfer(id, .stop)))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.transferGates(id) == ["paused"])
        bench.ask(.continue)
        #expect(bench.transfer(id)?.isUnderWay == true)
    }

    // MARK: Helpers

    private func order(
        _ url: String,
        isDiscretionary: Bool = false,
        earliest: WallTime? = nil
    ) -> TransferOrder {
        TransferOrder(
            url: url,
            directory: "/home/user",
            isDiscretionary: isDiscretionary,
            earliest: earliest
        )
    }

    private mutating func enqueue(
        _ url: String,
        isDiscretionary: Bool = false,
        earliest: WallTime? = nil
    ) throws -> TransferID {
        let order = order(url, isDiscretionary: isDiscretionary, earliest: earliest)
        guard case .transfers(let ids) = bench.ask(.transfer(.enqueue([order], token: nil))) else {
            throw DidNotEnqueue()
        }
        return try #require(ids.first)
    }

    private struct DidNotEnqueue: Error {}

    private mutating func answer(
        _ id: TransferID,
        total: Int64,
        validator: Validator? = .entityTag("\"1\""),
        startsAnew: Bool = false,
        isWhole: Bool = false
    ) {
        var answer = ExchangeAnswer(
            status: 200,
            url: bench.transfer(id)?.order.url ?? "",
            total: total,
            validator: validator,
            startsAnew: startsAnew
        )
        answer.isWhole = isWhole
        bench.report(id, .answered(answer))
    }
}

extension Bench {
    mutating func report(_ id: TransferID, _ event: TransferEvent) { send(.transfer(id, event)) }

    func transfer(_ id: TransferID) -> Transfer? { device.transfer(id) }

    /// As the store has it.
    func stored(_ id: TransferID) -> Transfer? {
        let key = RecordKey(.transfer, "\(id)")
        guard let value = records[key], case .transfer(let record)? = try? Record(key, value) else {
            return nil
        }
        return record.transfer
    }

    /// Those that the last effects begin.
    var begun: [TransferID: (exchange: ExchangeOrder, file: TransferFile)] {
        var begun: [TransferID: (exchange: ExchangeOrder, file: TransferFile)] = [:]
        for case .transfer(let id, .begin(let exchange, let file)) in effects {
            begun[id] = (exchange, file)
        }
        return begun
    }

    var placed: [TransferID: Placement] {
        var placed: [TransferID: Placement] = [:]
        for case .transfer(let id, .place(let placement)) in effects { placed[id] = placement }
        return placed
    }

    var discarded: [TransferID] {
        effects.compactMap { if case .transfer(let id, .discard) = $0 { id } else { nil } }
    }

    func transferGates(_ id: TransferID) -> [String] {
        device.explain(id, at: now)?.holds.map(\.gate) ?? []
    }

    var transferLines: [String] {
        lines.compactMap { if case .transferred(_, _, let end) = $0 { end.word } else { nil } }
    }
}

extension Transfer {
    var isUnderWay: Bool { if case .running = state { true } else { false } }
    var end: String? { if case .ended(let end, _) = state { end.word } else { nil } }
}

extension Transfer.State {
    var isFinished: Bool { if case .ended(.finished, _) = self { true } else { false } }
}
