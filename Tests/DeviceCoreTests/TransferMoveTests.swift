import DeviceCore
import Testing
import Vocabulary

/// Where a transfer stands among the others, where its file goes, and what the user is told.
struct TransferMoveTests {
    private var bench = Bench()

    // MARK: Turns

    @Test mutating func `what is moved to the front begins before what was there first`() throws {
        let ids = try enqueue(8)
        #expect(running == Array(ids[..<6]))
        try move([ids[7]], TransferMove(place: .first))
        finish(ids[0])
        #expect(running.contains(ids[7]) && !running.contains(ids[6]))
        #expect(bench.device.transferList(at: bench.now).first?.id == ids[7])
    }

    @Test mutating func `what is moved to the end begins after all, but before what comes later`()
        throws
    {
        let ids = try enqueue(8)
        try move([ids[6]], TransferMove(place: .last))
        let later = try enqueue(1)
        finish(ids[0])
        #expect(running.contains(ids[7]) && !running.contains(ids[6]))
        finish(ids[1])
        #expect(running.contains(ids[6]) && !running.contains(later[0]))
    }

    @Test mutating func `several keep the order in which they are named, also after a restart`()
        throws
    {
        bench.set(.network, 0)
        let ids = try enqueue(9)
        try move([ids[8], ids[2], ids[8]], TransferMove(place: .first))
        let wanted = [ids[8], ids[2]] + ids.filter { $0 != ids[8] && $0 != ids[2] }
        #expect(bench.device.transferList(at: bench.now).map(\.id) == wanted)
        try bench.restart()
        #expect(bench.device.transferList(at: bench.now).map(\.id) == wanted)
        bench.set(.network, 1)
        #expect(Set(running) == Set(wanted[..<6]))
    }

    @Test mutating func `the first of an interrupted row keeps its place`() throws {
        let ids = try enqueue(8)
        bench.report(ids[0], .ended(.interrupted(.init(.connection)), durable: 0))
        bench.advance(.seconds(2))
        finish(ids[1])
        #expect(running.contains(ids[0]))
    }

    // MARK: Files

    @Test mutating func `one that is moved as its directory is found gone goes on where it is to`()
        throws
    {
        let id = try enqueue(1)[0]
        try move([id], TransferMove(directory: "/media"))
        bench.report(id, .lost)
        bench.report(id, .ended(.failed(.init(.file, reason: "gone")), durable: nil))
        #expect(bench.transfer(id)?.isUnderWay == true)
    }

    @Test mutating func `a waiting one gets another place for its file`() throws {
        let id = try paused()
        try move([id], TransferMove(directory: "/media", name: "b"))
        #expect(bench.stored(id)?.order.directory == "/media")
        bench.ask(.transfer(.resume([id])))
        let file = try #require(bench.begun[id]).file
        #expect(file.directory == "/media" && file.formers == ["/home/user"])
        bench.report(id, .opened(inode: 7))
        answer(id)
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        let placement = try #require(bench.placed[id])
        #expect(placement.name == "b" && placement.file.directory == "/media")
        #expect(placement.file.formers.isEmpty)
    }

