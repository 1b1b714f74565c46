import Vocabulary

extension GateTable.Definition {
    /// So many transfers side by side, and only a few of them from one host.
    static let transferSlots = Self(
        title: "transfers side by side",
        kind: .rule,
        check: {
            let running = $0.device.runningTransfers
            guard running.count < Int($0.settings.transferSlots) else { return .held(.event) }
            return sameHost($0) < Int($0.settings.transfersPerHost) ? .open : .held(.event)
        },
        explain: {
            let host = sameHost($0)
            return GateExplanation(
                value:
                    "\($0.device.runningTransfers.count) running, \(host) of them from this host",
                needed: "fewer than \($0.settings.transferSlots), "
                    + "and fewer than \($0.settings.transfersPerHost) from one host",
                since: nil,
                sentence: "other transfers are running, and its turn comes after them"
            )
        }
    )

    private static func sameHost(_ context: borrowing GateContext) -> Int {
        let host = context.work.transfer?.host
        return context.device.runningTransfers.count { $0.host == host }
    }
}
