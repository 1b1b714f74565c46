import Vocabulary

extension GateTable.Definition {
    /// `earliestBeginDate`: work begins on that date or later; nothing promises when (C4). A
    /// user-initiated run does not move what was asked for. It skips the wait for another run,
    /// which a command asked for or which nobody having seen the last one end makes due, like that
    /// after failures.
    static let earliest = Self(
        title: "earliest begin date",
        kind: .rule,
        check: {
            guard let earliest = $0.work.earliest else { return .open }
            if $0.work.isRetry, $0.work.mode == .userInitiated { return .open }
            return .held(until: earliest, at: $0.now)
        },
        explain: {
            let earliest = $0.work.earliest ?? $0.now.wall
            let text = $0.now.text(for: earliest)
            return GateExplanation(
                value: $0.now.text(for: $0.now.wall),
                needed: text,
                since: $0.work.since,
                sentence: $0.work.isRetry
                    ? retrySentence($0.app.record.lastRun(of: $0.work.identifier), text)
                    : "it is to begin \(text) or later"
            )
        }
    )

    private static func retrySentence(_ last: LastRun?, _ text: String) -> String {
        last?.result == .unknown
            ? "how its last run ended is not known, so it runs again \(text) or later"
            : "its command asked for another run, which begins \(text) or later"
    }
}
