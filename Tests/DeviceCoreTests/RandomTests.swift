import DeviceCore
import TestKit
import Testing
import Vocabulary

/// Properties that hold whatever happens.
struct RandomTests {
    static let seeds = FreshSeeds.seeds(4) + Array(UInt64(1)...24)

    @Test(arguments: seeds)
    func `random events break no invariant`(_ seed: UInt64) {
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
                return
            }
        }
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
