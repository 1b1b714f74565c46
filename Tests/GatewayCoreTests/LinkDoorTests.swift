import GatewayCore
import Glibc
import Testing
import Vocabulary

/// Who comes in by the devices' port, and for how long a link may go on.
struct LinkDoorTests {
    private static let seeds =
        getenv("OFFSTAGE_GATEWAY_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 20

    @Test func `a crowd of strangers keeps nobody out who was here before`() {
        var counts: [String: Int] = [:]
        for seed in 1...Self.seeds {
            var world = LinkDoorWorld(seed: seed)
            world.run(seconds: 600)
            #expect(world.problems.isEmpty, "seed \(seed): \(world.problems)")
            counts.merge(world.counts) { $0 + $1 }
        }
        let all = [
            "welcomed", "sent away", "too slow", "goodbyes", "named", "held", "no descriptor",
            "full", "honest ones displaced", "most in line", "good ones in time",
        ]
        for what in all { #expect(counts[what, default: 0] > 0, "\(what): \(counts)") }
    }

    @Test func `during a drain nobody comes in`() {
        var limits = LinkLimits()
        limits.handshakes = 2
        limits.welcomesPerSecond = 4
        var door = LinkDoor(limits)
        for link in 1...4 as ClosedRange<UInt64> {
            let isTaken = door.arrived(LinkID(link), from: nil, at: 10)
            #expect(isTaken)
        }
        #expect(door.lineCount == 2)
        while door.next() != nil {}
        let ending = door.drain(after: .seconds(1))
        #expect(ending.reason == .shutdown && ending.after == .seconds(1))
        #expect(ending.spread == .seconds(6), "four come back at a quarter of the rate")
        for link in 1...4 as ClosedRange<UInt64> { door.left(LinkID(link), .closed, at: 11) }
        door.passed(at: 12)
        #expect(door.next() == nil)
    }

    // MARK: Time

    @Test func `a link lives from one announced sign of life to the next, and a quarter`() {
        var limits = LinkLimits()
        limits.shortestKeepAlive = .seconds(15)
        limits.longestKeepAlive = .seconds(1000)
        limits.keepAliveGrace = .seconds(30)
        var times = LinkTimes()
        times.mustProve(limits, at: 100)
        times.heard(at: 110)
        #expect(times.end(limits) == 120, "bytes without a proof are worth nothing")
        #expect(times.ending(limits, at: 119) == nil)
        #expect(times.ending(limits, at: 120)?.reason == .tooSlow)
        times.announced(next: 100, limits, at: 200)
        #expect(times.end(limits) == 200 + 125 + 30)
        times.heard(at: 250)
        #expect(times.end(limits) == 250 + 125 + 30)
        times.announced(next: 1, limits, at: 300)
        #expect(times.end(limits) == 300 + 18 + 30)
        times.announced(next: .max, limits, at: 300)
        #expect(times.end(limits) == 300 + 1250 + 30)
    }

    @Test func `who takes nothing is given up, and who takes a little is not`() {
        var limits = LinkLimits()
        limits.stall = .seconds(30)
        var times = LinkTimes()
        times.announced(next: 1000, limits, at: 0)
        times.takes(false, at: 100)
        times.takes(false, at: 120)
        #expect(times.end(limits) == 130)
        times.takes(true, at: 125)
        times.takes(false, at: 125)
        #expect(times.end(limits) == 155)
        times.takes(true, at: 130)
        #expect(times.end(limits) == 1280)
    }

    @Test func `a queue that was too long for a moment is congested until all is taken`() {
        var limits = LinkLimits()
        (limits.queue, limits.largestQueue) = (100, 1000)
        #expect(limits.queue(of: 100, wasCongested: false) == .fits)
        #expect(limits.queue(of: 101, wasCongested: false) == .isCongested)
        #expect(limits.queue(of: 1, wasCongested: true) == .isCongested)
        #expect(limits.queue(of: 0, wasCongested: true) == .fits)
        #expect(limits.queue(of: 1001, wasCongested: false) == .isTooLong)
    }
}
