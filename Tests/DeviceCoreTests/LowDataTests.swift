import DeviceCore
import Testing
import Vocabulary

/// Low-data mode, which only the user sets: it holds what a metered network holds.
struct LowDataTests {
    /// Nobody senses anything, but that nobody uses the device and the network costs nothing.
    private func bench() -> Bench {
        var bench = Bench(isSensed: false)
        bench.set(.idle, 1)
        bench.set(.network, 2)
        bench.set(.metered, 0)
        return bench
    }

    private func submitUnmetered(to bench: inout Bench) {
        bench.ask(
            .submit(
                Submission(kind: .processing, needs: Needs(unmetered: true), command: ["app"])
            )
        )
    }

    private func holds(_ bench: Bench) -> [Hold] {
        bench.device.explain(AppID("command.app"), at: bench.now).flatMap(\.holds)
    }

    @Test func `where nobody has set it, it holds nothing, and there is nothing to mend`() {
        var bench = bench()
        submitUnmetered(to: &bench)
        #expect(bench.spawned.count == 1)
        let unset = Check.sensor(.lowData, bench.device.conditions[.lowData], problem: "")
        #expect(unset.isGood && unset.fix == nil)
        #expect(unset.found == "off unless it is set: offstage set low-data on")
        bench.set(.lowData, 1, by: .hand)
        let set = Check.sensor(.lowData, bench.device.conditions[.lowData], problem: "")
        #expect(set.isGood && set.found == "on (set by hand)")
    }

    @Test func `what asks for an unmetered network waits for its end, and is told so`() throws {
        var bench = bench()
        bench.set(.lowData, 1, by: .hand)
        submitUnmetered(to: &bench)
        let hold = try #require(holds(bench).first)
        #expect(holds(bench).map(\.gate) == ["metered"] && bench.spawned.isEmpty)
        #expect((hold.value, hold.needed) == ("low-data mode on", "low-data mode off"))
        #expect(hold.sentence == "low-data mode is on")
        #expect(hold.fix == "offstage set low-data off")
        bench.send(.condition(.lowData, .hand, .silent))
        #expect(bench.spawned.count == 1)
    }

    @Test func `on a metered network too, both are named, and the end of both is waited for`()
        throws
    {
        var bench = bench()
        bench.set(.metered, 1)
        bench.set(.lowData, 1, by: .hand)
        submitUnmetered(to: &bench)
        let both = try #require(holds(bench).first)
        #expect(both.value == "metered, low-data mode on")
        #expect(both.needed == "unmetered, low-data mode off")
        #expect(both.sentence == "the network is metered, and low-data mode is on")
        bench.set(.lowData, 0, by: .hand)
        #expect(bench.spawned.isEmpty)
        #expect(holds(bench).map(\.sentence) == ["the network is metered"])
        bench.set(.lowData, 1, by: .hand)
        bench.set(.metered, 0)
        #expect(bench.spawned.isEmpty)
        #expect(holds(bench).map(\.sentence) == ["low-data mode is on"])
        bench.set(.lowData, 0, by: .hand)
        #expect(bench.spawned.count == 1)
    }

    @Test func `a network that may be metered is told with it, and both are to be set`() throws {
        var bench = bench()
        bench.send(.condition(.metered, .kernel, .silent))
        bench.set(.lowData, 1, by: .hand)
        submitUnmetered(to: &bench)
        let hold = try #require(holds(bench).first)
        #expect(
            hold.sentence
                == "no source reports whether the network is metered, and low-data mode is on"
        )
        #expect(
            hold.fix
                == "set it by hand: offstage set metered off; offstage set low-data off"
        )
    }

    @Test func `refreshes run in it, unless they may not use a metered network`() {
        for mayUse in [true, false] {
            var bench = bench()
            bench.configure { $0.refreshOnMetered = mayUse }
            bench.set(.lowData, 1, by: .hand)
            bench.install(.refreshing("news"))
            #expect(bench.spawned.count == (mayUse ? 1 : 0))
            #expect(bench.gates("news") == (mayUse ? [] : ["metered"]))
            bench.set(.lowData, 0, by: .hand)
            #expect(bench.app("news")?.launches.count == 1)
        }
    }

    @Test func `why it stopped a run is said in words that are true of it`() {
        #expect(StopReason.lowDataMode.summary == "low-data mode is on")
        #expect(StopReason.networkMetered.summary == "the network is metered now")
    }
}
