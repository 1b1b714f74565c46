import GatewayShell
import Testing
import Vocabulary

/// What spreads deadlines, and devices, over time.
struct WheelTests {
    // MARK: TimerWheel

    @Test func `a deadline comes at its second or within a slot of it`() {
        var random = SeededRandom(seed: 3)
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

    // MARK: StormGate

    @Test func `so many are welcome in a second, the rest is spread over those that follow`() {
        var gate = StormGate()
        let answers = (0..<1000).map { _ in gate.admit(at: 50, perSecond: 100) }
        #expect(answers.filter { $0 == nil }.count == 100)
        #expect(answers[100] == .seconds(2))
        // The last of them comes back within as long as the others need, and no sooner.
        #expect(answers[999] == .seconds(11))
        #expect(gate.admit(at: 51, perSecond: 100) == nil)
    }

    @Test func `those that were sent away are not counted for ever`() {
        var gate = StormGate()
        for _ in 0..<1100 { _ = gate.admit(at: 50, perSecond: 100) }
        for _ in 0..<100 { _ = gate.admit(at: 55, perSecond: 100) }
        #expect(gate.admit(at: 55, perSecond: 100) == .seconds(7))
        for _ in 0..<100 { _ = gate.admit(at: 5000, perSecond: 100) }
        #expect(gate.admit(at: 5000, perSecond: 100) == .seconds(2))
    }

    @Test func `a gate of nothing and one of everything do not fail`() {
        var closed = StormGate()
        #expect(closed.admit(at: 1, perSecond: 0) != nil)
        #expect(closed.admit(at: 9, perSecond: 0) != nil)
        var open = StormGate()
        #expect(open.admit(at: 1, perSecond: .max) == nil)
        #expect(open.admit(at: .max, perSecond: .max) == nil)
    }
}
