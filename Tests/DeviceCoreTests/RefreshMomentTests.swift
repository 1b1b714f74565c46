import Testing
import Vocabulary

@testable import DeviceCore

/// When it is looked at what is worth a refresh.
extension LearnedRefreshTests {
    @Test func `ten seconds after the device came into use it is seen what that tells`() {
        var bench = Self.bench(days: 10)
        bench.advance(.hours(9) + .minutes(1))
        let begin = bench.now.boot
        bench.send(.condition(.idle, .hand, .value(0)))
        #expect(bench.armed == begin + .seconds(10))
    }

    /// Decisions at 12:25 and 12:30; what was used at 12:00 goes stale at 12:30.
    @Test(arguments: [(Int64(2), false), (Int64(3), true)])
    func `an app is refreshed at the decision nearest to when its content goes stale`(
        minutes: Int64,
        waits: Bool
    ) throws {
        var bench = Self.bench(days: 12, budget: 6)
        var day = Day(midnight: bench.now.wall, failing: "", slow: "")
        day.pass(&bench, until: .hours(12) + .minutes(minutes))
        day.send(&bench, .condition(.idle, .hand, .value(0)))
        day.send(&bench, .used(AppID("mail")))
        day.send(&bench, .condition(.idle, .hand, .value(1)))
        day.pass(&bench, until: .hours(12) + .minutes(26))
        let explanation = bench.device.explain(AppID("mail"), at: bench.now).first
        let forecast = try #require(explanation?.forecast)
        #expect((forecast.blocker == .fresh) == waits, "\(forecast)")
    }
}
