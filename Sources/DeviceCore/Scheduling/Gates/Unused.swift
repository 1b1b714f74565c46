import Vocabulary

extension GateTable.Definition {
    /// Not opened for a week, and not open now (C4). Where nothing tells of use, the rule does not
    /// apply.
    static let unused = Self(
        title: "not used for a week",
        kind: .saving,
        check: {
            guard let last = $0.app.lastKnownUse else { return .open }
            return $0.now.wall - last >= $0.settings.unusedLimit ? .held(.event) : .open
        },
        explain: {
            let last = $0.app.lastKnownUse ?? $0.now.wall
            return GateExplanation(
                value: "not used for \($0.now.wall - last)",
                needed: "used within \($0.settings.unusedLimit)",
                since: last + $0.settings.unusedLimit,
                sentence: "you have not opened it for \($0.settings.unusedLimit) or more"
            )
        }
    )
}

extension AppState {
    /// Nil: it is in use, since its user has it open, or nothing tells of its use.
    var lastKnownUse: WallTime? {
        guard !isForeground, let manifest, manifest.useFrom != nil || isLinked else { return nil }
        return lastUsed ?? firstSeen
    }
}
