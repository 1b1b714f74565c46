import Vocabulary

extension GateTable.Definition {
    /// A validated route, for what needs one.
    static let network = Self(
        title: "no network, captive portal",
        kind: .rule,
        check: { $0.needsNetwork && !$0.hasNetwork ? .held(.event) : .open },
        explain: {
            let portal = $0.conditions[.network].value == 1
            return GateExplanation(
                of: .network,
                in: $0.conditions,
                value: portal ? "a sign-in page is in the way" : "no network",
                needed: "online",
                sentence: portal
                    ? "the network requires a sign-in" : "there is no network connection"
            )
        }
    )
}

extension GateContext {
    /// Asked often, beside the question itself.
    private static let networkCells = GateTable.row(.network).cells

    /// Unless the manifest says otherwise, and the request does not ask for it.
    var usesNetwork: Bool {
        work.needs.network || app.manifest?.needsNetwork ?? true
    }

    /// What asks for a network itself wants to be sure of it.
    fileprivate var hasNetwork: Bool {
        work.needs.network
            ? conditions.isAssured(.network) : conditions.networkReachable
    }

    /// Whether this run is of use only with a network.
    var needsNetwork: Bool {
        switch Self.networkCells[work.trigger.column] {
        case .asked: work.needs.network
        case .needed: usesNetwork
        case .yes: true
        case .no, .set, .fetchOrCommand, .command, .critical: false
        }
    }
}
