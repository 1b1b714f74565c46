import Vocabulary

extension GateTable.Definition {
    /// So many transfers side by side, and only a few of them from one host. One that has several
    /// connections counts as several.
    static let transferSlots = Self(
        title: "transfers side by side",
        kind: .rule,
        check: {
            let host = $0.work.transfer?.host ?? ""
            let ahead = Int64($0.device.transferPaces.ahead(from: host, at: $0.now.boot))
            let isFull =
                all($0) >= $0.settings.transferSlots + ahead
                || sameHost($0) >= $0.settings.transfersPerHost + ahead
            return isFull ? .held(.event) : .open
        },
        explain: {
            let host = sameHost($0)
            return GateExplanation(
                value:
                    "\(all($0)) connections, \(host) of them to this host",
                needed: "fewer than \($0.settings.transferSlots), "
                    + "and fewer than \($0.settings.transfersPerHost) to one host",
                since: nil,
                sentence: "other transfers are running, and its turn comes after them"
            )
        }
    )

    private static func all(_ context: borrowing GateContext) -> Int64 {
        context.device.runningTransfers.reduce(0) { $0 + $1.connections }
    }

    private static func sameHost(_ context: borrowing GateContext) -> Int64 {
        let host = context.work.transfer?.host
        return context.device.runningTransfers.reduce(0) {
            $0 + ($1.host == host ? $1.connections : 0)
        }
    }
}
