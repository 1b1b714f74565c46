import TestKit
import Testing

/// Many devices, connections that break, a disk that fails, restarts, acknowledgements in any
/// order: what a gateway promises holds.
struct SimulationTests {
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `nothing that was promised is lost`(seed: UInt64) {
        var world = GatewayWorld(seed: seed, devices: 12)
        world.run(steps: 6500)
        #expect(world.problems == [])
        #expect(world.counts["answered", default: 0] > 300, "\(world.counts)")
    }

    @Test func `a seed of the commit as well`() {
        var world = GatewayWorld(seed: FreshSeeds.first, devices: 40)
        world.run(steps: 40_000)
        #expect(world.problems == [], "\(FreshSeeds.again("GatewayCoreTests.SimulationTests"))")
    }
}
