import Vocabulary

extension GateTable.Definition {
    /// So many transfers side by side, and only a few of them from one host. One that has several
    /// connections counts as several.
    static let transferSlots = Self(
        title: "transfers side by side",
        kind: .rule,
        check: {
            let host = host($0)
            let mayBeginAhead = $0.work.transfer?.mayBeginAhead ?? false
            let ahead =
                mayBeginAhead ? $0.device.transferPaces.ahead(from: host, at: $0.now.boot) : 0
            return used($0).isRoom(for: host, ahead: ahead) ? .open : .held(.event)
        },
        explain: {
            let used = used($0)
            return GateExplanation(
                value: "\(used.all) connections, \(used[host($0)]) of them to this host",
                needed: "fewer than \($0.settings.transferSlots), "
                    + "and fewer than \($0.settings.transfersPerHost) to one host",
                since: nil,
                sentence: "other transfers are running, and its turn comes after them"
            )
        }
    )

    private static func used(_ context: borrowing GateContext) -> UsedConnections {
        UsedConnections(context.device.connections, context.settings)
    }

    private static func host(_ context: borrowing GateContext) -> String {
        context.work.transfer?.host ?? ""
    }
}
