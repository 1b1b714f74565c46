import GatewayCore
import Testing
import Vocabulary

/// What the gateway's simulation looks for is seen once in a gateway that has a bug.
struct PlantedGatewayBugTests {
    @Test(arguments: PlantedGatewayBug.all)
    func `a planted bug is noticed`(bug: PlantedGatewayBug) {
        for seed in 1...90 as ClosedRange<UInt64> {
            var world = GatewayWorld(seed: seed, devices: 3)
            world.bug = bug.bug
            func isSeen(_ world: GatewayWorld) -> Bool {
                world.problems.contains { $0.kind == bug.raises }
            }
            world.run(steps: 4000, until: isSeen)
            if isSeen(world) { return }
        }
        Issue.record("no seed shows it")
    }

    @Test func `every kind of problem has a bug that raises it`() {
        let raised = Set(PlantedGatewayBug.all.map(\.raises))
        #expect(WorldProblem.Kind.allCases.filter { !raised.contains($0) } == [])
    }
}
