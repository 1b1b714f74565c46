import GatewayCore
import Vocabulary

/// What the metrics must add up to, by what happened outside of the gateway since it was started.
struct WorldFigures {
    /// Answered with 200.
    var accepted: UInt64 = 0
    var broadcasts: UInt64 = 0
    /// Broadcasts that went out, counted by link.
    var broadcastsSent: UInt64 = 0
    var acknowledged: UInt64 = 0
    /// When those pushes went out that were sent at once.
    var sent: [SendingID: BootTime] = [:]
    /// From then to their acknowledgements, in seconds: all of them, and those that came while the
    /// gateway waited for nothing. The others it may look at later, or never.
    var deliveryTimes: [Double] = []
    var promptTimes: [Double] = []

    /// When a batch failed last: what was on its way then may have been forgotten with an app that
    /// was to be removed.
    var failure = BootTime(nanoseconds: 0)

    mutating func acknowledged(_ sending: SendingID, at now: BootTime, isPrompt: Bool) {
        acknowledged += 1
        guard let start = sent.removeValue(forKey: sending) else { return }
        let time = Double((now - start).nanoseconds) / 1e9
        deliveryTimes.append(time)
        if isPrompt, start > failure { promptTimes.append(time) }
    }
}

extension GatewayWorld {
    func figureProblems() -> [String] {
        let counters = driver.gateway.counters
        let equal = [
            ("accepted", figures.accepted, counters.accepted),
            ("broadcasts", figures.broadcasts, counters.broadcasts),
            ("broadcasts sent", figures.broadcastsSent, counters.broadcastsSent),
            ("stored", store.tally.stored, counters.stored),
            ("replaced", store.tally.replaced, counters.replaced),
            ("throttled", store.tally.throttled, counters.throttled),
            ("expired", store.tally.expired, counters.expired),
            ("dropped", store.tally.dropped, counters.dropped),
        ]
        var problems = equal.filter { $1 != $2 }.map { "\($1) were \($0), \($2) counted" }
        // A line of the log is lost with a batch that fails, and an acknowledgement may come late.
        let most = max(store.tally.delivered, figures.acknowledged)
        if !(store.tally.delivered...most).contains(counters.delivered) {
            problems.append("\(counters.delivered) delivered, \(figures.acknowledged) acknowledged")
        }
        let times = driver.gateway.deliveryTimes
        let range = figures.promptTimes.count...figures.deliveryTimes.count
        if !range.contains(Int(times.count)) {
            problems.append("\(times.count) deliveries timed of \(range)")
        }
        let prompt = figures.promptTimes.reduce(0, +)
        let isExact = range.lowerBound == range.upperBound
        if times.sum < prompt - 0.001 || isExact && times.sum > prompt + 0.001 {
            problems.append("deliveries took \(times.sum) s of \(prompt) s")
        }
        return problems
    }
}
