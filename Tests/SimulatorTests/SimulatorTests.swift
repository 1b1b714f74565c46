import DeviceCore
import Simulator
import TestKit
import Testing
import Vocabulary

struct SeedTests {
    @Test("no rule is broken in these seeds", arguments: 1...UInt64(12))
    func seedHoldsAllRules(seed: UInt64) {
        expectGood(seed)
    }

    /// Other seeds with every commit; one that fails is worth a test of its own.
    @Test("no rule is broken in the commit's seeds", arguments: FreshSeeds.seeds(3))
    func freshSeedHoldsAllRules(seed: UInt64) {
        expectGood(seed)
    }

    private func expectGood(_ seed: UInt64) {
        let report = DeviceSimulation.run(days: 1, apps: 20, seed: seed)
        if let failure = report.failure {
            let tail = failure.tail.suffix(20).joined(separator: "\n")
            Issue.record(
                """
                seed \(seed), apps \(failure.apps), faults \(failure.faults): \
                \(failure.invariant): \(failure.text)
                \(FreshSeeds.again("SimulatorTests.SeedTests"))
                \(tail)
                """
            )
        }
        #expect(report.events > 100)
    }

    @Test("a seed gives the same run every time")
    func seedGivesTheSameRun() {
        let one = DeviceSimulation.run(days: 1, apps: 10, seed: 7)
        let two = DeviceSimulation.run(days: 1, apps: 10, seed: 7)
        #expect(one == two)
    }

    @Test("a report is a value, and comes back from it")
    func reportIsAValue() throws {
        let report = DeviceSimulation.run(days: 1, apps: 5, seed: 3)
        let value = try ValueEncoder().encode(report)
        #expect(try ValueDecoder().decode(SimulationReport.self, from: value) == report)
    }
}
