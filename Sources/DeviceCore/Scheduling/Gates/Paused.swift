import Vocabulary

extension GateTable.Definition {
    /// `offstage pause`: the user holds all background work.
    static let paused = Self(
        title: "background work paused",
        kind: .rule,
        check: {
            switch $0.device.pause {
            case .none: .open
            case .untilContinued: .held(.event)
            case .until(let end): $0.now.boot >= end ? .open : .held(.boot(end))
            case .untilDate(let end): $0.now.wall >= end ? .open : .held(.wall(end))
            }
        },
        explain: {
            GateExplanation(
                value: "paused",
                needed: "offstage continue",
                since: $0.device.pausedAt,
                sentence: "you paused all background work",
                fix: "offstage continue"
            )
        }
    )
}
