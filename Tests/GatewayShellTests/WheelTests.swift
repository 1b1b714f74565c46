import GatewayShell
import TestKit
import Testing
import Vocabulary

/// What spreads deadlines over time.
struct WheelTests {
    @Test(arguments: [3] + FreshSeeds.seeds(1))
    func `a deadline comes at its second or within a slot of it`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for width in [1, 4, 7] as [Int64] {
            var wheel = TimerWheel<Int64>(slots: 64, width: width, now: 1000)
            let seconds = (0..<500).map { _ in 1000 + Int64(random.below(UInt64(60 * width))) }
            for second in seconds { wheel.insert(second, at: second) }
            #expect(wheel.count == 500)
            var taken: [Int64] = []
            for now in 1000...(1000 + 62 * width) {
                let due = wheel.take(at: now)
                #expect(due.allSatisfy { $0 <= now && now < $0 + width }, "at \(now)")
                taken += due
            }
            #expect(taken.sorted() == seconds.sorted())
            #expect(wheel.count == 0)
        }
    }

    @Test func `what is later than the wheel reaches comes early, what is past at once`() {
        var wheel = TimerWheel<String>(slots: 8, width: 4, now: 100)
        wheel.insert("far", at: 10_000)
        wheel.insert("past", at: 3)
        #expect(wheel.alarm == 100)
        #expect(wheel.take(at: 100) == ["past"])
        #expect(wheel.alarm == 128)
        #expect(wheel.take(at: 127).isEmpty)
        #expect(wheel.take(at: 128) == ["far"])
        #expect(wheel.alarm == nil)
    }

    @Test func `a wheel that was not looked at for long hands out everything once`() {
        var wheel = TimerWheel<Int>(slots: 8, width: 1, now: 0)
        for second in 1...7 { wheel.insert(second, at: Int64(second)) }
        #expect(wheel.take(at: 1_000_000).sorted() == Array(1...7))
        wheel.insert(8, at: 1_000_003)
        #expect(wheel.alarm == 1_000_003)
        #expect(wheel.take(at: 1_000_003) == [8])
    }
}
