import GatewayCore
import Testing
import Vocabulary

/// What bounds devices that all come at once, and a device that sends too much.
struct StormTests {
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

    @Test func `a device sends so many frames at once, and a twentieth more each second`() {
        var budget = FrameBudget()
        let first = (0..<101).map { _ in budget.admit(at: 9, atOnce: 100) }
        #expect(first.firstIndex(of: false) == 100)
        // The one too many counts as well.
        let next = (0..<5).map { _ in budget.admit(at: 10, atOnce: 100) }
        #expect(next.firstIndex(of: false) == 4)
        let late = [100, 0].map { budget.admit(at: .max, atOnce: $0) }
        #expect(late == [true, false])
    }
}
