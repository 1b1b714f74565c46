import Testing
import Vocabulary

@testable import DeviceCore

/// Background fetch of an app that is opened every day at noon.
struct LearnedFetchTests {
    @Test func `each choice of a moment is one fetch`() throws {
        var settings = Settings()
        settings.refreshesPerDay = 12
        var bench = Bench(at: .zero, isCalm: false, settings: settings)
        bench.install(.linked("reader"))
        let launch = try bench.openApp("reader")
        bench.say(launch, .fetchInterval(.minimum, reply: bench.nextReply()))
        bench.ask(.leave(AppID("reader")))
        bench.send(.condition(.idle, .hand, .value(1)))
        var fetches: [WallTime] = []
        for _ in 0..<12 {
            Self.pass(&bench, launch, .hours(12), &fetches)
            bench.send(.condition(.idle, .hand, .value(0)))
            bench.ask(.open(AppID("reader"), attach: nil))
            Self.pass(&bench, launch, .minutes(10), &fetches)
            bench.ask(.leave(AppID("reader")))
            bench.send(.condition(.idle, .hand, .value(1)))
            fetches = []
            Self.pass(&bench, launch, .hours(12) - .minutes(10), &fetches)
        }
        Self.pass(&bench, launch, .hours(12), &fetches)
        #expect(!fetches.isEmpty)
        for (first, second) in zip(fetches, fetches.dropFirst()) {
            #expect(second - first >= .minutes(28), "\(fetches)")
        }
        let decisions = bench.history.compactMap { line -> RefreshDecision? in
            if case .wake(let wake) = line.entry { wake.decision } else { nil }
        }
        #expect(decisions.count > 10)
        #expect(Set(decisions.map(\.at)).count == decisions.count)
    }

    private static func pass(
        _ bench: inout Bench,
        _ launch: LaunchID,
        _ time: Interval,
        _ fetches: inout [WallTime]
    ) {
        let end = bench.now.boot + time
        while bench.now.boot < end {
            let next = min(end, bench.armed ?? .distantFuture)
            bench.move(max(.milliseconds(1), next - bench.now.boot))
            bench.send(.timer)
            guard !bench.offers(launch).isEmpty, let delivery = try? bench.accept(launch) else {
                continue
            }
            fetches.append(bench.now.wall)
            bench.say(launch, .completed(delivery, .newData))
        }
    }
}
