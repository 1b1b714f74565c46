import Glibc
import Simulator
import Testing

/// Many seeds, and what they must have covered: `make soak`, in release.
struct CampaignTests {
    static let seeds = number("OFFSTAGE_SEEDS") ?? 0
    static let days = number("OFFSTAGE_DAYS") ?? 30

    private static func number(_ name: String) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }
    }

    @Test(
        "every kind of fault happens, every pair of effects is cut, no rule is broken",
        .enabled(if: seeds > 0, "a campaign: make soak")
    )
    func campaignCoversEverything() async {
        var campaign = Campaign()
        await withTaskGroup(of: SimulationReport.self) { group in
            var next = 0
            func add() {
                next += 1
                let seed = UInt64(next)
                let plan = DeviceSimulation.Plan(days: Self.days, apps: 30, seed: seed)
                group.addTask { DeviceSimulation.report(plan) }
            }
            for _ in 0..<min(Self.seeds, 4) { add() }
            for await report in group {
                campaign.add(report)
                // At once: it goes on for minutes.
                if let failure = report.failure {
                    print("seed \(report.seed): \(failure.invariant): \(failure.text)")
                }
                if campaign.seeds % 50 == 0 { print("\(campaign.seeds) seeds") }
                fflush(nil)
                if next < Self.seeds { add() }
            }
        }
        campaign.cutTheRest()
        // Making one small takes as long as many seeds.
        for failed in campaign.failures.prefix(3) {
            let report = DeviceSimulation.run(
                days: Self.days,
                apps: 30,
                seed: UInt64(bitPattern: failed.seed)
            )
            guard let failure = report.failure else { continue }
            let tail = failure.tail.suffix(20).joined(separator: "\n")
            Issue.record("seed \(report.seed): \(failure.invariant): \(failure.text)\n\(tail)")
        }
        #expect(campaign.failures.count == 0)
        #expect(campaign.missingFaults == [])
        #expect(campaign.pairsNotKilled == [])
        print(
            "\(campaign.seeds) seeds, \(campaign.days) days, \(campaign.events) events, "
                + "\(campaign.killsSurvived) kills survived, \(campaign.pairCount) pairs of effects"
        )
    }

    @Test("the kill is where it was asked for")
    func targetIsCut() throws {
        var plan = DeviceSimulation.Plan(days: 1, apps: 12, seed: 3)
        let report = DeviceSimulation.report(plan)
        let notKilled = report.pairsSeen.filter { !report.pairsKilled.contains($0) }
        try #require(notKilled.count > 3)
        for pair in notKilled.suffix(4) {
            plan.targets = [pair]
            #expect(DeviceSimulation.report(plan).pairsKilled.contains(pair))
        }
    }

    @Test("a failing seed is made small, and still fails")
    func failureIsShrunk() {
        // Planted: a rule that nothing can keep.
        let plan = DeviceSimulation.Plan(days: 1, apps: 12, seed: 5)
        let report = DeviceSimulation.shrunk(plan, runs: 40) { [NoProcessing()] }
        #expect(report.failure?.invariant == "no processing at all")
        #expect((report.failure?.apps.count ?? 99) <= 3)
        #expect(report.failure?.tail.isEmpty == false)
    }
}
