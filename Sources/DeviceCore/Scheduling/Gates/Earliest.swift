import Vocabulary

extension GateTable.Definition {
    /// `earliestBeginDate`: a floor, never a promise (C4). The user's wish does not move it: the
    /// app asked for it.
    static let earliest = Self(
        title: "earliest begin date",
        kind: .rule,
        check: {
            guard let earliest = $0.request?.earliest else { return .open }
            return .held(until: earliest, at: $0.now)
        },
        words: {
            let earliest = $0.request?.earliest ?? $0.now.wall
            return GateWords(
                value: $0.device.words(for: $0.now.wall, at: $0.now),
                needed: $0.device.words(for: earliest, at: $0.now),
                since: $0.request?.submittedAt,
                sentence: "it is to begin \($0.device.words(for: earliest, at: $0.now)) or later"
            )
        }
    )
}
