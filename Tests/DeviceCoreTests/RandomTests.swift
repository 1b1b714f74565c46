import DeviceCore
import TestKit
import Testing
import Vocabulary

/// Properties that hold whatever happens.
struct RandomTests {
    private static let fixed = Array(UInt64(1)...24)
    static let seeds = FreshSeeds.seeds(4) + fixed

    /// Returns what has come about, in words.
    @discardableResult
    private func live(_ seed: UInt64) -> Set<String> {
        var day = RandomDay(seed: seed)
        for number in 0..<400 {
            day.step()
            guard day.problems.isEmpty else {
                Issue.record(
                    """
                    seed \(seed), step \(number), \(String(describing: day.last)): \(day.problems)
                    \(FreshSeeds.again("DeviceCoreTests.RandomTests"))
                    """
                )
                break
            }
        }
        return day.reached
    }

    @Test(arguments: FreshSeeds.seeds(4))
    func `random events break no invariant`(_ seed: UInt64) { live(seed) }

    /// Else an invariant holds since there is nothing that could break it.
    private static let interesting: Set = [
        // Done in the world.
        "spawn", "probe", "cancelProbe", "freeze", "thaw", "terminate", "kill", "release",
        "measure", "checkLocks", "weigh", "setDeadline", "holdAwake", "watchUse", "reply", "arm",
        // Said to apps.
        "tell offer", "tell go", "tell didEnterBackground", "tell didBecomeActive",
        // In the history.
        "run new-data", "run failed", "run completed", "run expired", "run interrupted",
        "run terminated", "run crashed", "run not-started", "run retry", "run unknown", "ended",
        "note", "opened", "left", "closed", "seen",
    ]

    @Test func `random events of fixed seeds break none, and reach all that is interesting`() {
        let reached = Self.fixed.reduce(into: Set<String>()) { $0.formUnion(live($1)) }
        #expect(Self.interesting.subtracting(reached) == [])
    }

    @Test(arguments: seeds.prefix(8))
    func `what the store has is what must survive, after every event`(_ seed: UInt64) throws {
        var day = RandomDay(seed: seed)
        for number in 0..<200 {
            day.step()
            let restored = Device(restoring: try day.bench.loaded())
            let wanted = Durable(day.bench.device)
            guard Durable(restored) == wanted else {
                Issue.record(
                    """
                    seed \(seed), step \(number), \(String(describing: day.last)):
                    \(Durable(restored).difference(from: wanted))
                    \(FreshSeeds.again("DeviceCoreTests.RandomTests"))
                    """
                )
                return
            }
        }
    }

    @Test(arguments: seeds.prefix(4))
    func `equal events lead to equal decisions, also after a snapshot`(_ seed: UInt64) throws {
        var first = RandomDay(seed: seed)
        var second = RandomDay(seed: seed)
        for number in 0..<300 {
            first.step()
            second.step()
            if number % 50 == 0 {
                let bytes = try ValueEncoder().encode(second.bench.device)
                let copy = try ValueDecoder().decode(Device.self, from: bytes)
                #expect(copy == second.bench.device)
                second.replaceDevice(by: copy)
            }
        }
        let differs = zip(first.decisions, second.decisions).first { $0 != $1 }
        #expect(differs == nil)
        #expect(first.decisions.count == second.decisions.count)
        #expect(first.decisions.count > 100)
    }
}
