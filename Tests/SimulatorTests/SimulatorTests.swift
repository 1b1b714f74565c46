import DeviceCore
import Simulator
import Testing
import Vocabulary

struct SeedTests {
    @Test("no rule is broken in these seeds", arguments: 1...UInt64(12))
    func seedHoldsAllRules(seed: UInt64) {
        let run = DeviceSimulation.run(DeviceSimulation.Plan(days: 1, apps: 20, seed: seed))
        #expect(run.watch.violation == nil)
    }
}
