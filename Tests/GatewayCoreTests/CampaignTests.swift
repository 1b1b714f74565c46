import Glibc
import Testing

/// Many seeds of the gateway's simulation: `make soak`.
struct CampaignTests {
    private static let seeds = getenv("OFFSTAGE_GATEWAY_SEEDS").flatMap {
        UInt64(String(cString: $0))
    }

    @Test(.enabled(if: seeds != nil, "a campaign: make soak"))
    func `nothing that was promised is lost, with many seeds`() async {
        let seeds = Self.seeds ?? 0
        var counts: [String: Int] = [:]
        await withTaskGroup(of: (UInt64, GatewayWorld).self) { group in
            var next: UInt64 = 0
            func add() {
                next += 1
                let seed = next
                group.addTask {
                    var world = GatewayWorld(seed: seed, devices: 12)
                    world.run(steps: 6500)
                    return (seed, world)
                }
            }
            for _ in 0..<min(seeds, 4) { add() }
            for await (seed, world) in group {
                if !world.problems.isEmpty { Issue.record("seed \(seed): \(world.problems)") }
                counts.merge(world.counts) { $0 + $1 }
                if next < seeds { add() }
            }
        }
        print("\(seeds) seeds: \(counts.sorted { $0.key < $1.key })")
        let all = [
            "answered", "crashes", "failures", "unreadable", "removals", "gone", "web pushes",
            "changed limits", "changed apps", "days", "conditions", "channels", "broadcasts",
            "heard",
            "misspoken", "told of the log", "pushes to ended tokens", "cut in a turn",
            "web pushes to ended tokens", "displaced senders", "revoked certificates",
        ]
        for what in all {
            #expect(counts[what, default: 0] > seeds, "\(what)")
        }
        // No kind is left out: each may wait behind an action that ends a link.
        let actions = GatewayWorld.ActionKind.allCases.flatMap { [$0.killed, $0.cut] }
        let rare =
            ["not enrolled", "channels not kept", "too many channels"]
            + actions
            + GatewayWorld.ChangeKind.allCases.map(\.name)
            + GatewayWorld.QuestionKind.allCases.map(\.name)
        for what in rare {
            #expect(counts[what, default: 0] > seeds / 50, "\(what)")
        }
    }
}
