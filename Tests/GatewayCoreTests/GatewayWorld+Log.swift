import GatewayCore
import Vocabulary

/// Providers ask what became of their pushes.
extension GatewayWorld {
    private static let gateway: UInt64 = 7

    mutating func lookUp() {
        guard !accepted.isEmpty, isConnected(.key) else { return }
        defer { learn(.key) }
        let number = accepted[pick(accepted.count)].number
        let isForeign = random.below(4) == 0
        let id = PushUUID(number: number, gateway: isForeign ? 8 : Self.gateway)
        do throws(Reason) {
            let question = try driver.admit(
                LogArrival(
                    method: Array("GET".utf8)[...],
                    authorization: Array("t".utf8)[...],
                    id: Array("\(id)".utf8)[...]
                ),
                from: &senders[0].sender,
                OpenProofs(second: now.wall.nanoseconds / 1_000_000_000, quota: quota),
                .production,
                gateway: Self.gateway,
                at: now
            )
            if isForeign { report(.faultTaken, "the log of \(id)") }
            count("lookups")
            let call = CallID(serial())
            lookups[call] = number
            feed(.lookUp(question, call))
        } catch {
            figures.refused(error, key: false)
            if !isForeign || error != .badMessageID { report(.wrongReason, "the log: \(error)") }
        }
    }

    mutating func told(_ call: CallID, _ answer: LogAnswer) {
        guard let number = lookups.removeValue(forKey: call) else {
            return report(.answeredTwice, "\(call), of the log")
        }
        switch answer {
        case .told(let row, let topic):
            count("told of the log")
            if row.number != number { report(.logAnswer, "\(row.number) for \(number)") }
            let isOwn = row.head.provider == "K" && topic == store.bundle(of: row.head.app)
            if row.events.isEmpty || !isOwn {
                report(.logAnswer, "\(row) of \(topic)")
            }
        case .refused(let reason):
            figures.refused(reason, key: false)
            if reason == .serviceUnavailable { return }
            // Another's, forgotten, of an app that is gone, or not on the disk yet.
            let isKnown = store.rows[number].map {
                $0.head.provider == "K" && store.bundles[$0.head.app] != nil
            }
            if isKnown == true, driver.isSettled { report(.logHidden, "\(number)") }
        }
    }

    mutating func forgetLog(before oldest: PushNumber) {
        let wall = WallTime(nanoseconds: Int64(clamping: oldest.number) * 1000)
        if wall > now.wall - limits.logAge {
            report(.logForgotten, "\(oldest), too early")
        }
        store.rows = store.rows.filter { $0.key >= oldest }
    }
}