    @Test mutating func `one that runs is stopped, and goes on in its new place`() throws {
        let id = try enqueue(1)[0]
        bench.report(id, .opened(inode: 7))
        answer(id)
        bench.report(id, .progress(received: 60, durable: 40))
        try move([id], TransferMove(directory: "/media"))
        #expect(bench.contains(.transfer(id, .stop)))
        // It was opened in the old place, for all that is said late.
        bench.report(id, .opened(inode: 7))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 50))
        let begun = try #require(bench.begun[id])
        #expect(begun.exchange.resume?.offset == 50)
        #expect(begun.file.directory == "/media" && begun.file.formers == ["/home/user"])
    }

    @Test mutating func `one that completes while it is moved is named in its new place`() throws {
        let id = try enqueue(1)[0]
        bench.report(id, .opened(inode: 7))
        answer(id)
        try move([id], TransferMove(directory: "/media"))
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        let file = try #require(bench.placed[id]).file
        #expect(file.directory == "/media" && file.formers == ["/home/user"])
    }

    @Test mutating func `moved there and back, it may be in either place`() throws {
        let id = try paused()
        try move([id], TransferMove(directory: "/media"))
        try move([id], TransferMove(directory: "/home/user"))
        bench.ask(.transfer(.resume([id])))
        #expect(try #require(bench.begun[id]).file.formers == ["/media"])
    }

    @Test mutating func `moved before it is known to be open, it may be where it was to be opened`()
        throws
    {
        let id = try paused()
        try move([id], TransferMove(directory: "/media"))
        bench.ask(.transfer(.resume([id])))
        try move([id], TransferMove(directory: "/home/other"))
        // By the attempt that is stopped.
        bench.report(id, .opened(inode: 7))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        let begun = try #require(bench.begun[id])
        #expect(begun.file.directory == "/home/other")
        #expect(begun.file.formers == ["/home/user", "/media"])
        // By this number the part is known among those that may be left.
        #expect(begun.file.inode == 7)
        bench.report(id, .opened(inode: 8))
        #expect(bench.transfer(id)?.file.formers == [] && bench.transfer(id)?.file.inode == 8)
    }

    @Test mutating func `moved on and on without being opened, it is refused at last`() throws {
        let id = try paused()
        for number in 1...16 { try move([id], TransferMove(directory: "/media/\(number)")) }
        #expect(
            refusal([id], TransferMove(directory: "/media/17"))
                == "this transfer has been moved 16 times since it last ran"
        )
        // It may be there already.
        try move([id], TransferMove(directory: "/media/3"))
        #expect(bench.stored(id)?.file.formers.count == 16)
    }

    @Test mutating func `what cannot be moved is refused, with all that was named beside it`()
        throws
    {
        bench.set(.network, 0)
        let ids = try enqueue(2)
        bench.ask(.transfer(.cancel([ids[1]])))
        #expect(refusal(ids, TransferMove(directory: "/media")) == "this transfer has ended")
        #expect(bench.stored(ids[0])?.order.directory == "/home/user")
        let relative = refusal([ids[0]], TransferMove(directory: "media"))
        #expect(relative == "the directory is not an absolute path")
        let named = refusal([ids[0], ids[0]], TransferMove(name: "a"))
        #expect(named == "one name can be that of one file only")
        #expect(refusal([TransferID(99)], TransferMove(place: .first)) == "no such transfer")
    }

    // MARK: Files that exist

    @Test mutating func `a file of the name ends it before all is fetched`() throws {
        let id = try enqueue(1)[0]
        answer(id)
        #expect(bench.contains(.transfer(id, .look(directory: "/home/user", name: "0"))))
        bench.report(id, .notPlaced(.exists("0")))
        #expect(bench.contains(.transfer(id, .stop)))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 10))
        #expect(bench.transfer(id)?.end == "failed")
        let said = "there is a file 0 already; --overwrite replaces it."
        #expect(sentence(id)?.hasSuffix(said) == true)
        #expect(bench.discarded == [id])
    }

    // MARK: What the user is told

    /// The server may take a while to let go of it.
    @Test mutating func `what a running one was told is said until it is so`() throws {
        let ids = try enqueue(3)
        #expect(sentence(ids[0]) == "transfer \(ids[0]) is running.")
        bench.ask(.transfer(.pause([ids[0]])))
        #expect(sentence(ids[0]) == "transfer \(ids[0]) is being paused.")
        bench.ask(.transfer(.cancel([ids[1]])))
        #expect(sentence(ids[1]) == "transfer \(ids[1]) is being cancelled.")
        try move([ids[2]], TransferMove(directory: "/media"))
        #expect(sentence(ids[2]) == "transfer \(ids[2]) is being moved.")
        for id in ids { bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0)) }
        #expect(sentence(ids[0])?.hasSuffix("is paused until it is resumed.") == true)
        // Once.
        #expect(sentence(ids[1])?.ranges(of: "cancelled").count == 1)
    }

    @Test mutating func `one that a gate stops is not said to run`() throws {
        let id = try enqueue(1)[0]
        bench.set(.thermal, 3)
        #expect(sentence(id) == "transfer \(id) is being stopped, to wait.")
    }

    @Test mutating func `the end of all that was asked for together is told once`() throws {
        let ids = try enqueue(3, notifies: true)
        finish(ids[2])
        finish(ids[0])
        #expect(notices == [])
        let failure = ExchangeFailure(.status, reason: "the server answered 404")
        bench.report(ids[1], .ended(.failed(failure), durable: 0))
        #expect(notices.map(\.title) == ["2 downloads finished, 1 failed"])
        #expect(notices.map(\.text) == ["the server answered 404"])
    }

    @Test mutating func `one that is alone is told by name, and a cancelled one not at all`() throws
    {
        let ids = try enqueue(1, notifies: true)
        finish(ids[0])
        #expect(notices.map(\.title) == ["Download finished"] && notices.map(\.text) == ["0"])
        let other = try enqueue(1, notifies: true)
        bench.ask(.transfer(.cancel(other)))
        bench.report(other[0], .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(notices == [])
        let silent = try enqueue(1)
        finish(silent[0])
        #expect(notices == [])
    }

    // MARK: Helpers

    private func sentence(_ id: TransferID) -> String? {
        bench.device.explain(id, at: bench.now)?.sentence
    }

    private var running: [TransferID] {
        bench.device.transferList(at: bench.now).filter { $0.state == .running }.map(\.id).sorted()
    }

    private var notices: [TransferNotice] {
        bench.effects.compactMap {
            if case .transfer(_, .notify(let notice)) = $0 { notice } else { nil }
        }
    }

    /// So many of one host, each called by its index.
    private mutating func enqueue(_ count: Int, notifies: Bool = false) throws -> [TransferID] {
        let orders = (0..<count).map {
            var order = TransferOrder(url: "http://example.org/\($0)", directory: "/home/user")
            order.notifies = notifies
            return order
        }
        guard case .transfers(let ids) = bench.ask(.transfer(.enqueue(orders, token: nil))) else {
            throw Refused(reason: "not enqueued")
        }
        return ids
    }

    /// One that has been begun, and waits.
    private mutating func paused() throws -> TransferID {
        let id = try enqueue(1)[0]
        bench.ask(.transfer(.pause([id])))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        return id
    }

    private struct Refused: Error { let reason: String }

    private mutating func move(_ ids: [TransferID], _ move: TransferMove) throws {
        if let reason = refusal(ids, move) { throw Refused(reason: reason) }
    }

    private mutating func refusal(_ ids: [TransferID], _ move: TransferMove) -> String? {
        guard case .refused(let refusal) = bench.ask(.transfer(.move(ids, move))) else {
            return nil
        }
        return refusal.reason
    }

    private mutating func answer(_ id: TransferID) {
        let answer = ExchangeAnswer(
            status: 200,
            url: bench.transfer(id)?.order.url ?? "",
            total: 100,
            validator: .entityTag("\"1\"")
        )
        bench.report(id, .answered(answer))
    }

    private mutating func finish(_ id: TransferID) {
        answer(id)
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        bench.report(id, .placed(name: bench.transfer(id)?.name ?? ""))
    }
}
