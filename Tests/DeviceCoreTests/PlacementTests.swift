@testable import DeviceCore
import Testing
import Vocabulary

/// A file that is complete, and cannot be given its name for now.
struct PlacementTests {
    private var bench = Bench()
    private static let full = TransferEvent.placementInterrupted(.init(.diskFull))

    private struct DidNotEnqueue: Error {}

    /// It is being given its name.
    private mutating func complete() throws -> TransferID {
        let order = TransferOrder(url: "http://example.org/a.iso", directory: "/home/user")
        guard case .transfers(let ids)? = bench.ask(.transfer(.enqueue([order], token: nil))) else {
            throw DidNotEnqueue()
        }
        let id = try #require(ids.first)
        bench.report(id, .opened(inode: 7))
        bench.report(id, .answered(ExchangeAnswer(status: 200, url: order.url, total: 100)))
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        #expect(bench.placed[id] != nil)
        return id
    }

    @Test mutating func `a complete file is named once there is room, tried later each time`()
        throws
    {
        let id = try complete()
        for least in [1, 2, 4] as [Int64] {
            bench.report(id, Self.full)
            #expect(bench.placed.isEmpty && bench.discarded.isEmpty)
            let wait = try #require(bench.stored(id)?.retry).wait
            let due = (least * 1_000_000_000)...(least * 1_500_000_000)
            #expect(due.contains(wait.nanoseconds))
            bench.advance(wait - .milliseconds(1))
            #expect(bench.placed.isEmpty)
            bench.advance(.milliseconds(1))
            #expect(bench.placed[id]?.name == "a.iso" && bench.placed[id]?.file.inode == 7)
        }
        bench.report(id, .placed(name: "a.iso"))
        #expect(bench.stored(id)?.end == "finished" && bench.stored(id)?.retry == nil)
        #expect(bench.begun.isEmpty, "it is fetched once")
    }

    /// No gate stands in the way of a name.
    @Test mutating func `it is said why it waits`() throws {
        let id = try complete()
        bench.set(.network, 0)
        #expect(bench.transfer(id)?.standing == .running)
        bench.report(id, Self.full)
        #expect(bench.transfer(id)?.standing == .waiting)
        #expect(bench.device.transferCounts?.waiting == 1)
        #expect(bench.transferGates(id) == ["retry"])
        let explanation = try #require(bench.device.explain(id, at: bench.now))
        let reason = "transfer \(id) is complete, and waits: the disk is full (/home/user). "
        #expect(explanation.sentence.hasPrefix(reason), "\(explanation.sentence)")
        let fix = "free space on the file system of /home/user, then: offstage resume \(id)"
        #expect(explanation.holds.map(\.fix) == [fix])
    }

    @Test mutating func `while it waits it may be tried at once, or cancelled`() throws {
        let id = try complete()
        // Its name is on the way.
        bench.ask(.transfer(.cancel([id])))
        #expect(bench.discarded.isEmpty)
        bench.report(id, Self.full)
        bench.ask(.transfer(.resume([id])))
        #expect(bench.placed[id] != nil)
        bench.report(id, Self.full)
        bench.ask(.transfer(.pause([id])))
        #expect(bench.transfer(id)?.isEnded == false)
        bench.ask(.transfer(.cancel([id])))
        #expect(bench.discarded == [id])
        #expect(bench.stored(id)?.end == "cancelled")
    }

    @Test mutating func `it waits no longer than a transfer may take`() throws {
        for restarts in [false, true] {
            bench = Bench()
            let id = try complete()
            let end = try #require(bench.transfer(id)).deadline
            bench.report(id, Self.full)
            if restarts { try bench.restart() }
            while bench.now.wall < end, bench.transfer(id)?.isEnded == false {
                bench.advance(.hours(1))
                bench.report(id, Self.full)
            }
            #expect(bench.stored(id)?.end == "failed", "restarts: \(restarts)")
        }
    }

    @Test mutating func `it is tried again under another clock, and by another daemon`() throws {
        let id = try complete()
        bench.report(id, Self.full)
        bench.now.wall = bench.now.wall - .days(1)
        bench.send(.clockChanged)
        bench.advance(.seconds(2))
        #expect(bench.placed[id] != nil)
        bench.report(id, Self.full)
        try bench.restart()
        #expect(bench.placed.isEmpty, "not before its time")
        bench.advance(.seconds(3))
        #expect(bench.placed[id] != nil)
        // That daemon dies before it is answered.
        try bench.restart()
        #expect(bench.placed[id] != nil)
        bench.report(id, .placed(name: "a.iso"))
        #expect(bench.stored(id)?.end == "finished")
    }

    @Test mutating func `one that was lost meanwhile is fetched anew`() throws {
        let id = try complete()
        bench.report(id, Self.full)
        bench.advance(.seconds(2))
        bench.report(id, .lost)
        #expect(bench.transfer(id)?.state == .waiting)
        bench.advance(.seconds(3))
        #expect(try #require(bench.begun[id]).exchange.resume == nil)
    }
}
