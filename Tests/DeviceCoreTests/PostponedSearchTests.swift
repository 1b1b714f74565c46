import TestKit
import Testing
import Vocabulary

@testable import DeviceCore

/// When a turn has several events, the time of the next decision is found once, after the last.
struct PostponedSearchTests {
    @Test func `what a device decides does not depend on how events are split into turns`() {
        var (postponed, decided) = (0, 0)
        for seed in Array(UInt64(1)...12) + FreshSeeds.seeds(1) {
            var days = SplitDays(seed: seed)
            for _ in 0..<40 { days.pass() }
            postponed += days.postponed
            decided += days.decided
            #expect(
                days.problems.isEmpty,
                """
                seed \(seed): \(days.problems)
                \(FreshSeeds.again("DeviceCoreTests.PostponedSearchTests"))
                """
            )
        }
        #expect(postponed > 100 && decided > 50, "\(postponed) postponed, \(decided) decided")
    }
}

/// Random turns of a device with habits, each taken as one and as many.
private struct SplitDays {
    private var bench = LearnedRefreshTests.bench(days: 6, budget: 8, others: ["quiet"])
    private var random: SeededRandom
    /// Searches that were left to the last event.
    private(set) var postponed = 0
    private(set) var decided = 0
    private(set) var problems: [String] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func pass() {
        bench.move(.minutes(1 + random.below(120)))
        // A daemon that was stalled hears at once of what was spread over minutes.
        let isLate = random.chance(1, in: 3)
        let events = (0..<2 + random.below(4)).map { _ in
            if isLate { bench.move(.seconds(random.below(200))) }
            return TimedEvent(event(), at: bench.now)
        }
        var (apart, together) = (bench.device, bench.device)
        var (effects, all): ([Effect], [Effect]) = ([], [])
        for event in events { apart.handle(event, into: &effects) }
        for (index, event) in events.enumerated() {
            var timed = event
            timed.othersFollow = index < events.count - 1
            effects.removeAll()
            together.handle(timed, into: &effects)
            all += effects
            if together.refreshPolicy.postponedSearch != nil { postponed += 1 }
            let arms = effects.contains { if case .arm = $0 { true } else { false } }
            if timed.othersFollow, arms { problems.append("timers are set in mid-turn") }
        }
        if together != apart { problems.append("\(events.map(\.event))") }
        bench.device = together
        for case .spawn(let launch, let spec) in all {
            if spec.app != AppID("quiet") { decided += 1 }
            bench.started(launch)
            bench.move(.seconds(2))
            bench.send(.process(launch, .exited(.status(0), nil)))
        }
    }

    private mutating func event() -> Event {
        let app = AppID(random.pick(from: ["mail", "news", "quiet"]) ?? "mail")
        switch random.below(7) as Int {
        case 0: return .used(app)
        case 1: return .condition(.idle, .hand, .value(random.below(2)))
        case 2: return .condition(.power, .kernel, .value(random.below(2)))
        case 3: return .settings(bench.device.settings.value)
        case 4, 5: return .timer
        default:
            var manifest = AppManifest.refreshing(app.name, LearnedRefreshTests.habit(app.name))
            if app.name == "quiet", random.chance(1, in: 2) { manifest.useFrom = nil }
            return .manifests([.present(manifest)])
        }
    }
}
