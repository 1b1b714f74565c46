import DeviceLink
import Testing
import Vocabulary

/// How a device finds the longest silence that its network allows.
struct KeepAlivePaceTests {
    /// Lets the pace meet a network that forgets connections after `limit`, so often.
    private func search(
        limit: Interval,
        rounds: Int,
        longest: Interval = .minutes(30)
    ) -> (pace: KeepAlivePace, dead: Int) {
        var pace = KeepAlivePace()
        var dead = 0
        for _ in 0..<rounds {
            if pace.interval < limit {
                pace.answered(longest: longest)
            } else {
                pace.lost()
                dead += 1
            }
        }
        return (pace, dead)
    }

    @Test func aPatientNetworkIsWokenAsSeldomAsTheGatewayAllows() {
        let (pace, dead) = search(limit: .hours(3), rounds: 20)
        #expect(pace.interval == .minutes(30))
        #expect(dead == 0)
    }

    @Test(arguments: [3, 5, 9, 14, 29])
    func aForgetfulNetworkIsFoundOutWithFewDeadLinks(minutes: Int64) {
        let limit = Interval.minutes(minutes)
        let (pace, dead) = search(limit: limit, rounds: 40)
        #expect(pace.interval < limit)
        #expect(pace.interval > limit - .minutes(3))
        #expect(dead <= 5)
    }

    @Test func aNetworkWorseThanTheFirstGuessIsComeDownTo() {
        let (pace, _) = search(limit: .seconds(50), rounds: 40)
        #expect(pace.interval >= KeepAlivePace.shortest)
        #expect(pace.interval < .seconds(50))
    }

    @Test func nothingGoesBelowTheShortest() {
        var pace = KeepAlivePace()
        for _ in 0..<100 { pace.lost() }
        #expect(pace.interval == KeepAlivePace.shortest)
    }

    @Test func whatFailedIsTriedAgainAfterAWhile() {
        var (pace, _) = search(limit: .minutes(5), rounds: 40)
        let before = pace.interval
        for _ in 0..<120 { pace.answered(longest: .minutes(30)) }
        #expect(pace.interval > before)
    }

    @Test func waitingDoublesUpToALimitAndIsDrawnAnew() {
        var pace = ReconnectPace()
        var random = SeededRandom(seed: 1)
        var longest = Interval.zero
        for attempt in 0..<40 {
            let wait = pace.failed(&random)
            #expect(wait >= .zero)
            #expect(wait <= .seconds(1) * (1 << Int64(min(attempt, 20))))
            #expect(wait <= ReconnectPace.longest)
            longest = max(longest, wait)
        }
        #expect(longest > .minutes(5))
        pace.succeeded()
        #expect(pace.failed(&random) <= .seconds(1))
    }

    @Test func devicesThatLostTheirGatewayTogetherComeBackApart() {
        let waits = (0..<200).map { seed -> Int64 in
            var (pace, random) = (ReconnectPace(), SeededRandom(seed: UInt64(seed)))
            for _ in 0..<5 { _ = pace.failed(&random) }
            return pace.failed(&random).wholeSeconds
        }
        #expect(Set(waits).count >= 30)
    }
}
