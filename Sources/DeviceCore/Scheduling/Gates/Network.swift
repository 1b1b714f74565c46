import Vocabulary

extension GateTable.Definition {
    /// A validated route, for what needs one.
    static let network = Self(
        title: "no network, captive portal",
        kind: .rule,
        check: { $0.needsNetwork && !$0.conditions.networkReachable ? .held(.event) : .open },
        words: {
            let portal = $0.conditions[.network].value == 1
            return GateWords(
                value: portal ? "a sign-in page is in the way" : "no network",
                needed: "online",
                since: $0.conditions[.network].since,
                sentence: portal
                    ? "the network wants a sign-in first" : "there is no network connection"
            )
        }
    )
}

extension GateContext {
    /// Whether this run is of use only with a network.
    var needsNetwork: Bool {
        switch cell {
        case .asked: request?.needs.network ?? false
        case .needed:
            request.map { $0.origin == .submitted && app.isTransient } == true
                ? request?.needs.network ?? true : app.manifest?.needsNetwork ?? true
        case .yes: true
        case .no, .set, .critical, .classed, .strikes, .fetchOrCommand, .command: false
        }
    }
}
