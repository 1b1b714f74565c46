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
    /// The same, pushes of APNs alone.
    var acceptedPushes: UInt64 = 0
    /// Refused at once or later, by the reason that was told; and those of the providers' key.
    var refusals: [Reason: UInt64] = [:]
    var webPushRefusals: [WebPushReason: UInt64] = [:]
    var refusedOfKey: UInt64 = 0
    /// From a request to the answer that it was accepted, in seconds.
    var acceptanceTimes: [Double] = []
    /// Batches and questions that failed.
    var failures: UInt64 = 0
    /// Devices that an operator removed.
    var removedDevices: UInt64 = 0
    /// When those pushes went out that were sent at once.
    var sent: [SendingID: BootTime] = [:]
    /// From then to their acknowledgements, in seconds: all of them, and those that came while the
    /// gateway waited for nothing. The others it may look at later, or never.
    var deliveryTimes: [Double] = []
    var promptTimes: [Double] = []

    /// When a batch failed last: what was on its way then may have been forgotten with an app that
    /// was to be removed.
    var failure = BootTime(nanoseconds: 0)

    mutating func refused(_ reason: Reason, key isOfKey: Bool) {
        refusals[reason, default: 0] += 1
        if isOfKey { refusedOfKey += 1 }
    }

    mutating func refused(_ reason: WebPushReason) { webPushRefusals[reason, default: 0] += 1 }

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
            ("failed", figures.failures, driver.failures),
            ("taken for gone", store.removals - figures.removedDevices, driver.expiredDevices),
        ]
        var problems = equal.filter { $1 != $2 }.map { "\($1) were \($0), \($2) counted" }
        problems += answerProblems()
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

    /// What senders were answered.
    private func answerProblems() -> [String] {
        let senders = driver.senders
        var problems: [String] = []
        let told = Dictionary(uniqueKeysWithValues: senders.refusals.map { ($0.reason, $0.count) })
        if told != figures.refusals { problems.append("\(told) counted of \(figures.refusals)") }
        let web = Dictionary(
            uniqueKeysWithValues: senders.webPushRefusals.map { ($0.reason, $0.count) }
        )
        if web != figures.webPushRefusals {
            problems.append("\(web) counted of \(figures.webPushRefusals)")
        }
        let key = senders.keys(["K"])[0]
        if key.accepted != figures.acceptedPushes || key.refused != figures.refusedOfKey {
            problems.append(
                "\(key) counted of \(figures.acceptedPushes) and \(figures.refusedOfKey)"
            )
        }
        if senders.accepted != figures.acceptedPushes + figures.broadcasts {
            problems.append("\(senders.accepted) accepted, as counted")
        }
        let (times, sum) = (senders.acceptanceTimes, figures.acceptanceTimes.reduce(0, +))
        if times.count != UInt64(figures.acceptanceTimes.count) || abs(times.sum - sum) > 0.001 {
            problems.append("\(times.count) in \(times.sum) s, of \(sum) s")
        }
        return problems
    }
}
