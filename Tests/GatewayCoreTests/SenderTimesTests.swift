import GatewayCore
import Testing
import Vocabulary

/// What takes too long on a sender's connection, and how it is told to go.
struct SenderTimesTests {
    private static let start = BootTime(nanoseconds: 1_000_000_000)
    private let limits = SenderLimits()

    private func steps(
        _ times: inout SenderTimes,
        _ speech: SenderSpeech,
        after span: Interval,
        isTrusted: Bool = false,
        isQueued: Bool = false,
        isDraining: Bool = false
    ) -> [SenderStep] {
        times.steps(
            speech,
            isTrusted: isTrusted,
            isQueued: isQueued,
            isDraining: isDraining,
            limits,
            at: Self.start + span
        )
    }

    private func cut(after span: Interval) -> SenderStep {
        .cutRequests(startedBefore: Self.start + span - limits.requestTime)
    }

    @Test func `a handshake has its time, however much is said in it`() {
        var times = SenderTimes(at: Self.start)
        times.lastActivity = Self.start + .seconds(10)
        #expect(steps(&times, .nothing, after: .seconds(10)).isEmpty)
        #expect(steps(&times, .nothing, after: .seconds(11)) == [.close(.closed)])
    }

    @Test func `silence ends a stranger soon, and a provider late`() {
        var times = SenderTimes(at: Self.start)
        let quiet = SenderSpeech.http2(open: 0)
        #expect(steps(&times, quiet, after: .seconds(30)) == [cut(after: .seconds(30))])
        #expect(
            steps(&times, quiet, after: .seconds(31))
                == [cut(after: .seconds(31)), .sendAway(.idleTimeout)]
        )
        let queued = steps(&times, quiet, after: .seconds(31), isQueued: true)
        #expect(queued == [cut(after: .seconds(31))], "what it sent waits for its turn")
        let busy = SenderSpeech.http2(open: 1)
        #expect(steps(&times, busy, after: .hours(9)) == [cut(after: .hours(9))])
        #expect(
            steps(&times, quiet, after: .hours(2), isTrusted: true) == [cut(after: .hours(2))]
        )
        let late = steps(&times, quiet, after: .hours(2) + .seconds(1), isTrusted: true)
        #expect(late.last == .sendAway(.idleTimeout))
    }

    @Test func `a request of HTTP 1 has its time, and its answer as long as it takes`() {
        var times = SenderTimes(at: Self.start)
        let coming = SenderSpeech.http1(isAnswering: false, isIdle: false)
        times.heard(coming)
        #expect(steps(&times, coming, after: .seconds(30)).isEmpty)
        #expect(steps(&times, coming, after: .seconds(31)) == [.close(.tooSlow)])
        let answering = SenderSpeech.http1(isAnswering: true, isIdle: false)
        #expect(steps(&times, answering, after: .hours(1)).isEmpty)
        // It is refused at once, and the next one has begun to come behind it.
        times.lastActivity = Self.start + .seconds(20)
        times.tookRequest()
        times.heard(coming)
        #expect(steps(&times, coming, after: .seconds(50)).isEmpty)
        #expect(steps(&times, coming, after: .seconds(51)) == [.close(.tooSlow)])
        times.lastActivity = Self.start
        times.heard(answering)
        let idle = SenderSpeech.http1(isAnswering: false, isIdle: true)
        #expect(steps(&times, idle, after: .seconds(31)) == [.close(.closed)])
        #expect(steps(&times, idle, after: .seconds(31), isQueued: true).isEmpty)
        #expect(steps(&times, idle, after: .hours(2), isTrusted: true).isEmpty, "nothing is late")
        // The next one has its own time, from its first piece to its last.
        times.lastActivity = Self.start + .hours(2)
        times.heard(coming)
        times.lastActivity = Self.start + .hours(2) + .seconds(20)
        times.heard(coming)
        let late = Interval.hours(2) + .seconds(30)
        #expect(steps(&times, coming, after: late, isTrusted: true).isEmpty)
        #expect(
            steps(&times, coming, after: late + .seconds(1), isTrusted: true) == [.close(.tooSlow)]
        )
    }

    @Test func `who takes nothing of an answer is closed, and a little of it is enough`() {
        var times = SenderTimes(at: Self.start)
        let open = SenderSpeech.http2(open: 1)
        times.takes(false, at: Self.start)
        #expect(times.isBlocked)
        times.takes(false, at: Self.start + .seconds(20))
        #expect(steps(&times, open, after: .seconds(31)).last == .close(.tooSlow))
        times.takes(true, at: Self.start + .seconds(29))
        #expect(!times.isBlocked)
        times.takes(false, at: Self.start + .seconds(29))
        #expect(steps(&times, open, after: .seconds(31)).last == cut(after: .seconds(31)))
    }

    // MARK: Goodbye

    @Test func `in a shutdown the last word waits for what was under way`() {
        var times = SenderTimes(at: Self.start)
        let isFirst = times.sendAway(.shutdown, at: Self.start)
        #expect(isFirst && times.isEnding)
        let again = times.sendAway(.idleTimeout, at: Self.start)
        #expect(!again)
        func next(_ open: Int, isLate: Bool = false) -> SenderGoodbye? {
            times.nextGoodbye(open: open, isLate: isLate, at: Self.start)
        }
        #expect(next(1) == nil, "somebody waits for an answer")
        #expect(next(0) == .announce)
        #expect(next(0) == .ask)
        #expect(next(0) == nil && times.owesGoodbye)
        let isAnswer = times.answered()
        #expect(isAnswer)
        #expect(next(1) == nil)
        #expect(next(0) == .end(.shutdown))
        #expect(next(0) == nil && !times.owesGoodbye)
        let late = times.answered()
        #expect(!late)
    }

    @Test func `a provider that never answers the question gets the last word all the same`() {
        var times = SenderTimes(at: Self.start)
        _ = times.sendAway(.shutdown, at: Self.start)
        _ = times.nextGoodbye(open: 0, isLate: false, at: Self.start)
        _ = times.nextGoodbye(open: 0, isLate: false, at: Self.start)
        let quiet = SenderSpeech.http2(open: 0)
        #expect(steps(&times, quiet, after: .milliseconds(999)).count == 1)
        let first = steps(&times, quiet, after: .seconds(1)).first
        #expect(first == .sayGoodbye(isLate: false))
        let word = times.nextGoodbye(open: 0, isLate: false, at: Self.start + .seconds(1))
        #expect(word == .end(.shutdown))
    }

    @Test func `whoever keeps sending gets the last word in between`() {
        var times = SenderTimes(at: Self.start)
        _ = times.sendAway(.shutdown, at: Self.start)
        let busy = SenderSpeech.http2(open: 3)
        #expect(steps(&times, busy, after: .seconds(3)).count == 1)
        #expect(steps(&times, busy, after: .seconds(4)).first == .sayGoodbye(isLate: true))
        let word = times.nextGoodbye(open: 3, isLate: true, at: Self.start + .seconds(4))
        #expect(word == .end(.shutdown))
    }

    @Test func `other reasons are told at once`() {
        var times = SenderTimes(at: Self.start)
        _ = times.sendAway(.invalidProviderToken, at: Self.start)
        let word = times.nextGoodbye(open: 1, isLate: true, at: Self.start)
        #expect(word == .end(.invalidProviderToken))
    }

    @Test func `after the last word the peer may close first, for a while`() {
        var times = SenderTimes(at: Self.start)
        times.lingers(at: Self.start)
        #expect(times.isLingering)
        let open = SenderSpeech.http2(open: 0)
        #expect(steps(&times, open, after: .seconds(10)).isEmpty)
        #expect(steps(&times, open, after: .seconds(11)) == [.close(.closed)])
        times.lastActivity = Self.start
        #expect(steps(&times, open, after: .seconds(1), isDraining: true) == [.close(.closed)])
        #expect(
            steps(&times, open, after: .seconds(1), isQueued: true, isDraining: true).isEmpty,
            "what it sent waits for its turn"
        )
    }
}
