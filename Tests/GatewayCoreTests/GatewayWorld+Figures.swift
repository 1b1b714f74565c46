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
    /// The same, pushes of APNs alone; by the providers' key, and by certificate.
    var acceptedPushes: UInt64 = 0
    /// Refused at once or later, by the reason that was told; and those of the providers' key.
    var refusals: [Reason: UInt64] = [:]
    var webPushRefusals: [WebPushReason: UInt64] = [:]
    var refusedOfKey: UInt64 = 0
    /// From a request to the answer that it was accepted.
    var acceptanceTimes: [Interval] = []
    /// Batches and questions that failed.
    var failures: UInt64 = 0
    /// Devices that an operator removed.
    var removedDevices: UInt64 = 0
    /// When those pushes went out that were sent at once.
    var sent: [SendingID: BootTime] = [:]
    /// How many of them were acknowledged, and how long it took to those acknowledgements that
    /// were looked at as they came. The others wait for the store, or are of no use.
    var deliveryTimes = 0
    var promptTimes: [Interval] = []

    mutating func refused(_ reason: Reason, key isOfKey: Bool) {
        refusals[reason, default: 0] += 1
        if isOfKey { refusedOfKey += 1 }
    }

    mutating func refused(_ reason: WebPushReason) { webPushRefusals[reason, default: 0] += 1 }

    mutating func acknowledged(_ sending: SendingID, at now: BootTime, isPrompt: Bool) {
        acknowledged += 1
        guard let start = sent.removeValue(forKey: sending) else { return }
        let time = now - start
        deliveryTimes += 1
        if isPrompt { promptTimes.append(time) }
    }
}

extension GatewayWorld {
    func figureProblems() -> [WorldProblem] {
        let counters = driver.gateway.counters
        let channels = driver.gateway.channelCount
        let equal: [(kind: WorldProblem.Kind, seen: UInt64, counted: UInt64)] = [
            (.acceptedCount, figures.accepted, counters.accepted),
            (.broadcastCount, figures.broadcasts, counters.broadcasts),
            (.broadcastsSentCount, figures.broadcastsSent, counters.broadcastsSent),
            (.storedCount, store.tally.stored, counters.stored),
            (.replacedCount, store.tally.replaced, counters.replaced),
            (.throttledCount, store.tally.throttled, counters.throttled),
            (.expiredCount, store.tally.expired, counters.expired),
            (.droppedCount, store.tally.dropped, counters.dropped),
            (.failureCount, figures.failures, driver.failures),
            // Those that were removed are gone as well, and are not counted.
            (.goneCount, store.removals, figures.removedDevices + driver.expiredDevices),
            (.channelCount, UInt64(store.channels.count), UInt64(channels)),
        ]
        var problems = equal.filter { $0.seen != $0.counted }.map {
            WorldProblem($0.kind, "\($0.seen) were seen, \($0.counted) counted")
        }
        problems += answerProblems()
        // A line of the log is lost with a batch that fails, and an acknowledgement may come late.
        let most = max(store.tally.delivered, figures.acknowledged)
        if !(store.tally.delivered...most).contains(counters.delivered) {
            let text = "\(counters.delivered) delivered, \(figures.acknowledged) acknowledged"
            problems.append(WorldProblem(.deliveredCount, text))
        }
        let times = driver.gateway.deliveryTimes
        let (prompt, all) = (WorldTimes(figures.promptTimes), figures.deliveryTimes)
        let isExact = Int(times.count) == figures.promptTimes.count
        if !prompt.isWithin(times) || isExact && !WorldTimes(times).isWithin(prompt)
            || Int(times.count) > all
        {
            let text = "\(times) of \(prompt), and \(all) in all"
            problems.append(WorldProblem(.deliveryTimes, text))
        }
        return problems
    }

    /// What senders were answered.
    private func answerProblems() -> [WorldProblem] {
        let senders = driver.senders
        var problems: [WorldProblem] = []
        let told = Dictionary(uniqueKeysWithValues: senders.refusals.map { ($0.reason, $0.count) })
        if told != figures.refusals {
            problems.append(WorldProblem(.refusalCounts, "\(told) of \(figures.refusals)"))
        }
        let web = Dictionary(
            uniqueKeysWithValues: senders.webPushRefusals.map { ($0.reason, $0.count) }
        )
        if web != figures.webPushRefusals {
            let text = "\(web) of \(figures.webPushRefusals)"
            problems.append(WorldProblem(.webPushRefusalCounts, text))
        }
        let key = senders.keys(["K"])[0]
        let (accepted, refused) = (figures.acceptedPushes, figures.refusedOfKey)
        if key.accepted != accepted || key.refused != refused {
            problems.append(WorldProblem(.keyCounts, "\(key) of \(accepted) and \(refused)"))
        }
        let times = WorldTimes(figures.acceptanceTimes)
        let timed = WorldTimes(senders.acceptanceTimes)
        if !times.isWithin(timed) || !timed.isWithin(times) {
            problems.append(WorldProblem(.acceptanceTimes, "\(timed) of \(times)"))
        }
        return problems
    }
}

/// Times as a histogram has them: how many in each bucket, and all together.
struct WorldTimes {
    let counts: [UInt64]
    let sum: Double

    init(_ times: [Interval]) {
        // In another way than the gateway's.
        var left = times
        var counts: [UInt64] = []
        for bound in LatencyHistogram.bounds {
            counts.append(UInt64(left.count { $0 <= bound }))
            left.removeAll { $0 <= bound }
        }
        self.counts = counts + [UInt64(left.count)]
        sum = times.reduce(0) { $0 + $1.seconds }
    }

    init(_ histogram: LatencyHistogram) {
        (counts, sum) = (histogram.counts, histogram.sum)
    }

    func isWithin(_ histogram: LatencyHistogram) -> Bool { isWithin(WorldTimes(histogram)) }

    /// Each bucket has at least as many.
    func isWithin(_ other: WorldTimes) -> Bool {
        zip(counts, other.counts).allSatisfy { $0 <= $1 } && sum <= other.sum + 0.001
    }
}
